/** Runs transactions: either all changes of a transaction are committed, or none. */
import type { CompiledQuery, QueryResult, RawBuilder, Transaction as KyselyTransaction } from "kysely";
import type { Database } from "./connect.ts";
import {
  canStatementBePipelined,
  runFunctionAsIfInTransaction,
  sendStatementsPipelined,
  runTransactionPipeliningBeginAndCommit,
} from "./transaction-dialect.ts";
import { isConcurrencyConflictError } from "./database-errors.ts";
import type { Tables } from "./tables.ts";

export type Transaction = KyselyTransaction<Tables>;

/**
 * A database handle for reading: the root handle or an open transaction. Functions that write take a
 * `Transaction` instead, so that code that writes outside of a transaction does not compile.
 */
export type DatabaseReader = Database | Transaction;

const afterCommits = new WeakMap<Transaction, (() => void)[]>();

/**
 * Registers a function that is called after the transaction has committed. The function runs too late to undo
 * the transaction: an error that it throws changes nothing in the database.
 */
export function runAfterCommit(transaction: Transaction, callback: () => void): void {
  const callbacks = afterCommits.get(transaction);
  if (callbacks === undefined) afterCommits.set(transaction, [callback]);
  else callbacks.push(callback);
}

const closingStatements = new WeakMap<Transaction, CompiledQuery[]>();

/**
 * Sends a statement together with the COMMIT of the transaction, so that the statement needs no round trip of
 * its own. The statement runs last, so no other statement of the transaction can read the rows that it
 * writes.
 */
export async function sendSqlStatementWithCommit(
  transaction: Transaction,
  query: CompiledQuery,
): Promise<void> {
  const statements = closingStatements.get(transaction);
  if (statements === undefined || !canStatementBePipelined(query)) await transaction.executeQuery(query);
  else statements.push(query);
}

/**
 * Sends several statements at once and returns their results, so that all need one round trip. The columns of
 * the results have the database's names in snake case.
 */
export function runStatementsPipelined(
  transaction: Transaction,
  queries: readonly CompiledQuery[],
): Promise<readonly QueryResult<unknown>[]> {
  return transaction
    .getExecutor()
    .provideConnection((connection) =>
      sendStatementsPipelined(queries.map((query) => () => connection.executeQuery(query))),
    );
}

/**
 * A function that runs inside a transaction. The parameter `opened` has the results of the statements that
 * were sent together with BEGIN. Their columns have the database's names in snake case.
 */
type Work<Result> = (transaction: Transaction, opened: readonly QueryResult<unknown>[]) => Promise<Result>;

/**
 * Runs the work in a transaction. If PostgreSQL aborts the transaction because of concurrent transactions
 * (serialization failure, deadlock), the work runs again, up to three times in total. The `opening`
 * statements are sent together with BEGIN; they may only read and take locks.
 */
export function runInTransaction<Result>(
  db: Database,
  work: Work<Result>,
  opening: readonly CompiledQuery[] = [],
): Promise<Result> {
  return retryAborted(async () => {
    let callbacks: readonly (() => void)[] = [];
    const ends = { opening, opened: [] as QueryResult<unknown>[], closing: [] as CompiledQuery[] };
    const result = await runTransactionPipeliningBeginAndCommit(ends, () =>
      db.transaction().execute(async (transaction) => {
        closingStatements.set(transaction, ends.closing);
        const done = await runFunctionAsIfInTransaction(() => work(transaction, ends.opened));
        callbacks = afterCommits.get(transaction) ?? [];
        return done;
      }),
    );
    for (const callback of callbacks) callback();
    return result;
  });
}

/**
 * Runs a single statement as a transaction of its own, with the same retries as `runInTransaction`. Returns
 * the rows of the statement.
 */
export async function runSqlStatement<Row>(
  db: Database,
  statement: RawBuilder<Row>,
): Promise<readonly Row[]> {
  const { rows } = await retryAborted(() => statement.execute(db));
  return rows;
}

const attemptsMax = 3;

let repeatedTransactions = 0;

/** Returns how many times this process has repeated a transaction after a conflict since it started. */
export const getRetriedTransactionCount = (): number => repeatedTransactions;

async function retryAborted<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= attemptsMax || !isConcurrencyConflictError(error)) throw error;
      repeatedTransactions += 1;
    }
  }
}
