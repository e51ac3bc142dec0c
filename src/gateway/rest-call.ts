/**
 * The state of one REST request. The steps of the request read this state and change it. A step refuses the
 * request by throwing a `Failure`.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ExecutionResult } from "graphql";
import type { Clock } from "#foundation/clock.ts";
import type { Database } from "#database/connect.ts";
import type { IdempotentRequestResult, IdempotentRequest } from "#database/idempotency.ts";
import type { CredentialVerifier } from "#access/credentials.ts";
import type { LoggedApiRequest } from "#access/request-log.ts";
import type { CredentialAndOwnerIds, Viewer } from "#access/viewer.ts";
import type { RestOperation } from "./contract.ts";
import type { RateLimiter } from "#http/rate-limiter.ts";
import type { InProcessEventEmitter } from "#foundation/events.ts";
import type { CachedResponse, ResponseCache, PendingResponseCacheEntry } from "./response-cache.ts";

export interface RestRequestContext {
  readonly operation: RestOperation;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly requestId: string;
  viewer: Viewer;
  /**
   * The owner of a credential that was refused as revoked, expired or suspended. Undefined if the credential
   * was accepted or is unknown.
   */
  refusedOwner: CredentialAndOwnerIds | undefined;
  variables: Record<string, unknown>;
  /** The idempotency key of the request; undefined if the operation does not accept one. */
  idempotencyKey: string | undefined;
  result: ExecutionResult | undefined;
  /**
   * The stored answer of the first request with the same idempotency key. A repeated request gets the body of
   * this stored answer unchanged, byte for byte.
   */
  recorded: IdempotentRequestResult | undefined;
  /** The answer from the response cache; undefined if the document must be executed. */
  cachedResponse: CachedResponse | undefined;
  /** The cache fill of this request; undefined if the answer will not be stored in the response cache. */
  fill: PendingResponseCacheEntry | undefined;
}

/**
 * The services that the steps of REST requests use. They are passed as an object, so that the gateway does
 * not import the GraphQL schema or the code of carts, orders and products.
 */
export interface RestGatewayServices {
  readonly db: Database;
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly limiter: RateLimiter;
  readonly events: InProcessEventEmitter;
  /** True if reads without a credential run on a read replica of the database. */
  readonly hasReplica: boolean;
  /** The response cache, which keeps answers in memory; undefined if the cache is switched off. */
  readonly responseCache: ResponseCache | undefined;
  /** Verifies the API keys and access tokens of callers. */
  readonly credentials: CredentialVerifier;
  /** Adds an answered request to the request log. Returns at once and never throws. */
  readonly logRequest: (request: LoggedApiRequest) => void;
  /**
   * Executes the operation's GraphQL document with GraphQL Mesh. `once` contains the idempotency key, with
   * which the document is executed only once; null if the operation has no idempotency key.
   */
  readonly execute: (
    call: RestRequestContext,
    once: IdempotentRequest<ExecutionResult> | null,
  ) => Promise<ExecutionResult> | ExecutionResult;
}

/** One step of a REST request, for example validation. */
export interface RestRequestPipelineStep {
  readonly name: string;
  /**
   * The phase in which the step runs: `headers` is before the request's body is read, `body` afterwards. A
   * request that is refused in the phase `headers` is answered without reading its body.
   */
  readonly phase: "headers" | "body";
  /**
   * Returns whether requests of the operation run this step. Called once for each operation when the server
   * starts.
   */
  readonly appliesTo: (operation: RestOperation) => boolean;
  readonly create: (
    services: RestGatewayServices,
    operation: RestOperation,
  ) => (call: RestRequestContext) => Promise<void> | void;
}
