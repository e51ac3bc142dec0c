/**
 * The client: openapi-fetch with the types of the contract, and what a caller of this service has to do
 * besides. A key goes with each request, an Idempotency-Key with each change and all its repetitions; what
 * may be sent again is, and what is refused is thrown.
 */
import createClient, {
  type Client,
  type ClientPathsWithMethod,
  type FetchResponse,
  type MaybeOptionalInit,
  type Middleware,
} from "openapi-fetch";
import { isAnswer, refusalOf } from "./commerce-error.ts";
import { type RetryOptions, retryingFetch, type Send } from "./retrying-fetch.ts";
import type { components, operations, paths } from "./schema.ts";

export { CommerceError } from "./commerce-error.ts";
export type { RetryOptions } from "./retrying-fetch.ts";
export type { components, operations, paths } from "./schema.ts";

type Method = "get" | "put" | "post" | "delete";

type Contract = Client<paths, "application/json">;

/** Of a call's own; what would go around the client's key, repetitions and types is not among it. */
interface CallOptions {
  readonly headers?: HeadersInit;
  /** Ends the request and its repetitions. */
  readonly signal?: AbortSignal;
  /** Those of the answer (`X-Request-Id`, `ETag`, `RateLimit`, `Idempotent-Replayed`), where it is no refusal. */
  readonly onHeaders?: (headers: Headers) => void;
}

type Taken<Given> = Given extends undefined
  ? undefined
  : Pick<Given, Extract<keyof Given, "params" | "body">> & CallOptions;

type Init<Path extends keyof paths, M extends Method> = Taken<MaybeOptionalInit<paths[Path], M>>;

/** What it takes, and the body of what it answers: a refusal is thrown. */
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
   * What a search finds, page after page as it is asked for. The service pages as far as 10 000 products
   * (with a page size that does not divide them, less): who reads on where more are left is told
   * `page_window_exceeded`. A catalog that changes meanwhile may bring a product twice, or not.
   */
  search(
    query: Omit<SearchQuery, "page" | "pageSize"> & { readonly pageSize?: number },
    options?: CallOptions,
  ): AsyncGenerator<components["schemas"]["ProductSearchItem"], void>;
}

export interface CommerceClientOptions {
  readonly baseUrl: string;
  /** Not in browsers: there, only what is anonymous can be asked, and a key would be everybody's. */
  readonly apiKey?: string;
  readonly retries?: RetryOptions;
  /** What speaks HTTP; the global `fetch` unless told. It ends when the signal beside the request says so. */
  readonly fetch?: Send;
}

export function createCommerceClient({
  baseUrl,
  apiKey,
  retries,
  fetch = (request, init) => globalThis.fetch(request, init),
}: CommerceClientOptions): CommerceClient {
  const client = createClient<paths, "application/json">({ baseUrl, fetch: retryingFetch(fetch, retries) });
  client.use(identify(apiKey), onlyOnce, throwing);
  // What was checked where it was called is only handed on.
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

const identify = (apiKey: string | undefined): Middleware => ({
  onRequest: ({ request }) => {
    if (apiKey !== undefined) request.headers.set("authorization", `Bearer ${apiKey}`);
  },
});

/**
 * One key for a change, made before it is first sent: its repetitions bear the same. A caller's own, which
 * survives the caller, goes before.
 */
const onlyOnce: Middleware = {
  onRequest: ({ request }) => {
    if (request.method !== "GET" && !request.headers.has("idempotency-key"))
      request.headers.set("idempotency-key", crypto.randomUUID());
  },
};

const throwing: Middleware = {
  onResponse: async ({ request, response }) => {
    const { status, headers } = response;
    const text = await response.clone().text();
    if (!response.ok || !isAnswer(text))
      throw refusalOf({ status, headers, text }, request.headers.get("idempotency-key"));
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
    // Where more are left than it counts, the service says itself that it goes no further.
    if (!meta.hasNextPage && meta.totalItemsRelation !== "at_least") return;
  }
}
