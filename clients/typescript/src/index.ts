/**
 * The client: openapi-fetch with the types of the contract. It adds the API key to each request, and an
 * Idempotency-Key to each change and all its retries. It retries failed requests where that is safe, and
 * throws errors of the service.
 */
import createClient, {
  type Client,
  type ClientPathsWithMethod,
  type FetchResponse,
  type MaybeOptionalInit,
  type Middleware,
} from "openapi-fetch";
import { isJsonObject, toCommerceError } from "./commerce-error.ts";
import { type RetryOptions, retryingFetch, type Send } from "./retrying-fetch.ts";
import type { components, operations, paths } from "./schema.ts";

export { CommerceError } from "./commerce-error.ts";
export type { RetryOptions } from "./retrying-fetch.ts";
export type { components, operations, paths } from "./schema.ts";

type Method = "get" | "put" | "post" | "delete";

type Contract = Client<paths, "application/json">;

/** Options of a call. They cannot change the client's API key, retries and types. */
interface CallOptions {
  readonly headers?: HeadersInit;
  /** Aborts the request and its retries. */
  readonly signal?: AbortSignal;
  /**
   * Called with the headers of a successful answer (`X-Request-Id`, `ETag`, `RateLimit`,
   * `Idempotent-Replayed`).
   */
  readonly onHeaders?: (headers: Headers) => void;
}

type AllowedInit<FullInit> = FullInit extends undefined
  ? undefined
  : Pick<FullInit, Extract<keyof FullInit, "params" | "body">> & CallOptions;

type Init<Path extends keyof paths, M extends Method> = AllowedInit<MaybeOptionalInit<paths[Path], M>>;

/** Sends a request and returns the body of the answer. Throws CommerceError if the request is refused. */
type Call<M extends Method> = <Path extends ClientPathsWithMethod<Contract, M>>(
  path: Path,
  ...init: undefined extends Init<Path, M> ? [Init<Path, M>?] : [Init<Path, M>]
) => Promise<NonNullable<FetchResponse<NonNullable<paths[Path][M]>, object, "application/json">["data"]>>;

type SearchQuery = operations["searchPublicProducts"]["parameters"]["query"];

export interface CommerceClient {
  readonly get: Call<"get">;
  readonly put: Call<"put">;
  readonly post: Call<"post">;
  readonly delete: Call<"delete">;
  /**
   * Yields the products of a search and loads page after page as needed. The service returns at most 10 000
   * products of a search (fewer if the page size does not divide 10 000). If more exist, reading further
   * throws `page_window_exceeded`. If the catalog changes meanwhile, a product may be repeated or missing.
   */
  search(
    query: Omit<SearchQuery, "page" | "pageSize"> & { readonly pageSize?: number },
    options?: CallOptions,
  ): AsyncGenerator<components["schemas"]["ProductSearchItem"], void>;
}

export interface CommerceClientOptions {
  readonly baseUrl: string;
  /**
   * The API key. Never use a key in a browser, where every user could read it; call only anonymous operations
   * there.
   */
  readonly apiKey?: string;
  readonly retries?: RetryOptions;
  /** Sends the HTTP requests; the global `fetch` by default. It must stop when `init.signal` is aborted. */
  readonly fetch?: Send;
}

export function createCommerceClient({
  baseUrl,
  apiKey,
  retries,
  fetch = (request, init) => globalThis.fetch(request, init),
}: CommerceClientOptions): CommerceClient {
  const client = createClient<paths, "application/json">({ baseUrl, fetch: retryingFetch(fetch, retries) });
  client.use(addApiKey(apiKey), addIdempotencyKey, throwErrors);
  // The types were checked at the call, so the request is passed on without types.
  const request = client.request as (
    method: Method,
    path: string,
    init: unknown,
  ) => Promise<{ readonly data?: unknown; readonly response: Response }>;
  const call =
    <M extends Method>(method: M): Call<M> =>
    async (path, ...[init]) => {
      const { params, body, headers, signal, onHeaders } = (init ?? {}) as CallOptions & {
        readonly params?: unknown;
        readonly body?: unknown;
      };
      const { data, response } = await request(method, path, { params, body, headers, signal });
      onHeaders?.(response.headers);
      return data as never;
    };
  const get = call("get");
  return {
    get,
    put: call("put"),
    post: call("post"),
    delete: call("delete"),
    search: (query, options) => searchAll(get, query, options),
  };
}

const addApiKey = (apiKey: string | undefined): Middleware => ({
  onRequest: ({ request }) => {
    if (apiKey !== undefined) request.headers.set("authorization", `Bearer ${apiKey}`);
  },
});

/**
 * Adds an Idempotency-Key to a change before the first attempt, so that all retries have the same key. A key
 * of the caller is kept.
 */
const addIdempotencyKey: Middleware = {
  onRequest: ({ request }) => {
    if (request.method !== "GET" && !request.headers.has("idempotency-key"))
      request.headers.set("idempotency-key", crypto.randomUUID());
  },
};

const throwErrors: Middleware = {
  onResponse: async ({ request, response }) => {
    const { status, headers } = response;
    const text = await response.clone().text();
    if (!response.ok || !isJsonObject(text))
      throw toCommerceError({ status, headers, text }, request.headers.get("idempotency-key"));
  },
};

const pageSizeMax = 100;

async function* searchAll(
  get: Call<"get">,
  { pageSize = pageSizeMax, ...query }: Parameters<CommerceClient["search"]>[0],
  options: CallOptions = {},
): AsyncGenerator<components["schemas"]["ProductSearchItem"], void> {
  for (let page = 1; ; page += 1) {
    const { data, meta } = await get("/api/v1/search", {
      ...options,
      params: { query: { ...query, page, pageSize } },
    });
    yield* data;
    // If there are more products than the service counts, the next page returns the error.
    if (!meta.hasNextPage && meta.totalItemsRelation !== "at_least") return;
  }
}
