/**
 * The one statement of a search: matches, their order, the page, the facets. One text per combination of filters and sort, never a filter that
 * may be null, so that PostgreSQL's generic plan of it stays a good one. From each product exactly one document takes part.
 */
import { type RawBuilder, sql } from "kysely";
import { facetsOf } from "./facet-statement.ts";
import { categoryMark, merchantMark } from "./match-query.ts";

export const sorts = ["relevance", "newest", "price_asc", "price_desc", "title_asc", "popularity"] as const;
export type Sort = (typeof sorts)[number];

export const matchesMax = 10_000;

export interface Selection {
  readonly country: string;
  /** The asked locale and what it falls back to, best first. */
  readonly chain: readonly string[];
  readonly category: string | undefined;
  readonly merchant: string | undefined;
  readonly sort: Sort;
  readonly offset: number;
  readonly limit: number;
  /** Null: everything there is. */
  readonly match: Match | null;
}

/** Texts of tsquery, and what is looked for in texts. */
export interface Match {
  readonly all: string;
  readonly allInTitle: string;
  readonly any: string;
  readonly anyCode: string;
  readonly anyTitle: string;
  readonly anyBrand: string;
  readonly anyCategory: string;
  readonly anyText: string;
  readonly phrase: string;
  /** ` code ` and ` code`; null where the query is too short for one. */
  readonly code: string | null;
  readonly codeStart: string | null;
}

type Sql = RawBuilder<unknown>;

export function searchStatement(selection: Selection): Sql {
  // Without words everything is equally relevant.
  const sorted = orders[selection.match === null && selection.sort === "relevance" ? "popularity" : selection.sort];
  return sql`
    with ${baseOf(selection)},
    found as materialized (select * from (select *, row_number() over (order by ${sorted}) as place from base) as r where place <= ${matchesMax + 1}::int),
    page as (${pageOf(selection)})
    select (select coalesce(json_agg(p order by p.place), '[]') from page p) as hits, (select count(*) from found) as total,
      (select currency from main) as currency,
      (select locale from found where place <= ${matchesMax}::int group by locale order by count(*) desc, locale limit 1) as locale,
      ${facetsOf(matchesMax)} as facets,
      (select max(indexed_at) from search_document) as indexed_at`;
}

/** Every match of the words; of a browse, the first of its order. With it the currency that most of them are sold in. */
function baseOf(selection: Selection): Sql {
  const { match, sort } = selection;
  if (match !== null) return sql`base as materialized (${wordMatches(selection, match)}), main as (${mostUsed(sql`base`)})`;
  if (sort === "relevance" || sort === "popularity")
    return sql`base as materialized (${browse(selection, popularity)}), main as (${mostUsed(sql`base`)})`;
  // The same currency in every order: that of the most popular.
  const main = mostUsed(sql`(select o.currency from ${offers(selection)} order by ${popularity} limit ${matchesMax}::int) as popular`);
  const base = sort === "newest" ? browse(selection, newest) : sort === "title_asc" ? browseByTitle(selection) : browseByPrice(selection);
  return sql`main as materialized (${main}), base as materialized (${base})`;
}

const popularity = sql`o.popularity desc, o.published_at desc, o.product_id`;
const newest = sql`o.published_at desc, o.product_id`;
const mostUsed = (from: Sql): Sql => sql`select currency from ${from} group by currency order by count(*) desc, currency limit 1`;

const offerColumns = sql`o.product_id, o.merchant_id, o.currency, o.min_minor, o.availability, o.in_stock, o.popularity, o.published_at, o.brand, o.category_keys`;

function wordMatches(selection: Selection, match: Match): Sql {
  const { sort } = selection;
  const sortKey = sort === "relevance" ? sql`, ${scoreOf(match)} as score` : sort === "title_asc" ? sql`, d.title_folded` : sql``;
  return sql`select ${offerColumns}, d.locale ${sortKey} from ${documents(selection)} and d.words @@ (${filtered(selection, match.all)})`;
}

/**
 * The query with the filters, so that the index of the words does not give many matches to throw most of them away. A subselect: PostgreSQL plans
 * without looking at the words, and so always by their index; of common words it would rather read all documents, and unpack each one's.
 */
function filtered({ category, merchant }: Selection, all: string): Sql {
  const query = sql`${category === undefined ? all : `(${all}) & '${categoryMark(category)}'`}::tsquery`;
  if (merchant === undefined) return sql`select ${query}`;
  return sql`select ${query} && quote_literal(${merchantMark("")}::text || id)::tsquery from merchant where slug = ${merchant}`;
}

/** The documents that take part: one per product. The last line decides; the one before says the same of most, from the document alone. */
function documents(selection: Selection): Sql {
  const { chain } = selection;
  return sql`search_document d join ${offers(selection, sql`o.product_id = d.product_id`)}
    and (d.locale = any(${chain}::text[]) or not d.locales && ${chain}::text[])
    and d.locale = ${localeOf(chain)}`;
}

/** The offers of the country that pass the filters, as what follows `from`; what is added must start with `and`. */
function offers({ country, category, merchant }: Selection, joined?: Sql): Sql {
  // `not in` keeps the few that are suspended in a hash table; a join of merchants may be planned as every offer with every merchant.
  const filters = [sql`o.country = ${country}`, sql`o.merchant_id not in (select id from merchant where status = 'suspended')`];
  if (category !== undefined) filters.push(sql`o.category_keys @> array[${`${country}/${category}`}]::text[]`);
  if (merchant !== undefined) filters.push(sql`o.merchant_id = (select id from merchant where slug = ${merchant})`);
  return sql`search_offer o ${joined === undefined ? sql`` : sql`on ${joined}`} where ${sql.join(filters, sql` and `)}`;
}

const browse = (selection: Selection, order: Sql): Sql =>
  sql`select ${offerColumns}, ${localeOf(selection.chain)} as locale from ${offers(selection)} order by ${order} limit ${matchesMax + 1}::int`;

const browseByTitle = (selection: Selection): Sql =>
  sql`select ${offerColumns}, d.locale, d.title_folded from ${documents(selection)} order by d.title_folded, d.product_id limit ${matchesMax + 1}::int`;

/** Two ordered reads of the index; the second one only runs when the first has not filled the window. */
function browseByPrice(selection: Selection): Sql {
  const price = selection.sort === "price_desc" ? sql`o.min_minor desc` : sql`o.min_minor`;
  const columns = sql`${offerColumns}, ${localeOf(selection.chain)} as locale`;
  return sql`
    (select ${columns} from ${offers(selection)} and o.currency = (select currency from main) order by ${price}, o.product_id limit ${matchesMax + 1}::int)
    union all
    (select ${columns} from ${offers(selection)} and o.currency <> (select currency from main)
      order by o.currency, ${price}, o.product_id limit ${matchesMax + 1}::int)
    limit ${matchesMax + 1}::int`;
}

/** The locale a product is shown and searched in. */
function localeOf(chain: readonly string[]): Sql {
  const asked = chain.map((locale) => sql`when ${locale} = any(o.locales) then ${locale}`);
  return sql`(case ${sql.join(asked, sql` `)} else o.fallback_locale end)`;
}

const mainCurrencyFirst = sql`currency is distinct from (select currency from main), currency`;

/** Every order ends with the product's id, so that pages neither overlap nor leave anything out. */
const orders: Record<Sort, Sql> = {
  relevance: sql`score desc, product_id`,
  newest: sql`published_at desc, product_id`,
  price_asc: sql`${mainCurrencyFirst}, min_minor, product_id`,
  price_desc: sql`${mainCurrencyFirst}, min_minor desc, product_id`,
  title_asc: sql`title_folded, product_id`,
  popularity: sql`popularity desc, published_at desc, product_id`,
};

/** The steps are further apart than everything below them together: what is in stock comes first within a step, and only there. */
function scoreOf(match: Match, inStock: Sql = sql`o.in_stock`): Sql {
  const { code, codeStart, phrase, allInTitle, all, any } = match;
  return sql`(case when strpos(d.codes, ${code}::text) > 0 then 1000 when strpos(d.codes, ${codeStart}::text) > 0 then 500
      when strpos(' ' || d.title_folded, ${phrase}::text) > 0 then 200 when d.head @@ ${allInTitle}::tsquery then 100
      when d.head @@ ${all}::tsquery then 50 else 1 end
    + case when ${inStock} then 20 else 0 end
    + 10 * ts_rank('{0.3,0.3,1,0.5}', d.head, ${any}::tsquery, 1)::float8)`;
}

function pageOf({ offset, limit, match }: Selection): Sql {
  const rows = sql`from found f join search_document d on d.product_id = f.product_id and d.locale = f.locale
    where f.place > ${offset}::int and f.place <= ${Math.min(offset + limit, matchesMax)}::int`;
  if (match === null) return sql`select f.place, f.product_id as "productId", f.locale, 0 as score ${rows}`;
  return sql`
    select f.place, f.product_id as "productId", f.locale, d.title, ${scoreOf(match, sql`f.in_stock`)} as score,
      d.head @@ ${match.anyCode}::tsquery as sku, d.head @@ ${match.anyTitle}::tsquery as "inTitle", d.head @@ ${match.anyBrand}::tsquery as brand,
      d.head @@ ${match.anyCategory}::tsquery as category, d.words @@ ${match.anyText}::tsquery as description, d.stemmer,
      (select json_agg((ts_lexize(t.oid::regdictionary, w.word))[1] order by w.place)
        from unnest(d.title_words) with ordinality as w(word, place), pg_ts_dict t where t.dictname = d.stemmer || '_stem') as "titleStems"
    ${rows}`;
}
