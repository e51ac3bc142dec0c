/**
 * Reads for reports run in a transaction in which the database refuses every write. All statements of a
 * transaction see the same snapshot and end after ten seconds. A semaphore lets few reports run at a time, so
 * that the shop keeps connections: the others wait before they ask for one.
 */
import { E_TIMEOUT, Semaphore as MutexSemaphore, withTimeout } from "async-mutex";
import { CompiledQuery } from "kysely";
import { fail, type Failure } from "#foundation/failure.ts";
import type { Database } from "./connect.ts";
import { isUnanswered, getSqlState } from "./database-errors.ts";
import { inTransaction, type Transaction } from "./transaction.ts";

export type ReportReader = <Result>(read: (reader: Transaction) => Promise<Result>) => Promise<Result>;

export const reportMsMax = 10_000;

/** The SQLSTATE of a statement that PostgreSQL ended because of its time limit. */
const queryCanceled = "57014";

/**
 * How many reports may wait: as many as one query can ask for. They wait for half of the time that a query
 * may take, so that time is left to read.
 */
const queue = {
  waitingMax: 20,
  waitMs: 5_000,
  refusal:
    "Too many reports are being read at the moment. Ask again in a few seconds, and for fewer at once.",
} as const;

export interface ReadOnlyLimits {
  readonly timeoutMs?: number;
  /** Maximum number of reports that run at the same time. */
  readonly runningMax?: number;
}

/** Creates the reader of reports. The embedded database has no statement timeout. */
export function createReportReader(
  db: Database,
  { timeoutMs = reportMsMax, runningMax = 1 }: ReadOnlyLimits = {},
): ReportReader {
  const semaphore = createSemaphore({ runningMax, ...queue });
  const opening = [
    CompiledQuery.raw("set transaction isolation level repeatable read, read only"),
    CompiledQuery.raw(`set local statement_timeout = ${timeoutMs}`),
    // Reports sort and hash many rows. Few run at a time, so they may use more memory.
    CompiledQuery.raw("set local work_mem = '32MB'"),
  ];
  return async (read) => {
    try {
      return await semaphore(() => inTransaction(db, read, opening));
    } catch (error) {
      if (getSqlState(error) !== queryCanceled && !isUnanswered(error)) throw error;
      const message = `The report took longer than ${timeoutMs / 1000} s, which is the limit. Ask for fewer days, or for one merchant.`;
      throw fail("upstream_timeout", { message, cause: error });
    }
  };
}

export interface SemaphoreLimits {
  readonly runningMax: number;
  readonly waitingMax: number;
  readonly waitMs: number;
  /** The message of the failure for callers that cannot wait. */
  readonly refusal: string;
}

export type Semaphore = <Result>(work: () => Promise<Result>) => Promise<Result>;

const retryAfterSeconds = 5;

/**
 * Runs at most `runningMax` works at a time; the others wait, first come, first served. Refuses a caller that
 * finds the queue full or has waited for `waitMs`. async-mutex has no bound on its queue, so the callers are
 * counted here.
 */
export function createSemaphore({ runningMax, waitingMax, waitMs, refusal }: SemaphoreLimits): Semaphore {
  const semaphore = withTimeout(new MutexSemaphore(runningMax), waitMs);
  let present = 0;
  const refuse = (): Failure => fail("service_unavailable", { message: refusal, retryAfterSeconds });
  return async (work) => {
    if (present >= runningMax + waitingMax) throw refuse();
    present += 1;
    try {
      return await semaphore.runExclusive(work);
    } catch (error) {
      throw error === E_TIMEOUT ? refuse() : error;
    } finally {
      present -= 1;
    }
  };
}
