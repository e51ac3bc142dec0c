/**
 * Separates a search into its form, which determines the SQL text (filters and sort order), and the values
 * bound as parameters. Searches of the same form share one prepared statement.
 */
import { type RawBuilder, sql } from "kysely";
import { parameter } from "#database/prepared-template.ts";
import { localeChain } from "#foundation/text.ts";
import {
  matchAllWords,
  matchAnyWord,
  categoryLexeme,
  matchAnyForm,
  merchantLexeme,
  type ParsedSearchQuery,
} from "./match-query.ts";
import type { StemsByStemmer } from "./stems.ts";

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

/** A search request whose values have been validated. */
export interface SearchInput {
  readonly q: string;
  readonly locale: string;
  /** ISO 3166-1 alpha-2 code of the country to which products are sold. */
  readonly market: string;
  readonly category?: string | undefined;
  readonly merchant?: string | undefined;
  readonly sort: SearchSort;
  readonly page: number;
  readonly pageSize: number;
}

export interface SearchStatementForm {
  /** False if the search text is empty; then all products match. */
  readonly hasWords: boolean;
  /** True if the search text may be a SKU or GTIN. */
  readonly hasCode: boolean;
  readonly hasCategory: boolean;
  readonly hasMerchant: boolean;
  readonly sort: SearchSort;
}

export const searchStatementFormKey = ({
  hasWords,
  hasCode,
  hasCategory,
  hasMerchant,
  sort,
}: SearchStatementForm): string =>
  `search ${Number(hasWords)}${Number(hasCode)}${Number(hasCategory)}${Number(hasMerchant)} ${sort}`;

/** SQL of the matching products of a search: a subquery, their main currency and their order. */
export interface SearchMatchesSql {
  readonly base: RawBuilder<unknown>;
  /** Subquery with the main currency of the matches; returns at most one row. */
  readonly main: RawBuilder<unknown>;
  /**
   * Sort order of the matches. The last sort key is unique (product ID or row number), so that pages neither
   * overlap nor omit a product.
   */
  readonly order: RawBuilder<unknown>;
}

export const countryParameter = parameter<string>("country");

export const localeChainLength = 3;

/**
 * Returns the requested locale and its two most general fallbacks. The list always has three entries, because
 * another length would need another prepared statement.
 */
export function searchLocaleChain(locale: string): readonly string[] {
  const chain = localeChain(locale);
  return [locale, chain.at(-2) ?? locale, chain.at(-1) ?? locale];
}

/**
 * SQL expression for the locale in which a product is searched and shown: the first requested locale that the
 * product has, or else the fallback.
 */
export function resolvedLocaleSql(
  locales: RawBuilder<unknown>,
  fallback: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const requested = Array.from({ length: localeChainLength }, (_, index) => {
    const locale = parameter<string>(`chain${index}`);
    return sql`when ${locale}::text = any(${locales}) then ${locale}::text`;
  });
  return sql`(case ${sql.join(requested, sql` `)} else ${fallback} end)`;
}

/**
 * SQL condition that the merchant is not suspended. Usually no merchant is suspended and nothing is checked
 * per match. PostgreSQL keeps the few suspended merchants in a hash table; a join could be planned as a
 * comparison of every match with every merchant.
 */
export const isMerchantActiveSql = (merchantId: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(not exists (select from merchant where status = 'suspended') or ${merchantId} not in (select id
    from merchant where status = 'suspended'))`;

/**
 * SQL for the main currency. If all offers of the country have the same currency, that currency is used
 * without counting.
 */
export const mainCurrencySql = (counted: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select case when first = last then first else (${counted}) end as currency
  from (select (select currency from search_offer where country = ${countryParameter} order by currency
  limit 1) as first,
    (select currency from search_offer where country = ${countryParameter} order by currency desc
    limit 1) as last offset 0) as used`;

export const mostUsedCurrencySql = (
  currency: RawBuilder<unknown>,
  from: RawBuilder<unknown>,
): RawBuilder<unknown> => sql`select ${currency} from ${from} group by 1 order by count(*) desc, 1 limit 1`;

interface ParsedSearch {
  readonly query: ParsedSearchQuery;
  readonly stems: StemsByStemmer;
  readonly now: Date;
}

export type SearchValues = Readonly<Record<string, unknown>>;

/** Returns the parameter values of the search statement. */
export function searchValues(input: SearchInput, { query, stems, now }: ParsedSearch): SearchValues {
  const { market, locale, category, merchant, page, pageSize } = input;
  const offset = (page - 1) * pageSize;
  return {
    country: market,
    now,
    offset,
    limit: Math.max(0, Math.min(pageSize, searchMatchesMax - offset)),
    ...Object.fromEntries(searchLocaleChain(locale).map((tag, index) => [`chain${index}`, tag])),
    merchant,
    merchantMark: merchantLexeme(""),
    categoryKey: `${market}/${category}`,
    ...(input.q.trim() === "" ? {} : wordValues(query, stems, category)),
  };
}

/** Returns the parameters that depend on the words: tsquery texts, and texts compared with `strpos`. */
function wordValues(
  query: ParsedSearchQuery,
  stems: StemsByStemmer,
  category: string | undefined,
): SearchValues {
  const { words, normalized, code } = query;
  const all = matchAllWords(query, stems);
  const anyText = matchAnyWord(query, stems, "D");
  return {
    all,
    filtered: category === undefined ? all : `(${all}) & '${categoryLexeme(category)}'`,
    allInTitle: matchAllWords(query, stems, "B"),
    any: matchAnyForm(query, stems),
    anyCode: matchAnyWord(query, stems, "A"),
    anyTitle: matchAnyWord(query, stems, "B"),
    anyBrand: matchAnyWord(query, stems, "C"),
    anyCategory: anyText,
    anyText,
    // A dense word (without spaces around it) may begin anywhere in the title; another word must follow a
    // space.
    phrase: words[0]?.isDense === true ? normalized : ` ${normalized}`,
    code: ` ${code} `,
    codeStart: ` ${code}`,
  };
}
