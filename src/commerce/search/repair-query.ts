/**
 * Repairs a query that finds nothing: corrects misspelt words, splits compounds of which only one part is
 * known, and then leaves out words until products are found.
 */
import { correctWords, type QueryToCorrect } from "./correct-words.ts";
import {
  type ParsedSearchQuery,
  parseSearchQuery,
  type QueryPart,
  splitCompoundParts,
  splitDenseParts,
  withoutParts,
} from "./parse-query.ts";
import { measureParts, type PartFrequency } from "./query-counts.ts";
import { chooseParts, isStopWord } from "./relax-query.ts";
import type { SearchInput } from "./search-form.ts";
import type { ExpandedQuery, PartForms } from "./word-forms.ts";

export interface RepairedQuery {
  readonly query: ParsedSearchQuery;
  /** The words of the query after correction, in lower case with accents; null if no word was corrected. */
  readonly corrected: string | null;
  /** Words that were left out. */
  readonly dropped: readonly string[];
}

export interface QueryToRepair extends QueryToCorrect {
  readonly input: SearchInput;
  readonly expanded: ExpandedQuery;
}

/** Returns a query that finds products; undefined if no word of the query is found. */
export async function repairQuery(search: QueryToRepair): Promise<RepairedQuery | undefined> {
  const { query, corrected } = await correctQuery(search);
  const { expanded, dropped } = await relaxQuery(search, query);
  if (dropped === undefined) return undefined;
  const reported = dropped.filter((part) => {
    const own = expanded.forms.find((forms) => forms.part === part);
    return own === undefined || !isStopWord(own, { input: search.input, expanded });
  });
  return {
    query: dropped.length === 0 ? expanded.query : withoutParts(expanded.query, new Set(dropped)),
    corrected,
    dropped: reported.map(({ text }) => text),
  };
}

interface RelaxedQuery {
  readonly expanded: ExpandedQuery;
  /** The parts that are left out; undefined if no part finds a product. */
  readonly dropped: readonly QueryPart[] | undefined;
}

async function relaxQuery(search: QueryToRepair, query: ExpandedQuery): Promise<RelaxedQuery> {
  const { expanded, frequencyOf } = await splitUnknownCompounds(search, query);
  const kept = await chooseParts({ ...search, expanded, frequencyOf });
  const dropped = kept && expanded.query.parts.filter((part) => !kept.has(part));
  // Words that the vocabulary joins are separate if they would be left out together.
  const isJoinedDropped = dropped?.some((part) => part.words.length > 1 && isWordPart(part)) === true;
  if (!isJoinedDropped) return { expanded, dropped };
  const words = parseSearchQuery(expanded.query.words.map(({ raw }) => raw).join(" "));
  return relaxQuery(search, await search.expand(words, { isJoined: false }));
}

/** Whether a part consists of words, and is no quantity and no filler. */
const isWordPart = ({ quantity, isFiller }: QueryPart): boolean => quantity === undefined && !isFiller;

interface CorrectedQuery {
  readonly query: ExpandedQuery;
  readonly corrected: string | null;
}

async function correctQuery(search: QueryToRepair): Promise<CorrectedQuery> {
  const split = splitDenseParts(search.expanded.query);
  const hasDenseParts = split.words.length > search.expanded.query.words.length;
  const expanded = hasDenseParts ? await search.expand(split) : search.expanded;
  const corrections = await correctWords(search, expanded);
  if (corrections.size === 0) return { query: expanded, corrected: null };
  const corrected = expanded.query.words.map(({ text, raw }) => corrections.get(text) ?? raw).join(" ");
  return { query: await search.expand(parseSearchQuery(corrected)), corrected };
}

interface MeasuredQuery {
  readonly expanded: ExpandedQuery;
  readonly frequencyOf: (part: PartForms) => PartFrequency;
}

/** Splits compounds that no product has, so that one of their parts may be left out: `Wander|jacke`. */
async function splitUnknownCompounds(search: QueryToRepair, expanded: ExpandedQuery): Promise<MeasuredQuery> {
  const frequencyOf = await measureParts(search, expanded.forms);
  const splits = new Map(
    expanded.forms.flatMap((part) =>
      part.partlyKnownSplit !== null && frequencyOf(part).count === 0
        ? [[part.part, part.partlyKnownSplit] as const]
        : [],
    ),
  );
  if (splits.size === 0) return { expanded, frequencyOf };
  const again = await search.expand(splitCompoundParts(expanded.query, splits), { isJoined: false });
  return { expanded: again, frequencyOf: await measureParts(search, again.forms) };
}
