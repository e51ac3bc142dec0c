/** Tells a database that is away from a statement that is wrong. */
import { type Failure, fail } from "#foundation/failure.ts";
import { isGivenUp, isOutOfRoom } from "./sql-state.ts";

const networkCodes = ["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN"];
const codes = new Set([...networkCodes, "57P01", "57P02", "57P03", "53300"]);
const messages = /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed)/;

export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (codes.has(code) || code.startsWith("08") || messages.test(error.message) || isUnanswered(error)) return true;
  if (error instanceof AggregateError) return error.errors.some(isDatabaseAway);
  return error.cause !== undefined && isDatabaseAway(error.cause);
}

/** pg gave up waiting for an answer; the statement may still run. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.message === "Query read timeout";
}

/** A bug that is really a database away, one without room, or one that gave up on us for others three times, becomes a 503 that is worth another try. */
export function orUnavailable(failure: Failure): Failure {
  if (failure.code !== "internal_error" || !isPassing(failure.cause)) return failure;
  return fail("service_unavailable", { cause: failure.cause, retryAfterSeconds: 2 });
}

const isPassing = (cause: unknown): boolean => isDatabaseAway(cause) || isGivenUp(cause) || isOutOfRoom(cause);
