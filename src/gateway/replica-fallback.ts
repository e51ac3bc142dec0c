/**
 * Sends reads that need no credential to the read replica of the database, if there is one. Sends them to the
 * primary database if the replica is unreachable, hangs, cancels a statement, lacks the columns of the last
 * migration, or is too far behind. After a failure of the replica, reads go to the primary database for some
 * seconds. Then one read tries the replica again.
 */
import type { ExecutionResult } from "graphql";
import type { Clock } from "#foundation/clock.ts";
import type { Log } from "#foundation/log.ts";
import type { GraphqlServices, DatabaseReadSource } from "#graph/context.ts";
import { getFailureOfGraphqlError } from "#mesh/public-error.ts";

type Result = Promise<ExecutionResult> | ExecutionResult;

/**
 * Runs a read that needs no credential. Calls `read` with the read replica of the database, or with undefined
 * if `read` must use the primary database.
 */
export type ReadRunnerWithPrimaryFallback = (
  read: (source: DatabaseReadSource | undefined) => Result,
) => Result;

/** Options of the function that sends reads to the replica or, while it fails, to the primary database. */
export interface PrimaryDatabaseFallbackOptions {
  readonly clock: Clock;
  readonly log: Log;
  /**
   * The time in milliseconds after a failure of the replica during which reads without a credential go to the
   * primary database.
   */
  readonly pauseMs?: number;
}

/**
 * Creates the function that runs reads without a credential on the read replica, or on the primary database
 * while the replica fails.
 */
export function createReplicaReadRunnerWithFallback(
  { replica }: Pick<GraphqlServices, "replica">,
  { clock, log, pauseMs = 5_000 }: PrimaryDatabaseFallbackOptions,
): ReadRunnerWithPrimaryFallback {
  if (replica === undefined) return (read) => read(undefined);
  let isAway = false;
  let nextTryAt = 0;
  const noteState = (error: unknown): void => {
    if ((error !== undefined) === isAway) return;
    isAway = error !== undefined;
    if (isAway)
      log.warn(
        { err: error },
        "The replica does not answer. Public reads go to the primary database until it answers again.",
      );
    else log.info({}, "The replica answers again.");
  };
  return async (read) => {
    if (replica.isBehind()) return read(undefined);
    // While the replica fails, one request in `pauseMs` milliseconds tries the replica. All other requests go
    // to the primary database.
    const nowMs = clock.now().getTime();
    // The next attempt is planned at most `pauseMs` ahead. A later time means that the system clock was set
    // back, so the replica is tried immediately.
    if (isAway && nowMs < nextTryAt && nextTryAt - nowMs <= pauseMs) return read(undefined);
    nextTryAt = nowMs + pauseMs;
    const result = await read(replica.forPublicReads);
    const error = findReplicaError(result);
    noteState(error);
    return error === undefined ? result : read(undefined);
  };
}

/**
 * Returns the error in a result if the replica failed; otherwise undefined. A failure with another code than
 * `internal_error`, for example "not found", is a valid answer of the replica.
 */
function findReplicaError({ errors = [] }: ExecutionResult): unknown {
  const failure = errors
    .map((error) => getFailureOfGraphqlError(error))
    .find(({ code }) => code === "internal_error");
  return failure?.cause ?? failure;
}
