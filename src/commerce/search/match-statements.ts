/**
 * SQL that finds the matches of a search, the first part of the search statement. A search without words
 * reads the first offers in the requested order from an index of the table `search_offer`. An offer is a
 * product that is sold in one country. A search with words finds documents by the full-text index of the
 * table `search_document`, and scores and counts them without reading other tables.
 */
import { type RawBuilder, sql } from "kysely";
import { createNamedSqlTemplateParameter } from "#database/prepared-template.ts";
import { quoteLexeme, toRandomProductSampleLexeme } from "./match-query.ts";
import {
  facetKeyFromOfferKeySql,
  currencyFromOfferKeySql,
  fallbackLocaleFromOfferKeySql,
  offerInStockConditionSql,
  minPriceFromOfferKeySql,
  availabilityFromOfferKeySql,
  popularityStepFromOfferKeySql,
} from "./offer-key.ts";
import {
  type MatchingProductsSqlFragments,
  localeChainLength,
  countryParameter,
  merchantActiveConditionSql,
  productDisplayLocaleSql,
  mainCurrencyOfFoundProductsSql,
  searchMatchesMax,
  mostUsedCurrencySql,
  type SearchStatementVariant,
  type SearchSort,
} from "./search-form.ts";

type Sql = RawBuilder<unknown>;

const window = sql.raw(String(searchMatchesMax + 1));
const byPopularity = sql`o.popularity desc, o.published_at desc, o.product_id`;
const mostPopular = sql`base where place <= ${sql.raw(String(searchMatchesMax))}`;
const newest = sql`o.published_at desc, o.product_id`;

export function buildMatchingProductsSqlWithoutWords(
  form: SearchStatementVariant,
): MatchingProductsSqlFragments {
  // The main currency is the currency in which prices are compared: the most frequent currency of the most
  // popular offers. Popular offers are used for every sort order, so that the main currency does not depend
  // on the sort order.
  const popular = sql`(select o.currency from ${offers(form)} order by ${byPopularity}
    limit ${sql.raw(String(searchMatchesMax))}) as popular`;
  const isByPopularity = form.sort === "relevance" || form.sort === "popularity";
  const main = mainCurrencyOfFoundProductsSql(
    isByPopularity
      ? mostUsedCurrencySql(currencyFromOfferKeySql(sql`offer`), mostPopular)
      : mostUsedCurrencySql(sql`currency`, popular),
  );
  return { base: baseOf(form), main, order: sql`place` };
}

/**
 * Returns SQL for the offers (products that are sold in the country) of a search without words. All offers
 * are equally relevant then, so the sort order RELEVANCE sorts by popularity.
 */
function baseOf(form: SearchStatementVariant): Sql {
  if (form.sort === "title_asc") return byTitle(form);
  if (form.sort === "price_asc") return byPrice(form, sql`asc`);
  if (form.sort === "price_desc") return byPrice(form, sql`desc`);
  return numberRows(
    sql`select ${columns} from ${offers(form)} order by ${form.sort === "newest" ? newest : byPopularity}
      limit ${window}`,
  );
}

/**
 * SQL that numbers the rows of a sorted subquery: the column `place` contains the position of each row in the
 * sort order.
 */
const numberRows = (rows: Sql): Sql => sql`select *, row_number() over () as place from (${rows}) as ordered`;

const fixed = sql`o.product_id, o.group_key, o.brand, o.offer_key as offer`;
const columns = sql`${fixed}, ${productDisplayLocaleSql(sql`o.locales`, sql`o.fallback_locale`)} as locale`;

/**
 * SQL for a `from` clause that returns the offers (products that are sold in the requested country) that pass
 * the filters. The SQL ends with a `where` condition, so further conditions must start with `and`.
 */
function offers({ hasCategory, hasMerchant }: SearchStatementVariant, joined?: Sql): Sql {
  const filters = [sql`o.country = ${countryParameter}`, merchantActiveConditionSql(sql`o.merchant_id`)];
  if (hasCategory)
    filters.push(sql`o.category_keys @> array[${createNamedSqlTemplateParameter("categoryKey")}::text]`);
  if (hasMerchant)
    filters.push(
      sql`o.merchant_id = (select id from merchant where slug = ${createNamedSqlTemplateParameter("merchant")}::text)`,
    );
  return sql`search_offer o ${
    joined === undefined
      ? sql``
      : sql`on
    ${joined}`
  }
    where ${sql.join(
      filters,
      sql`
    and `,
    )}`;
}

/**
 * SQL that reads search documents in the order of their titles. For each product, the last condition selects
 * the document in the locale in which the product is shown. The condition on `chain` (the requested locale
 * and its fallback locales) never changes the result: it excludes most documents before their offers are
 * read.
 */
function byTitle(form: SearchStatementVariant): Sql {
  const locales = Array.from({ length: localeChainLength }, (_, index) =>
    createNamedSqlTemplateParameter(`chain${index}`),
  );
  const chain = sql`array[${sql.join(locales)}]::text[]`;
  return numberRows(sql`
    select ${fixed}, d.locale from search_document d join ${offers(form, sql`o.product_id = d.product_id`)}
      and (d.locale = any(${chain}) or not d.locales && ${chain})
      and d.locale = ${productDisplayLocaleSql(sql`o.locales`, sql`o.fallback_locale`)}
    order by d.title_folded, d.product_id limit ${window}`);
}

/**
 * SQL that reads offers in the order of their prices: first those in the main currency (the most frequent
 * one), then those in all other currencies. An index returns each of the two parts in this order. The second
 * part is read only if the first part has too few offers for the page.
 */
function byPrice(form: SearchStatementVariant, direction: Sql): Sql {
  const main = sql`(select currency from main)`;
  const part = (number: 0 | 1, { among, order }: { among: Sql; order: Sql }): Sql => sql`
    (select ${columns}, ${sql.raw(String(number))} as part, o.currency, o.min_minor from ${offers(form)}
    and o.currency ${among}
      order by ${order} limit ${window})`;
  return sql`
    select *, row_number() over (order by part, currency, min_minor ${direction}, product_id) as place from (
      ${part(0, { among: sql`= ${main}`, order: sql`o.min_minor ${direction}, o.product_id` })}
      union all
      ${part(1, { among: sql`<> ${main}`, order: sql`o.currency, o.min_minor ${direction}, o.product_id` })}
      limit ${window}) as parts`;
}

export function buildMatchingProductsSqlForWords(form: SearchStatementVariant): MatchingProductsSqlFragments {
  const { sort } = form;
  const key = sql`d.offer_key`;
  const price = sql`, ${currencyFromOfferKeySql(key)} as currency, ${minPriceFromOfferKeySql(key)} as min_minor`;
  const sortKey: Sql = {
    relevance: sql`, ${searchScoreSql(form, key)} as score`,
    newest: sql`, d.published_at`,
    price_asc: price,
    price_desc: price,
    title_asc: sql`, d.title_folded`,
    popularity: sql`, o.popularity, d.published_at`,
  }[sort];
  // Search documents contain the popularity only in steps. Sorting by the exact popularity therefore needs a
  // join with the table of offers.
  const popularity =
    sort === "popularity"
      ? sql`join search_offer o on o.product_id = d.product_id and o.country = ${countryParameter}`
      : sql``;
  const attributes = form.hasAttributeFacets ? sql`, d.attributes` : sql``;
  const base = sql`
    select d.product_id, d.locale, d.group_key, d.brand, ${facetKeyFromOfferKeySql(key)} as offer ${attributes}
    ${sortKey}
    from ${matchingSearchDocumentsSql(form, { ...matchSource(form), joined: popularity })}`;
  return {
    base,
    main: mainCurrencyOfFoundProductsSql(mostUsedCurrencySql(currencyFromOfferKeySql(sql`offer`), sql`base`)),
    order: orders[sort],
  };
}

interface DocumentSource {
  /** SQL condition on columns of `search_document` that PostgreSQL can check with the full-text index. */
  readonly isIndexed: Sql;
  /**
   * The full tsquery. PostgreSQL checks with it the documents that the index returns, some of which may not
   * match. Undefined if the index returns only matches.
   */
  readonly words?: Sql | undefined;
  /** SQL joins with further tables. */
  readonly joined?: Sql;
  /**
   * True if any part of the matches is sufficient. At most 10 000 documents are then read, in a materialized
   * subquery. Without it, PostgreSQL would read the whole table instead of the index.
   */
  readonly isLimited?: boolean;
}

/**
 * SQL for a `from` clause that returns the documents that match a tsquery and the filters: one document for
 * each product that is offered in the country. The alias of the document is `d`; `d.offer_key` is its offer
 * in the country (availability, currency and price).
 */
export function matchingSearchDocumentsSql(
  form: SearchStatementVariant,
  { isIndexed, words, joined = sql``, isLimited = false }: DocumentSource,
): Sql {
  const key = sql`d.offer_key`;
  const filters = [sql`${key} is not null`, isShown(key), merchantActiveConditionSql(sql`d.merchant_id`)];
  if (form.hasPrice)
    filters.push(sql`${currencyFromOfferKeySql(key)} = ${createNamedSqlTemplateParameter("priceCurrency")}::text
      and ${minPriceFromOfferKeySql(key)} >= ${createNamedSqlTemplateParameter("priceMin")}::bigint
      and ${minPriceFromOfferKeySql(key)} <= ${createNamedSqlTemplateParameter("priceMax")}::bigint`);
  if (form.hasAvailability)
    filters.push(
      sql`${availabilityFromOfferKeySql(key)} = any(${createNamedSqlTemplateParameter("availabilities")}::text[])`,
    );
  if (words !== undefined) filters.push(sql`d.words @@ ${words}`);
  const documentColumns = isLimited ? sql`head, words, locale, locales, merchant_id` : sql`*`;
  const matched = sql`select ${documentColumns}, offers ->> ${countryParameter}::text as offer_key from search_document
    where ${isIndexed}`;
  const documents = isLimited
    ? sql`with matched as materialized (${matched}) select * from matched limit ${sql.raw(String(searchMatchesMax))}`
    : sql`${matched} offset 0`;
  return sql`(${documents}) as d ${joined}
    where ${sql.join(filters, sql` and `)}`;
}

/**
 * SQL condition that selects one document of each product: the document in the locale in which the product is
 * shown. This is the requested locale, or else the fallback locale.
 */
function isShown(key: Sql): Sql {
  const requested = sql`${createNamedSqlTemplateParameter("chain0")}::text`;
  return sql`(d.locale = ${requested} or (not ${requested} = any(d.locales)
    and d.locale = ${productDisplayLocaleSql(sql`d.locales`, fallbackLocaleFromOfferKeySql(key))}))`;
}

const mainCurrencyFirst = sql`currency is distinct from (select currency from main), currency`;

const orders: Record<SearchSort, Sql> = {
  relevance: sql`score desc, product_id`,
  newest: sql`published_at desc, product_id`,
  price_asc: sql`${mainCurrencyFirst}, min_minor, product_id`,
  price_desc: sql`${mainCurrencyFirst}, min_minor desc, product_id`,
  title_asc: sql`title_folded, product_id`,
  popularity: sql`popularity desc, published_at desc, product_id`,
};

const queryParameter = (name: string): Sql => sql`${createNamedSqlTemplateParameter<string>(name)}::tsquery`;

/**
 * Returns the SQL conditions for the documents that match the words and the filters. The tsquery for the
 * index also contains the filters, so that the index returns few documents that do not pass the filters.
 */
function matchSource(form: SearchStatementVariant): Pick<DocumentSource, "isIndexed" | "words"> {
  const { hasCandidates, isLimited } = form;
  if (isLimited) {
    const titles = sql`${documentMatchesTsqueryParameterSql(form, "titleCandidates")}
      and words @@ (select ${queryParameter("titlesLimit")})`;
    const others = sql`${documentMatchesTsqueryParameterSql(form, "candidates")}
      and words @@ (select ${queryParameter("othersLimit")})`;
    return { isIndexed: sql`(${titles} or ${others})`, words: queryParameter("filtered") };
  }
  if (!hasCandidates) return { isIndexed: documentMatchesTsqueryParameterSql(form, "filtered") };
  return {
    isIndexed: documentMatchesTsqueryParameterSql(form, "candidates"),
    words: queryParameter("filtered"),
  };
}

/**
 * SQL condition that is true for the documents that the full-text index finds by a tsquery. The tsquery is
 * the value of the parameter with the given name.
 */
export const documentMatchesTsqueryParameterSql = (form: SearchStatementVariant, name: string): Sql =>
  documentMatchesTsqueryExpressionSql(form, queryParameter(name));

/**
 * SQL condition that is true for documents that match a tsquery, and that belong to the requested merchant if
 * the search names one. The tsquery is in a subselect, so that PostgreSQL plans the statement without knowing
 * the words and always uses the full-text index. Otherwise, for frequent words, PostgreSQL would read and
 * decompress all documents.
 */
export const documentMatchesTsqueryExpressionSql = (form: SearchStatementVariant, words: Sql): Sql =>
  sql`words @@ (${addMerchantFilterSql(form, words)})`;

/**
 * SQL condition that is true for the documents in the smallest random sample. On average, one of
 * `sampleParts` documents is in this sample.
 */
export const isSampledSql = sql`words @@ ${sql.lit(quoteLexeme(toRandomProductSampleLexeme(1)))}::tsquery`;

/**
 * Returns SQL for a tsquery as a subselect. If the search names a merchant, the tsquery also requires the
 * word of this merchant.
 */
function addMerchantFilterSql({ hasMerchant }: SearchStatementVariant, words: Sql): Sql {
  if (!hasMerchant) return sql`select ${words}`;
  return sql`select ${words} && quote_literal(${createNamedSqlTemplateParameter("merchantMark")}::text || id)::tsquery
    from merchant where slug = ${createNamedSqlTemplateParameter("merchant")}::text`;
}

/**
 * The scores of the score tiers. The tier of a document depends on which fields contain all words of the
 * query. Stock, popularity and text rank order the documents within a tier; their sum is always less than the
 * distance between two tiers.
 */
export const scoreTiers = {
  code: 2000,
  code_prefix: 1500,
  title_phrase: 600,
  title_exact: 500,
  title: 400,
  title_or_brand: 300,
  title_brand_or_category: 200,
  title_in_part: 150,
  text: 100,
} as const;
export const scoreTierNames = [
  "code",
  "code_prefix",
  "title_phrase",
  "title_exact",
  "title",
  "title_or_brand",
  "title_brand_or_category",
  "title_in_part",
  "text",
] as const satisfies readonly (keyof typeof scoreTiers)[];
export type SearchScoreTierName = (typeof scoreTierNames)[number];
export const stockScore = 40;
export const popularityStepScore = 4;
export const textRankScore = 10;

const points = (value: number): Sql => sql.raw(String(value));

export function searchScoreTierSql({ hasCode }: SearchStatementVariant): Sql {
  const code = hasCode
    ? sql`when strpos(d.codes, ${createNamedSqlTemplateParameter("codeStart")}::text) > 0 then case
      when strpos(d.codes, ${createNamedSqlTemplateParameter("code")}::text) > 0 then ${points(scoreTiers.code)}
      else ${points(scoreTiers.code_prefix)} end`
    : sql``;
  return sql`case ${code} when strpos(' ' || d.title_folded || ' ', ${createNamedSqlTemplateParameter("phrase")}::text) > 0
      then ${points(scoreTiers.title_phrase)}
    when d.head @@ ${createNamedSqlTemplateParameter("exactInTitle")}::tsquery then ${points(scoreTiers.title_exact)}
    when d.head @@ ${createNamedSqlTemplateParameter("allInTitle")}::tsquery then ${points(scoreTiers.title)}
    when d.head @@ ${createNamedSqlTemplateParameter("allInTitleOrBrand")}::tsquery then ${points(scoreTiers.title_or_brand)}
    when d.head @@ ${createNamedSqlTemplateParameter("all")}::tsquery then ${points(scoreTiers.title_brand_or_category)}
    when d.head @@ ${createNamedSqlTemplateParameter("partInTitle")}::tsquery then ${points(scoreTiers.title_in_part)}
    else ${points(scoreTiers.text)} end`;
}

export const textRankSql = sql`ts_rank('{0.3,0.3,1,0.5}', d.head,
  ${createNamedSqlTemplateParameter("any")}::tsquery, 1)::float8`;

/**
 * SQL for the score of a document: the score of its tier (which fields contain the words), plus stock,
 * popularity and text rank.
 */
export const searchScoreSql = (form: SearchStatementVariant, key: Sql): Sql =>
  sql`(${searchScoreTierSql(form)} + case when ${offerInStockConditionSql(key)} then ${points(stockScore)} else 0 end
    + ${points(popularityStepScore)} * ${popularityStepFromOfferKeySql(key)}
    + ${points(textRankScore)} * ${textRankSql})`;
