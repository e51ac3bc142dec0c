/**
 * Builds PostgreSQL tsqueries from the forms of a query. The tsquery contains only quoted words of letters
 * and digits, so the buyer's text can never act as an operator.
 */
import type { ExpandedQuery, Lexeme, QueryPartForms, WordForm } from "./word-forms.ts";

/**
 * Field weights of the index: A for SKU and GTIN, B for title, C for brand, D for category names (column
 * `head`) or for summary and description (column `words`). An empty string searches all fields.
 */
export type FieldWeight = "A" | "B" | "C" | "BC" | "D" | "";

export interface MatchOptions {
  readonly weight?: FieldWeight;
  /**
   * `exact` leaves out stems, compounds and synonyms; `ranked` leaves out only forms that do not raise a
   * document's tier; `all` is the default.
   */
  readonly forms?: "exact" | "ranked" | "all";
  /**
   * False leaves out which merchants a synonym belongs to. Only the column `words` has merchants; `head` is
   * compared for documents that `words` has found.
   */
  readonly hasMerchants?: boolean;
  /** True if one word of a form is enough, for example to find the fields that contain words of the query. */
  readonly isAnyLexeme?: boolean;
  /** True searches the title by the lexemes of `toTitleLexeme`, which needs no weight. */
  readonly isTitle?: boolean;
  /**
   * True leaves out the conditions of single forms: the languages and merchants that a form belongs to, and
   * words that some languages excuse. The tsquery then finds a few more documents, but in a catalogue of a
   * million products many times faster, because the index reads no list that contains half of all documents.
   */
  readonly isCandidate?: boolean;
}

const joinedPartsMax = 4;

/**
 * Builds a tsquery for documents that contain every part; the last word may be a prefix. Documents that
 * contain all words joined into one (`t shirt` → `tshirt`, parts of a SKU) match too.
 */
export function matchAllQueryParts({ query, forms }: ExpandedQuery, options: MatchOptions = {}): string {
  if (forms.length === 0) return matchNothing;
  const clauses = requiredParts(forms, options).map((part) => {
    // A document need not contain words that are stop words in the document's language.
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

/** The parts that every match has. Candidates need no stop words, which most documents of a language have. */
function requiredParts(
  forms: readonly QueryPartForms[],
  { isCandidate = false }: MatchOptions,
): readonly QueryPartForms[] {
  const others = isCandidate ? forms.filter(({ stopIn }) => stopIn.length === 0) : [];
  return others.length === 0 ? forms : others;
}

/** Builds a tsquery for documents that contain the part. */
export const matchQueryPart = (
  part: QueryPartForms,
  options: MatchOptions = { hasMerchants: true },
): string => anyClause(partClauses(part, options));

/** Builds a tsquery for documents that contain any of the parts. */
export function matchAnyQueryPart({ forms }: ExpandedQuery, options: MatchOptions = {}): string {
  const clauses = forms.map((part) => {
    const silent = part.part.isLast ? [] : part.stopIn.map((stemmer) => `!'${toLanguageLexeme(stemmer)}'`);
    return [anyClause(partClauses(part, options)), ...silent].join(" & ");
  });
  return clauses.length === 0 ? matchNothing : clauses.join(" | ");
}

/** Builds a tsquery of the lexemes of all parts in all languages, used by `ts_rank` for scoring. */
export function matchAnyForm({ forms }: ExpandedQuery): string {
  const ranked = forms.filter(({ part, stopIn }) => part.isLast || stopIn.length === 0);
  const clauses = ranked.flatMap(({ exact, loose }) =>
    [...exact, ...loose.filter(({ merchants }) => merchants === undefined)].map((form) =>
      formClause({ lexemes: form.lexemes }, {}),
    ),
  );
  return clauses.length === 0 ? matchNothing : [...new Set(clauses)].slice(0, rankedFormsMax).join(" | ");
}

/** The maximum number of word forms in the ranking. More make `ts_rank` slow and leave the order unchanged. */
const rankedFormsMax = 24;

/** Matches no document; used if the query contains only punctuation. */
const matchNothing = "'~'";

/** Matches every document, because each has a language. */
export const matchEverything = "'~':*";

// Lexemes that name a property of a document, for example its language. Words never contain their first
// character.
export const toLanguageLexeme = (stemmer: string): string => `~${stemmer}`;
export const toCategoryLexeme = (slug: string): string => `#${slug}`;
export const toMerchantLexeme = (id: string): string => `@${id}`;
export const toBrandLexeme = (brand: string): string => `^${brand}`;
/** A word of the title. The index has no weights, so without it all documents with the word would be read. */
export const toTitleLexeme = (word: string): string => `"${word}`;
/** A random sample of products; `size` is its share of all products in 64ths. */
export const toSampleLexeme = (size: number): string => `%${size}`;
export const toPopularityLexeme = (step: number): string => `+${step}`;
export const toAttributeLexeme = (code: string, value: string): string => `=${code}:${value}`;

function partClauses({ exact, loose, weak }: QueryPartForms, options: MatchOptions): string[] {
  const forms = { exact, ranked: [...exact, ...loose], all: [...exact, ...loose, ...weak] };
  return forms[options.forms ?? "all"].map((form) => formClause(form, options));
}

function formClause(form: WordForm, options: MatchOptions): string {
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

/** Forms that count only in the title keep to it, unless the options name the fields. */
function weightOf({ isTitleOnly = false }: WordForm, options: MatchOptions): FieldWeight {
  const { weight = "", isTitle = false, isCandidate = false } = options;
  return isTitleOnly && weight === "" && !isTitle && !isCandidate ? "B" : weight;
}

function lexemeClauses(
  lexemes: readonly Lexeme[],
  { weight = "", isAnyLexeme, isTitle = false }: MatchOptions,
): string[] {
  const clauses = lexemes.map(({ text, isPrefix = false }) =>
    writeLexeme(isTitle ? toTitleLexeme(text) : text, `${isPrefix ? "*" : ""}${weight}`),
  );
  return isAnyLexeme === true && lexemes.every(isSignificant) ? [anyClause(clauses)] : clauses;
}

/** Shorter words, for example the `l` of `0.5 l`, say too little without the words around them. */
const isSignificant = ({ text }: Lexeme): boolean => text.length >= 3;

const anyClause = (clauses: readonly string[]): string =>
  clauses.length === 1 ? clauses.join("") : `(${clauses.join(" | ")})`;

const writeLexeme = (text: string, suffix: string): string =>
  suffix === "" ? quoteLexeme(text) : `${quoteLexeme(text)}:${suffix}`;

/** Quotes a lexeme in a tsquery or tsvector. */
export const quoteLexeme = (text: string): string =>
  `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
