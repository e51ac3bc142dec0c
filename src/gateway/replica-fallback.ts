/**
 * Sends public reads to the replica, if there is one, and to the primary database if the replica fails: it is
 * unreachable, hangs, cancels a statement or lacks the columns of the last migration. After a failure public
 * reads go to the primary for some seconds before one of them tries the replica again.
 */
import type { ExecutionResult } from "graphql";
import type { Clock } from "#foundation/clock.ts";
import type { Log } from "#foundation/log.ts";
import type { GraphServices, ReadSource } from "#graph/context.ts";
import { getFailureOfError } from "#mesh/public-error.ts";

type Result = Promise<ExecutionResult> | ExecutionResult;

/**
 * A function that runs a read that needs no credential. It calls `read` with the replica, or with undefined
 * to read from the primary database.
 */
export type RunAnonymousRead = (read: (source: ReadSource | undefined) => Result) => Result;

/** Options of the replica fallback. */
export interface ReplicaFallbackOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** How long public reads go to the primary after a failure, in milliseconds. */
  readonly pauseMs?: number;
}

/**
 * Creates the function that runs public reads on the replica, or on the primary database while the replica
 * fails.
 */
export function createReplicaFallback(
  { replica }: Pick<GraphServices, "replica">,
  { clock, log, pauseMs = 5_000 }: ReplicaFallbackOptions,
): RunAnonymousRead {
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
    // While the replica is away, one request per pause tries the replica again.
    const nowMs = clock.now().getTime();
    // If the next try is further away than one pause, the clock was set back: the replica is then tried now.
    if (isAway && nowMs < nextTryAt && nextTryAt - nowMs <= pauseMs) return read(undefined);
    nextTryAt = nowMs + pauseMs;
    const result = await read(replica.forPublicReads);
    const error = findReplicaError(result);
    noteState(error);
    return error === undefined ? result : read(undefined);
  };
}

/**
 * Returns the cause if the replica failed to answer. Failures with a registered error code, except
 * `internal_error`, are valid answers, so they return undefined.
 */
function findReplicaError({ errors = [] }: ExecutionResult): unknown {
  const failure = errors
    .map((error) => getFailureOfError(error))
    .find(({ code }) => code === "internal_error");
  return failure?.cause ?? failure;
}
