/**
 * Separates a search into its form (the filters and the sort order, which determine the SQL text) and the
 * values of its parameters. All searches of the same form use one prepared statement.
 */
import { type RawBuilder, sql } from "kysely";
import { createNamedSqlTemplateParameter } from "#database/prepared-template.ts";
import { getLocaleFallbackChain } from "#foundation/text.ts";
import type { StockAvailability } from "#commerce/catalog/availability.ts";
import {
  toAttributeLexeme,
  toBrandLexeme,
  toCategoryLexeme,
  buildTsqueryRequiringAllParts,
  buildRankingTsquery,
  buildTsqueryRequiringAnyPart,
  matchEverything,
  type TsqueryOptions,
  toMerchantLexeme,
  quoteLexeme,
} from "./match-query.ts";
import type { SearchQueryWithWordForms } from "./word-forms.ts";

export const searchSorts = [
  "relevance",
  "newest",
  "price_asc",
  "price_desc",
  "title_asc",
  "popularity",
] as const;
export type SearchSort = (typeof searchSorts)[number];

export const searchMatchesMax = 10_000;
export const searchPageSizeMax = 100;

export interface SearchMatchLimits {
  /**
   * Minimum number of search documents in the catalogue from which matches are limited. In a smaller
   * catalogue, all matches are ranked and no random sample is read.
   */
  readonly documentsMin: number;
  /**
   * Maximum number of ranked documents that contain all words of the query in the title. The actual number
   * can differ a little, because the limit is applied by a random sample.
   */
  readonly titlesMax: number;
  /**
   * Maximum number of ranked documents that contain the words of the query in any field, without the
   * documents with all words in the title. The actual number can differ a little, because the limit is
   * applied by a random sample.
   */
  readonly othersMax: number;
}

export const defaultSearchMatchLimits: SearchMatchLimits = {
  documentsMin: 200_000,
  titlesMax: 3000,
  othersMax: 1000,
};

/** A search request whose values have been checked. */
export interface ProductSearchInput {
  readonly q: string;
  readonly locale: string;
  /** ISO 3166-1 alpha-2 code of the country in which the buyer shops. */
  readonly market: string;
  readonly category?: string | undefined;
  readonly merchant?: string | undefined;
  readonly sort: SearchSort;
  readonly page: number;
  readonly pageSize: number;
  /**
   * Filters that only GraphQL offers. The filters by category and by merchant, which REST also offers, are
   * separate fields.
   */
  readonly filters?: ProductSearchFilters | undefined;
  /** True to return the parts of each found product's score. */
  readonly isExplained?: boolean | undefined;
  /** True to count facets of product attributes too, for example of the material. */
  readonly hasAttributeFacets?: boolean | undefined;
  /** Limits of how many matches are ranked; `defaultSearchMatchLimits` by default. */
  readonly matchLimits?: SearchMatchLimits;
}

/**
 * Filters of a search. A product must pass all filters. If a filter has several values, the product must have
 * one of them.
 */
export interface ProductSearchFilters {
  readonly brands?: readonly string[] | undefined;
  /**
   * Range in which the product's lowest price in the country must be; both ends are included. A product whose
   * price is in another currency than the range does not match.
   */
  readonly price?: PriceFilter | undefined;
  readonly availabilities?: readonly StockAvailability[] | undefined;
  readonly attributes?: readonly AttributeFilter[] | undefined;
}

interface PriceFilter {
  readonly currency: string;
  readonly minMinor: number | null;
  readonly maxMinor: number | null;
}

interface AttributeFilter {
  readonly code: string;
  readonly values: readonly string[];
}

export interface SearchStatementVariant {
  /**
   * True if the search has words, or filters that need the full-text index. It then reads the table
   * `search_document`, otherwise the table `search_offer`.
   */
  readonly hasWords: boolean;
  /** True if the search text can be a SKU or GTIN (Global Trade Item Number). */
  readonly hasCode: boolean;
  readonly hasCategory: boolean;
  readonly hasMerchant: boolean;
  readonly hasPrice: boolean;
  readonly hasAvailability: boolean;
  readonly hasAttributeFacets: boolean;
  readonly isExplained: boolean;
  /**
   * True if the index finds candidates by the simpler tsquery `candidates`, and the tsquery `filtered` then
   * selects the matches among these candidates.
   */
  readonly hasCandidates: boolean;
  /** True if only a part of the matches is ranked, because there are many; see `chooseSearchMatchStrategy`. */
  readonly isLimited: boolean;
  readonly sort: SearchSort;
}

export const getSearchStatementCacheKey = ({ sort, ...flags }: SearchStatementVariant): string =>
  `search ${Object.values(flags).map(Number).join("")} ${sort}`;

/** SQL for the products that a search finds: a subquery, their main currency and their sort order. */
export interface MatchingProductsSqlFragments {
  readonly base: RawBuilder<unknown>;
  /**
   * SQL subquery for the main currency: the currency that most of the found products have. Only prices in the
   * main currency are compared. Returns at most one row.
   */
  readonly main: RawBuilder<unknown>;
  /**
   * Sort order of the found products. The last sort key is unique (product id or row number), so that each
   * product is on exactly one page.
   */
  readonly order: RawBuilder<unknown>;
}

export const countryParameter = createNamedSqlTemplateParameter<string>("country");

export const localeChainLength = 3;

/**
 * Returns the requested locale and its two most general fallbacks. The list always has three entries and
 * repeats entries if needed, because a list of another length would need another prepared statement.
 */
export function getSearchLocaleFallbackChain(locale: string): readonly string[] {
  const chain = getLocaleFallbackChain(locale);
  return [locale, chain.at(-2) ?? locale, chain.at(-1) ?? locale];
}

/**
 * SQL expression for the locale in which a product is searched and shown: the first of the requested locales
 * that the product has, or else the fallback.
 */
export function productDisplayLocaleSql(
  locales: RawBuilder<unknown>,
  fallback: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const requested = Array.from({ length: localeChainLength }, (_, index) => {
    const locale = createNamedSqlTemplateParameter<string>(`chain${index}`);
    return sql`when ${locale}::text = any(${locales}) then ${locale}::text`;
  });
  return sql`(case ${sql.join(requested, sql` `)} else ${fallback} end)`;
}

/**
 * SQL condition that is true if the merchant is not suspended. Usually no merchant is suspended, and the
 * condition then costs nothing for each match. With a join instead, PostgreSQL might compare every match with
 * every merchant; with `not in`, it puts the few suspended merchants into a hash table.
 */
export const merchantActiveConditionSql = (merchantId: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(not exists (select from merchant where status = 'suspended') or ${merchantId} not in (select id
    from merchant where status = 'suspended'))`;

/**
 * SQL for the main currency of the found products: the currency that most of them have. If all offers in the
 * country have the same currency, returns this currency without counting.
 */
export const mainCurrencyOfFoundProductsSql = (counted: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select case when first = last then first else (${counted}) end as currency
  from (select (select currency from search_offer where country = ${countryParameter} order by currency
  limit 1) as first,
    (select currency from search_offer where country = ${countryParameter} order by currency desc
    limit 1) as last offset 0) as used`;

export const mostUsedCurrencySql = (
  currency: RawBuilder<unknown>,
  from: RawBuilder<unknown>,
): RawBuilder<unknown> => sql`select ${currency} from ${from} group by 1 order by count(*) desc, 1 limit 1`;

interface ExpandedSearch {
  readonly expanded: SearchQueryWithWordForms;
  readonly now: Date;
}

export type SearchSqlParameterValues = Readonly<Record<string, unknown>>;

/** Returns the values of the parameters in the SQL statement of the search. */
export function getSearchSqlParameterValues(
  input: ProductSearchInput,
  { expanded, now }: ExpandedSearch,
): SearchSqlParameterValues {
  const { market, locale, category, merchant, page, pageSize, filters = {} } = input;
  const { price, availabilities } = filters;
  const offset = (page - 1) * pageSize;
  return {
    country: market,
    now,
    offset,
    limit: Math.max(0, Math.min(pageSize, searchMatchesMax - offset)),
    ...Object.fromEntries(getSearchLocaleFallbackChain(locale).map((tag, index) => [`chain${index}`, tag])),
    merchant,
    merchantMark: toMerchantLexeme(""),
    categoryKey: `${market}/${category}`,
    priceCurrency: price?.currency,
    priceMin: price?.minMinor ?? 0,
    priceMax: price?.maxMinor ?? Number.MAX_SAFE_INTEGER,
    availabilities,
    ...(doesSearchNeedFullTextIndex(input) ? wordValues(expanded, input) : {}),
  };
}

/** Returns true if the search has words, or filters that need the full-text index. */
export const doesSearchNeedFullTextIndex = ({ q, filters }: ProductSearchInput): boolean =>
  q.trim() !== "" || Object.values(filters ?? {}).some((filter) => filter !== undefined);

/**
 * Returns the SQL parameters that depend on the words of the query: texts of tsqueries, and texts that SQL
 * searches with `strpos`.
 */
function wordValues(expanded: SearchQueryWithWordForms, input: ProductSearchInput): SearchSqlParameterValues {
  const { query } = expanded;
  const anyText = buildTsqueryRequiringAnyPart(expanded, { weight: "D", isAnyLexeme: true });
  return {
    all: buildTsqueryRequiringAllParts(expanded, { forms: "ranked" }),
    filtered: addFiltersToTsquery(matchRequired(expanded, input), input),
    candidates: addFiltersToTsquery(matchRequired(expanded, input, { isCandidate: true }), input),
    exactInTitle: buildTsqueryRequiringAllParts(expanded, { weight: "B", forms: "exact" }),
    allInTitle: buildTsqueryRequiringAllParts(expanded, { weight: "B", forms: "ranked" }),
    allInTitleOrBrand: buildTsqueryRequiringAllParts(expanded, { weight: "BC", forms: "ranked" }),
    partInTitle: buildTsqueryRequiringAnyPart(expanded, { weight: "B" }),
    any: buildRankingTsquery(expanded),
    anyCode: buildTsqueryRequiringAnyPart(expanded, { weight: "A", isAnyLexeme: true }),
    anyTitle: buildTsqueryRequiringAnyPart(expanded, { weight: "B", isAnyLexeme: true }),
    anyBrand: buildTsqueryRequiringAnyPart(expanded, { weight: "C", isAnyLexeme: true }),
    anyCategory: anyText,
    anyText,
    phrase: buildTitleSearchPhrase(expanded),
    code: ` ${query.code} `,
    codeStart: ` ${query.code}`,
  };
}

/**
 * Returns the text that is searched in titles as a whole phrase. Titles get a space at each end, so a space
 * at an end of the phrase matches only at the beginning or end of a word. A phrase in a script without spaces
 * between words (as in Chinese) may begin anywhere in a title. The last word may be the beginning of a longer
 * word, unless it is a known word.
 */
export function buildTitleSearchPhrase({ query, forms }: SearchQueryWithWordForms): string {
  const phrase = forms.map(({ part }) => part.text).join(" ");
  const isComplete = (forms.at(-1)?.weak.length ?? 0) > 0;
  return query.words[0]?.isDense === true ? phrase : ` ${phrase}${isComplete ? " " : ""}`;
}

const matchRequired = (
  expanded: SearchQueryWithWordForms,
  { q }: ProductSearchInput,
  options: TsqueryOptions = { hasMerchants: true },
): string => (q.trim() === "" ? matchEverything : buildTsqueryRequiringAllParts(expanded, options));

const anyOf = (lexemes: readonly string[]): string => `(${lexemes.map(quoteLexeme).join(" | ")})`;

/** Extends a tsquery by the filters for category, brand and attributes. */
export function addFiltersToTsquery(words: string, { category, filters = {} }: ProductSearchInput): string {
  const { brands, attributes = [] } = filters;
  const conditions = [
    ...(category === undefined ? [] : [quoteLexeme(toCategoryLexeme(category))]),
    ...(brands === undefined ? [] : [anyOf(brands.map(toBrandLexeme))]),
    ...attributes.map(({ code, values }) => anyOf(values.map((value) => toAttributeLexeme(code, value)))),
  ];
  return conditions.length === 0 ? words : `(${words}) & ${conditions.join(" & ")}`;
}
