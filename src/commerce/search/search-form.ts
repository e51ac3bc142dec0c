/**
 * What a search's text depends on, and what of it is a value: the same form is the same text, whatever is
 * searched for.
 */
import { type RawBuilder, sql } from "kysely";
import { parameter } from "#database/prepared-template.ts";
import { localeChain } from "#foundation/text.ts";
import { allWords, anyWord, categoryMark, everyForm, merchantMark, type ParsedQuery } from "./match-query.ts";
import type { Stems } from "./stems.ts";

export const sorts = ["relevance", "newest", "price_asc", "price_desc", "title_asc", "popularity"] as const;
export type Sort = (typeof sorts)[number];

export const matchesMax = 10_000;
export const pageSizeMax = 100;

/** Already validated. */
export interface SearchInput {
  readonly q: string;
  readonly locale: string;
  /** A country. */
  readonly market: string;
  readonly category?: string | undefined;
  readonly merchant?: string | undefined;
  readonly sort: Sort;
  readonly page: number;
  readonly pageSize: number;
}

export interface SearchForm {
  /** Without words everything there is. */
  readonly hasWords: boolean;
  /** The words may be a SKU or GTIN. */
  readonly hasCode: boolean;
  readonly hasCategory: boolean;
  readonly hasMerchant: boolean;
  readonly sort: Sort;
}

export const formKey = ({ hasWords, hasCode, hasCategory, hasMerchant, sort }: SearchForm): string =>
  `search ${Number(hasWords)}${Number(hasCode)}${Number(hasCategory)}${Number(hasMerchant)} ${sort}`;

/** A base of matches, and how it is read. */
export interface Base {
  readonly base: RawBuilder<unknown>;
  /** Of one row at most. */
  readonly main: RawBuilder<unknown>;
  /**
   * Of the base's rows; it ends with the product's id or its place, so that pages neither overlap nor leave
   * anything out.
   */
  readonly order: RawBuilder<unknown>;
}

export const country = parameter<string>("country");

export const chainLength = 3;

/**
 * What is asked for and the two most general it falls back to, always three: another length would be another
 * text for PostgreSQL to keep.
 */
export function chainOf(locale: string): readonly string[] {
  const chain = localeChain(locale);
  return [locale, chain.at(-2) ?? locale, chain.at(-1) ?? locale];
}

/**
 * The locale a product is shown and searched in: the first of the asked ones that it has, else what it falls
 * back to.
 */
export function localeOf(locales: RawBuilder<unknown>, fallback: RawBuilder<unknown>): RawBuilder<unknown> {
  const asked = Array.from({ length: chainLength }, (_, index) => {
    const locale = parameter<string>(`chain${index}`);
    return sql`when ${locale}::text = any(${locales}) then ${locale}::text`;
  });
  return sql`(case ${sql.join(asked, sql` `)} else ${fallback} end)`;
}

/**
 * Most often no merchant is suspended, and nothing is asked per match. The few that are stand in a hash
 * table; a join may be planned as every match with every merchant.
 */
export const isSelling = (merchantId: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(not exists (select from merchant where status = 'suspended') or ${merchantId} not in (select id from merchant where status = 'suspended'))`;

/** Where everything in a country is sold in one currency it is that one, and nothing has to be counted. */
export const mainCurrency = (counted: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select case when first = last then first else (${counted}) end as currency
  from (select (select currency from search_offer where country = ${country} order by currency limit 1) as first,
    (select currency from search_offer where country = ${country} order by currency desc limit 1) as last offset 0) as used`;

export const mostUsedCurrency = (
  currency: RawBuilder<unknown>,
  from: RawBuilder<unknown>,
): RawBuilder<unknown> => sql`select ${currency} from ${from} group by 1 order by count(*) desc, 1 limit 1`;

interface Searched {
  readonly query: ParsedQuery;
  readonly stems: Stems;
  readonly now: Date;
}

export type SearchValues = Readonly<Record<string, unknown>>;

/** The values of the statement's slots. */
export function searchValues(input: SearchInput, { query, stems, now }: Searched): SearchValues {
  const { market, locale, category, merchant, page, pageSize } = input;
  const offset = (page - 1) * pageSize;
  return {
    country: market,
    now,
    offset,
    limit: Math.max(0, Math.min(pageSize, matchesMax - offset)),
    ...Object.fromEntries(chainOf(locale).map((tag, index) => [`chain${index}`, tag])),
    merchant,
    merchantMark: merchantMark(""),
    categoryKey: `${market}/${category}`,
    ...(input.q.trim() === "" ? {} : wordValues(query, stems, category)),
  };
}

/** Texts of tsquery, and what is looked for in texts. */
function wordValues(query: ParsedQuery, stems: Stems, category: string | undefined): SearchValues {
  const { words, normalized, code } = query;
  const all = allWords(query, stems);
  const anyText = anyWord(query, stems, "D");
  return {
    all,
    filtered: category === undefined ? all : `(${all}) & '${categoryMark(category)}'`,
    allInTitle: allWords(query, stems, "B"),
    any: everyForm(query, stems),
    anyCode: anyWord(query, stems, "A"),
    anyTitle: anyWord(query, stems, "B"),
    anyBrand: anyWord(query, stems, "C"),
    anyCategory: anyText,
    anyText,
    // A dense word may begin anywhere in the title's run.
    phrase: words[0]?.isDense === true ? normalized : ` ${normalized}`,
    code: ` ${code} `,
    codeStart: ` ${code}`,
  };
}
