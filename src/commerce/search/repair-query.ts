/**
 * Repairs a query that finds no products. First, misspelt words are corrected. If the corrected query finds
 * nothing either, compound words of which only one part is a known word are split, and words are left out.
 */
import { findWordCorrections, type SearchQueryToCorrect } from "./correct-words.ts";
import {
  type ParsedSearchQuery,
  parseSearchQuery,
  type SearchQueryPart,
  splitCompoundWordsOfSearchQuery,
  segmentSpacelessSearchQueryParts,
  removeSearchQueryParts,
} from "./parse-query.ts";
import { measureSearchQueryPartFrequencies, type SearchQueryPartFrequency } from "./query-counts.ts";
import { chooseSearchQueryPartsToKeep, removeStopWordParts, isStopWord } from "./relax-query.ts";
import type { ProductSearchInput } from "./search-form.ts";
import type { SearchQueryWithWordForms, SearchQueryPartWithForms } from "./word-forms.ts";

export interface SearchQueryToRepair extends SearchQueryToCorrect {
  readonly input: ProductSearchInput;
  readonly expanded: SearchQueryWithWordForms;
}

export interface CorrectedSearchQuery {
  readonly query: ParsedSearchQuery;
  /** The words of the corrected query, in lower case with accents. */
  readonly corrected: string;
}

/** Corrects the misspelt words of a query. Returns undefined if there is nothing to correct. */
export async function correctSearchQuery(
  search: SearchQueryToRepair,
): Promise<CorrectedSearchQuery | undefined> {
  const expanded = await splitDense(search);
  const corrections = await findWordCorrections(search, expanded);
  if (corrections.size === 0) return undefined;
  const corrected = expanded.query.words.map(({ text, raw }) => corrections.get(text) ?? raw).join(" ");
  return { query: parseSearchQuery(corrected), corrected };
}

export interface RelaxedSearchQuery {
  readonly query: ParsedSearchQuery;
  /** The words that the search leaves out of the query in order to find products. */
  readonly dropped: readonly string[];
}

/**
 * Leaves out words of the query so that it finds products. Returns undefined if no product contains any word
 * of the query.
 */
export async function relaxSearchQuery(search: SearchQueryToRepair): Promise<RelaxedSearchQuery | undefined> {
  const { expanded, dropped } = await choosePartsOf(search, await splitDense(search));
  if (dropped === undefined) return undefined;
  const reported = dropped.filter((part) => {
    const own = expanded.forms.find((forms) => forms.part === part);
    return own === undefined || !isStopWord(own, { input: search.input, expanded });
  });
  return {
    query: dropped.length === 0 ? expanded.query : removeSearchQueryParts(expanded.query, new Set(dropped)),
    dropped: reported.map(({ text }) => text),
  };
}

/**
 * Splits the texts without spaces in a query (for example Japanese) into segments, so that each segment can
 * be corrected or left out.
 */
async function splitDense({ expanded, expand }: SearchQueryToRepair): Promise<SearchQueryWithWordForms> {
  const split = segmentSpacelessSearchQueryParts(expanded.query);
  return split.words.length > expanded.query.words.length ? expand(split) : expanded;
}

interface ChosenParts {
  readonly expanded: SearchQueryWithWordForms;
  /** The parts of the query that the search leaves out; undefined if no product contains any part. */
  readonly dropped: readonly SearchQueryPart[] | undefined;
}

async function choosePartsOf(
  search: SearchQueryToRepair,
  query: SearchQueryWithWordForms,
): Promise<ChosenParts> {
  const { expanded, frequencyOf } = await splitUnknownCompounds(search, query);
  // True if the query is still the original query, which has already been searched without a result. A query
  // in which a compound word was split has not been searched yet.
  const isWholeTried = expanded === search.expanded;
  const kept = await chooseSearchQueryPartsToKeep({ ...search, expanded, frequencyOf, isWholeTried });
  const dropped = kept && expanded.query.parts.filter((part) => !kept.has(part));
  // Words that were joined to one part (`power bank`) may be among those to leave out. The query is then
  // tried again with these words as separate parts, so that one of them can be kept.
  const isJoinedDropped = dropped?.some((part) => part.words.length > 1 && isWordPart(part)) === true;
  if (!isJoinedDropped) return { expanded, dropped };
  const words = parseSearchQuery(expanded.query.words.map(({ raw }) => raw).join(" "));
  return choosePartsOf(search, await search.expand(words, { isJoined: false }));
}

/** Returns true if this part of the query is neither a quantity nor a filler like `best`. */
const isWordPart = ({ quantity, isFiller }: SearchQueryPart): boolean => quantity === undefined && !isFiller;

interface MeasuredQuery {
  readonly expanded: SearchQueryWithWordForms;
  readonly frequencyOf: (part: SearchQueryPartWithForms) => SearchQueryPartFrequency;
}

/**
 * Splits compound words that no product contains into two words, so that the search can leave out one of
 * them: `Wanderjacke` → `Wander`, `Jacke`. One of the two words counts as found only if it occurs in titles,
 * brands or categories, because it must name a kind of product.
 */
async function splitUnknownCompounds(
  search: SearchQueryToRepair,
  expanded: SearchQueryWithWordForms,
): Promise<MeasuredQuery> {
  const frequencyOf = await measureSearchQueryPartFrequencies(search, removeStopWordParts(expanded));
  const splits = new Map(
    expanded.forms.flatMap((part) =>
      part.partlyKnownSplit !== null && !frequencyOf(part).isFound
        ? [[part.part, part.partlyKnownSplit] as const]
        : [],
    ),
  );
  if (splits.size === 0) return { expanded, frequencyOf };
  const again = await search.expand(splitCompoundWordsOfSearchQuery(expanded.query, splits), {
    isJoined: false,
  });
  const frequencyOfAll = await measureSearchQueryPartFrequencies(search, removeStopWordParts(again));
  const splitWords = new Set([...splits.values()].flat());
  return {
    expanded: again,
    frequencyOf: (part) => {
      const frequency = frequencyOfAll(part);
      const isNaming = frequency.titleShare + frequency.categoryShare > 0;
      return { ...frequency, isFound: frequency.isFound && (isNaming || !splitWords.has(part.part.text)) };
    },
  };
}
