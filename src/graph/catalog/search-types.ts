/** The GraphQL types of the product search: sort orders, found products, and the data about a page of results. */
import { type ProductSummary, toProductSummaryFromRow } from "#commerce/catalog/render-product.ts";
import type { SearchScoreExplanation } from "#commerce/search/render-results.ts";
import type { ProductSearchResults } from "#commerce/search/search-products.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { ProductListingInterface } from "./products.ts";
import { SearchFacetRef } from "./search-facets.ts";

export const ProductSearchSortEnum = defineGraphqlEnum("ProductSearchSort", {
  description: "The order of search results. Products that are equal in this order are sorted by ID.",
  values: {
    relevance:
      "The products that match the query best come first. Without a query, the order is the same as " +
      "POPULARITY.",
    newest: "The most recently published products come first.",
    price_asc:
      "The products with the lowest price come first. Products in a currency other than `meta.currency` " +
      "follow after all others.",
    price_desc:
      "The products with the highest price come first. Products in a currency other than `meta.currency` " +
      "follow after all others.",
    title_asc: "Products are sorted by title, from A to Z.",
    popularity:
      "The products that were ordered most often in the last 30 days come first, and among equal ones the " +
      "most recently published.",
  },
});

const MatchedFieldEnum = defineGraphqlEnum("MatchedField", {
  description: "A field of a product in which a word of the query was found.",
  values: {
    sku: "A SKU or GTIN of one of the product's variants.",
    title: "The product's title.",
    brand: "The product's brand.",
    category: "The name of one of the product's categories.",
    description: "The product's summary or description.",
  },
});

const TotalRelationEnum = defineGraphqlEnum("TotalRelation", {
  description: "Whether the number of found products is exact or a lower bound.",
  values: {
    exact: "The number of found products is exact.",
    at_least: "The number of found products is a lower bound, because counting stopped at this number.",
  },
});

type Hit = ProductSearchResults["hits"][number];
type SearchItem = ProductSummary & Pick<Hit, "score" | "matched" | "titleHighlight" | "explanation">;

const SearchTierEnum = defineGraphqlEnum("SearchTier", {
  description:
    "A product's rank in a search, by the fields in which the words of the query were found. The ranks are " +
    "listed from best to worst; a product of a better rank comes first.",
  values: {
    code: "The query is a SKU or GTIN of the product.",
    code_prefix: "A SKU or GTIN of the product begins with the query.",
    title_phrase: "The title contains all words of the query, one directly after the other.",
    title_exact: "The title contains all words of the query as they were typed, in any order.",
    title: "The title contains every word of the query, or its stem, a compound with it, or a synonym.",
    title_or_brand: "Title and brand together contain all words of the query.",
    title_brand_or_category: "Title, brand and category names together contain all words of the query.",
    title_in_part:
      "The title contains some words of the query, or a longer word that begins with the query's " +
      "last word; the remaining words are in other fields of the product.",
    text:
      "The summary, description, attributes or options contain the words of the query; the title " +
      "contains none of them.",
  } satisfies Record<SearchScoreExplanation["tier"], string>,
});

const SearchExplanationRef = builder.objectRef<SearchScoreExplanation>("SearchExplanation").implement({
  description:
    "The parts of a found product's score: the tier, the stock, the popularity and the texts, from the " +
    "most to the least important.",
  fields: (t) => ({
    tier: t.field({
      type: SearchTierEnum,
      description: "The product's rank by the fields in which the words of the query were found.",
      resolve: ({ tier }) => tier,
    }),
    tierScore: t.exposeFloat("tierScore", { description: "The points for the product's score tier." }),
    stockScore: t.exposeFloat("stockScore", {
      description: "The points for a product that is in stock; 0 if the product is not in stock.",
    }),
    popularityScore: t.exposeFloat("popularityScore", {
      description:
        "The points for the units that were ordered in the last 30 days; each doubling of the units adds " +
        "one step.",
    }),
    textScore: t.exposeFloat("textScore", {
      description: "The points for the number of matching words and the length of the texts.",
    }),
  }),
});

const SearchHighlightsRef = builder.objectRef<{ title: string | null }>("SearchHighlights").implement({
  description:
    "Texts of a found product as HTML. Words that match the query are enclosed in `<mark>`; all other " +
    "text is HTML-escaped.",
  fields: (t) => ({
    title: t.exposeString("title", {
      nullable: true,
      description: "The title with matching words marked; null if no word of the title matches.",
    }),
  }),
});

const ProductSearchItemRef = builder.objectRef<SearchItem>("ProductSearchItem").implement({
  description: "A product found by a search.",
  interfaces: [ProductListingInterface],
  fields: (t) => ({
    score: t.exposeFloat("score", {
      description:
        "How well the product matches the query; a higher score is better. Scores can be compared only " +
        "within one response.",
    }),
    matched: t.field({
      type: [MatchedFieldEnum],
      description:
        "The fields of the product that contain words of the query. A word also counts if the field " +
        "contains its corrected spelling, another form or a synonym. Words in `meta.query.dropped` do not " +
        "count. Empty if `q` is empty.",
      complexity: { multiplier: 1 },
      resolve: ({ matched }) => [...matched],
    }),
    highlights: t.field({
      type: SearchHighlightsRef,
      description: "Texts of the product with the matching words marked.",
      resolve: ({ titleHighlight }) => ({ title: titleHighlight }),
    }),
    explanation: t.field({
      type: SearchExplanationRef,
      nullable: true,
      description:
        "The parts of the score that gave the product its position in the results. Null if `q` is empty, " +
        "even if filters are set, and null for all callers except the merchant's staff and admins.",
      resolve: ({ explanation }) => explanation,
    }),
  }),
});

interface SearchPage {
  readonly result: ProductSearchResults;
  readonly input: {
    readonly page: number;
    readonly pageSize: number;
    readonly sort: (typeof ProductSearchSortEnum)["$inferType"];
    readonly locale: string;
    readonly market: string;
  };
}

const SearchLocaleRef = builder.objectRef<{ requested: string; resolved: string }>("SearchLocale").implement({
  description: "The requested locale of a search and the locale of its results.",
  fields: (t) => ({
    requested: t.expose("requested", {
      type: "LocaleCode",
      description: "The requested locale in canonical form.",
    }),
    resolved: t.expose("resolved", {
      type: "LocaleCode",
      description: "The locale in which most of the found products are shown.",
    }),
  }),
});

const SearchQueryRef = builder.objectRef<ProductSearchResults["query"]>("SearchQuery").implement({
  description: "The search query after normalization and spelling correction.",
  fields: (t) => ({
    normalized: t.exposeString("normalized", {
      description: "The search query, divided into words, in lower case and without accents.",
    }),
    corrected: t.exposeString("corrected", {
      nullable: true,
      description: "The search query with misspelt words corrected; null if no word was corrected.",
    }),
    dropped: t.stringList({
      description:
        "The words of the query that the found products need not contain: words that describe no product, " +
        "for example `best`, and words that the search left out because no product contains all words. " +
        "Empty if all words match.",
      resolve: ({ dropped }) => [...dropped],
    }),
  }),
});

const ProductSearchMetaRef = builder.objectRef<SearchPage>("ProductSearchMeta").implement({
  description: "The page number, the totals and the facets of a page of search results.",
  fields: (t) => ({
    page: t.int({
      description: "The number of this page of results, counted from 1.",
      resolve: ({ input }) => input.page,
    }),
    pageSize: t.int({
      description: "The maximum number of products on a page.",
      resolve: ({ input }) => input.pageSize,
    }),
    totalItems: t.int({
      description: "The number of products found, counted up to 10 000.",
      resolve: ({ result }) => result.totalItems,
    }),
    totalItemsRelation: t.field({
      type: TotalRelationEnum,
      description: "Whether `totalItems` is exact or a lower bound.",
      resolve: ({ result }) => result.totalItemsRelation,
    }),
    totalPages: t.int({
      description: "The number of pages of the search results.",
      resolve: ({ result, input }) => Math.ceil(result.totalItems / input.pageSize),
    }),
    hasNextPage: t.boolean({
      description: "Whether there is a page of results after this page.",
      resolve: ({ result, input }) => input.page * input.pageSize < result.totalItems,
    }),
  }),
});

builder.objectFields(ProductSearchMetaRef, (t) => ({
  sort: t.field({
    type: ProductSearchSortEnum,
    description: "The order in which the found products are sorted.",
    resolve: ({ input }) => input.sort,
  }),
  locale: t.field({
    type: SearchLocaleRef,
    description: "The requested locale of the search and the locale of its results.",
    resolve: ({ result, input }) => ({ requested: input.locale, resolved: result.localeResolved }),
  }),
  market: t.field({
    type: "CountryCode",
    description: "The country for which prices and availability are shown.",
    resolve: ({ input }) => input.market,
  }),
  currency: t.field({
    type: "CurrencyCode",
    nullable: true,
    description:
      "The currency of most of the offers found; price order and price ranges use only this currency. " +
      "Null if nothing was found.",
    resolve: ({ result }) => result.currency,
  }),
  facets: t.field({
    type: [SearchFacetRef],
    description:
      "The found products, counted by category, merchant, brand, availability and price, and also by " +
      "attribute if `hasAttributeFacets` is true.",
    complexity: { multiplier: 5 },
    resolve: ({ result }) => [...result.facets],
  }),
  query: t.field({
    type: SearchQueryRef,
    description: "The search query after normalization and spelling correction.",
    resolve: ({ result }) => result.query,
  }),
  indexedAt: t.field({
    type: "DateTime",
    description: "The latest time at which any product was indexed for the search.",
    resolve: ({ result }) => result.indexedAt,
  }),
}));

export const ProductSearchResultRef = builder.objectRef<SearchPage>("ProductSearchResult").implement({
  description: "A page of search results.",
  fields: (t) => ({
    items: t.field({
      type: [ProductSearchItemRef],
      description: "The products on this page.",
      resolve: ({ result }, _args, { publicUrl }) => itemsOf(result, publicUrl),
    }),
    meta: t.field({
      type: ProductSearchMetaRef,
      description: "The page number, the totals and the facets of the search.",
      resolve: (page) => page,
    }),
  }),
});

function itemsOf({ hits, summaries }: ProductSearchResults, publicUrl: string): SearchItem[] {
  return hits.flatMap(({ score, matched, titleHighlight, explanation }, index) => {
    const row = summaries[index];
    return row === undefined
      ? []
      : [{ ...toProductSummaryFromRow(row, publicUrl), score, matched, titleHighlight, explanation }];
  });
}
