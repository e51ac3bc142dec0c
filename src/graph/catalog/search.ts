/**
 * Product search. One field answers with the page and all that is known about it, so that nothing is searched
 * twice.
 */
import { z } from "zod";
import { type ProductSummary, renderSummary } from "#commerce/catalog/render-product.ts";
import { isPersonal } from "#commerce/search/search-counts.ts";
import type { SearchInput } from "#commerce/search/search-form.ts";
import { type SearchResult, searchProducts } from "#commerce/search/search-products.ts";
import { failAt } from "#foundation/failure.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { type Caller, callerOf, everybody, type GraphContext } from "#graph/context.ts";
import { ProductListing } from "./products.ts";

export const pageWindowMax = 10_000;

const SortEnum = defineEnum("ProductSearchSort", {
  description: "How what was found is ordered; what is equal is ordered by id.",
  values: {
    relevance: "The best match first; without a query as by popularity.",
    newest: "The last published first.",
    price_asc: "The cheapest first; products in other currencies than `meta.currency` come after all others.",
    price_desc: "The dearest first; products in other currencies than `meta.currency` come after all others.",
    title_asc: "By title, A to Z.",
    popularity: "What was ordered most in the last 30 days first, then the last published.",
  },
});

const MatchedEnum = defineEnum("MatchedField", {
  description: "Where a query was found.",
  values: {
    sku: "In a SKU or GTIN.",
    title: "In the title.",
    brand: "In the brand.",
    category: "In a category's name.",
    description: "In the summary or description.",
  },
});

const RelationEnum = defineEnum("TotalRelation", {
  description: "What a total means.",
  values: { exact: "It is the number.", at_least: "There are more; counting stopped." },
});

const FacetKeyEnum = defineEnum("FacetKey", {
  description: "What a facet groups by.",
  values: {
    category: "Category slugs.",
    merchant: "Merchant slugs.",
    brand: "Brands.",
    availability: "Availability.",
    price: "Ranges of minor units in `meta.currency`: `from-to`, `to` not included.",
  },
});

type Hit = SearchResult["hits"][number];
type SearchItem = ProductSummary & Pick<Hit, "score" | "matched" | "titleHighlight">;

const Highlights = builder.objectRef<{ title: string | null }>("SearchHighlights").implement({
  description: "The texts with what was found marked by `<mark>`; everything else in them is HTML-escaped.",
  fields: (t) => ({
    title: t.exposeString("title", {
      nullable: true,
      description: "The title; null when nothing of the query is in it.",
    }),
  }),
});

const Item = builder.objectRef<SearchItem>("ProductSearchItem").implement({
  description: "A product that was found.",
  interfaces: [ProductListing],
  fields: (t) => ({
    score: t.exposeFloat("score", { description: "How well it matches: only comparable within one answer." }),
    matched: t.field({
      type: [MatchedEnum],
      description: "Where the query was found.",
      complexity: { multiplier: 1 },
      resolve: ({ matched }) => [...matched],
    }),
    highlights: t.field({
      type: Highlights,
      description: "The texts with what was found marked.",
      resolve: ({ titleHighlight }) => ({ title: titleHighlight }),
    }),
  }),
});

interface SearchPage {
  readonly result: SearchResult;
  readonly input: {
    readonly page: number;
    readonly pageSize: number;
    readonly sort: (typeof SortEnum)["$inferType"];
    readonly locale: string;
    readonly market: string;
  };
}

const Facet = builder.objectRef<SearchResult["facets"][number]>("SearchFacet").implement({
  description: "What was found, grouped.",
  fields: (t) => ({
    key: t.expose("key", { type: FacetKeyEnum, description: "What it groups by." }),
    buckets: t.field({
      type: [FacetBucket],
      description: "The groups, the largest first, 20 at most.",
      complexity: { multiplier: 5 },
      resolve: ({ buckets }) => [...buckets],
    }),
  }),
});

const FacetBucket = builder
  .objectRef<SearchResult["facets"][number]["buckets"][number]>("SearchFacetBucket")
  .implement({
    description: "One group of a facet.",
    fields: (t) => ({
      value: t.exposeString("value", { description: "What the group is, as a filter takes it." }),
      label: t.exposeString("label", { description: "Its name in the asked locale." }),
      count: t.exposeInt("count", { description: "How many products it has." }),
    }),
  });

const SearchLocale = builder.objectRef<{ requested: string; resolved: string }>("SearchLocale").implement({
  description: "The locale of a search.",
  fields: (t) => ({
    requested: t.expose("requested", {
      type: "LocaleCode",
      description: "The one asked for, in canonical form.",
    }),
    resolved: t.expose("resolved", {
      type: "LocaleCode",
      description: "The one that the products found are in, or most of them.",
    }),
  }),
});

const SearchQuery = builder.objectRef<SearchResult["query"]>("SearchQuery").implement({
  description: "What was searched for.",
  fields: (t) => ({
    normalized: t.exposeString("normalized", {
      description: "The query without accents, in lower case, cut into words.",
    }),
    corrected: t.exposeString("corrected", {
      nullable: true,
      description: "The query with misspelt words replaced, when that is what was searched for.",
    }),
  }),
});

const Meta = builder.objectRef<SearchPage>("ProductSearchMeta").implement({
  description: "What to know about a page of a search.",
  fields: (t) => ({
    page: t.int({ description: "The page, from 1.", resolve: ({ input }) => input.page }),
    pageSize: t.int({ description: "Products on a page.", resolve: ({ input }) => input.pageSize }),
    totalItems: t.int({
      description: "How many products were found, counted up to 10 000.",
      resolve: ({ result }) => result.totalItems,
    }),
    totalItemsRelation: t.field({
      type: RelationEnum,
      description: "Whether there are more than that.",
      resolve: ({ result }) => result.totalItemsRelation,
    }),
    totalPages: t.int({
      description: "How many pages there are.",
      resolve: ({ result, input }) => Math.ceil(result.totalItems / input.pageSize),
    }),
    hasNextPage: t.boolean({
      description: "Whether a page follows.",
      resolve: ({ result, input }) => input.page * input.pageSize < result.totalItems,
    }),
    sort: t.field({ type: SortEnum, description: "How it is ordered.", resolve: ({ input }) => input.sort }),
    locale: t.field({
      type: SearchLocale,
      description: "The locale.",
      resolve: ({ result, input }) => ({ requested: input.locale, resolved: result.localeResolved }),
    }),
    market: t.field({
      type: "CountryCode",
      description: "The country.",
      resolve: ({ input }) => input.market,
    }),
    currency: t.field({
      type: "CurrencyCode",
      nullable: true,
      description:
        "The currency most of the offers found are in; prices are compared in it alone. Null when nothing was found.",
      resolve: ({ result }) => result.currency,
    }),
    facets: t.field({
      type: [Facet],
      description: "What was found, grouped.",
      complexity: { multiplier: 5 },
      resolve: ({ result }) => [...result.facets],
    }),
    query: t.field({
      type: SearchQuery,
      description: "What was searched for.",
      resolve: ({ result }) => result.query,
    }),
    indexedAt: t.field({
      type: "DateTime",
      description: "When the newest of what was found was indexed.",
      resolve: ({ result }) => result.indexedAt,
    }),
  }),
});

const Result = builder.objectRef<SearchPage>("ProductSearchResult").implement({
  description: "A page of a search.",
  fields: (t) => ({
    items: t.field({
      type: [Item],
      description: "The products on this page.",
      resolve: ({ result }, _args, { publicUrl }) => itemsOf(result, publicUrl),
    }),
    meta: t.field({ type: Meta, description: "What to know about it.", resolve: (page) => page }),
  }),
});

function itemsOf({ hits, summaries }: SearchResult, publicUrl: string): SearchItem[] {
  return hits.flatMap(({ score, matched, titleHighlight }, index) => {
    const row = summaries[index];
    return row === undefined ? [] : [{ ...renderSummary(row, publicUrl), score, matched, titleHighlight }];
  });
}

builder.queryField("productSearch", (t) =>
  t.field({
    type: Result,
    description:
      "Searches the published products of every merchant that sells to a country; a token of one merchant finds that merchant's alone.",
    authScopes: { callers: everybody },
    complexity: ({ pageSize }) => ({ field: 10, multiplier: Math.max(1, pageSize / 20) }),
    args: {
      q: t.arg({
        type: "SearchText",
        required: true,
        description:
          "What to search for: all words must match, the last one as a prefix. Empty finds everything.",
      }),
      locale: t.arg({
        type: "LocaleCode",
        required: true,
        description:
          "The language searched in. A product without it is searched in the one it falls back to.",
      }),
      market: t.arg({
        type: "CountryCode",
        required: true,
        description: "The country that is sold to: products without an offer there are left out.",
      }),
      category: t.arg({ type: "Slug", description: "Only products of this category or one below it." }),
      merchant: t.arg({ type: "Slug", description: "Only products of this merchant." }),
      sort: t.arg({ type: SortEnum, required: true, description: "How what is found is ordered." }),
      page: t.arg.int({
        required: true,
        description: "The page, from 1; page × pageSize may reach 10 000.",
        validate: z.int32().min(1).max(10_000),
      }),
      pageSize: t.arg.int({
        required: true,
        description: "Products on a page, 1 to 100.",
        validate: z.int32().min(1).max(100),
      }),
    },
    resolve: async (_root, args, context) => {
      const { page, pageSize } = args;
      if (page * pageSize > pageWindowMax) {
        throw failAt("page_window_exceeded", {
          in: "query",
          field: "page",
          code: "too_large",
          message: `page × pageSize is ${page * pageSize}; 10 000 is the limit.`,
        });
      }
      const merchant = await merchantFilter(context, args.merchant ?? undefined);
      const input = { ...args, category: args.category ?? undefined, merchant };
      const result = await searchProducts(context.db, input, context.clock.now());
      countSearch(context, input, result);
      return { input, result };
    },
  }),
);

const buyers: ReadonlySet<Caller> = new Set(["anonymous", "api_key", "oauth", "storefront"]);

/**
 * A search is counted once, however many pages of it are looked at; what those who run the shop try out is
 * not, nor what tells of a person.
 */
function countSearch(
  { viewer, buyerReference, client, services }: GraphContext,
  { q, page, market, merchant }: Pick<SearchInput, "q" | "page" | "market" | "merchant">,
  { query, totalItems }: SearchResult,
): void {
  if (page > 1 || !buyers.has(callerOf(viewer)) || isPersonal(q)) return;
  const hasResults = totalItems > 0;
  services.searchCounts?.note({
    client: buyerReference ?? client,
    merchant,
    country: market,
    query: query.normalized,
    hasResults,
  });
}

async function merchantFilter(
  { viewer, loaders }: GraphContext,
  asked: string | undefined,
): Promise<string | undefined> {
  if (viewer.kind !== "internal" || viewer.merchantId === null) return asked;
  const { slug } = await loaders.merchants.load(viewer.merchantId);
  // A slug that no merchant can have finds nothing.
  return asked === undefined || asked === slug ? slug : "-";
}
