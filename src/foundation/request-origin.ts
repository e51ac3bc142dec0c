/**
 * Says which HTTP request the running code serves. The request's id reaches code that does not know the
 * request, for example the connection pool of the database, through Node's async context.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export interface RequestIdAndRoute {
  /** The value of the answer's header `X-Request-Id`. */
  readonly requestId: string;
  /** The id of the REST operation; undefined for requests of other routes. */
  readonly operationId: string | undefined;
  /** The path template of the route, for example `/carts/:cartId`; undefined if no route has the path. */
  readonly route: string | undefined;
}

const origins = new AsyncLocalStorage<RequestIdAndRoute>();

/** Returns the request that the running code serves; undefined in background work and in commands. */
export const getCurrentRequestIdAndRoute = (): RequestIdAndRoute | undefined => origins.getStore();

/**
 * Runs `work`, and all work that it starts, as a part of the request `origin`. If `origin` is undefined,
 * `work` stays a part of the caller's request.
 */
export const runWithRequestIdAndRoute = <Result>(
  origin: RequestIdAndRoute | undefined,
  work: () => Result,
): Result => (origin === undefined ? work() : origins.run(origin, work));
