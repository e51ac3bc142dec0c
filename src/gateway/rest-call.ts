/**
 * One REST request on its way: what the steps know of it so far. A step passes on by returning and refuses by
 * throwing a Failure.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ExecutionResult } from "graphql";
import type { Clock } from "#foundation/clock.ts";
import type { Database } from "#database/connect.ts";
import type { Once, OnceRequest } from "#database/idempotency.ts";
import type { CredentialVerifier } from "#access/credentials.ts";
import type { LoggedRequest } from "#access/request-log.ts";
import type { CredentialOwner, Viewer } from "#access/viewer.ts";
import type { RestOperation } from "./contract.ts";
import type { RateLimiter } from "#http/rate-limiter.ts";

export interface RestCall {
  readonly operation: RestOperation;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly requestId: string;
  viewer: Viewer;
  /** Whose credential was known and is refused all the same: revoked, expired, or suspended. */
  refused: CredentialOwner | undefined;
  variables: Record<string, unknown>;
  /** Of an operation that may happen once only. */
  idempotencyKey: string | undefined;
  result: ExecutionResult | undefined;
  /** What is sent byte for byte, where it was recorded. */
  recorded: Once | undefined;
}

/** What the gateway needs of the service. It knows neither the graph's types nor the rules of commerce. */
export interface GatewayServices {
  readonly db: Database;
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly limiter: RateLimiter;
  /** What verifies what callers show. */
  readonly credentials: CredentialVerifier;
  /** Takes what became of a request with a credential, at once and without fail. */
  readonly noteRequest: (request: LoggedRequest) => void;
  /** Runs the call's document through Mesh: once for its key if `once` is given. */
  readonly execute: (
    call: RestCall,
    once: OnceRequest<ExecutionResult> | null,
  ) => Promise<ExecutionResult> | ExecutionResult;
}

export interface RestStep {
  readonly name: string;
  /** `headers` steps run before the body is read, so that who is refused costs no reading. */
  readonly phase: "headers" | "body";
  /** Decided once, at start. */
  readonly appliesTo: (operation: RestOperation) => boolean;
  readonly create: (
    services: GatewayServices,
    operation: RestOperation,
  ) => (call: RestCall) => Promise<void> | void;
}
