/**
 * The state of one REST request. The steps that handle the request read the state and add to it. A step
 * refuses the request by throwing a `Failure`.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ExecutionResult } from "graphql";
import type { Clock } from "#foundation/clock.ts";
import type { Database } from "#database/connect.ts";
import type { IdempotentRequestResult, IdempotentRequest } from "#database/idempotency.ts";
import type { CredentialVerifier } from "#access/credentials.ts";
import type { LoggedApiRequest } from "#access/request-log.ts";
import type { CredentialOwner, Viewer } from "#access/viewer.ts";
import type { RestOperation } from "./contract.ts";
import type { RateLimiter } from "#http/rate-limiter.ts";

export interface RestRequestState {
  readonly operation: RestOperation;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly requestId: string;
  viewer: Viewer;
  /**
   * If the request has a known credential that is revoked, expired or suspended: the owner of that
   * credential; otherwise undefined.
   */
  refusedOwner: CredentialOwner | undefined;
  variables: Record<string, unknown>;
  /** The idempotency key of the request; undefined if the operation takes none. */
  idempotencyKey: string | undefined;
  result: ExecutionResult | undefined;
  /** The stored answer of a request with an idempotency key. Its body is sent unchanged, byte for byte. */
  recorded: IdempotentRequestResult | undefined;
}

/**
 * The services that the steps of REST requests use. They are passed as an object, so that the gateway does
 * not import the GraphQL schema or the code of carts, orders and products.
 */
export interface GatewayServices {
  readonly db: Database;
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly limiter: RateLimiter;
  /** Verifies the credentials of callers. */
  readonly credentials: CredentialVerifier;
  /** Adds an answered request to the request log. Returns at once and never throws. */
  readonly logRequest: (request: LoggedApiRequest) => void;
  /**
   * Executes the operation's GraphQL document with GraphQL Mesh. If `once` is not null, it has an idempotency
   * key, and the document is executed only once for this key.
   */
  readonly execute: (
    call: RestRequestState,
    once: IdempotentRequest<ExecutionResult> | null,
  ) => Promise<ExecutionResult> | ExecutionResult;
}

/** One step of a REST request, for example validation. */
export interface RestRequestStep {
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
    services: GatewayServices,
    operation: RestOperation,
  ) => (call: RestRequestState) => Promise<void> | void;
}
