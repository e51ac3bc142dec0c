/** The matches of words: found by the index of the words, and then read, scored and counted from their documents alone. */
import { type RawBuilder, sql } from "kysely";
import { slot } from "#database/kept-statement.ts";
import { countedKey, currencyIn, fallbackLocaleIn, isInStock, minMinorIn } from "./offer-key.ts";
import { type Base, country, isSelling, localeOf, mainCurrency, mostUsedCurrency, type SearchForm, type Sort } from "./search-form.ts";

type Sql = RawBuilder<unknown>;

export function matched(form: SearchForm): Base {
  const { sort } = form;
  const key = sql`d.offer_key`;
  const price = sql`, ${currencyIn(key)} as currency, ${minMinorIn(key)} as min_minor`;
  const sortKey: Sql = {
    relevance: sql`, ${scoreOf(form, isInStock(key))} as score`,
    newest: sql`, d.published_at`,
    price_asc: price,
    price_desc: price,
    title_asc: sql`, d.title_folded`,
    popularity: sql`, o.popularity, d.published_at`,
  }[sort];
  // What is bought of it is counted anew each hour, and stands with its offer alone.
  const popularity = sort === "popularity" ? sql`join search_offer o on o.product_id = d.product_id and o.country = ${country}` : sql``;
  const base = sql`
    select d.product_id, d.locale, d.group_key, d.brand, ${countedKey(key)} as offer ${sortKey}
    from (select *, offers ->> ${country}::text as offer_key from search_document where words @@ (${query(form)}) offset 0) as d ${popularity}
    where ${key} is not null and ${isShown(key)} and ${isSelling(sql`d.merchant_id`)}`;
  return { base, main: mainCurrency(mostUsedCurrency(currencyIn(sql`offer`), sql`base`)), order: orders[sort] };
}

/** Whether this is the document its product is shown by. That of the asked locale always is. */
function isShown(key: Sql): Sql {
  const asked = sql`${slot("chain0")}::text`;
  return sql`(d.locale = ${asked} or (not ${asked} = any(d.locales) and d.locale = ${localeOf(sql`d.locales`, fallbackLocaleIn(key))}))`;
}

const mainCurrencyFirst = sql`currency is distinct from (select currency from main), currency`;

const orders: Record<Sort, Sql> = {
  relevance: sql`score desc, product_id`,
  newest: sql`published_at desc, product_id`,
  price_asc: sql`${mainCurrencyFirst}, min_minor, product_id`,
  price_desc: sql`${mainCurrencyFirst}, min_minor desc, product_id`,
  title_asc: sql`title_folded, product_id`,
  popularity: sql`popularity desc, published_at desc, product_id`,
};

/**
 * The words with the filters, so that the index does not give many matches to throw most of them away. A subselect: PostgreSQL plans without
 * looking at the words, and so always by their index; of common words it would rather read all documents, and unpack each one's.
 */
function query({ hasMerchant }: SearchForm): Sql {
  const words = slot<string>("filtered");
  if (!hasMerchant) return sql`select ${words}::tsquery`;
  return sql`select ${words}::tsquery && quote_literal(${slot("merchantMark")}::text || id)::tsquery from merchant where slug = ${slot("merchant")}::text`;
}

/** The steps are further apart than everything below them together: what is in stock comes first within a step, and only there. */
export function scoreOf({ hasCode }: SearchForm, inStock: Sql): Sql {
  const code = hasCode
    ? sql`when strpos(d.codes, ${slot("codeStart")}::text) > 0 then case when strpos(d.codes, ${slot("code")}::text) > 0 then 1000 else 500 end`
    : sql``;
  return sql`(case ${code} when strpos(' ' || d.title_folded, ${slot("phrase")}::text) > 0 then 200 when d.head @@ ${slot("allInTitle")}::tsquery then 100
      when d.head @@ ${slot("all")}::tsquery then 50 else 1 end
    + case when ${inStock} then 20 else 0 end
    + 10 * ts_rank('{0.3,0.3,1,0.5}', d.head, ${slot("any")}::tsquery, 1)::float8)`;
}
