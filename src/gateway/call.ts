/** One REST request on its way: what the steps know of it so far. A step passes on by returning and refuses by throwing a Failure. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ExecutionResult } from "graphql";
import type { Clock } from "#foundation/clock.ts";
import type { Database } from "#database/connect.ts";
import type { DoOnce, Once } from "#database/idempotency.ts";
import type { Transaction } from "#database/transaction.ts";
import type { Credentials } from "#access/credentials.ts";
import type { NotedRequest } from "#access/requests/request-log.ts";
import type { CredentialOwner, Viewer } from "#access/viewer.ts";
import type { Operation } from "./contract.ts";
import type { RateLimiter } from "./rate-limiter.ts";

export interface Call {
  readonly operation: Operation;
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

/** What the gateway is given: it knows neither the graph nor the rules of commerce. */
export interface GatewayServices {
  readonly db: Database;
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly limiter: RateLimiter;
  /** What verifies what callers show. */
  readonly credentials: Credentials;
  readonly doOnce: DoOnce;
  /** Takes what became of a request with a credential, at once and without fail. */
  readonly noteRequest: (request: NotedRequest) => void;
  /** Asks what an operation must know from outside of the database, before its transaction begins. */
  readonly prepare: (operationId: string, body: unknown) => Promise<void> | void;
  /** Compiles a document once; what comes back runs it for one call, all of it in the transaction where one is given. */
  readonly compile: (operation: Operation) => (call: Call, transaction?: Transaction) => Promise<ExecutionResult> | ExecutionResult;
}

export interface Step {
  readonly name: string;
  /** `headers` steps run before the body is read, so that who is refused costs no reading. */
  readonly phase: "headers" | "body";
  /** Decided once, at start. */
  readonly appliesTo: (operation: Operation) => boolean;
  readonly create: (services: GatewayServices, operation: Operation) => (call: Call) => Promise<void> | void;
}
