/** Runs transactions: either all changes of a transaction are committed, or none. */
import {
  CompiledQuery,
  type QueryResult,
  type RawBuilder,
  type Transaction as KyselyTransaction,
} from "kysely";
import type { Database } from "./connect.ts";
import type { BufferedWriteStatement } from "./combined-writes.ts";
import {
  addWriteToTransactionBuffer,
  canStatementBePipelined,
  runFunctionAsIfInTransaction,
  sendStatementsPipelined,
  runTransactionWithPipelinedBegin,
} from "./transaction-dialect.ts";
import { isConcurrencyConflictError } from "./database-errors.ts";
import type { Tables } from "./tables.ts";

export type Transaction = KyselyTransaction<Tables>;

/**
 * A database handle for reading: the root handle or an open transaction. Functions that write take a
 * `Transaction` instead, so that code that writes outside of a transaction does not compile.
 */
export type DatabaseOrTransaction = Database | Transaction;

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

/**
 * Buffers a data-modifying statement, so that it needs no round trip of its own. Buffered statements are
 * combined, and sent before the next statement of the transaction or together with COMMIT. An error of a
 * buffered statement is thrown when it is sent.
 */
export function bufferWriteUntilNextStatement(
  transaction: Transaction,
  write: BufferedWriteStatement,
): Promise<void> {
  return transaction.getExecutor().provideConnection(async (connection) => {
    if (canStatementBePipelined(write.query)) addWriteToTransactionBuffer(connection, write);
    else await connection.executeQuery(write.query);
  });
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

/** A row that a transaction locks when it begins. */
export interface RowToLock {
  readonly table: "cart";
  readonly id: string;
  readonly merchantId: string;
}

/**
 * A row that a transaction locks, and a statement that it runs after it has locked the row. Both are sent
 * together with BEGIN, so that they need no round trip of their own.
 */
export interface RowLockWithReadQuery {
  readonly row: RowToLock;
  readonly read: CompiledQuery;
  /**
   * Called before the work of the transaction, with the rows that `read` has returned. The list is empty if
   * the row to lock does not exist.
   */
  readonly receive: (transaction: Transaction, rows: readonly unknown[]) => void;
}

/** Returns the subselect that locks a row and returns its id. `$1` is the id and `$2` the id of the merchant. */
export const buildRowLockSql = ({ table }: RowToLock, condition = "true"): string =>
  `select id from ${table} where id = $1 and merchant_id = $2 and ${condition} for no key update`;

/**
 * Runs the work in a transaction that first locks and reads a row. Lock and read are sent together with
 * BEGIN, so they need no round trip of their own.
 */
export function runInTransactionWithLock<Result>(
  db: Database,
  { row, read, receive }: RowLockWithReadQuery,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const lock = CompiledQuery.raw(buildRowLockSql(row), [row.id, row.merchantId]);
  return runInTransaction(
    db,
    (transaction, [locked, found]) => {
      receive(transaction, locked?.rows.length === 1 ? (found?.rows ?? []) : []);
      return work(transaction);
    },
    [lock, read],
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
    const begin = { opening, opened: [] as QueryResult<unknown>[] };
    const result = await runTransactionWithPipelinedBegin(begin, () =>
      db.transaction().execute(async (transaction) => {
        const done = await runFunctionAsIfInTransaction(() => work(transaction, begin.opened));
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
export async function runSqlStatementWithRetries<Row>(
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
