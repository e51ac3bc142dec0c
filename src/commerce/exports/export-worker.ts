/**
 * Writes exports in the background, one chunk at a time. After `chunksPerTurn` chunks, the worker continues
 * with the next due export, so that a large export does not delay small ones.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createDueWorkPoller } from "#database/due-work-poll.ts";
import type { Log } from "#foundation/log.ts";
import type { ExportJobRow } from "./export-jobs.ts";
import {
  claimDueExportJob,
  findNextExportJobDueAt,
  type ExportWriterOptions,
  postponeExportJob,
  releaseExportJob,
  writeNextExportChunk,
} from "./write-export.ts";

export interface ExportWorkerOptions extends ExportWriterOptions {
  readonly log: Log;
  /**
   * Returns true if database notices about new work reach this process. If they do not, the worker polls more
   * often. By default, the worker expects that they do.
   */
  readonly areNoticesReceived?: () => boolean;
}

export interface ExportWorker {
  /** Makes the worker look for due exports at once, without waiting for the next poll. */
  readonly wake: () => void;
  readonly start: () => void;
  /**
   * Stops the worker and waits for the chunk that is being written. Another process, or this one after its
   * restart, continues unfinished exports.
   */
  readonly stop: () => Promise<void>;
  /** Writes all exports that are due. The returned promise resolves when they are written. */
  readonly drain: () => Promise<void>;
}

const pollMs = 2_000;
const chunksPerTurn = 20;

export function createExportWorker(options: ExportWorkerOptions): ExportWorker {
  const { db, clock, log, areNoticesReceived = () => true } = options;
  const stopping = new AbortController();
  // The exports run in the asynchronous context of the worker's creation. `wake` can be called during an HTTP
  // request with a trace; without this context, the exports would become part of that trace.
  const runInDetachedContext = AsyncLocalStorage.snapshot();
  let isStarted = false;
  let isWoken = false;
  let running: Promise<void> | undefined;
  const writeDueExports = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const job = await claimDueExportJob(db, clock.now());
      if (job === undefined) return;
      poll.noteWork();
      await takeTurn(options, job, stopping.signal);
    }
  };
  const reportFailedSearch = (err: unknown): void =>
    log.error({ err }, "Exports that are due could not be looked for.");
  const run = (): Promise<void> =>
    (running ??= writeDueExports().finally(() => {
      running = undefined;
    }));
  const wake = (): void => {
    isWoken = true;
    if (!isStarted || running !== undefined) return;
    isWoken = false;
    run()
      .catch(reportFailedSearch)
      .finally(() => {
        if (isWoken) wake();
      });
  };
  const search = async (): Promise<number | undefined> => {
    const at = await findNextExportJobDueAt(db).catch(reportFailedSearch);
    if (!at) return undefined;
    const inMs = at.getTime() - clock.now().getTime();
    if (inMs > 0) return inMs;
    wake();
    return undefined;
  };
  const poll = createDueWorkPoller({ search, everyMs: pollMs, areNoticesReceived });
  return {
    wake: () => runInDetachedContext(wake),
    start: () => {
      isStarted = true;
      poll.start();
    },
    stop: async () => {
      isStarted = false;
      stopping.abort();
      await Promise.all([poll.stop(), running?.catch(() => undefined)]);
    },
    drain: run,
  };
}

/**
 * Writes up to `chunksPerTurn` chunks of an export on which this worker has a lease. If rows are left, ends
 * the lease, so that any worker can continue the export.
 */
async function takeTurn(
  options: ExportWorkerOptions,
  claimed: ExportJobRow,
  signal: AbortSignal,
): Promise<void> {
  let job: ExportJobRow | undefined = claimed;
  try {
    for (let chunks = 0; job !== undefined && chunks < chunksPerTurn && !signal.aborted; chunks += 1)
      job = await writeNextExportChunk(options, job);
    if (job !== undefined) await releaseExportJob(options, job);
  } catch (err) {
    options.log.warn({ err, exportId: claimed.id }, "A chunk of an export could not be written.");
    await postponeExportJob(options, job ?? claimed);
  }
}
