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
  sendStatementsOnConnection,
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

/** The results of statements, each with the row type of its statement. */
type ResultsOfStatements<Queries extends readonly CompiledQuery[]> = {
  readonly [Index in keyof Queries]: Queries[Index] extends CompiledQuery<infer Row>
    ? QueryResult<Row>
    : never;
};

/**
 * Sends several statements at once and returns their results, so that all need one round trip. On PGlite, the
 * statements run one after the other. The columns of the results have the database's names in snake case.
 */
export async function runStatementsPipelined<const Queries extends readonly CompiledQuery[]>(
  transaction: Transaction,
  queries: Queries,
): Promise<ResultsOfStatements<Queries>> {
  const results = await transaction.getExecutor().provideConnection((connection) =>
    sendStatementsOnConnection(
      connection,
      queries.map((query) => () => connection.executeQuery(query)),
    ),
  );
  return results as unknown as ResultsOfStatements<Queries>;
}

/**
 * A row that a transaction locks when it begins. A checkout session is locked together with its cart; the
 * cart is locked first.
 */
export interface RowToLock {
  readonly table: "cart" | "hosted_checkout_session";
  readonly id: string;
  readonly merchantId: string;
}

/**
 * A row that a transaction locks, and the statements that it runs after it has locked the row. All are sent
 * together with BEGIN, so that they need no round trip of their own.
 */
export interface RowLockWithReadQuery {
  readonly row: RowToLock;
  /**
   * The first statement returns one row if the row to lock exists, and no more than one, so that it can be
   * combined with another.
   */
  readonly reads: readonly [CompiledQuery, ...CompiledQuery[]];
  /**
   * Called before the work of the transaction if the row was found and locked, with the rows that each of
   * `reads` has returned.
   */
  readonly receive: (transaction: Transaction, rows: readonly (readonly unknown[])[]) => void;
}

/** Returns the subselect that locks a row and returns its id. `$1` is the id and `$2` the id of the merchant. */
export const buildRowLockSql = ({ table }: RowToLock, condition = "true"): string =>
  table === "cart"
    ? `select id from cart where id = $1 and merchant_id = $2 and ${condition} for no key update`
    : `select s.id from hosted_checkout_session s
        cross join lateral (select id from cart where id = s.cart_id and ${condition} for no key update) c
        cross join lateral (select id from hosted_checkout_session where id = s.id and c.id is not null
          for no key update) l
      where s.id = $1 and s.merchant_id = $2`;

/** Passes the results of `reads` to `receive`, if the row was locked. */
export function receiveRowsOfLockedRow(
  { receive }: RowLockWithReadQuery,
  transaction: Transaction,
  { isLocked, results }: { readonly isLocked: boolean; readonly results: readonly QueryResult<unknown>[] },
): void {
  if (isLocked)
    receive(
      transaction,
      results.map(({ rows }) => rows),
    );
}

/** Locks and reads a row in one round trip, inside a transaction that has begun without it. */
export async function lockAndReadRow(
  transaction: Transaction,
  lockAndRead: RowLockWithReadQuery,
): Promise<void> {
  const [locked, ...results] = await runStatementsPipelined(transaction, [
    buildRowLockStatement(lockAndRead.row),
    ...lockAndRead.reads,
  ]);
  receiveRowsOfLockedRow(lockAndRead, transaction, { isLocked: locked.rows.length === 1, results });
}

const buildRowLockStatement = (row: RowToLock): CompiledQuery =>
  CompiledQuery.raw(buildRowLockSql(row), [row.id, row.merchantId]);

/**
 * Runs the work in a transaction that first locks and reads a row. Lock and read are sent together with
 * BEGIN, so they need no round trip of their own.
 */
export function runInTransactionWithLock<Result>(
  db: Database,
  lockAndRead: RowLockWithReadQuery,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  return runInTransaction(
    db,
    (transaction, [locked, ...results]) => {
      receiveRowsOfLockedRow(lockAndRead, transaction, { isLocked: locked?.rows.length === 1, results });
      return work(transaction);
    },
    {
      opening: [buildRowLockStatement(lockAndRead.row), ...lockAndRead.reads],
      merchantId: lockAndRead.row.merchantId,
    },
  );
}

/**
 * A function that runs inside a transaction. The parameter `opened` has the results of the statements that
 * were sent together with BEGIN. Their columns have the database's names in snake case.
 */
type Work<Result> = (transaction: Transaction, opened: readonly QueryResult<unknown>[]) => Promise<Result>;

export interface TransactionOptions {
  /** Statements that are sent together with BEGIN. They may only read and take locks. */
  readonly opening?: readonly CompiledQuery[];
  /**
   * The merchant whose rows alone the transaction can lock and change (row-security.ts). Null or left out for
   * a transaction that may change the rows of all merchants.
   */
  readonly merchantId?: string | null;
}

/**
 * Runs the work in a transaction. If PostgreSQL aborts the transaction because of concurrent transactions
 * (serialization failure, deadlock), the work runs again, up to three times in total.
 */
export function runInTransaction<Result>(
  db: Database,
  work: Work<Result>,
  { opening = [], merchantId }: TransactionOptions = {},
): Promise<Result> {
  return retryAborted(async () => {
    let callbacks: readonly (() => void)[] = [];
    const begin = { opening, opened: [] as QueryResult<unknown>[], merchantId: merchantId ?? undefined };
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
