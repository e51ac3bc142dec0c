/**
 * The search of the plain schema. The yardstick's SQL statement finds and counts the products; DataLoaders
 * load their fields.
 */
import { builder, type PlainContext } from "./plain-builder.ts";
import { findProductNode, ProductListing, type ProductNode } from "./plain-products.ts";
import type { SearchHits, SearchMeta } from "./yardstick-search.ts";

interface HitNode extends ProductNode {
  readonly score: number;
  readonly matched: readonly string[];
  readonly highlight: string | null;
}

const Highlights = builder.objectRef<{ readonly title: string | null }>("SearchHighlights").implement({
  fields: (t) => ({ title: t.exposeString("title", { nullable: true }) }),
});

const Hit = builder.objectRef<HitNode>("ProductSearchHit").implement({
  interfaces: [ProductListing],
  fields: (t) => ({
    score: t.exposeFloat("score"),
    matched: t.stringList({ resolve: ({ matched }) => [...matched] }),
    highlights: t.field({ type: Highlights, resolve: ({ highlight }) => ({ title: highlight }) }),
  }),
});

const Bucket = builder.objectRef<SearchMeta["facets"][number]["buckets"][number]>("FacetBucket").implement({
  fields: (t) => ({
    value: t.exposeString("value"),
    label: t.exposeString("label"),
    count: t.exposeInt("count"),
  }),
});

const Facet = builder.objectRef<SearchMeta["facets"][number]>("Facet").implement({
  fields: (t) => ({
    key: t.exposeString("key"),
    buckets: t.field({ type: [Bucket], resolve: ({ buckets }) => [...buckets] }),
  }),
});

const SearchLocale = builder.objectRef<SearchMeta["locale"]>("SearchLocale").implement({
  fields: (t) => ({ requested: t.exposeString("requested"), resolved: t.exposeString("resolved") }),
});

const SearchQuery = builder.objectRef<SearchMeta["query"]>("SearchQuery").implement({
  fields: (t) => ({
    normalized: t.exposeString("normalized"),
    corrected: t.exposeString("corrected", { nullable: true }),
    dropped: t.stringList({ resolve: ({ dropped }) => [...dropped] }),
  }),
});

const Meta = builder.objectRef<SearchMeta>("ProductSearchMeta").implement({
  fields: (t) => ({
    page: t.exposeInt("page"),
    pageSize: t.exposeInt("pageSize"),
    totalItems: t.exposeInt("totalItems"),
    totalItemsRelation: t.exposeString("totalItemsRelation"),
    totalPages: t.exposeInt("totalPages"),
    hasNextPage: t.exposeBoolean("hasNextPage"),
    sort: t.exposeString("sort"),
    locale: t.expose("locale", { type: SearchLocale }),
    market: t.exposeString("market"),
    currency: t.exposeString("currency", { nullable: true }),
    facets: t.field({ type: [Facet], resolve: ({ facets }) => [...facets] }),
    query: t.expose("query", { type: SearchQuery }),
    indexedAt: t.exposeString("indexedAt"),
  }),
});

interface Result {
  readonly found: SearchHits;
  readonly country: string;
}

async function findHits({ found: { hits }, country }: Result, context: PlainContext): Promise<HitNode[]> {
  const nodes = await Promise.all(
    hits.map(async ({ id, locale, score, matched, highlight }) => {
      const node = await findProductNode(id, { country, chain: [locale] }, context);
      return node === null ? [] : [{ ...node, score, matched, highlight }];
    }),
  );
  return nodes.flat();
}

const SearchResult = builder.objectRef<Result>("ProductSearchResult").implement({
  fields: (t) => ({
    items: t.field({ type: [Hit], resolve: (result, _args, context) => findHits(result, context) }),
    meta: t.field({ type: Meta, resolve: ({ found }) => found.meta }),
  }),
});

const Sort = builder.enumType("ProductSearchSort", {
  values: ["relevance", "newest", "price_asc", "popularity"] as const,
});

builder.queryFields((t) => ({
  productSearch: t.field({
    type: SearchResult,
    args: {
      // Without a text, or with an empty text, the search finds all products.
      q: t.arg({ type: "SearchText" }),
      locale: t.arg({ type: "LocaleCode", required: true }),
      market: t.arg({ type: "CountryCode", required: true }),
      category: t.arg({ type: "Slug" }),
      merchant: t.arg({ type: "Slug" }),
      sort: t.arg({ type: Sort, required: true }),
      page: t.arg.int({ required: true }),
      pageSize: t.arg.int({ required: true }),
    },
    resolve: async (_root, { q, market: country, category, merchant, ...rest }, { find }) => {
      const found = await find({
        ...rest,
        q: q ?? "",
        country,
        category: category ?? null,
        merchant: merchant ?? null,
      });
      return { found, country };
    },
  }),
}));
