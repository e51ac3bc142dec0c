/**
 * Builds PostgreSQL full-text queries (tsquery) from the forms of a search query's words. Every word is
 * quoted, so the buyer's text cannot act as an operator.
 */
import type {
  SearchQueryWithWordForms,
  SearchLexeme,
  SearchQueryPartWithForms,
  SearchWordForm,
} from "./word-forms.ts";

/**
 * Weights of the fields in the search index: A for SKU and GTIN, B for title, C for brand. D means category
 * names in the column `head`, and summary and description in the column `words`. An empty text means all
 * fields.
 */
export type SearchFieldWeight = "A" | "B" | "C" | "BC" | "D" | "";

export interface TsqueryOptions {
  readonly weight?: SearchFieldWeight;
  /**
   * Selects the word forms in the tsquery. `exact`: only the words themselves, without stems, compounds and
   * synonyms. `ranked`: all forms that influence a document's score tier (which fields contain the words).
   * `all` (the default): every form.
   */
  readonly forms?: "exact" | "ranked" | "all";
  /**
   * True if a synonym must match only documents of the merchant that defined the synonym. Must be false for
   * the column `head`, which does not contain merchants. This column is compared only for documents that the
   * column `words` has found.
   */
  readonly hasMerchants?: boolean;
  /**
   * True if a document matches a form of several words even if it contains only one of these words. This is
   * used, for example, to find out which fields contain some of the query's words.
   */
  readonly isAnyLexeme?: boolean;
  /**
   * True to search titles by the lexemes that `toTitleLexeme` returns. The full-text index stores no field
   * weights, and these lexemes need none.
   */
  readonly isTitle?: boolean;
  /**
   * True to build a simpler tsquery that finds all matches and a few other documents. It accepts each word
   * form for all languages and merchants, and has no alternatives for stop words. In a catalogue of a million
   * products, it is many times faster, because the index need not read lists with half of all documents.
   */
  readonly isCandidate?: boolean;
}

const joinedPartsMax = 4;

/**
 * Builds a tsquery for the documents that contain every part of the search query; the last word may be the
 * beginning of a longer word. Documents that contain all words of the query joined to one word also match (`t
 * shirt` → `tshirt`, or the parts of a SKU).
 */
export function buildTsqueryRequiringAllParts(
  { query, forms }: SearchQueryWithWordForms,
  options: TsqueryOptions = {},
): string {
  if (forms.length === 0) return matchNothing;
  const clauses = requiredParts(forms, options).map((part) => {
    // A document need not contain a word of the search query that is a stop word in the document's language.
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
 * Returns the parts of the search query that every match must contain. A tsquery for candidates does not
 * require parts that are a stop word in some language. Otherwise, the index would have to read most documents
 * of that language.
 */
function requiredParts(
  forms: readonly SearchQueryPartWithForms[],
  { isCandidate = false }: TsqueryOptions,
): readonly SearchQueryPartWithForms[] {
  const others = isCandidate ? forms.filter(({ stopIn }) => stopIn.length === 0) : [];
  return others.length === 0 ? forms : others;
}

/** Builds a tsquery for the documents that contain the one given part of the search query. */
export const buildTsqueryForSinglePart = (
  part: SearchQueryPartWithForms,
  options: TsqueryOptions = { hasMerchants: true },
): string => anyClause(partClauses(part, options));

/** Builds a tsquery for the documents that contain at least one part of the search query. */
export function buildTsqueryRequiringAnyPart(
  { forms }: SearchQueryWithWordForms,
  options: TsqueryOptions = {},
): string {
  const clauses = forms.map((part) => {
    const silent = part.part.isLast ? [] : part.stopIn.map((stemmer) => `!'${toLanguageLexeme(stemmer)}'`);
    return [anyClause(partClauses(part, options)), ...silent].join(" & ");
  });
  return clauses.length === 0 ? matchNothing : clauses.join(" | ");
}

/**
 * Builds the tsquery with which `ts_rank` computes the text rank of a document. It contains the forms of all
 * parts of the search query in all languages.
 */
export function buildRankingTsquery({ forms }: SearchQueryWithWordForms): string {
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

/** A tsquery that matches no document; used if the search query contains only punctuation. */
const matchNothing = "'~'";

/** A tsquery that matches every document, because every document has a lexeme for its language. */
export const matchEverything = "'~':*";

// The following functions return lexemes that represent a property of a document, for example its language.
// The lexemes of each function begin with a different character, which occurs in no word.
export const toLanguageLexeme = (stemmer: string): string => `~${stemmer}`;
export const toCategoryLexeme = (slug: string): string => `#${slug}`;
export const toMerchantLexeme = (id: string): string => `@${id}`;
export const toBrandLexeme = (brand: string): string => `^${brand}`;
/**
 * Returns the lexeme that represents a word in the title. The full-text index stores no weights of fields.
 * With the word itself, PostgreSQL would have to read all documents that contain the word in any field.
 */
export const toTitleLexeme = (word: string): string => `"${word}`;
/**
 * Returns the lexeme that represents a random sample of products; `size` is the size of the sample in 64ths
 * of all products.
 */
export const toRandomProductSampleLexeme = (size: number): string => `%${size}`;
export const toPopularityStepLexeme = (step: number): string => `+${step}`;
export const toAttributeLexeme = (code: string, value: string): string => `=${code}:${value}`;

function partClauses({ exact, loose, weak }: SearchQueryPartWithForms, options: TsqueryOptions): string[] {
  const forms = { exact, ranked: [...exact, ...loose], all: [...exact, ...loose, ...weak] };
  return forms[options.forms ?? "all"].map((form) => formClause(form, options));
}

function formClause(form: SearchWordForm, options: TsqueryOptions): string {
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
 * Returns the weight that represents the field in which a word form is searched. A form that is only valid in
 * titles gets the weight of the title, unless the options select another field.
 */
function weightOf({ isTitleOnly = false }: SearchWordForm, options: TsqueryOptions): SearchFieldWeight {
  const { weight = "", isTitle = false, isCandidate = false } = options;
  return isTitleOnly && weight === "" && !isTitle && !isCandidate ? "B" : weight;
}

function lexemeClauses(
  lexemes: readonly SearchLexeme[],
  { weight = "", isAnyLexeme, isTitle = false }: TsqueryOptions,
): string[] {
  const clauses = lexemes.map(({ text, isPrefix = false }) =>
    writeLexeme(isTitle ? toTitleLexeme(text) : text, `${isPrefix ? "*" : ""}${weight}`),
  );
  return isAnyLexeme === true && lexemes.every(isSignificant) ? [anyClause(clauses)] : clauses;
}

/**
 * Returns true if the word has at least 3 letters. Shorter words, for example the `l` of `0.5 l`, mean little
 * without their neighboring words.
 */
const isSignificant = ({ text }: SearchLexeme): boolean => text.length >= 3;

const anyClause = (clauses: readonly string[]): string =>
  clauses.length === 1 ? clauses.join("") : `(${clauses.join(" | ")})`;

const writeLexeme = (text: string, suffix: string): string =>
  suffix === "" ? quoteLexeme(text) : `${quoteLexeme(text)}:${suffix}`;

/** Quotes a word for the text of a tsquery or tsvector. */
export const quoteLexeme = (text: string): string =>
  `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
