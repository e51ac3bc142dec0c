/**
 * Repairs a query that finds nothing: corrects typos of unknown words, then leaves out words until products
 * are found. The repaired query keeps as many words as possible; among equally many, the rarest words count
 * most.
 */
import { type RawBuilder, sql } from "kysely";
import { parameter, prepareStatement } from "#database/prepared-template.ts";
import type { Reader } from "#database/transaction.ts";
import { matchAllQueryParts, matchQueryPart } from "./match-query.ts";
import { shownDocuments, withMerchant } from "./match-statements.ts";
import {
  type ParsedSearchQuery,
  parseSearchQuery,
  type QueryPart,
  splitDenseParts,
  withoutParts,
} from "./parse-query.ts";
import {
  matchWithFilters,
  type SearchInput,
  type SearchStatementForm,
  searchStatementFormKey,
  type SearchValues,
} from "./search-form.ts";
import { stemmerOf } from "./stems.ts";
import { typoDistance, typoKeys, typosMax } from "./typo-distance.ts";
import type { ExpandedQuery, PartForms } from "./word-forms.ts";

export interface RepairedQuery {
  readonly query: ParsedSearchQuery;
  /** The words of the query after correction; null if no word was corrected. */
  readonly corrected: string | null;
  /** Words that were left out. */
  readonly dropped: readonly string[];
}

export interface QueryToRepair {
  readonly reader: Reader;
  readonly input: SearchInput;
  readonly form: SearchStatementForm;
  readonly values: SearchValues;
  readonly expanded: ExpandedQuery;
  /** Finds the forms of a corrected query. */
  readonly expand: (
    query: ParsedSearchQuery,
    options?: { readonly isJoined: boolean },
  ) => Promise<ExpandedQuery>;
}

/** Returns a query that finds products; undefined if no word of the query is found. */
export async function repairQuery(search: QueryToRepair): Promise<RepairedQuery | undefined> {
  const split = splitDenseParts(search.expanded.query);
  const hasDenseParts = split.words.length > search.expanded.query.words.length;
  const expanded = hasDenseParts ? await search.expand(split) : search.expanded;
  const candidates = await addForms(search, await findCandidates(search.reader, expanded));
  const queries = [
    ...expanded.forms.map(matchQueryPart),
    ...candidates.map(({ forms }) => matchQueryPart(forms)),
  ];
  const counts = await countDocuments(search, queries);
  const corrections = chooseCorrections(expanded, candidates, counts);
  const words = expanded.query.words.map(({ text, raw }) => corrections.get(text) ?? raw);
  const repaired = corrections.size === 0 ? expanded : await search.expand(parseSearchQuery(words.join(" ")));
  const partCounts =
    corrections.size === 0 ? counts : await countDocuments(search, repaired.forms.map(matchQueryPart));
  const kept = await chooseParts(search, repaired, partCounts);
  if (kept === undefined) return undefined;
  const dropped = repaired.query.parts.filter((part) => !kept.has(part));
  return {
    query: dropped.length === 0 ? repaired.query : withoutParts(repaired.query, new Set(dropped)),
    corrected: corrections.size === 0 ? null : repaired.query.normalized,
    dropped: dropped.filter((part) => !isStopWord(search.input, repaired, part)).map(({ text }) => text),
  };
}

interface Candidate {
  readonly word: string;
  readonly term: string;
  readonly distance: number;
}

const candidateRowsMax = 2000;
const candidatesOfWordMax = 8;

/** The vocabulary's words closest to each unknown word of the query. */
async function findCandidates(reader: Reader, { query, forms }: ExpandedQuery): Promise<Candidate[]> {
  const words = forms
    .filter(({ part, isKnown }) => !isKnown && part.quantity === undefined && part.words.length === 1)
    .map(({ part }) => part.text)
    .filter((word) => typosMax(word) > 0);
  if (words.length === 0) return [];
  const searched = words.map((word) => ({ word, keys: typoKeys(word, typosMax(word)) }));
  const { rows } = await sql<{ word: string; term: string }>`
    select w.word, c.term from json_to_recordset(${JSON.stringify(searched)}::json) as w(word text, keys int[])
    cross join lateral (select distinct t.term from search_term t where t.typo_keys && w.keys
      limit ${candidateRowsMax}::int) as c`.execute(reader);
  const own = new Set(query.words.map(({ text }) => text));
  const near = rows.flatMap(({ word, term }) => {
    const distance = typoDistance(word, term, typosMax(word));
    return distance > typosMax(word) || own.has(term) ? [] : [{ word, term, distance }];
  });
  return [...Map.groupBy(near, ({ word }) => word).values()].flatMap((found) => {
    const sorted = found.toSorted(
      (one, other) => one.distance - other.distance || one.term.localeCompare(other.term),
    );
    return sorted.slice(0, candidatesOfWordMax);
  });
}

interface CandidateWithForms extends Candidate {
  readonly forms: PartForms;
}

/** Adds the forms of the candidates. A term may be a synonym that no product contains itself. */
async function addForms(
  { expand }: QueryToRepair,
  candidates: readonly Candidate[],
): Promise<CandidateWithForms[]> {
  if (candidates.length === 0) return [];
  const terms = [...new Set(candidates.map(({ term }) => term))];
  const { forms } = await expand(parseSearchQuery(terms.join(" ")), { isJoined: false });
  const byTerm = new Map(forms.map((part) => [part.part.text, part]));
  return candidates.flatMap((candidate) => {
    const own = byTerm.get(candidate.term);
    return own === undefined
      ? []
      : [Object.assign({ forms: { ...own, exact: exactForms(candidate) } }, candidate)];
  });
}

/** A corrected word must be complete; only what buyers type may be the beginning of a word. */
const exactForms = ({ term }: Candidate): PartForms["exact"] => [{ lexemes: [{ text: term }] }];

type Counts = ReadonlyMap<string, number>;

/** Words that occur in more documents than this count as equally frequent. */
const countedMax = 1000;

/** Counts the documents of the country that match each tsquery, up to a limit. */
async function countDocuments(search: QueryToRepair, queries: readonly string[]): Promise<Counts> {
  const rows = await runForQueries<{ words: string; count: number }>(search, {
    name: "count",
    queries,
    write: (documents) => sql`select w.words, c.count from ${listedQueries} as w
      cross join lateral (select count(*)::int as count from (select 1 from ${documents(sql`w.words::tsquery`)}
        limit ${sql.raw(String(countedMax))}) as found) as c`,
  });
  return new Map(rows.map(({ words, count }) => [words, count]));
}

/** The tsqueries of a statement; without `offset 0` PostgreSQL would read them once for each document. */
const listedQueries = sql`(select words, place from json_to_recordset(${parameter("queries")}::json)
  as r(words text, place int) offset 0)`;

interface QueriesStatement {
  readonly name: string;
  readonly queries: readonly string[];
  readonly write: (documents: (words: RawBuilder<unknown>) => RawBuilder<unknown>) => RawBuilder<unknown>;
}

async function runForQueries<Row>(
  { reader, form, values }: QueryToRepair,
  { name, queries, write }: QueriesStatement,
): Promise<readonly Row[]> {
  if (queries.length === 0) return [];
  const statement = prepareStatement<Row>(reader, {
    form: `${name} ${searchStatementFormKey(form)}`,
    write: () => write((words) => shownDocuments(form, { words, isLimited: true })),
    values: {
      ...values,
      queries: JSON.stringify([...new Set(queries)].map((words, place) => ({ words, place }))),
    },
    hasManyForms: true,
  });
  return (await reader.executeQuery(statement)).rows;
}

/** Chooses for each unknown word the closest term; among equally close terms, the most frequent one. */
function chooseCorrections(
  { forms }: ExpandedQuery,
  candidates: readonly CandidateWithForms[],
  counts: Counts,
): ReadonlyMap<string, string> {
  const countOf = (candidate: CandidateWithForms): number => counts.get(matchQueryPart(candidate.forms)) ?? 0;
  const unknown = new Set(
    forms.filter((part) => (counts.get(matchQueryPart(part)) ?? 0) === 0).map(({ part }) => part.text),
  );
  const chosen = new Map<string, string>();
  for (const [word, found] of Map.groupBy(candidates, (candidate) => candidate.word)) {
    const [best] = found
      .filter((candidate) => countOf(candidate) > 0)
      .toSorted((one, other) => one.distance - other.distance || countOf(other) - countOf(one));
    if (best !== undefined && unknown.has(word)) chosen.set(word, best.term);
  }
  return chosen;
}

const keptPartsMax = 5;

/** Chooses the parts that the repaired query keeps; undefined if no part is found. */
async function chooseParts(
  search: QueryToRepair,
  expanded: ExpandedQuery,
  counts: Counts,
): Promise<ReadonlySet<QueryPart> | undefined> {
  const weightOf = (part: PartForms): number =>
    -Math.log((counts.get(matchQueryPart(part)) ?? 0) / countedMax);
  const known = expanded.forms
    .filter((part) => (counts.get(matchQueryPart(part)) ?? 0) > 0)
    .filter(({ part }) => !isStopWord(search.input, expanded, part))
    .toSorted((one, other) => weightOf(other) - weightOf(one))
    .slice(0, keptPartsMax);
  for (let size = known.length; size > 0; size -= 1) {
    const subsets = subsetsOf(known, size).toSorted(
      (one, other) => sumOf(other.map(weightOf)) - sumOf(one.map(weightOf)),
    );
    const found = await findFirst(
      search,
      subsets.map((forms) => matchSubset(search, { ...expanded, forms })),
    );
    const subset = found === undefined ? undefined : subsets[found];
    if (subset !== undefined) return new Set(subset.map(({ part }) => part));
  }
  return undefined;
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

const matchSubset = ({ input }: QueryToRepair, expanded: ExpandedQuery): string =>
  matchWithFilters(matchAllQueryParts(expanded, { hasMerchants: true }), input);

function subsetsOf<Member>(members: readonly Member[], size: number): (readonly Member[])[] {
  if (size === 0) return [[]];
  return members.flatMap((member, index) =>
    subsetsOf(members.slice(index + 1), size - 1).map((rest) => [member].concat(rest)),
  );
}

/** The index of the first tsquery that finds a product; undefined if none does. */
async function findFirst(search: QueryToRepair, queries: readonly string[]): Promise<number | undefined> {
  const unique = [...new Set(queries)];
  const [row] = await runForQueries<{ words: string }>(search, {
    name: "first",
    queries: unique,
    write: (documents) => sql`select w.words from ${listedQueries} as w
      cross join lateral (select 1 from ${documents(withMerchant(search.form, sql`w.words::tsquery`))} limit 1)
        as found order by w.place limit 1`,
  });
  return row === undefined ? undefined : queries.indexOf(row.words);
}

/** Whether a part is a stop word in the language of the search. */
function isStopWord({ locale }: SearchInput, { forms }: ExpandedQuery, part: QueryPart): boolean {
  const own = forms.find((candidate) => candidate.part === part);
  return own?.stopIn.includes(stemmerOf(locale)) === true && forms.length > 1;
}
