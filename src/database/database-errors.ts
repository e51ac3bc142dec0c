/**
 * Classifies errors of the database: away, unanswered, gave up because of others, out of room, a stale plan,
 * a broken constraint (SQLSTATE).
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
const messages =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed)/;

export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (codes.has(code) || code.startsWith("08") || messages.test(error.message) || isUnanswered(error))
    return true;
  if (error instanceof AggregateError) return error.errors.some(isDatabaseAway);
  return error.cause !== undefined && isDatabaseAway(error.cause);
}

/** pg gave up waiting for an answer; the statement may still run. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.message === "Query read timeout";
}

/**
 * A bug that is really a database away, one without room, or one that gave up on us for others three times,
 * becomes a 503 that is worth another try.
 */
export function orUnavailable(failure: Failure): Failure {
  if (failure.code !== "internal_error" || !isPassing(failure.cause)) return failure;
  return fail("service_unavailable", { cause: failure.cause, retryAfterSeconds: 2 });
}

const isPassing = (cause: unknown): boolean =>
  isDatabaseAway(cause) || isGivenUp(cause) || isOutOfRoom(cause);

/** Serialization failure, deadlock. */
const givenUp = new Set(["40001", "40P01"]);

/**
 * PostgreSQL gave up on a statement because of others (serialization failure, deadlock, a table changed).
 * Looks into causes too, because the graph wraps errors in failures.
 */
export function isGivenUp(error: unknown): boolean {
  if (givenUp.has(sqlState(error) ?? "") || isPlanStale(error)) return true;
  return error instanceof Error && error.cause !== undefined && isGivenUp(error.cause);
}

/**
 * A prepared statement reads a table whose columns a migration has changed since: under another name it is
 * prepared anew.
 */
export function isPlanStale(error: unknown): boolean {
  // The code covers many errors; the routine of PostgreSQL names this one, in every language.
  return (
    sqlState(error) === "0A000" &&
    error instanceof Error &&
    "routine" in error &&
    error.routine === "RevalidateCachedQuery"
  );
}

const outOfRoom = new Set(["53100", "53200", "58030"]);

/**
 * PostgreSQL has no disk or memory left, or its disk fails: not a fault of the statement, and an operator has
 * to act.
 */
function isOutOfRoom(error: unknown): boolean {
  if (outOfRoom.has(sqlState(error) ?? "")) return true;
  return error instanceof Error && error.cause !== undefined && isOutOfRoom(error.cause);
}

/** The five characters of SQLSTATE, where the error is the database's. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    error.code.length === 5
    ? error.code
    : undefined;
}

export const uniqueViolation = "23505";

/** The constraint or unique index that the database says was broken. */
export function brokenConstraint(error: unknown): string | undefined {
  return error instanceof Error && "constraint" in error && typeof error.constraint === "string"
    ? error.constraint
    : undefined;
}
