/**
 * Classifies errors of the database by SQLSTATE: unreachable, unanswered, aborted because of concurrent
 * transactions, out of space, stale plan, broken constraint.
 */
import { fail, type Failure } from "#foundation/failure.ts";

const networkCodes = [
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
];
const codes = new Set([...networkCodes, "57P01", "57P02", "57P03", "53300"]);
const messages: readonly string[] = [
  "Connection terminated",
  "timeout exceeded when trying to connect",
  "Client has encountered a connection error",
  "Client was closed",
];
const isKnownMessage = (text: string): boolean => messages.some((message) => text.startsWith(message));

export function isDatabaseUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (codes.has(code) || code.startsWith("08") || isKnownMessage(error.message) || isQueryTimeout(error))
    return true;
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnreachable);
  return error.cause !== undefined && isDatabaseUnreachable(error.cause);
}

/** True if pg stopped waiting for an answer; the statement may still run. */
export function isQueryTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === "Query read timeout";
}

/**
 * Turns an internal error into 503 `service_unavailable` if its cause is an unreachable database, a full
 * disk, or repeated aborts because of concurrent transactions.
 */
export function toUnavailableIfTemporary(failure: Failure): Failure {
  if (failure.code !== "internal_error" || !isTemporary(failure.cause)) return failure;
  return fail("service_unavailable", { cause: failure.cause, retryAfterSeconds: 2 });
}

const isTemporary = (cause: unknown): boolean =>
  isDatabaseUnreachable(cause) || isAbortedByConcurrency(cause) || isOutOfResources(cause);

/** SQLSTATEs of serialization failure and deadlock. */
const abortedStates = new Set(["40001", "40P01"]);

/**
 * True if PostgreSQL aborted a statement because of concurrent work (serialization failure, deadlock, a
 * changed table). Also checks causes, because the GraphQL layer wraps errors.
 */
export function isAbortedByConcurrency(error: unknown): boolean {
  if (abortedStates.has(getSqlState(error) ?? "") || isPlanStale(error)) return true;
  return error instanceof Error && error.cause !== undefined && isAbortedByConcurrency(error.cause);
}

/**
 * True if a prepared statement reads a table whose columns a migration has changed. The statement must be
 * prepared again under another name.
 */
export function isPlanStale(error: unknown): boolean {
  // The SQLSTATE covers many errors. The routine's name identifies this error in every language of the server.
  return (
    getSqlState(error) === "0A000" &&
    error instanceof Error &&
    "routine" in error &&
    error.routine === "RevalidateCachedQuery"
  );
}

const outOfResources = new Set(["53100", "53200", "58030"]);

/** True if PostgreSQL has no disk space or memory left, or its disk fails. An operator has to act. */
function isOutOfResources(error: unknown): boolean {
  if (outOfResources.has(getSqlState(error) ?? "")) return true;
  return error instanceof Error && error.cause !== undefined && isOutOfResources(error.cause);
}

/** Returns the SQLSTATE of a database error; undefined for other errors. */
export function getSqlState(error: unknown): string | undefined {
  return error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    error.code.length === 5
    ? error.code
    : undefined;
}

export const uniqueViolation = "23505";

/** Returns the name of the broken constraint or unique index; undefined for other errors. */
export function getBrokenConstraint(error: unknown): string | undefined {
  return error instanceof Error && "constraint" in error && typeof error.constraint === "string"
    ? error.constraint
    : undefined;
}
