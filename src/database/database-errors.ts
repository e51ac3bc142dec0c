/** Tells a database that is away from a statement that is wrong. */
import { fail, type Failure } from "#foundation/failure.ts";

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

/** What PostgreSQL says of an error: its SQLSTATE, and the constraint that was broken. */
const givenUp = new Set(["40001", "40P01"]);

/** PostgreSQL gave up on us because of others (serialization failure, deadlock, a table changed); also where the graph has made a failure of it, which keeps what it came from. */
export function isGivenUp(error: unknown): boolean {
  if (givenUp.has(sqlState(error) ?? "") || isPlanStale(error)) return true;
  return error instanceof Error && error.cause !== undefined && isGivenUp(error.cause);
}

/** A prepared statement reads a table that has another column since, as from a process that a migration went past: under another name it is prepared anew. */
export function isPlanStale(error: unknown): boolean {
  // The code says many things; the routine of PostgreSQL that says it is this one's, in every language.
  return sqlState(error) === "0A000" && (error as { readonly routine?: unknown }).routine === "RevalidateCachedQuery";
}

const outOfRoom = new Set(["53100", "53200", "58030"]);

/** PostgreSQL has no disk or memory left for it, or its disk fails: no fault of the statement, and somebody will see to it. */
function isOutOfRoom(error: unknown): boolean {
  if (outOfRoom.has(sqlState(error) ?? "")) return true;
  return error instanceof Error && error.cause !== undefined && isOutOfRoom(error.cause);
}

/** The five characters of SQLSTATE, where the error is the database's. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" && error.code.length === 5 ? error.code : undefined;
}

export const uniqueViolation = "23505";

/** The constraint or unique index that the database says was broken. */
export function brokenConstraint(error: unknown): string | undefined {
  return error instanceof Error && "constraint" in error && typeof error.constraint === "string" ? error.constraint : undefined;
}
