/**
 * The yardstick's search: one statement for matches, page, facets and the products' fields. The functions of
 * this service analyse the words and look them up in the vocabulary, because this part need not be compared.
 * Supports only the searches of the benchmark: no spelling correction, and only the order by popularity for
 * searches without words.
 */
import type { Pool } from "pg";
import { type TitleWithWordStems, highlightTitle } from "#commerce/search/highlight-title.ts";
import {
  buildTsqueryRequiringAllParts,
  buildRankingTsquery,
  buildTsqueryRequiringAnyPart,
} from "#commerce/search/match-query.ts";
import { parseSearchQuery } from "#commerce/search/parse-query.ts";
import { expandSearchQuery } from "#commerce/search/expand-query.ts";
import { buildTitleSearchPhrase } from "#commerce/search/search-form.ts";
import type { SearchQueryWithWordForms } from "#commerce/search/word-forms.ts";
import { openDatabase } from "#database/connect.ts";
import type { Database } from "#database/connect.ts";
import { createLocaleChain } from "./locales.ts";
import { type Facets, type RawFacets, toFacets } from "./yardstick-facets.ts";
import { searchSql } from "./yardstick-search-sql.ts";
import { availabilities, joinLocaleChains, findName, type Names, toMoneyRange } from "./yardstick-parts.ts";

interface Row {
  readonly hits: readonly BareHit[];
  readonly total: number;
  readonly currency: string | null;
  readonly locale: string | null;
  readonly facets: RawFacets;
  readonly indexedAt: Date | null;
}

interface BareHit extends TitleWithWordStems {
  readonly score: number;
  readonly matched: readonly string[];
  readonly id: string;
  readonly locale: string;
}

/** A hit in the row of the search statement. An empty list is null. */
interface Hit extends BareHit {
  readonly slug: string;
  readonly name: string;
  readonly summary: string | null;
  readonly brand: string | null;
  readonly merchant: string;
  readonly merchantSlug: string;
  readonly merchantName: string;
  readonly merchantLocale: string;
  readonly marketLocale: string;
  readonly currency: string;
  readonly prices: readonly number[];
  readonly compares: readonly number[];
  readonly variants: number;
  readonly rank: number;
  readonly rating: number | null;
  readonly ratings: number | null;
  readonly publishedAt: string;
  readonly updatedAt: string;
  readonly categories: readonly { slug: string; names: Names }[] | null;
  readonly image: { url: string; alts: Names; width: number; height: number } | null;
}

const matchesMax = 10_000;

export interface SearchRequest {
  readonly q: string;
  readonly locale: string;
  readonly country: string;
  readonly sort: string;
  readonly page: number;
  readonly pageSize: number;
  readonly category: string | null;
  readonly merchant: string | null;
}

function parseSearchRequest(values: URLSearchParams): SearchRequest {
  const text = (name: string): string => values.get(name) ?? "";
  return {
    q: text("q"),
    locale: text("locale"),
    country: text("market"),
    sort: text("sort"),
    page: Number(text("page")),
    pageSize: Number(text("pageSize")),
    category: values.get("category"),
    merchant: values.get("merchant"),
  };
}

export function createSearchHandler(
  pool: Pool,
  publicUrl: string,
): (values: URLSearchParams) => Promise<string> {
  const runSearch = createStatement(pool, { publicUrl, isBare: false });
  return async (params) => {
    const { row, meta, highlight } = await runSearch(parseSearchRequest(params));
    return JSON.stringify({
      data: (row.hits as readonly Hit[]).map((hit) => itemOf(hit, highlight(hit))),
      meta,
    });
  };
}

export interface SearchHits {
  readonly hits: readonly {
    readonly id: string;
    readonly locale: string;
    score: number;
    matched: readonly string[];
    highlight: string | null;
  }[];
  readonly meta: SearchMeta;
}

export type FindHits = (request: SearchRequest) => Promise<SearchHits>;

/** Creates a search that returns only ids, for servers that load the products' fields themselves. */
export function createHitFinder(pool: Pool): FindHits {
  const runSearch = createStatement(pool, { publicUrl: "", isBare: true });
  return async (request) => {
    const { row, meta, highlight } = await runSearch(request);
    return { hits: row.hits.map((hit) => Object.assign(hit, { highlight: highlight(hit) })), meta };
  };
}

interface Answer {
  readonly row: Row;
  readonly meta: SearchMeta;
  readonly highlight: (hit: TitleWithWordStems) => string | null;
}

interface StatementOptions {
  readonly publicUrl: string;
  readonly isBare: boolean;
}

function createStatement(
  pool: Pool,
  { publicUrl, isBare }: StatementOptions,
): (request: SearchRequest) => Promise<Answer> {
  let reader: Promise<Database> | undefined;
  const names = new Map<string, string>();
  const nameOf = (text: string): string => {
    let name = names.get(text);
    if (name === undefined) names.set(text, (name = `search${names.size}`));
    return name;
  };

  return async (request) => {
    const { country, page, pageSize, category, merchant } = request;
    const query = parseSearchQuery(request.q);
    const chain = createLocaleChain(request.locale);
    const hasWords = query.words.length > 0;
    reader ??= openDatabase({ url: String(pool.options.connectionString) }).then(({ db }) => db);
    const expanded = await expandSearchQuery(await reader, query);
    const text = searchSql({
      hasWords,
      hasCode: query.code !== null,
      sort: request.sort,
      chainLength: chain.length,
      category: category !== null,
      merchant: merchant !== null,
      isBare,
    });
    const values = [
      country,
      ...(isBare ? [] : [publicUrl]),
      (page - 1) * pageSize,
      Math.min(page * pageSize, matchesMax),
      ...chain,
      ...(category === null ? [] : [`${country}/${category}`]),
      ...(merchant === null ? [] : [merchant]),
      ...(hasWords ? wordValues(expanded, category) : []),
    ];
    const { rows } = await pool.query<Row>({ name: nameOf(text), text, values });
    const [row] = rows;
    if (row === undefined) throw new Error("The search statement returned no row.");
    const meta = {
      ...metaOf(row, request),
      query: { normalized: query.normalized, corrected: null, dropped: [] },
    };
    return { row, meta, highlight: (hit) => (hasWords ? highlightTitle(hit, expanded) : null) };
  };
}

function itemOf(hit: Hit, title: string | null): unknown {
  const { currency, image, rating, ratings } = hit;
  const chain = joinLocaleChains([hit.locale, hit.marketLocale, hit.merchantLocale]);
  return {
    id: hit.id,
    slug: hit.slug,
    locale: hit.locale,
    title: hit.name,
    summary: hit.summary,
    brand: hit.brand,
    merchant: { id: hit.merchant, slug: hit.merchantSlug, name: hit.merchantName },
    categories: (hit.categories ?? []).map(({ slug, names }) => ({
      slug,
      name: findName(names, chain) ?? slug,
    })),
    image:
      image === null
        ? null
        : { url: image.url, alt: findName(image.alts, chain), width: image.width, height: image.height },
    priceRange: toMoneyRange(hit.prices, currency),
    compareAtRange: toMoneyRange(hit.compares, currency),
    availability: availabilities[hit.rank - 1],
    variantCount: hit.variants,
    rating: rating === null || ratings === null ? null : { average: rating, count: ratings },
    publishedAt: hit.publishedAt,
    updatedAt: hit.updatedAt,
    score: hit.score,
    matched: hit.matched,
    highlights: { title },
  };
}

/** Returns the parameters of the words and filters, in the order of the statement. */
function wordValues(expanded: SearchQueryWithWordForms, category: string | null): string[] {
  const { query } = expanded;
  const all = buildTsqueryRequiringAllParts(expanded);
  return [
    category === null ? all : `(${all}) & '#${category}'`,
    buildTsqueryRequiringAllParts(expanded, { forms: "ranked" }),
    buildTsqueryRequiringAllParts(expanded, { weight: "B", forms: "exact" }),
    buildTsqueryRequiringAllParts(expanded, { weight: "B", forms: "ranked" }),
    buildTsqueryRequiringAllParts(expanded, { weight: "BC", forms: "ranked" }),
    buildTsqueryRequiringAnyPart(expanded, { weight: "B" }),
    buildRankingTsquery(expanded),
    buildTitleSearchPhrase(expanded),
    buildTsqueryRequiringAnyPart(expanded, { weight: "A", isAnyLexeme: true }),
    buildTsqueryRequiringAnyPart(expanded, { weight: "B", isAnyLexeme: true }),
    buildTsqueryRequiringAnyPart(expanded, { weight: "C", isAnyLexeme: true }),
    buildTsqueryRequiringAnyPart(expanded, { weight: "D", isAnyLexeme: true }),
    ...(query.code === null ? [] : [` ${query.code} `, ` ${query.code}`]),
  ];
}

export interface SearchMeta {
  readonly page: number;
  readonly pageSize: number;
  readonly totalItems: number;
  readonly totalItemsRelation: string;
  readonly totalPages: number;
  readonly hasNextPage: boolean;
  readonly sort: string;
  readonly locale: { readonly requested: string; readonly resolved: string };
  readonly market: string;
  readonly currency: string | null;
  readonly facets: Facets;
  readonly query: {
    readonly normalized: string;
    readonly corrected: string | null;
    readonly dropped: readonly string[];
  };
  readonly indexedAt: string;
}

function metaOf(
  row: Row,
  { page, pageSize, sort, locale, country }: SearchRequest,
): Omit<SearchMeta, "query"> {
  const totalItems = Math.min(row.total, matchesMax);
  return {
    page,
    pageSize,
    totalItems,
    totalItemsRelation: row.total > matchesMax ? "at_least" : "exact",
    totalPages: Math.ceil(totalItems / pageSize),
    hasNextPage: page * pageSize < totalItems,
    sort,
    locale: { requested: locale, resolved: row.locale ?? locale },
    market: country,
    currency: row.currency,
    facets: toFacets(row.facets, locale, row.currency),
    indexedAt: (row.indexedAt ?? new Date()).toISOString(),
  };
}
