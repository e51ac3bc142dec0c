/**
 * The types of the client's calls: for each HTTP method, the paths, parameters, bodies and answers of the
 * OpenAPI document.
 */
import type { Client, ClientPathsWithMethod, FetchResponse, MaybeOptionalInit } from "openapi-fetch";
import type { RetryOptions } from "./retrying-fetch.ts";
import type { paths } from "./schema.ts";

export type Method = "get" | "put" | "post" | "delete";

type Contract = Client<paths, "application/json">;

/** Options of a single call. They cannot change the client's API key or the types of the call. */
export interface CallOptions {
  readonly headers?: HeadersInit;
  /** Aborts the request and its retries. */
  readonly signal?: AbortSignal;
  /** Replaces some of the client's `retries` options for this call. */
  readonly retries?: RetryOptions;
  /**
   * A function that is called with the headers of a successful answer (for example `X-Request-Id`, `ETag`,
   * `RateLimit` and `Idempotent-Replayed`).
   */
  readonly onHeaders?: (headers: Headers) => void;
}

type AllowedInit<FullInit> = FullInit extends undefined
  ? undefined
  : Pick<FullInit, Extract<keyof FullInit, "params" | "body">> & CallOptions;

type Init<Path extends keyof paths, M extends Method> = AllowedInit<MaybeOptionalInit<paths[Path], M>>;

/** Sends a request and returns the body of the answer. Throws CommerceApiError if the request fails. */
export type Call<M extends Method> = <Path extends ClientPathsWithMethod<Contract, M>>(
  path: Path,
  ...init: undefined extends Init<Path, M> ? [Init<Path, M>?] : [Init<Path, M>]
) => Promise<NonNullable<FetchResponse<NonNullable<paths[Path][M]>, object, "application/json">["data"]>>;
