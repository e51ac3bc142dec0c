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

/** Runs a read against the source it is given: the replica, or the primary database if that is undefined. */
export type RunPublicRead = (ask: (source: ReadSource | undefined) => Result) => Result;

export interface ReplicaFallbackOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** How long public reads go to the primary after a failure, in milliseconds. */
  readonly pauseMs?: number;
}

export function createReplicaFallback(
  { replica }: Pick<GraphServices, "replica">,
  { clock, log, pauseMs = 5_000 }: ReplicaFallbackOptions,
): RunPublicRead {
  if (replica === undefined) return (ask) => ask(undefined);
  let isAway = false;
  let nextTryAt = 0;
  const note = (error: unknown): void => {
    if ((error !== undefined) === isAway) return;
    isAway = error !== undefined;
    if (isAway)
      log.warn({ err: error }, "The replica does not answer: public reads go to the primary meanwhile.");
    else log.info({}, "The replica answers again.");
  };
  return async (ask) => {
    // While the replica is away, one request per pause asks whether it is back.
    const nowMs = clock.now().getTime();
    // A next try further away than a pause was set before the clock was set back: it does not count.
    if (isAway && nowMs < nextTryAt && nextTryAt - nowMs <= pauseMs) return ask(undefined);
    nextTryAt = nowMs + pauseMs;
    const result = await ask(replica.forPublicReads);
    const error = findReplicaError(result);
    note(error);
    return error === undefined ? result : ask(undefined);
  };
}

/** What went wrong, where that is not the answer: a failure of the registry is one. */
function findReplicaError({ errors = [] }: ExecutionResult): unknown {
  const failure = errors
    .map((error) => getFailureOfError(error))
    .find(({ code }) => code === "internal_error");
  return failure?.cause ?? failure;
}
