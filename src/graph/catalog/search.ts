/**
 * The GraphQL query for the product search. One field returns a page of results together with the totals and
 * facets, so that a request searches only once.
 */
import { z } from "zod";
import { mayQueryContainPersonalData } from "#commerce/search/search-counts.ts";
import type { ProductSearchInput } from "#commerce/search/search-form.ts";
import { type ProductSearchResults, searchProducts } from "#commerce/search/search-products.ts";
import { createFailureWithDetail } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import {
  allCallers,
  type CallerKind,
  getCallerKindOfViewer,
  type GraphqlContext,
  merchantReaders,
} from "#graph/context.ts";
import { defineGraphqlFieldCostByArguments } from "#graph/field-costs.ts";
import { ProductSearchFilterInput, toProductSearchFilters } from "./search-filter.ts";
import { ProductSearchResultRef, ProductSearchSortEnum } from "./search-types.ts";

export const searchPageWindowMax = 10_000;

/** The arguments of the GraphQL field for the product search. */
const searchArgs = builder.args((t) => ({
  q: t.field({
    type: "SearchText",
    required: true,
    description:
      "The search text. All words must match; the last word also matches as the beginning of a longer " +
      "word. An empty text finds all products.",
  }),
  locale: t.field({
    type: "LocaleCode",
    required: true,
    description:
      "The locale in which products are searched and shown. A product without texts in this locale is " +
      "searched and shown in its fallback locale.",
  }),
  market: t.field({
    type: "CountryCode",
    required: true,
    description: "The country to which products are sold. Products without a price there are left out.",
  }),
  category: t.field({
    type: "Slug",
    description: "Returns only products of the category with this slug or of a category below it.",
  }),
  merchant: t.field({ type: "Slug", description: "Returns only products of the merchant with this slug." }),
  filter: t.field({
    type: ProductSearchFilterInput,
    description: "Further filters, for example by brand or price. A product must pass all of them.",
  }),
  hasAttributeFacets: t.boolean({
    description:
      "Whether the facets also group the products by attribute; false if left out. The search must then " +
      "have a text in `q` or a filter.",
  }),
  sort: t.field({
    type: ProductSearchSortEnum,
    required: true,
    description: "The order of the found products.",
  }),
  page: t.int({
    required: true,
    description: "The number of the page of results, counted from 1; page × pageSize must not exceed 10 000.",
    validate: z.int32().min(1).max(searchPageWindowMax),
  }),
  pageSize: t.int({
    required: true,
    description: "The number of products on a page, 1 to 100.",
    validate: z.int32().min(1).max(100),
  }),
}));

/**
 * The cost of a product search in points, in addition to the cost of its results. A search takes 5 to 13 ms
 * of CPU time (`npm run bench:costs`), as much as reading about twenty orders.
 */
const searchCost = 200;

/**
 * Computes the cost of a product search in points. The cost of the selected fields is multiplied by a
 * twentieth of the page size, but at least by 1.
 */
const computeSearchCost = defineGraphqlFieldCostByArguments(
  { sizedBy: ["pageSize"], factor: "`pageSize` / 20, at least 1" },
  ({ pageSize }: { readonly pageSize: number }) => ({
    field: searchCost,
    multiplier: Math.max(1, pageSize / 20),
  }),
);

builder.queryField("productSearch", (t) =>
  t.field({
    type: ProductSearchResultRef,
    description:
      "Searches the published products of all merchants that sell to a country. With a token of a single " +
      "merchant, only that merchant's products are searched.",
    authScopes: { callers: allCallers },
    complexity: computeSearchCost,
    args: searchArgs,
    resolve: async (_root, args, context) => {
      const { page, pageSize } = args;
      if (page * pageSize > searchPageWindowMax) {
        throw createFailureWithDetail("page_window_exceeded", {
          in: "query",
          field: "page",
          code: "too_large",
          message: `page × pageSize is ${page * pageSize}; 10 000 is the limit.`,
        });
      }
      const merchant = await merchantFilter(context, args.merchant ?? undefined);
      const input = toSearchInput(context, args, merchant);
      const result = await searchProducts(context.db, input, context.clock.now());
      countProductSearch(context, input, result);
      return { input, result };
    },
  }),
);

interface SearchArguments extends Pick<
  ProductSearchInput,
  "q" | "locale" | "market" | "sort" | "page" | "pageSize"
> {
  readonly category?: string | null | undefined;
  readonly filter?: Parameters<typeof toProductSearchFilters>[0];
  readonly hasAttributeFacets?: boolean | null | undefined;
}

function toSearchInput(
  { viewer }: GraphqlContext,
  { category, filter, hasAttributeFacets, ...args }: SearchArguments,
  merchant: string | undefined,
): ProductSearchInput {
  return {
    ...args,
    category: category ?? undefined,
    merchant,
    filters: toProductSearchFilters(filter),
    hasAttributeFacets: hasAttributeFacets === true,
    isExplained: explainedCallers.has(getCallerKindOfViewer(viewer)),
  };
}

/** The kinds of callers that get an explanation of each product's rank in the search results. */
const explainedCallers: ReadonlySet<CallerKind> = new Set(merchantReaders);

const buyerCallers: ReadonlySet<CallerKind> = new Set(["anonymous", "api_key", "oauth", "storefront"]);

/**
 * Counts a buyer's search for the search statistics. Also registers a callback that counts later requests
 * which the response cache answers. Does not count later pages of a search, searches by staff, and search
 * texts that look like personal data.
 */
function countProductSearch(
  { viewer, buyerReference, client, services, reuseCallbacks }: GraphqlContext,
  { q, page, market, merchant }: Pick<ProductSearchInput, "q" | "page" | "market" | "merchant">,
  { query, totalItems }: ProductSearchResults,
): void {
  if (page > 1 || !buyerCallers.has(getCallerKindOfViewer(viewer)) || mayQueryContainPersonalData(q)) return;
  const counted = { merchant, country: market, query: query.normalized, hasResults: totalItems > 0 };
  const countFor = (buyer: string): void => services.searchCounts?.note({ client: buyer, ...counted });
  countFor(buyerReference ?? client);
  reuseCallbacks?.push(countFor);
}

async function merchantFilter(
  { viewer, loaders }: GraphqlContext,
  requested: string | undefined,
): Promise<string | undefined> {
  if (viewer.kind !== "internal" || viewer.merchantId === null) return requested;
  const { slug } = await loaders.merchants.load(viewer.merchantId);
  // A token of a merchant can search only this merchant's products. If the filter names another merchant, the
  // slug "-" is used, which no merchant has, so the search finds nothing.
  return requested === undefined || requested === slug ? slug : "-";
}
