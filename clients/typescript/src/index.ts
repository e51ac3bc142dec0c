/**
 * The REST client: openapi-fetch with the types of the OpenAPI document. It adds the API key to each request,
 * and an Idempotency-Key to each change and all its retries. It retries failed requests where a retry is
 * safe, and throws errors of the service.
 */
import createClient, { type Middleware } from "openapi-fetch";
import type { Call, CallOptions, Method } from "./call.ts";
import { isJsonObject, toCommerceApiError } from "./commerce-api-error.ts";
import { type CommerceLists, createLists } from "./lists.ts";
import { type RetryOptions, retryingFetch, type Send } from "./retrying-fetch.ts";
import type { paths } from "./schema.ts";

export { CommerceApiError } from "./commerce-api-error.ts";
export type { CommerceLists, ItemList, ListOptions, SearchInput } from "./lists.ts";
export type { RetryOptions } from "./retrying-fetch.ts";
export type { components, operations, paths } from "./schema.ts";

export interface CommerceClient extends CommerceLists {
  readonly get: Call<"get">;
  readonly put: Call<"put">;
  readonly post: Call<"post">;
  readonly delete: Call<"delete">;
}

export interface CommerceClientOptions {
  readonly baseUrl: string;
  /**
   * The API key. Never use a key in a browser, where every user could read it. In a browser, call only
   * operations that need no key.
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
  const client = createClient<paths, "application/json">({ baseUrl });
  client.use(addApiKey(apiKey), addIdempotencyKey, throwErrors);
  // The compiler has checked the types where `call` is used, so the request is passed on without types.
  const request = client.request as (
    method: Method,
    path: string,
    init: unknown,
  ) => Promise<{ readonly data?: unknown; readonly response: Response }>;
  const call =
    <M extends Method>(method: M): Call<M> =>
    async (path, ...[init]) => {
      const { params, body, headers, signal, onHeaders, ...own } = (init ?? {}) as CallOptions & {
        readonly params?: unknown;
        readonly body?: unknown;
      };
      const { data, response } = await request(method, path, {
        params,
        body,
        headers,
        signal,
        fetch: retryingFetch(fetch, { ...retries, ...own.retries }),
      });
      onHeaders?.(response.headers);
      return data as never;
    };
  const get = call("get");
  return {
    get,
    put: call("put"),
    post: call("post"),
    delete: call("delete"),
    ...createLists(get),
  };
}

const addApiKey = (apiKey: string | undefined): Middleware => ({
  onRequest: ({ request }) => {
    if (apiKey !== undefined) request.headers.set("authorization", `Bearer ${apiKey}`);
  },
});

/**
 * Adds an Idempotency-Key to a change before the first attempt, so that all retries have the same key. A key
 * that the caller set is kept.
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
      throw toCommerceApiError({ status, headers, text }, request.headers.get("idempotency-key"));
  },
};
