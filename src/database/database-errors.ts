/**
 * Classifies database errors by SQLSTATE, error code and message: database unreachable, statement not
 * answered in time, server accepts no changes, transaction aborted because of concurrent work, server out of
 * resources, stale plan, broken constraint.
 */
import { createFailure, type Failure } from "#foundation/failure.ts";

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
/**
 * SQLSTATEs that mean that the server is temporarily not available: it stops or starts (57P…), has no
 * connection left (53300), canceled a statement after its time limit (57014), or closed an idle transaction
 * (25P03).
 */
const states = ["57P01", "57P02", "57P03", "53300", "57014", "25P03"];
const codes = new Set([...networkCodes, ...states]);
const messages: readonly string[] = [
  "Connection terminated",
  "timeout exceeded when trying to connect",
  "Client has encountered a connection error",
  "Client was closed",
];
const isKnownMessage = (text: string): boolean => messages.some((message) => text.startsWith(message));

export function isDatabaseUnreachableError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (codes.has(code) || code.startsWith("08") || isKnownMessage(error.message) || isQueryTimeoutError(error))
    return true;
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnreachableError);
  return error.cause !== undefined && isDatabaseUnreachableError(error.cause);
}

/** The message of pg, and of the connection pool, for a statement that was not answered in time. */
const queryTimeoutMessage = "Query read timeout";

export const createQueryTimeoutError = (): Error => new Error(queryTimeoutMessage);

/**
 * Returns whether the error means that this process waited too long for the answer to a statement and gave
 * up. The statement may have had its effect.
 */
export function isQueryTimeoutError(error: unknown): boolean {
  return error instanceof Error && error.message === queryTimeoutMessage;
}

/**
 * Turns the failure `internal_error` into `service_unavailable` (503) if its cause is temporary. Temporary
 * causes are an unreachable database, a server that accepts no changes or is out of resources, and repeated
 * aborts because of concurrent transactions. Returns every other failure unchanged.
 */
export function toServiceUnavailableIfTemporary(failure: Failure): Failure {
  if (failure.code !== "internal_error" || !isTemporary(failure.cause)) return failure;
  return createFailure("service_unavailable", { cause: failure.cause, retryAfterSeconds: 2 });
}

const isTemporary = (cause: unknown): boolean =>
  isDatabaseUnreachableError(cause) ||
  isConcurrencyConflictError(cause) ||
  isReadOnlyServerError(cause) ||
  isOutOfResources(cause);

/** Returns whether the server canceled a statement because of its time limit, or because it was asked to. */
export const isStatementCanceledByServer = (error: unknown): boolean => getSqlState(error) === "57014";

/** The SQLSTATE of a change that is refused because its transaction is read-only. */
const readOnlyTransaction = "25006";

/**
 * Returns whether PostgreSQL refused a change because the server accepts no changes. During a failover, a new
 * connection can lead to a standby: to a former primary, or to a standby that is about to become the primary.
 * The causes of the error are checked too, because the GraphQL layer wraps errors.
 */
export function isReadOnlyServerError(error: unknown): boolean {
  if (getSqlState(error) === readOnlyTransaction) return true;
  return error instanceof Error && error.cause !== undefined && isReadOnlyServerError(error.cause);
}

/** The SQLSTATEs that mean a serialization failure or a deadlock. */
const abortedStates = new Set(["40001", "40P01"]);

/**
 * Returns whether PostgreSQL aborted a statement that may succeed in a new transaction. Possible reasons are
 * concurrent work (a serialization failure, a deadlock, a migration that changed a table), and a transaction
 * pooler that lost a prepared statement. The causes of the error are checked too, because the GraphQL layer
 * wraps errors.
 */
export function isConcurrencyConflictError(error: unknown): boolean {
  if (abortedStates.has(getSqlState(error) ?? "")) return true;
  if (isStalePreparedStatementError(error) || isLostPreparedStatementError(error)) return true;
  return error instanceof Error && error.cause !== undefined && isConcurrencyConflictError(error.cause);
}

/**
 * Returns whether a prepared statement failed because a migration has changed the columns of a table that it
 * reads. The statement must be prepared again under another name.
 */
export function isStalePreparedStatementError(error: unknown): boolean {
  // SQLSTATE 0A000 covers many errors, and the server translates its messages into its own language. Only the
  // name of the server's routine identifies this error.
  return (
    getSqlState(error) === "0A000" &&
    error instanceof Error &&
    "routine" in error &&
    error.routine === "RevalidateCachedQuery"
  );
}

const lostStatementStates = new Set(["26000", "42P05"]);

/**
 * Returns whether a named statement failed because the server's connection does not have it (26000), or has
 * it already (42P05). Both happen behind a transaction pooler that gives every transaction another connection
 * and does not support named statements. The statement had no effect.
 */
export const isLostPreparedStatementError = (error: unknown): boolean =>
  lostStatementStates.has(getSqlState(error) ?? "");

/**
 * Returns whether PgBouncer refused a new connection because of a setting of the session, for example
 * `statement_timeout`. PgBouncer uses SQLSTATE 08P01 for other errors too, so the message is compared.
 */
export const isRefusedStartupParameterError = (error: unknown): boolean =>
  getSqlState(error) === "08P01" && error instanceof Error && error.message.includes("startup parameter");

const outOfResources = new Set(["53100", "53200", "58030"]);

/**
 * Returns whether PostgreSQL has no disk space or no memory left, or cannot read or write its disk. An
 * operator has to solve these problems.
 */
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

/** Returns the name of the violated constraint or unique index; undefined for other errors. */
export function getViolatedConstraintName(error: unknown): string | undefined {
  return error instanceof Error && "constraint" in error && typeof error.constraint === "string"
    ? error.constraint
    : undefined;
}
