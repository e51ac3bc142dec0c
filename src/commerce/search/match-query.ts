/**
 * Builds PostgreSQL tsqueries from the word forms of a query. Every lexeme in a tsquery is quoted, so the
 * buyer's text can never act as an operator.
 */
import type { ExpandedQuery, Lexeme, ExpandedQueryPart, WordForm } from "./word-forms.ts";

/**
 * Field weights of the index: A for SKU and GTIN, B for title, C for brand, D for category names (column
 * `head`) or for summary and description (column `words`). An empty string searches all fields.
 */
export type FieldWeight = "A" | "B" | "C" | "BC" | "D" | "";

export interface TsqueryOptions {
  readonly weight?: FieldWeight;
  /**
   * Which word forms the tsquery contains. `exact`: no stems, compounds and synonyms. `ranked`: no forms that
   * cannot raise the score tier of a document. `all` (the default): all forms.
   */
  readonly forms?: "exact" | "ranked" | "all";
  /**
   * Whether a synonym only matches documents of the merchant that defined the synonym. Must be false for the
   * column `head`, which contains no merchants; `head` is only compared for documents that the column `words`
   * has found.
   */
  readonly hasMerchants?: boolean;
  /**
   * If true, a document need only contain one word of a form that has several words. Used, for example, to
   * find the fields that contain words of the query.
   */
  readonly isAnyLexeme?: boolean;
  /**
   * If true, searches the title by the lexemes of `toTitleLexeme`, so that the condition needs no weight. The
   * index stores no weights.
   */
  readonly isTitle?: boolean;
  /**
   * If true, builds a simpler tsquery that finds all matches and a few other documents. It leaves out the
   * languages and merchants in which a form is valid, and the exception for stop words. In a catalogue of a
   * million products it is many times faster, because the index does not read lists that contain half of all
   * documents.
   */
  readonly isCandidate?: boolean;
}

const joinedPartsMax = 4;

/**
 * Builds a tsquery for documents that contain every part of the query; the last word may be the beginning of
 * a longer word. Documents that contain all words of the query joined into one also match (`t shirt` →
 * `tshirt`, parts of a SKU).
 */
export function buildTsqueryOfAllParts(
  { query, forms }: ExpandedQuery,
  options: TsqueryOptions = {},
): string {
  if (forms.length === 0) return matchNothing;
  const clauses = requiredParts(forms, options).map((part) => {
    // If a word of the query is a stop word in the language of a document, the document need not contain the
    // word.
    const excused =
      part.part.isLast || options.isCandidate === true
        ? []
        : part.stopIn.map((stemmer) => `'${toLanguageLexeme(stemmer)}'`);
    return anyClause([...partClauses(part, options), ...excused]);
  });
  const isJoinable = forms.length > 1 && forms.length <= joinedPartsMax && query.code !== null;
  const joined = isJoinable ? lexemeClauses([{ text: query.code, isPrefix: true }], options) : [];
  return [clauses.join(" & "), ...joined].join(" | ");
}

/**
 * Returns the parts of the query that every match contains. For candidates, stop words are left out, because
 * most documents of a language contain them.
 */
function requiredParts(
  forms: readonly ExpandedQueryPart[],
  { isCandidate = false }: TsqueryOptions,
): readonly ExpandedQueryPart[] {
  const others = isCandidate ? forms.filter(({ stopIn }) => stopIn.length === 0) : [];
  return others.length === 0 ? forms : others;
}

/** Builds a tsquery for documents that contain the given part of the query. */
export const buildTsqueryOfPart = (
  part: ExpandedQueryPart,
  options: TsqueryOptions = { hasMerchants: true },
): string => anyClause(partClauses(part, options));

/** Builds a tsquery for documents that contain at least one part of the query. */
export function buildTsqueryOfAnyPart({ forms }: ExpandedQuery, options: TsqueryOptions = {}): string {
  const clauses = forms.map((part) => {
    const silent = part.part.isLast ? [] : part.stopIn.map((stemmer) => `!'${toLanguageLexeme(stemmer)}'`);
    return [anyClause(partClauses(part, options)), ...silent].join(" & ");
  });
  return clauses.length === 0 ? matchNothing : clauses.join(" | ");
}

/**
 * Builds the tsquery for `ts_rank`, which computes the text rank. It contains the word forms of all parts in
 * all languages.
 */
export function buildRankingTsquery({ forms }: ExpandedQuery): string {
  const ranked = forms.filter(({ part, stopIn }) => part.isLast || stopIn.length === 0);
  const clauses = ranked.flatMap(({ exact, loose }) =>
    [...exact, ...loose.filter(({ merchants }) => merchants === undefined)].map((form) =>
      formClause({ lexemes: form.lexemes }, {}),
    ),
  );
  return clauses.length === 0 ? matchNothing : [...new Set(clauses)].slice(0, rankedFormsMax).join(" | ");
}

/**
 * Maximum number of word forms in the tsquery for `ts_rank`. More word forms would make `ts_rank` slow
 * without changing the order of the results.
 */
const rankedFormsMax = 24;

/** A tsquery that matches no document; used if the query contains only punctuation. */
const matchNothing = "'~'";

/** A tsquery that matches every document, because every document has a lexeme for its language. */
export const matchEverything = "'~':*";

// Lexemes that represent a property of a document, for example its language. Each kind begins with a
// character that no word contains.
export const toLanguageLexeme = (stemmer: string): string => `~${stemmer}`;
export const toCategoryLexeme = (slug: string): string => `#${slug}`;
export const toMerchantLexeme = (id: string): string => `@${id}`;
export const toBrandLexeme = (brand: string): string => `^${brand}`;
/**
 * Returns the lexeme that represents a word in the title. The full-text index stores no weights; with the
 * plain word, PostgreSQL would have to read all documents that contain the word in any field.
 */
export const toTitleLexeme = (word: string): string => `"${word}`;
/**
 * Returns the lexeme of a random sample of products; `size` is the size of the sample in 64ths of all
 * products.
 */
export const toSampleLexeme = (size: number): string => `%${size}`;
export const toPopularityLexeme = (step: number): string => `+${step}`;
export const toAttributeLexeme = (code: string, value: string): string => `=${code}:${value}`;

function partClauses({ exact, loose, weak }: ExpandedQueryPart, options: TsqueryOptions): string[] {
  const forms = { exact, ranked: [...exact, ...loose], all: [...exact, ...loose, ...weak] };
  return forms[options.forms ?? "all"].map((form) => formClause(form, options));
}

function formClause(form: WordForm, options: TsqueryOptions): string {
  const { lexemes, stemmers, merchants } = form;
  const { hasMerchants = false, isCandidate = false } = options;
  const weight = weightOf(form, options);
  const conditions = [
    ...lexemeClauses(lexemes, { ...options, weight }),
    ...(stemmers === undefined || isCandidate
      ? []
      : [anyClause(stemmers.map((stemmer) => `'${toLanguageLexeme(stemmer)}'`))]),
    ...(merchants === undefined || !hasMerchants
      ? []
      : [anyClause(merchants.map((id) => `'${toMerchantLexeme(id)}'`))]),
  ];
  return conditions.length === 1 ? conditions.join("") : `(${conditions.join(" & ")})`;
}

/**
 * Returns the field weight for a word form. A form that is only valid in titles gets the weight of the title,
 * unless the options already name a field.
 */
function weightOf({ isTitleOnly = false }: WordForm, options: TsqueryOptions): FieldWeight {
  const { weight = "", isTitle = false, isCandidate = false } = options;
  return isTitleOnly && weight === "" && !isTitle && !isCandidate ? "B" : weight;
}

function lexemeClauses(
  lexemes: readonly Lexeme[],
  { weight = "", isAnyLexeme, isTitle = false }: TsqueryOptions,
): string[] {
  const clauses = lexemes.map(({ text, isPrefix = false }) =>
    writeLexeme(isTitle ? toTitleLexeme(text) : text, `${isPrefix ? "*" : ""}${weight}`),
  );
  return isAnyLexeme === true && lexemes.every(isSignificant) ? [anyClause(clauses)] : clauses;
}

/**
 * Returns true for words of at least 3 letters. Shorter words, for example the `l` of `0.5 l`, have little
 * meaning without their neighboring words.
 */
const isSignificant = ({ text }: Lexeme): boolean => text.length >= 3;

const anyClause = (clauses: readonly string[]): string =>
  clauses.length === 1 ? clauses.join("") : `(${clauses.join(" | ")})`;

const writeLexeme = (text: string, suffix: string): string =>
  suffix === "" ? quoteLexeme(text) : `${quoteLexeme(text)}:${suffix}`;

/** Quotes a lexeme for use in the text of a tsquery or tsvector. */
export const quoteLexeme = (text: string): string =>
  `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
