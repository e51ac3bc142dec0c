/**
 * Synonyms of a merchant in one locale. A synonym rule without replacements makes its terms equivalent. A
 * rule with replacements lets a search for one of its terms also find the replacements, but not the other way
 * round. A change replaces the whole list of rules, so that merchants can export, edit and import the list.
 */
import { sql } from "kysely";
import { requireExpectedVersion, type MerchantCommandContext } from "#commerce/command-context.ts";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import {
  getListLengthErrors,
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getDuplicateEntryErrors,
  requireNoInputFieldErrors,
  getTextFieldErrors,
} from "#foundation/faults.ts";
import { loadWordStems, getStemmerOfLocale } from "./stems.ts";
import { insertMissingSearchVocabularyTerms, type SearchTermRow, toSearchTermRow } from "./term-rows.ts";
import { joinSearchWords, splitTextIntoSearchWords } from "./tokens.ts";

export interface ProductSearchSynonymRule {
  /** The terms of the synonym rule: words, or phrases of two or three words. */
  readonly terms: readonly string[];
  /** Words that a search for one of the terms also finds; empty if the terms of the rule are equivalent. */
  readonly replacements: readonly string[];
}

export interface ProductSearchSynonymList {
  readonly merchantId: string;
  readonly locale: string;
  readonly version: number;
  readonly rules: readonly ProductSearchSynonymRule[];
  readonly updatedAt: Date;
}

export interface SetSearchSynonymsInput {
  readonly locale: string;
  readonly expectedVersion?: number | null | undefined;
  readonly rules: readonly {
    readonly terms: readonly string[];
    readonly replacements?: readonly string[] | null | undefined;
  }[];
}

export const synonymListBounds = { rulesMax: 2000, termsMax: 20, termMax: 60, wordsMax: 3 } as const;

export async function setSearchSynonyms(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: SetSearchSynonymsInput,
): Promise<{ locale: string }> {
  const { locale, expectedVersion } = input;
  requireNoInputFieldErrors(synonymFaults(input));
  const rules = input.rules.map(({ terms, replacements }) => ({
    terms: [...terms],
    replacements: [...(replacements ?? [])],
  }));
  const stored = await lockSynonyms(transaction, context, locale);
  requireExpectedVersion(
    {
      resource: "search_synonyms",
      id: locale,
      currentStatus: null,
      currentVersion: stored?.version ?? 0,
      reason: null,
      data: {},
    },
    expectedVersion,
  );
  if (stored !== undefined && JSON.stringify(stored.rules) === JSON.stringify(rules)) return { locale };
  await saveSearchSynonyms(transaction, context, { locale, rules });
  return { locale };
}

/** Returns the synonym lists of a merchant, sorted by locale. */
export function findSearchSynonyms(
  reader: DatabaseOrTransaction,
  merchantId: string,
): Promise<ProductSearchSynonymList[]> {
  return reader
    .selectFrom("searchSynonymList")
    .select(["merchantId", "locale", "updatedAt"])
    .select([
      sql<number>`version::int`.as("version"),
      sql<readonly ProductSearchSynonymRule[]>`rules`.as("rules"),
    ])
    .where("merchantId", "=", merchantId)
    .orderBy("locale")
    .execute();
}

async function lockSynonyms(
  transaction: Transaction,
  { merchantId }: MerchantCommandContext,
  locale: string,
): Promise<ProductSearchSynonymList | undefined> {
  const { rows } = await sql`select 1 from merchant where id = ${merchantId} for no key update`.execute(
    transaction,
  );
  if (rows.length === 0) throw createFailure("merchant_not_found");
  return (await findSearchSynonyms(transaction, merchantId)).find((list) => list.locale === locale);
}

interface SynonymsToWrite {
  readonly locale: string;
  readonly rules: readonly ProductSearchSynonymRule[];
}

export async function saveSearchSynonyms(
  transaction: Transaction,
  { merchantId, now }: Pick<MerchantCommandContext, "merchantId" | "now">,
  { locale, rules }: SynonymsToWrite,
): Promise<void> {
  await sql`
    insert into search_synonym_list (merchant_id, locale, rules, updated_at)
    values (${merchantId}, ${locale}, ${JSON.stringify(rules)}::jsonb, ${now})
    on conflict (merchant_id, locale) do update
      set version = default, rules = excluded.rules, updated_at = excluded.updated_at`.execute(transaction);
  const stemmer = getStemmerOfLocale(locale);
  const words = new Map(
    rules
      .flatMap(({ terms }) => terms)
      .flatMap((term) => splitTextIntoSearchWords(term).map(({ text, raw }) => [text, raw] as const)),
  );
  const stems = await loadWordStems(transaction, new Map([[stemmer, new Set(words.keys())]]));
  const pairs = rules.flatMap((rule) => pairsOf(rule, stems.get(stemmer)));
  await sql`delete from search_synonym where merchant_id = ${merchantId} and locale = ${locale}`.execute(
    transaction,
  );
  await sql`
    insert into search_synonym (merchant_id, locale, phrase, synonym)
    select ${merchantId}, ${locale}, phrase, synonym
    from json_to_recordset(${JSON.stringify(pairs)}::json) as p(phrase text, synonym text)
    on conflict do nothing`.execute(transaction);
  await insertMissingSearchVocabularyTerms(transaction, toSearchTerms(locale, words, stems.get(stemmer)));
}

/** Returns the terms of synonym rules for the vocabulary, so that typos in these terms are corrected. */
const toSearchTerms = (
  locale: string,
  words: ReadonlyMap<string, string>,
  stems: ReadonlyMap<string, string> | undefined,
): SearchTermRow[] =>
  [...words].map(([term, spelling]) => toSearchTermRow({ locale, term, stem: stems?.get(term), spelling }));

interface SynonymPair {
  readonly phrase: string;
  readonly synonym: string;
}

/**
 * Returns the pairs of phrase and synonym that a synonym rule defines. Each phrase is also stored with the
 * stems of its words, so that the plural of a word has the same synonyms.
 */
function pairsOf(
  { terms, replacements }: ProductSearchSynonymRule,
  stems: ReadonlyMap<string, string> | undefined,
): SynonymPair[] {
  const stem = (phrase: string): string =>
    phrase
      .split(" ")
      .map((word) => stems?.get(word) ?? word)
      .join(" ");
  const phrases = terms.map(foldPhrase);
  return phrases.flatMap((phrase) => {
    const synonyms = replacements.length > 0 ? replacements.map(foldPhrase) : phrases;
    return synonyms
      .filter((synonym) => synonym !== phrase)
      .flatMap((synonym) => [...new Set([phrase, stem(phrase)])].map((key) => ({ phrase: key, synonym })));
  });
}

const foldPhrase = (text: string): string => joinSearchWords(splitTextIntoSearchWords(text));

function synonymFaults({ rules }: SetSearchSynonymsInput): InputFieldErrors {
  return [
    ...getListLengthErrors("/rules", rules, { min: 0, max: synonymListBounds.rulesMax }),
    ...rules.flatMap(({ terms, replacements }, index) => {
      const at = `/rules/${index}`;
      const hasReplacements = (replacements ?? []).length > 0;
      return [
        ...getListLengthErrors(`${at}/terms`, terms, {
          min: hasReplacements ? 1 : 2,
          max: synonymListBounds.termsMax,
        }),
        ...termsFaults(`${at}/terms`, terms),
        ...getListLengthErrors(`${at}/replacements`, replacements ?? [], {
          min: 0,
          max: synonymListBounds.termsMax,
        }),
        ...termsFaults(`${at}/replacements`, replacements ?? []),
      ];
    }),
  ];
}

const termsFaults = (at: string, terms: readonly string[]): InputFieldErrors => [
  ...terms.flatMap((term, index) => [
    ...getTextFieldErrors(`${at}/${index}`, term, { max: synonymListBounds.termMax }),
    ...wordFaults(`${at}/${index}`, term),
  ]),
  ...getDuplicateEntryErrors(
    terms.map((term) => joinSearchWords(splitTextIntoSearchWords(term))),
    (index) => `${at}/${index}`,
  ),
];

function wordFaults(field: string, term: string): InputFieldErrors {
  const { length } = splitTextIntoSearchWords(term);
  if (length >= 1 && length <= synonymListBounds.wordsMax) return [];
  const message = `A term must have 1 to ${synonymListBounds.wordsMax} words of letters or digits.`;
  return [createRequestBodyErrorDetail(field, "pattern_mismatch", message)];
}
