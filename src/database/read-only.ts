/**
 * Runs the reads of reports. Each report reads in a transaction in which the database refuses every write.
 * All statements of the transaction see the same snapshot, and PostgreSQL cancels each after ten seconds. A
 * semaphore limits how many reports run at a time, so that enough connections remain for other requests. A
 * waiting report occupies no connection.
 */
import { E_TIMEOUT, Semaphore as MutexSemaphore, withTimeout } from "async-mutex";
import { CompiledQuery } from "kysely";
import { createFailure, type Failure } from "#foundation/failure.ts";
import type { Database } from "./connect.ts";
import { isQueryTimeoutError, getSqlState } from "./database-errors.ts";
import { runInTransaction, type Transaction } from "./transaction.ts";

export type ReportQueryRunner = <Result>(read: (reader: Transaction) => Promise<Result>) => Promise<Result>;

export const reportTimeoutMs = 10_000;

/** The SQLSTATE of a statement that PostgreSQL canceled because of its time limit. */
const queryCanceled = "57014";

/**
 * Limits of the queue of waiting reports. The queue has room for all reports that one GraphQL query can
 * contain. A report waits for at most half of the time limit of a query, so that the other half is left to
 * read its data.
 */
const queue = {
  waitingMax: 20,
  waitMs: 5_000,
  refusal: "Too many reports are running. Try again in a few seconds, with fewer reports per query.",
} as const;

export interface ReportQueryLimits {
  readonly timeoutMs?: number;
  /** The largest number of reports that run at the same time; further reports wait. */
  readonly runningMax?: number;
}

/**
 * Creates the function that runs the reads of reports. On the embedded database, statements have no time
 * limit.
 */
export function createReportQueryRunner(
  db: Database,
  { timeoutMs = reportTimeoutMs, runningMax = 1 }: ReportQueryLimits = {},
): ReportQueryRunner {
  const semaphore = createSemaphore({ runningMax, ...queue });
  const opening = [
    CompiledQuery.raw("set transaction isolation level repeatable read, read only"),
    // Reports sort and hash many rows. Only a few reports run at a time, so each may use more memory than
    // other statements. Just-in-time compilation is off, because compiling a report's expressions takes
    // longer than it saves: 0.4 s of 1.2 s with a million orders. The page cost fits solid-state disks: with
    // the default of 4, a report on 30 days of a million orders read all order lines instead of an index.
    // Each report is planned for its own values. Otherwise, PostgreSQL could use a plan for any values after
    // five runs of a prepared statement, with which the report on buyers took 2.5 s instead of 0.6 s.
    CompiledQuery.raw(
      `select set_config('statement_timeout', '${timeoutMs}', true), set_config('work_mem', '64MB', true),
        set_config('jit', 'off', true), set_config('random_page_cost', '1.1', true),
        set_config('plan_cache_mode', 'force_custom_plan', true)`,
    ),
  ];
  return async (read) => {
    try {
      return await semaphore(() => runInTransaction(db, read, { opening }));
    } catch (error) {
      if (getSqlState(error) !== queryCanceled && !isQueryTimeoutError(error)) throw error;
      const message =
        `The report took longer than the limit of ${timeoutMs / 1000} s. Request fewer days, or ` +
        "one merchant.";
      throw createFailure("upstream_timeout", { message, cause: error });
    }
  };
}

export interface ConcurrencyAndQueueLimits {
  readonly runningMax: number;
  readonly waitingMax: number;
  readonly waitMs: number;
  /**
   * Message of the failure with which a caller is refused. A caller is refused if the queue is full, or after
   * waiting for `waitMs`.
   */
  readonly refusal: string;
}

export type Semaphore = <Result>(work: () => Promise<Result>) => Promise<Result>;

const retryAfterSeconds = 5;

/**
 * Creates a semaphore that runs at most `runningMax` functions at a time. Further callers wait in the order
 * of their arrival. A caller is refused if the queue is full, or after a wait of `waitMs`. The semaphore of
 * async-mutex has no limit for its queue, so this function counts the callers.
 */
export function createSemaphore({
  runningMax,
  waitingMax,
  waitMs,
  refusal,
}: ConcurrencyAndQueueLimits): Semaphore {
  const semaphore = withTimeout(new MutexSemaphore(runningMax), waitMs);
  let callers = 0;
  const refuse = (): Failure => createFailure("service_unavailable", { message: refusal, retryAfterSeconds });
  return async (work) => {
    if (callers >= runningMax + waitingMax) throw refuse();
    callers += 1;
    try {
      return await semaphore.runExclusive(work);
    } catch (error) {
      throw error === E_TIMEOUT ? refuse() : error;
    } finally {
      callers -= 1;
    }
  };
}
