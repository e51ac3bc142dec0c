/**
 * Public reads go to the replica, where there is one. What it fails to answer the shop's own database does, because the shop must go on: a replica that is
 * away, that hangs, that was told to end a statement, or that has not got the last migration's columns. For some seconds after that it is left alone.
 */
import type { ExecutionResult } from "graphql";
import type { Log } from "#foundation/log.ts";
import type { GraphServices, Source } from "#graph/context.ts";
import { failureOfError } from "#mesh/public-error.ts";

type Result = Promise<ExecutionResult> | ExecutionResult;

/** Runs what is asked of the source it is given; undefined: of the shop's own database. */
export type RunPublic = (ask: (source: Source | undefined) => Result) => Result;

export interface DetourOptions {
  readonly log: Log;
  /** In milliseconds. */
  readonly pauseMs?: number;
}

export function createDetour({ replica }: Pick<GraphServices, "replica">, { log, pauseMs = 5_000 }: DetourOptions): RunPublic {
  if (replica === undefined) return (ask) => ask(undefined);
  let isAway = false;
  let nextTryAt = 0;
  const note = (error: unknown): void => {
    if ((error !== undefined) === isAway) return;
    isAway = error !== undefined;
    if (isAway) log.warn({ err: error }, "The replica does not answer: public reads go to the primary meanwhile.");
    else log.info({}, "The replica answers again.");
  };
  return async (ask) => {
    // While it is away, one request in a while asks whether it is back.
    if (isAway && performance.now() < nextTryAt) return ask(undefined);
    nextTryAt = performance.now() + pauseMs;
    const result = await ask(replica.ofThePublic);
    const error = unanswered(result);
    note(error);
    return error === undefined ? result : ask(undefined);
  };
}

/** What went wrong, where that is not the answer: a failure of the registry is one. */
function unanswered({ errors = [] }: ExecutionResult): unknown {
  const failure = errors.map((error) => failureOfError(error)).find(({ code }) => code === "internal_error");
  return failure?.cause ?? failure;
}
