/**
 * Reads for reports: in a transaction in which the database itself refuses every write, which sees one moment however many statements it has, and whose
 * statements end after ten seconds. Few are read at a time, so that the shop keeps connections: others wait before they ask for one.
 */
import { CompiledQuery } from "kysely";
import { fail, type Failure } from "#foundation/failure.ts";
import type { Database } from "./connect.ts";
import { isUnanswered, sqlState } from "./database-errors.ts";
import { inTransaction, type Transaction } from "./transaction.ts";

export type ReadOnly = <Result>(read: (reader: Transaction) => Promise<Result>) => Promise<Result>;

export const reportMsMax = 10_000;

/** PostgreSQL's own word for a statement that it ended because of its time. */
const queryCanceled = "57014";

/** As many as one query can ask for may wait behind the first of them. */
const waitingMax = 20;
/** Half of what a query may take: whoever has waited still has time to be read. */
const waitMs = 5_000;
const refusal = "Too many reports are being read at the moment. Ask again in a few seconds, and for fewer at once.";

export interface ReadOnlyLimits {
  readonly timeoutMs?: number;
  /** How many are read at a time. */
  readonly runningMax?: number;
}

/** The embedded database has no clock to end a statement by: it has no other work meanwhile either. */
export function createReadOnly(db: Database, { timeoutMs = reportMsMax, runningMax = 1 }: ReadOnlyLimits = {}): ReadOnly {
  const gate = createSemaphore({ runningMax, waitingMax, waitMs, refusal });
  const opening = [
    CompiledQuery.raw("set transaction isolation level repeatable read, read only"),
    CompiledQuery.raw(`set local statement_timeout = ${timeoutMs}`),
    // Reports sort and hash what others look up: in memory, there are few of them at a time.
    CompiledQuery.raw("set local work_mem = '32MB'"),
  ];
  return async (read) => {
    try {
      return await gate(() => inTransaction(db, read, opening));
    } catch (error) {
      if (sqlState(error) !== queryCanceled && !isUnanswered(error)) throw error;
      const message = `The report took longer than ${timeoutMs / 1000} s, which is the limit. Ask for fewer days, or for one merchant.`;
      throw fail("upstream_timeout", { message, cause: error });
    }
  };
}

/** Lets few work at a time. Others wait in line, in order; whoever finds the line full or waits too long is told to try again. */
interface SemaphoreLimits {
  readonly runningMax: number;
  readonly waitingMax: number;
  readonly waitMs: number;
  /** What those are told who cannot wait. */
  readonly refusal: string;
}

type Semaphore = <Result>(work: () => Promise<Result>) => Promise<Result>;

const retryAfterSeconds = 5;

export function createSemaphore({ runningMax, waitingMax, waitMs, refusal }: SemaphoreLimits): Semaphore {
  const waiting = new Set<() => void>();
  let running = 0;
  const refuse = (): Failure => fail("service_unavailable", { message: refusal, retryAfterSeconds });

  const enter = async (): Promise<void> => {
    if (running < runningMax) {
      running += 1;
      return;
    }
    if (waiting.size >= waitingMax) throw refuse();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.add(resolve);
    const timer = setTimeout(() => {
      waiting.delete(resolve);
      reject(refuse());
    }, waitMs);
    await promise.finally(() => clearTimeout(timer));
  };

  /** The place goes to whoever has waited longest: nobody who comes meanwhile can take it. */
  const leave = (): void => {
    const [next] = waiting;
    if (next === undefined) {
      running -= 1;
      return;
    }
    waiting.delete(next);
    next();
  };

  return async (work) => {
    await enter();
    try {
      return await work();
    } finally {
      leave();
    }
  };
}
