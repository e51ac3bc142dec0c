/**
 * The lists of the API as async iterables. Only search has pages; every other list comes in one answer. All
 * lists have the same form here, so that programs read them in the same way.
 */
import type { Call, CallOptions } from "./call.ts";
import { CommerceApiError } from "./commerce-api-error.ts";
import type { components, operations } from "./schema.ts";

type Schemas = components["schemas"];
type Answer<Operation extends keyof operations> = operations[Operation] extends {
  responses: { 200: { content: { "application/json": infer Body } } };
}
  ? Body
  : never;

/**
 * A list. `for await` yields its items, and requests the next page only when the items of the page before are
 * used up. Each `for await` starts anew.
 */
export interface ItemList<Item, Page> extends AsyncIterable<Item, void> {
  /** Yields whole answers, with their `meta`, instead of single items. The option `limit` does not apply. */
  pages(): AsyncGenerator<Page, void>;
}

export interface ListOptions extends CallOptions {
  /** Maximum number of items, at least 1. If left out, all items are yielded. */
  readonly limit?: number;
}

export interface SearchInput extends Omit<
  operations["searchPublicProducts"]["parameters"]["query"],
  "page" | "pageSize"
> {
  /**
   * The first page to read; 1 by default. To resume a search, store `meta.page` of each processed page of
   * `pages()`, and start with the page after it. Keep the page size: other sizes number other pages.
   */
  readonly page?: number;
  /** Products per request, 1 to 100; 100 by default. */
  readonly pageSize?: number;
}

export interface CommerceLists {
  /**
   * The products of a search. The service returns at most 10 000 products of a search (fewer if the page size
   * does not divide 10 000). If more exist, reading further throws `page_window_exceeded`. If the catalog
   * changes meanwhile, a product may be repeated or missing.
   */
  search(
    query: SearchInput,
    options?: ListOptions,
  ): ItemList<Schemas["ProductSearchItem"], Answer<"searchPublicProducts">>;
  /**
   * The published products of the API key's merchant, newest first. The service lists at most 500. If the
   * merchant has more, reading beyond the last listed product throws `list_truncated`: use `search` with
   * `merchant`.
   */
  catalogProducts(
    options?: ListOptions,
  ): ItemList<Schemas["ProductSummary"], Answer<"listApiKeyCatalogProducts">>;
  /** The webhook endpoints of the installation, oldest first; 16 at most. */
  webhookEndpoints(
    options?: ListOptions,
  ): ItemList<Schemas["WebhookEndpoint"], Answer<"listInstallationWebhooks">>;
  /** The newest 100 events with their deliveries, and up to 100 older events that were not delivered. */
  webhookEvents(options?: ListOptions): ItemList<Schemas["Event"], Answer<"listInstallationWebhookEvents">>;
}

export function createLists(get: Call<"get">): CommerceLists {
  return {
    search: (query, options = {}) =>
      createList({ readPages: () => searchPages(get, query, options), toItems: ({ data }) => data, options }),
    catalogProducts: (options = {}) =>
      createList({
        readPages: () => readOnce(() => get("/api/v1/open/catalog/products", options)),
        toItems: yieldCatalog,
        options,
      }),
    webhookEndpoints: (options = {}) =>
      createList({
        readPages: () => readOnce(() => get("/api/v1/open/webhooks/endpoints", options)),
        toItems: ({ data }) => data.endpoints,
        options,
      }),
    webhookEvents: (options = {}) =>
      createList({
        readPages: () => readOnce(() => get("/api/v1/open/webhooks/events", options)),
        toItems: ({ data }) => data.events,
        options,
      }),
  };
}

interface ListSource<Item, Page> {
  readonly readPages: () => AsyncGenerator<Page, void>;
  readonly toItems: (page: Page) => Iterable<Item>;
  readonly options: ListOptions;
}

function createList<Item, Page>({
  readPages,
  toItems,
  options: { limit = Infinity },
}: ListSource<Item, Page>): ItemList<Item, Page> {
  if (!(limit >= 1)) throw new RangeError(`"limit" must be at least 1, not ${limit}.`);
  return {
    pages: readPages,
    async *[Symbol.asyncIterator]() {
      let count = 0;
      for await (const page of readPages())
        for (const item of toItems(page)) {
          yield item;
          count += 1;
          if (count >= limit) return;
        }
    },
  };
}

async function* readOnce<Page>(read: () => Promise<Page>): AsyncGenerator<Page, void> {
  yield await read();
}

const pageSizeMax = 100;

async function* searchPages(
  get: Call<"get">,
  { page: first = 1, pageSize = pageSizeMax, ...query }: SearchInput,
  options: ListOptions,
): AsyncGenerator<Answer<"searchPublicProducts">, void> {
  for (let page = first; ; page += 1) {
    const answer = await get("/api/v1/search", {
      ...options,
      params: { query: { ...query, page, pageSize } },
    });
    yield answer;
    // If there are more products than the service counts, the next page returns the error.
    if (!answer.meta.hasNextPage && answer.meta.totalItemsRelation !== "at_least") return;
  }
}

function* yieldCatalog({
  data,
  meta,
}: Answer<"listApiKeyCatalogProducts">): Generator<Schemas["ProductSummary"], void> {
  yield* data;
  if (meta.truncated)
    throw new CommerceApiError({
      code: "list_truncated",
      message: `The list has ${meta.returned} of ${meta.total} products. Read the others with a search.`,
      status: 200,
      retryable: false,
      idempotencyKey: null,
    });
}
