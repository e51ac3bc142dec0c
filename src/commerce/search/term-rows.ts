/**
 * Computes the rows of the vocabulary (all indexed words). Each word has one row for each locale. The keys in
 * a row serve to find compound words by their end, and to correct misspelt words.
 */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { getStemForCompoundComparison, prefixCompoundStemmers } from "./compounds.ts";
import type { SearchDocumentWithoutStems } from "./index-rows.ts";
import { type WordStemsByStemmer, getStemmerOfLocale } from "./stems.ts";
import { computeTypoMatchKeysOfVocabularyWord } from "./typo-keys.ts";
import { reverseText } from "./word-vocabulary.ts";

export interface SearchTermRow {
  readonly locale: string;
  readonly term: string;
  /**
   * The word's stem (see `getStemForCompoundComparison`) written backwards. An index on this column finds
   * compound words by their end.
   */
  readonly reversed: string;
  /**
   * The typo keys of the word, which it has in common with its misspelt forms. Null if the word occurs only
   * in summaries and descriptions, because typos are not corrected to such words.
   */
  readonly typoKeys: readonly number[] | null;
  /**
   * The word in lower case with its accents; null if the word has no accents, or occurs only in summaries and
   * descriptions.
   */
  readonly spelling: string | null;
}

export function buildSearchTermRows(
  drafts: readonly SearchDocumentWithoutStems[],
  stems: WordStemsByStemmer,
): SearchTermRow[] {
  const byLocale = Map.groupBy(drafts, ({ row }) => row.locale);
  return [...byLocale].flatMap(([locale, own]) => {
    const wordStems = stems.get(getStemmerOfLocale(locale));
    const headTerms = new Map(own.flatMap((draft) => [...draft.headTerms]));
    const terms = new Set([...headTerms.keys(), ...own.flatMap((draft) => [...draft.textTerms])]);
    return [...terms].map((term) =>
      toSearchTermRow({ locale, term, stem: wordStems?.get(term), spelling: headTerms.get(term) }),
    );
  });
}

interface SearchTerm {
  readonly locale: string;
  readonly term: string;
  /** The stem of the word; empty if the word is a stop word. */
  readonly stem: string | undefined;
  /** The word in lower case with its accents; undefined if misspelt words are not corrected to it. */
  readonly spelling: string | undefined;
}

export const toSearchTermRow = ({ locale, term, stem, spelling }: SearchTerm): SearchTermRow => ({
  locale,
  term,
  reversed: reverseText(getStemForCompoundComparison(term, getStemmerOfLocale(locale), stem)),
  typoKeys:
    spelling === undefined
      ? null
      : computeTypoMatchKeysOfVocabularyWord(term, {
          isCompound: prefixCompoundStemmers.has(getStemmerOfLocale(locale)),
        }),
  spelling: spelling === undefined || spelling === term ? null : spelling,
});

/**
 * Inserts the words that the vocabulary does not contain, in a fixed order, so that two transactions that
 * insert the same words cannot deadlock. If a word occurred only in descriptions before and now occurs in a
 * title, its row gets the keys for the correction of typos.
 */
export async function insertMissingSearchVocabularyTerms(
  handle: Transaction,
  rows: readonly SearchTermRow[],
): Promise<void> {
  await sql`
    insert into search_term (locale, term, reversed, typo_keys, spelling)
    select locale, term, reversed, "typoKeys", spelling from json_to_recordset(${JSON.stringify(rows)}::json)
      as r(locale text, term text, reversed text, "typoKeys" int[], spelling text)
    where not exists (select from search_term t where t.locale = r.locale and t.term = r.term
      and t.reversed = r.reversed and (r."typoKeys" is null or t.typo_keys = r."typoKeys")
      and (r.spelling is null or t.spelling is not null))
    order by locale, term collate "C"
    on conflict (locale, term) do update set reversed = excluded.reversed,
      typo_keys = coalesce(excluded.typo_keys, search_term.typo_keys),
      spelling = coalesce(search_term.spelling, excluded.spelling)`.execute(handle);
}
