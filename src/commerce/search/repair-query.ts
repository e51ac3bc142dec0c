/**
 * Repairs a query that finds nothing. First misspelt words are corrected; if the corrected query finds
 * nothing either, compounds of which only one part is known are split, and words are left out.
 */
import { correctWords, type QueryToCorrect } from "./correct-words.ts";
import {
  type ParsedSearchQuery,
  parseSearchQuery,
  type QueryPart,
  splitCompoundQueryParts,
  splitDenseQueryParts,
  removeQueryParts,
} from "./parse-query.ts";
import { measurePartFrequencies, type PartFrequency } from "./query-counts.ts";
import { chooseQueryPartsToKeep, withoutStopWordParts, isStopWord } from "./relax-query.ts";
import type { SearchInput } from "./search-form.ts";
import type { ExpandedQuery, QueryPartForms } from "./word-forms.ts";

export interface QueryToRepair extends QueryToCorrect {
  readonly input: SearchInput;
  readonly expanded: ExpandedQuery;
}

export interface CorrectedQuery {
  readonly query: ParsedSearchQuery;
  /** The words of the query after correction, in lower case with accents. */
  readonly corrected: string;
}

/** Corrects misspelt words; undefined if no word is corrected. */
export async function correctQuery(search: QueryToRepair): Promise<CorrectedQuery | undefined> {
  const expanded = await splitDense(search);
  const corrections = await correctWords(search, expanded);
  if (corrections.size === 0) return undefined;
  const corrected = expanded.query.words.map(({ text, raw }) => corrections.get(text) ?? raw).join(" ");
  return { query: parseSearchQuery(corrected), corrected };
}

export interface RelaxedQuery {
  readonly query: ParsedSearchQuery;
  /** Words that were left out. */
  readonly dropped: readonly string[];
}

/** Leaves out words, so that the query finds products; undefined if no word of the query is found. */
export async function relaxQuery(search: QueryToRepair): Promise<RelaxedQuery | undefined> {
  const { expanded, dropped } = await choosePartsOf(search, await splitDense(search));
  if (dropped === undefined) return undefined;
  const reported = dropped.filter((part) => {
    const own = expanded.forms.find((forms) => forms.part === part);
    return own === undefined || !isStopWord(own, { input: search.input, expanded });
  });
  return {
    query: dropped.length === 0 ? expanded.query : removeQueryParts(expanded.query, new Set(dropped)),
    dropped: reported.map(({ text }) => text),
  };
}

/**
 * Splits words of scripts without spaces, for example Japanese, so that each segment can be corrected or left
 * out.
 */
async function splitDense({ expanded, expand }: QueryToRepair): Promise<ExpandedQuery> {
  const split = splitDenseQueryParts(expanded.query);
  return split.words.length > expanded.query.words.length ? expand(split) : expanded;
}

interface ChosenParts {
  readonly expanded: ExpandedQuery;
  /** The parts that are left out; undefined if no part finds a product. */
  readonly dropped: readonly QueryPart[] | undefined;
}

async function choosePartsOf(search: QueryToRepair, query: ExpandedQuery): Promise<ChosenParts> {
  const { expanded, frequencyOf } = await splitUnknownCompounds(search, query);
  // The unsplit query has been run already and found nothing; a split query is a new one.
  const isWholeTried = expanded === search.expanded;
  const kept = await chooseQueryPartsToKeep({ ...search, expanded, frequencyOf, isWholeTried });
  const dropped = kept && expanded.query.parts.filter((part) => !kept.has(part));
  // Words that the vocabulary joins are separate if they would be left out together.
  const isJoinedDropped = dropped?.some((part) => part.words.length > 1 && isWordPart(part)) === true;
  if (!isJoinedDropped) return { expanded, dropped };
  const words = parseSearchQuery(expanded.query.words.map(({ raw }) => raw).join(" "));
  return choosePartsOf(search, await search.expand(words, { isJoined: false }));
}

/** Whether a part consists of words, and is no quantity and no filler. */
const isWordPart = ({ quantity, isFiller }: QueryPart): boolean => quantity === undefined && !isFiller;

interface MeasuredQuery {
  readonly expanded: ExpandedQuery;
  readonly frequencyOf: (part: QueryPartForms) => PartFrequency;
}

/**
 * Splits compounds that no product has, so that one of their parts may be left out: `Wander|jacke`. A part
 * must name a kind of product, so it counts only if it is in titles, brands or categories.
 */
async function splitUnknownCompounds(search: QueryToRepair, expanded: ExpandedQuery): Promise<MeasuredQuery> {
  const frequencyOf = await measurePartFrequencies(search, withoutStopWordParts(expanded));
  const splits = new Map(
    expanded.forms.flatMap((part) =>
      part.partlyKnownSplit !== null && !frequencyOf(part).isFound
        ? [[part.part, part.partlyKnownSplit] as const]
        : [],
    ),
  );
  if (splits.size === 0) return { expanded, frequencyOf };
  const again = await search.expand(splitCompoundQueryParts(expanded.query, splits), { isJoined: false });
  const frequencyOfAll = await measurePartFrequencies(search, withoutStopWordParts(again));
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
