/**
 * The state of one REST request, which its steps read and complete. A step refuses the request by throwing a
 * Failure.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ExecutionResult } from "graphql";
import type { Clock } from "#foundation/clock.ts";
import type { Database } from "#database/connect.ts";
import type { IdempotentResult, IdempotentRequest } from "#database/idempotency.ts";
import type { CredentialVerifier } from "#access/credentials.ts";
import type { LoggedRequest } from "#access/request-log.ts";
import type { CredentialOwner, Viewer } from "#access/viewer.ts";
import type { RestOperation } from "./contract.ts";
import type { RateLimiter } from "#http/rate-limiter.ts";

/** The state of one REST request. */
export interface RestCall {
  readonly operation: RestOperation;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly requestId: string;
  viewer: Viewer;
  /**
   * The owner of a known credential that was refused because it is revoked, expired or suspended; otherwise
   * undefined.
   */
  refusedOwner: CredentialOwner | undefined;
  variables: Record<string, unknown>;
  /** The idempotency key of the request; undefined if the operation takes none. */
  idempotencyKey: string | undefined;
  result: ExecutionResult | undefined;
  /** The stored answer of a request with an idempotency key. Its body is sent unchanged, byte for byte. */
  recorded: IdempotentResult | undefined;
}

/**
 * The services that the steps of REST requests use. The gateway knows neither the graph's types nor the rules
 * of commerce.
 */
export interface GatewayServices {
  readonly db: Database;
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly limiter: RateLimiter;
  /** Verifies the credentials of callers. */
  readonly credentials: CredentialVerifier;
  /** Adds an answered request to the request log. Returns at once and never throws. */
  readonly logRequest: (request: LoggedRequest) => void;
  /**
   * Runs the operation's document through Mesh. If `once` is not null, the document runs once for its
   * idempotency key.
   */
  readonly execute: (
    call: RestCall,
    once: IdempotentRequest<ExecutionResult> | null,
  ) => Promise<ExecutionResult> | ExecutionResult;
}

/** One step of a REST request, for example validation. */
export interface RestStep {
  readonly name: string;
  /** `headers` steps run before the body is read, so that the body of a refused request is not read. */
  readonly phase: "headers" | "body";
  /** Whether the operation has this step; called once for each operation, at start. */
  readonly appliesTo: (operation: RestOperation) => boolean;
  readonly create: (
    services: GatewayServices,
    operation: RestOperation,
  ) => (call: RestCall) => Promise<void> | void;
}
