/**
 * Builds PostgreSQL tsqueries from the forms of a query. The tsquery contains only quoted words of letters
 * and digits, so the buyer's text can never act as an operator.
 */
import type { ExpandedQuery, Lexeme, PartForms, WordForm } from "./word-forms.ts";

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
}

const joinedPartsMax = 4;

/**
 * Builds a tsquery for documents that contain every part; the last word may be a prefix. Documents that
 * contain all words joined into one (`t shirt` → `tshirt`, parts of a SKU) match too.
 */
export function matchAllQueryParts({ query, forms }: ExpandedQuery, options: MatchOptions = {}): string {
  if (forms.length === 0) return matchNothing;
  const clauses = forms.map((part) => {
    // A document need not contain words that are stop words in the document's language.
    const excused = part.part.isLast ? [] : part.stopIn.map((stemmer) => `'${languageLexeme(stemmer)}'`);
    return anyClause([...partClauses(part, options), ...excused]);
  });
  const isJoinable = forms.length > 1 && forms.length <= joinedPartsMax && query.code !== null;
  const joined = isJoinable ? [writeLexeme(query.code, `*${options.weight ?? ""}`)] : [];
  return [clauses.join(" & "), ...joined].join(" | ");
}

/** Builds a tsquery for documents that contain the part. */
export const matchQueryPart = (part: PartForms, options: MatchOptions = { hasMerchants: true }): string =>
  anyClause(partClauses(part, options));

/** Builds a tsquery for documents that contain any of the parts. */
export function matchAnyQueryPart({ forms }: ExpandedQuery, options: MatchOptions = {}): string {
  const clauses = forms.map((part) => {
    const silent = part.part.isLast ? [] : part.stopIn.map((stemmer) => `!'${languageLexeme(stemmer)}'`);
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

/** More forms make `ts_rank` slow without changing the order of the matches. */
const rankedFormsMax = 24;

/** Matches no document; used if the query contains only punctuation. */
const matchNothing = "'~'";

/** Matches every document, because each has a language. */
export const matchEverything = "'~':*";

// Lexemes that name a document's language, category, merchant, brand or attribute. Words never contain their
// first character.
export const languageLexeme = (stemmer: string): string => `~${stemmer}`;
export const categoryLexeme = (slug: string): string => `#${slug}`;
export const merchantLexeme = (id: string): string => `@${id}`;
export const brandLexeme = (brand: string): string => `^${brand}`;
export const attributeLexeme = (code: string, value: string): string => `=${code}:${value}`;

function partClauses({ exact, loose, weak }: PartForms, options: MatchOptions): string[] {
  const forms = { exact, ranked: [...exact, ...loose], all: [...exact, ...loose, ...weak] };
  return forms[options.forms ?? "all"].map((form) => formClause(form, options));
}

function formClause(form: WordForm, options: MatchOptions): string {
  const { lexemes, stemmers, merchants, isTitleOnly = false } = form;
  const { hasMerchants = false } = options;
  const weight = isTitleOnly && (options.weight ?? "") === "" ? "B" : (options.weight ?? "");
  const conditions = [
    ...lexemeClauses(lexemes, { ...options, weight }),
    ...(stemmers === undefined ? [] : [anyClause(stemmers.map((stemmer) => `'${languageLexeme(stemmer)}'`))]),
    ...(merchants === undefined || !hasMerchants
      ? []
      : [anyClause(merchants.map((id) => `'${merchantLexeme(id)}'`))]),
  ];
  return conditions.length === 1 ? conditions.join("") : `(${conditions.join(" & ")})`;
}

function lexemeClauses(lexemes: readonly Lexeme[], { weight = "", isAnyLexeme }: MatchOptions): string[] {
  const clauses = lexemes.map(({ text, isPrefix = false }) =>
    writeLexeme(text, `${isPrefix ? "*" : ""}${weight}`),
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
