/** Transactions: all work of a transaction is committed, or none. */
import type { CompiledQuery, QueryResult, RawBuilder, Transaction as KyselyTransaction } from "kysely";
import type { Database } from "./connect.ts";
import {
  canBePipelined,
  runInsideTransaction,
  sendPipelined,
  withBeginAndCommitStatements,
} from "./transaction-dialect.ts";
import { isAbortedByConcurrency } from "./database-errors.ts";
import type { Tables } from "./tables.ts";

export type Transaction = KyselyTransaction<Tables>;

/**
 * A handle for reading: the database or an open transaction. Functions that write take a `Transaction`
 * instead, so that a write outside a transaction does not compile.
 */
export type DatabaseReader = Database | Transaction;

const afterCommits = new WeakMap<Transaction, (() => void)[]>();

/**
 * Calls a function after the commit of the transaction. An error of the function does not affect the
 * transaction.
 */
export function afterCommit(transaction: Transaction, callback: () => void): void {
  const callbacks = afterCommits.get(transaction);
  if (callbacks === undefined) afterCommits.set(transaction, [callback]);
  else callbacks.push(callback);
}

const closingStatements = new WeakMap<Transaction, CompiledQuery[]>();

/**
 * Runs a statement pipelined with the commit, so that it needs no separate round trip. No later statement of
 * this transaction may read the rows that it writes.
 */
export async function runWithCommit(transaction: Transaction, query: CompiledQuery): Promise<void> {
  const statements = closingStatements.get(transaction);
  if (statements === undefined || !canBePipelined(query)) await transaction.executeQuery(query);
  else statements.push(query);
}

/** Runs statements pipelined. The results' columns have the names of the database, in snake case. */
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

/**
 * The work of a transaction. `opened` has the results of the opening statements, with the database's column
 * names.
 */
type Work<Result> = (transaction: Transaction, opened: readonly QueryResult<unknown>[]) => Promise<Result>;

/**
 * Runs the work in a transaction, up to three times if PostgreSQL aborts it because of concurrent
 * transactions (serialization failure, deadlock). `opening` statements are sent together with BEGIN; they may
 * only read and take locks.
 */
export function inTransaction<Result>(
  db: Database,
  work: Work<Result>,
  opening: readonly CompiledQuery[] = [],
): Promise<Result> {
  return retryAborted(async () => {
    let callbacks: readonly (() => void)[] = [];
    const ends = { opening, opened: [] as QueryResult<unknown>[], closing: [] as CompiledQuery[] };
    const result = await withBeginAndCommitStatements(ends, () =>
      db.transaction().execute(async (transaction) => {
        closingStatements.set(transaction, ends.closing);
        const done = await runInsideTransaction(() => work(transaction, ends.opened));
        callbacks = afterCommits.get(transaction) ?? [];
        return done;
      }),
    );
    for (const callback of callbacks) callback();
    return result;
  });
}

/** Runs a single statement, which is a transaction by itself, with the same retries. Returns its rows. */
export async function runStatement<Row>(db: Database, statement: RawBuilder<Row>): Promise<readonly Row[]> {
  const { rows } = await retryAborted(() => statement.execute(db));
  return rows;
}

const attemptsMax = 3;

let repeatedTransactions = 0;

/** Returns the number of transactions that were run again since the process started. */
export const getRepeatedTransactions = (): number => repeatedTransactions;

async function retryAborted<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= attemptsMax || !isAbortedByConcurrency(error)) throw error;
      repeatedTransactions += 1;
    }
  }
}
