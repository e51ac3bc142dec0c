/**
 * The SQL statement of a search. One statement finds and sorts the matches, counts the facets, and returns
 * the page with product summaries. Every combination of filters and sort order has its own SQL text without
 * optional conditions, so that PostgreSQL's generic plan is efficient. Each product is counted in one locale
 * only.
 */
import { type RawBuilder, sql } from "kysely";
import { createNamedSqlTemplateParameter } from "#database/prepared-template.ts";
import { summaryColumnsSql, productSummaryJoinsSql } from "#commerce/catalog/read-summaries.ts";
import {
  buildMatchingProductsSqlForWords,
  buildMatchingProductsSqlWithoutWords,
  searchScoreSql,
  textRankSql,
  searchScoreTierSql,
} from "./match-statements.ts";
import { documentCountSql } from "./limit-matches.ts";
import { vocabularyVersionSql } from "./vocabulary-cache.ts";
import {
  countryParameter,
  searchMatchesMax,
  searchPageSizeMax,
  type SearchStatementVariant,
} from "./search-form.ts";
import {
  offerInStockConditionSql,
  availabilityFromOfferKeySql,
  currencyFromOfferKeySql,
  popularityStepFromOfferKeySql,
  priceStepFromOfferKeySql,
} from "./offer-key.ts";

type Sql = RawBuilder<unknown>;

/** Number of products that are cached together with the counts of a search without words. */
const firstMax = 200;

const max = sql.raw(String(searchMatchesMax));

/**
 * Builds the search statement from common table expressions. `base` contains all matches of the words;
 * without words, the first products in the sort order. `found` contains the matches that are counted. `main`
 * contains the currency that most matches have; only prices in this currency are compared.
 */
export function buildSearchStatement(form: SearchStatementVariant): Sql {
  const { base, main, order } = form.hasWords
    ? buildMatchingProductsSqlForWords(form)
    : buildMatchingProductsSqlWithoutWords(form);
  return sql`
    with recursive ${usedLocales(form)}
    base as materialized (${base}),
    size as materialized (select count(*)::int as total from base),
    main as materialized (${main}),
    found as not materialized
    (${
      form.hasWords
        ? bestOf(order)
        : sql`select * from base
      where place <= ${max}`
    }),
    counted as materialized (${countedIn(sql`found`)}),
    page as materialized (${pageOf(form, order)})
    select (select coalesce(json_agg(h order by h.place), '[]') from (select *
    from page) as h) as hits, (select total from size) as total,
      (select currency from main where (select total from size) > 0) as currency, ${mostUsedLocale} as locale,
      ${facetsOf(form)} as facets,
      ${
        form.hasWords
          ? sql`(select array_agg(locale)
        from used) as used_locales, ${vocabularyVersionSql} as vocabulary_version,
        ${documentCountSql} as document_count`
          : cacheColumns
      }, ${indexedAt} as indexed_at`;
}

const indexedAt = sql`(select max(indexed_at) from search_document)`;

/**
 * Columns that the statement of a search without words returns for the cache: the first products, and the
 * PostgreSQL snapshot.
 */
const cacheColumns = sql`(select coalesce(json_agg(json_build_object('product_id', product_id, 'locale',
  locale) order by place), '[]')
    from base where place <= ${sql.raw(String(firstMax))}) as first, pg_current_snapshot()::text as snapshot`;

/**
 * Builds the statement for a page whose products are cached. `is_current` is false if a product has changed
 * since the cached snapshot.
 */
export function buildCachedSearchPageStatement(): Sql {
  const snapshot = sql`${createNamedSqlTemplateParameter("snapshot")}::text::pg_snapshot`;
  return sql`
    with page as materialized (${cachedPage})
    select (select coalesce(json_agg(h order by h.place), '[]') from (select * from page) as h) as hits,
      not exists (select from search_change where xid >= pg_snapshot_xmin(${snapshot})::text::bigint
        and not pg_visible_in_snapshot(xid::text::xid8, ${snapshot})) as is_current, ${indexedAt} as
        indexed_at`;
}

/**
 * SQL that returns all matches, or only the best ones if there are more than the maximum. The two parts of
 * the union have opposite conditions on `size`. PostgreSQL evaluates these conditions first, so it reads only
 * one part.
 */
function bestOf(order: Sql): Sql {
  return sql`
      select * from base where (select total from size) <= ${max}
      union all
      (select * from base where (select total from size) > ${max} order by ${order} limit ${max})`;
}

/**
 * SQL that lists the locales in which products are indexed. The recursive query jumps in the index from one
 * locale to the next, instead of reading the whole index.
 */
function usedLocales({ hasWords }: SearchStatementVariant): Sql {
  if (!hasWords) return sql``;
  return sql`used(locale) as (
      (select locale from search_term order by locale limit 1)
      union all
      select (select t.locale from search_term t where t.locale > u.locale order by t.locale limit 1)
      from used u where u.locale is not null
    ),`;
}

/* SQL of the page: its products, the fields in which the words were found, and the summaries. */

const isIn = (name: string, column: "head" | "words"): Sql =>
  sql`d.${sql.raw(column)} @@ ${createNamedSqlTemplateParameter(name)}::tsquery`;

const tables = productSummaryJoinsSql(sql`f`, {
  country: countryParameter,
  now: sql`${createNamedSqlTemplateParameter<Date>("now")}::timestamptz`,
});

/**
 * SQL that selects the products of a cached page. The products are one JSON parameter, so that the SQL text
 * is the same for any number of products.
 */
const cachedPage = sql`
  select f.place, 0 as score, ${summaryColumnsSql}
  from (select product_id, locale, row_number() over () as place
  from json_to_recordset(${createNamedSqlTemplateParameter("cachedHits")}::json)
  as r(product_id text, locale text)) as f
  ${tables}`;

/**
 * The outer `limit` is constant, so that PostgreSQL's planner knows the maximum size of a page; the inner
 * `limit` is a parameter.
 */
function pageOf(form: SearchStatementVariant, order: Sql): Sql {
  const score = form.hasWords && form.sort === "relevance" ? sql`, score` : sql``;
  const pageRows = sql`
    select product_id, locale, offer ${score}, row_number() over () as place
    from (select * from base order by ${order} offset ${createNamedSqlTemplateParameter("offset")}::int
    limit ${createNamedSqlTemplateParameter("limit")}::int) as ordered limit ${sql.raw(String(searchPageSizeMax))}`;
  if (!form.hasWords)
    return sql`select f.place, 0 as score, ${summaryColumnsSql} from (${pageRows}) as f ${tables}`;
  return sql`
    select f.place,
    ${
      form.sort === "relevance" ? sql`f.score` : sql`${searchScoreSql(form, offerKey)} as score`
    }, ${form.isExplained ? explanation(form) : sql``}
      ${isIn("anyCode", "head")} as "inCode", ${isIn("anyTitle", "head")} as "inTitle",
      ${isIn("anyBrand", "head")} as "inBrand",
      ${isIn("anyCategory", "head")} as "inCategory", ${isIn("anyText", "words")} as "inText", d.stemmer,
      d.title_stems as "titleStems", ${summaryColumnsSql}
    from (${pageRows}) as f join search_document d on d.product_id = f.product_id
    and d.locale = f.locale ${tables}`;
}

const offerKey = sql`(d.offers ->> ${countryParameter}::text)`;

/**
 * SQL for the parts of a found product's score: score tier (which fields contain the words), stock,
 * popularity step and text rank.
 */
const explanation = (
  form: SearchStatementVariant,
): Sql => sql`json_build_object('tier', ${searchScoreTierSql(form)},
  'isInStock', ${offerInStockConditionSql(offerKey)}, 'popularityStep', ${popularityStepFromOfferKeySql(offerKey)},
  'textRank', ${textRankSql}) as explanation,`;

/*
 * SQL of the facets. One pass groups the matches by their common properties, and all facets are summed from
 * these groups.
 */

/** Maximum number of buckets of a facet; only the buckets with the highest counts are returned. */
export const facetBucketsMax = 20;

export interface SearchFacetRows {
  readonly category: readonly {
    slug: string;
    names: Record<string, string> | null;
    defaultLocale: string | null;
    count: number;
  }[];
  readonly merchant: readonly { value: string; label: string; count: number }[];
  readonly brand: readonly { value: string; count: number }[];
  readonly availability: readonly { value: string; count: number }[];
  /**
   * Number of products for each attribute value; present only if the request asked for facets of attributes.
   * `value` has the form `code:value`, for example `material:wood`.
   */
  readonly attributes?: readonly { value: string; count: number }[];
  /**
   * Number of products for each price step. `step` is the number of the highest step that is not above the
   * price; 0 if the price is below the first step.
   */
  readonly price: readonly { step: number; count: number }[];
}

const buckets = sql.raw(String(facetBucketsMax));

/**
 * SQL that counts the matches in three ways, which the column `kind` distinguishes. The ways are: by merchant
 * and categories, by brand, and by locale and offer key (availability, currency and price step). Each way has
 * only few groups.
 */
function countedIn(found: Sql): Sql {
  return sql`
    select grouping(f.group_key, f.brand) as kind, group_key, brand, locale, offer, count(*)::int as count
    from ${found} as f group by grouping sets ((group_key), (brand), (locale, offer))`;
}

const byGroup = sql`(select split_part(group_key, ' ', 1) as merchant_id, string_to_array(group_key, ' ') as
  parts, count from counted where kind = 1)`;
const byBrand = sql`counted where kind = 2`;
const byOffer = sql`(select locale, ${availabilityFromOfferKeySql(sql`offer`)} as availability,
  ${currencyFromOfferKeySql(sql`offer`)} as currency, ${priceStepFromOfferKeySql(sql`offer`)} as step, count
  from counted where kind = 3)`;

/** SQL for the locale in which most of the found products are shown. */
const mostUsedLocale = sql`(select locale from ${byOffer} as o group by locale
  order by sum(count) desc, locale limit 1)`;

function facetsOf({ hasAttributeFacets }: SearchStatementVariant): Sql {
  const largest = sql`count desc, value`;
  return sql`json_build_object(
    'category', ${list(
      sql`select k.slug, c.names, m.default_locale as "defaultLocale", k.count
        from (select slug, sum(count) as count, min(merchant_id) as merchant_id
        from ${byGroup} as g, unnest(g.parts[2:]) as u(slug)
          group by slug order by sum(count) desc, slug limit ${buckets}) as k
        left join category c on c.merchant_id = k.merchant_id and c.slug = k.slug left join merchant m
        on m.id = k.merchant_id`,
      sql`count desc, slug`,
    )},
    'merchant', ${list(
      sql`select m.slug as value, m.name as label, k.count
        from (select merchant_id, sum(count) as count from ${byGroup} as g group by merchant_id
        order by sum(count) desc, merchant_id limit ${buckets}) as k
        join merchant m on m.id = k.merchant_id`,
      largest,
    )},
    'brand', ${list(
      sql`select brand as value, count from ${byBrand} and brand is not null
      order by count desc, brand limit ${buckets}`,
      largest,
    )},
    'availability',
    ${list(
      sql`select availability as value, sum(count) as count from ${byOffer} as o
      group by availability`,
      largest,
    )},
    'price', ${list(
      sql`select step, sum(count) as count from ${byOffer} as o
      where currency = (select currency from main) group by step`,
      sql`step`,
    )} ${hasAttributeFacets ? attributeFacets : sql``})`;
}

const attributeFacetsMax = 1000;
const attributeFacets = sql`, 'attributes', ${list(
  sql`select a.value, count(*)::int as count from found as f, unnest(f.attributes) as a(value) group by 1
    order by count desc, value limit ${sql.raw(String(attributeFacetsMax))}`,
  sql`count desc, value`,
)}`;

function list(rows: Sql, order: Sql): Sql {
  return sql`(select coalesce(json_agg(r order by ${order}), '[]') from (${rows}) as r)`;
}
