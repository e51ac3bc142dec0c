/**
 * Corrects misspelt words of a search query to words of the vocabulary (all indexed words). A word can also
 * be corrected to the end of a compound: `Kafeemühle` → `Kaffeemühle`, the end of `Handkaffeemühle`. The most
 * similar word is chosen; among equally similar words, the word that most products contain.
 */
import { sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { computeEditDistance } from "#foundation/nearest.ts";
import { mayBeCompoundWordEndingWith } from "./compounds.ts";
import { type ParsedSearchQuery, parseSearchQuery } from "./parse-query.ts";
import { type SearchContextForDocumentCounts, countDocumentsBySearchQueryPart } from "./query-counts.ts";
import { removeCaseAndAccents } from "./tokens.ts";
import {
  computeTypoMatchKeysOfQueryWord,
  computeTypoMatchKeysOfWordSuffix,
  getMaxCorrectedTypos,
} from "./typo-keys.ts";
import type { SearchQueryWithWordForms, SearchQueryPartWithForms } from "./word-forms.ts";
import { type TypoCorrectionCandidate, getTypoCorrectionCandidatesCache } from "./vocabulary-cache.ts";

export interface SearchQueryToCorrect extends SearchContextForDocumentCounts {
  /**
   * Finds the forms (stems, compounds, synonyms) of a query's words. If `isJoined` is false, neighboring
   * words like `power bank` are not joined to one word.
   */
  readonly expand: (
    query: ParsedSearchQuery,
    options?: { readonly isJoined: boolean },
  ) => Promise<SearchQueryWithWordForms>;
}

/** Returns a map from each misspelt word to the corrected word in its usual spelling. */
export async function findWordCorrections(
  search: SearchQueryToCorrect,
  expanded: SearchQueryWithWordForms,
): Promise<ReadonlyMap<string, string>> {
  const candidates = await addForms(search, await findCandidates(search.reader, expanded));
  if (candidates.length === 0) return new Map();
  const words = new Set(candidates.map(({ word }) => word));
  const own = expanded.forms.filter(({ part }) => words.has(part.text));
  const countOf = await countDocumentsBySearchQueryPart(search, own);
  const misspelt = new Set(own.filter((part) => countOf(part) === 0).map(({ part }) => part.text));
  const corrections = new Map<string, string>();
  // Corrections with one typo are preferred to those with two. The products of two-typo corrections are
  // counted only for words without a one-typo correction, which is rare.
  for (const distance of [1, 2]) {
    const close = candidates.filter(
      (candidate) =>
        candidate.distance === distance && misspelt.has(candidate.word) && !corrections.has(candidate.word),
    );
    for (const { word, spelling } of await mostFrequent(search, close)) corrections.set(word, spelling);
  }
  return corrections;
}

/** Chooses one correction for each misspelt word: the candidate that occurs in most products. */
async function mostFrequent(
  search: SearchQueryToCorrect,
  candidates: readonly CandidateWithForms[],
): Promise<Candidate[]> {
  const countOf = await countDocumentsBySearchQueryPart(
    search,
    candidates.map(({ forms }) => forms),
  );
  return [...Map.groupBy(candidates, ({ word }) => word).values()].flatMap((own) =>
    own
      .filter(({ forms }) => countOf(forms) > 0)
      .toSorted((one, other) => countOf(other.forms) - countOf(one.forms))
      .slice(0, 1),
  );
}

interface Candidate extends TypoCorrectionCandidate {
  /** The misspelt word of the query that the candidate could replace. */
  readonly word: string;
}

const candidateRowsMax = 2000;
const candidatesOfWordMax = 8;

/**
 * Finds, for each word of the query that the vocabulary does not contain, the most similar words of the
 * vocabulary.
 */
async function findCandidates(
  reader: DatabaseOrTransaction,
  { query, forms }: SearchQueryWithWordForms,
): Promise<Candidate[]> {
  const words = forms
    .filter(({ part, isKnown }) => !isKnown && part.quantity === undefined && part.words.length === 1)
    .map(({ part }) => part.text)
    .filter((word) => getMaxCorrectedTypos(word) > 0);
  const cache = getTypoCorrectionCandidatesCache(reader);
  const missing = [...new Set(words)].filter((word) => !cache.has(word));
  const read =
    missing.length === 0
      ? new Map<string, TypoCorrectionCandidate[]>()
      : await readCandidates(reader, missing);
  for (const [word, candidates] of read) cache.set(word, candidates);
  const own = new Set(query.words.map(({ text }) => text));
  return words.flatMap((word) =>
    (read.get(word) ?? cache.get(word) ?? [])
      .filter(({ correct }) => !own.has(correct))
      .map(({ correct, spelling, distance }) => ({ word, correct, spelling, distance })),
  );
}

async function readCandidates(
  reader: DatabaseOrTransaction,
  words: readonly string[],
): Promise<ReadonlyMap<string, TypoCorrectionCandidate[]>> {
  const searched = words.map((word) => ({
    word,
    keys: [
      ...computeTypoMatchKeysOfQueryWord(word, getMaxCorrectedTypos(word)),
      ...computeTypoMatchKeysOfWordSuffix(word, getMaxCorrectedTypos(word)),
    ],
  }));
  const { rows } = await sql<{ word: string; term: string; spelling: string | null }>`
    select w.word, c.term, c.spelling
    from json_to_recordset(${JSON.stringify(searched)}::json) as w(word text, keys int[])
    cross join lateral (select t.term, max(t.spelling) as spelling from search_term t
      where t.typo_keys && w.keys group by t.term limit ${candidateRowsMax}::int) as c`.execute(reader);
  return new Map(
    words.map((word) => [
      word,
      closest(
        word,
        rows.filter((row) => row.word === word),
      ),
    ]),
  );
}

function closest(
  word: string,
  rows: readonly { readonly term: string; readonly spelling: string | null }[],
): TypoCorrectionCandidate[] {
  const near = rows.flatMap(({ term, spelling }) =>
    compareWithTerm(word, { term, spelling: spelling ?? term }),
  );
  return [...new Map(near.map((candidate) => [candidate.correct, candidate])).values()]
    .toSorted((one, other) => one.distance - other.distance || one.correct.localeCompare(other.correct))
    .slice(0, candidatesOfWordMax);
}

interface Term {
  readonly term: string;
  readonly spelling: string;
}

/**
 * Compares a misspelt word with a word of the vocabulary. Returns the vocabulary word if both are similar
 * enough. Otherwise, if the vocabulary word is a compound, returns those of its ends that are similar
 * enough.
 */
function compareWithTerm(word: string, { term, spelling }: Term): TypoCorrectionCandidate[] {
  const max = getMaxCorrectedTypos(word);
  const distance = computeEditDistance(word, term, max);
  if (distance <= max) return [{ correct: term, spelling, distance }];
  const length = Array.from(word).length;
  return [0, -1, 1, -2, 2]
    .filter((more) => Math.abs(more) <= max)
    .map((more) =>
      Array.from(term)
        .slice(-(length + more))
        .join(""),
    )
    .filter((end) => mayBeCompoundWordEndingWith(term, end))
    .map((end) => ({
      correct: end,
      spelling: spellingOfEnd(end, spelling),
      distance: computeEditDistance(word, end, max),
    }))
    .filter((candidate) => candidate.distance <= max);
}

/**
 * Returns the end of a compound in its usual spelling: for the end `kaffeemuhle` of `Handkaffeemühle`,
 * returns `kaffeemühle`.
 */
function spellingOfEnd(end: string, spelling: string): string {
  const spelled = Array.from(spelling).slice(-Array.from(end).length).join("");
  return removeCaseAndAccents(spelled) === end ? spelled : end;
}

interface CandidateWithForms extends Candidate {
  readonly forms: SearchQueryPartWithForms;
}

/**
 * Adds word forms (stems, compounds, synonyms) to each correction. Synonyms are needed, because a corrected
 * word may itself be in no product, although its synonyms are.
 */
async function addForms(
  { expand }: SearchQueryToCorrect,
  candidates: readonly Candidate[],
): Promise<CandidateWithForms[]> {
  if (candidates.length === 0) return [];
  const words = [...new Set(candidates.map(({ correct }) => correct))];
  const { forms } = await expand(parseSearchQuery(words.join(" ")), { isJoined: false });
  const byWord = new Map(forms.map((part) => [part.part.text, part]));
  return candidates.flatMap((candidate) => {
    const own = byWord.get(candidate.correct);
    // A corrected word must match whole words only. Only the last word that the buyer typed may be the
    // beginning of a longer word.
    return own === undefined
      ? []
      : [{ ...candidate, forms: { ...own, exact: [{ lexemes: [{ text: candidate.correct }] }], weak: [] } }];
  });
}
