/** One transaction: all of its work is committed, or none. */
import type { CompiledQuery, QueryResult, RawBuilder, Transaction as KyselyTransaction } from "kysely";
import type { Database } from "./connect.ts";
import {
  canBePipelined,
  runInsideTransaction,
  sendPipelined,
  withPipelinedEnds,
} from "./transaction-dialect.ts";
import { isGivenUp } from "./database-errors.ts";
import type { Tables } from "./tables.ts";

export type Transaction = KyselyTransaction<Tables>;

/**
 * What only reads takes either; what writes takes a Transaction, so that a write outside of one does not
 * compile.
 */
export type Reader = Database | Transaction;

const afterCommits = new WeakMap<Transaction, (() => void)[]>();

/**
 * Calls back once this transaction is committed, and never if it is not. What is called is told, and cannot
 * fail what has happened.
 */
export function afterCommit(transaction: Transaction, callback: () => void): void {
  const callbacks = afterCommits.get(transaction);
  if (callbacks === undefined) afterCommits.set(transaction, [callback]);
  else callbacks.push(callback);
}

const endings = new WeakMap<Transaction, CompiledQuery[]>();

/**
 * Runs a statement pipelined with the commit, so that it costs no round trip of its own. Nothing in this
 * transaction may read what it writes.
 */
export async function runWithCommit(transaction: Transaction, query: CompiledQuery): Promise<void> {
  const ending = endings.get(transaction);
  if (ending === undefined || !canBePipelined(query)) await transaction.executeQuery(query);
  else ending.push(query);
}

/**
 * Runs statements pipelined. Columns of the results have the names that the statements give them (snake
 * case).
 */
export function runPipelined(
  transaction: Transaction,
  queries: readonly CompiledQuery[],
): Promise<readonly QueryResult<unknown>[]> {
  return transaction
    .getExecutor()
    .provideConnection((connection) =>
      sendPipelined(queries.map((query) => () => connection.executeQuery(query))),
    );
}

/** `opened`: what the opening statements gave, with their columns called as they call them. */
type Work<Result> = (transaction: Transaction, opened: readonly QueryResult<unknown>[]) => Promise<Result>;

/**
 * Runs the whole work again when PostgreSQL gave up on it because of others (serialization failure,
 * deadlock), three times at most. `opening`: what is asked together with the begin; it may only read and take
 * locks.
 */
export function inTransaction<Result>(
  db: Database,
  work: Work<Result>,
  opening: readonly CompiledQuery[] = [],
): Promise<Result> {
  return untilDone(async () => {
    let callbacks: readonly (() => void)[] = [];
    const ends = { opening, opened: [] as QueryResult<unknown>[], closing: [] as CompiledQuery[] };
    const result = await withPipelinedEnds(ends, () =>
      db.transaction().execute(async (transaction) => {
        endings.set(transaction, ends.closing);
        const done = await runInsideTransaction(() => work(transaction, ends.opened));
        callbacks = afterCommits.get(transaction) ?? [];
        return done;
      }),
    );
    for (const callback of callbacks) callback();
    return result;
  });
}

/** A single statement is a transaction by itself, and is run again like one. Gives its rows. */
export async function runStatement<Row>(db: Database, statement: RawBuilder<Row>): Promise<readonly Row[]> {
  const { rows } = await untilDone(() => statement.execute(db));
  return rows;
}

const attemptsMax = 3;

let runAgain = 0;

/** How often, since the process began. */
export const transactionsRunAgain = (): number => runAgain;

async function untilDone<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= attemptsMax || !isGivenUp(error)) throw error;
      runAgain += 1;
    }
  }
}
