/**
 * Two wrappers of Kysely dialects. `createPipelinedKyselyDialect` sends the statements at the beginning and
 * at the end of a transaction without waiting for the answers in between, so that they need one round trip.
 * The statements still run one after another, and each sees all changes that were committed before it
 * started. It also keeps the buffered writes of a transaction until the next statement or COMMIT.
 * `createNestedConnectionGuardDialect` refuses statements that are run inside a transaction, but use the root
 * handle (`Database`) instead of the transaction's handle.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type {
  AbortableOperationOptions,
  CompiledQuery,
  DatabaseConnection,
  Dialect,
  Driver,
  QueryResult,
} from "kysely";
import { type BufferedWriteStatement, combineBufferedWritesIntoStatements } from "./combined-writes.ts";
import { createBeginForMerchantQuery } from "./row-security.ts";

/**
 * Sends several statements without waiting for the answers in between. If several statements fail, throws the
 * error of the first one, because the later ones fail for the same reason.
 */
async function sendStatementsPipelined<Result>(steps: readonly (() => Promise<Result>)[]): Promise<Result[]> {
  const sent = await Promise.allSettled(steps.map((step) => step()));
  return sent.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
}

async function sendStatementsInTurn<Result>(steps: readonly (() => Promise<Result>)[]): Promise<Result[]> {
  const results: Result[] = [];
  for (const step of steps) results.push(await step());
  return results;
}

type Send = typeof sendStatementsPipelined;

/** The function that sends several statements, of each connection whose transactions buffer writes. */
const senders = new WeakMap<DatabaseConnection, Send>();

/** Sends several statements of a transaction in one round trip; on PGlite, one after the other. */
export const sendStatementsOnConnection = <Result>(
  connection: DatabaseConnection,
  steps: readonly (() => Promise<Result>)[],
): Promise<Result[]> => (senders.get(connection) ?? sendStatementsInTurn)(steps);

/** The SQL statements that are sent together with the BEGIN of a transaction, and their results. */
export interface SqlStatementsSentWithBegin {
  /**
   * The statements that are sent together with BEGIN. If BEGIN fails, these statements run outside of a
   * transaction, so they may only read rows and take locks.
   */
  readonly opening: readonly CompiledQuery[];
  readonly opened: QueryResult<unknown>[];
  /**
   * The merchant whose rows alone the transaction can lock and change; undefined for a transaction that may
   * change the rows of all merchants.
   */
  readonly merchantId: string | undefined;
}

const pipelinedBegin = new AsyncLocalStorage<SqlStatementsSentWithBegin>();

export function runTransactionWithPipelinedBegin<Result>(
  begin: SqlStatementsSentWithBegin,
  work: () => Promise<Result>,
): Promise<Result> {
  return pipelinedBegin.run(begin, work);
}

/** The writes of each open transaction that were not sent yet. */
const bufferedWrites = new WeakMap<DatabaseConnection, BufferedWriteStatement[]>();

/** Adds a write to the buffer of the transaction that is open on the connection. */
export function addWriteToTransactionBuffer(
  connection: DatabaseConnection,
  write: BufferedWriteStatement,
): void {
  const writes = bufferedWrites.get(connection);
  if (writes === undefined) throw new Error("A write was buffered on a connection without a transaction.");
  writes.push(write);
}

/** Empties the buffer of the connection's transaction, and returns the functions that send its writes. */
function takeBufferedWrites(connection: DatabaseConnection): (() => Promise<QueryResult<unknown>>)[] {
  const writes = bufferedWrites.get(connection);
  if (writes === undefined || writes.length === 0) return [];
  return combineBufferedWritesIntoStatements(writes.splice(0)).map(
    (query) => () => connection.executeQuery(query),
  );
}

/**
 * Returns whether pg can certainly send the statement, because all its parameters are simple values. If pg
 * cannot send a statement, the transaction is not aborted. A COMMIT that is sent right after the statement
 * would then succeed without it.
 */
export const canStatementBePipelined = ({ parameters }: CompiledQuery): boolean =>
  parameters.every(isSimpleValue);

const isSimpleValue = (value: unknown): boolean =>
  value === null ||
  typeof value !== "object" ||
  value instanceof Uint8Array ||
  value instanceof Date ||
  (Array.isArray(value) && value.every((member) => typeof member === "string"));

/**
 * Wraps a dialect so that `SqlStatementsSentWithBegin` are sent with BEGIN, and buffered writes with the next
 * statement or with COMMIT. `isPipelined` says whether the dialect's connections accept a statement before
 * earlier statements are answered. If not, the statements are sent one after another.
 */
export function createPipelinedKyselyDialect(
  dialect: Dialect,
  { isPipelined }: { readonly isPipelined: boolean },
): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createDriver: () =>
      pipelinedDriver(dialect.createDriver(), isPipelined ? sendStatementsPipelined : sendStatementsInTurn),
  };
}

function pipelinedDriver(driver: Driver, send: Send): Driver {
  const acquire = driver.acquireConnection.bind(driver);
  const begin = driver.beginTransaction.bind(driver);
  const commit = driver.commitTransaction.bind(driver);
  const rollback = driver.rollbackTransaction.bind(driver);
  driver.acquireConnection = async (options) => {
    const connection = await acquire(options);
    if (!senders.has(connection)) sendBufferedWritesFirst(connection, send);
    senders.set(connection, send);
    return connection;
  };
  driver.beginTransaction = async (connection, settings) => {
    bufferedWrites.set(connection, []);
    const { opening = [], opened = [], merchantId } = pipelinedBegin.getStore() ?? {};
    if (opening.length === 0 && merchantId === undefined) return begin(connection, settings);
    // PGlite accepts only one statement in a text, and its only role is a superuser, for which row level
    // security has no effect.
    const beginForMerchant =
      merchantId === undefined || send === sendStatementsInTurn
        ? undefined
        : createBeginForMerchantQuery(merchantId);
    try {
      await send<unknown>([
        () =>
          beginForMerchant === undefined
            ? begin(connection, settings)
            : connection.executeQuery(beginForMerchant),
        ...opening.map((query, index) => async () => {
          opened[index] = await connection.executeQuery(query);
        }),
      ]);
    } catch (error) {
      await rollBackQuietly(driver, connection);
      throw error;
    }
  };
  driver.commitTransaction = async (connection) => {
    const writes = takeBufferedWrites(connection);
    bufferedWrites.delete(connection);
    await (writes.length === 0 ? commit(connection) : send<unknown>([...writes, () => commit(connection)]));
  };
  driver.rollbackTransaction = (connection) => {
    bufferedWrites.delete(connection);
    return rollback(connection);
  };
  return driver;
}

/**
 * Replaces a connection's `executeQuery`, so that each statement of a transaction sees the changes of the
 * writes that were buffered before it. Called once per connection.
 */
function sendBufferedWritesFirst(connection: DatabaseConnection, send: Send): void {
  const execute = connection.executeQuery.bind(connection);
  connection.executeQuery = <Row>(
    query: CompiledQuery,
    options?: AbortableOperationOptions,
  ): Promise<QueryResult<Row>> => {
    const writes = takeBufferedWrites(connection);
    if (writes.length === 0) return execute<Row>(query, options);
    const { promise, resolve } = Promise.withResolvers<QueryResult<Row>>();
    const executeLast = async (): Promise<void> => resolve(await execute<Row>(query, options));
    return send<unknown>([...writes, executeLast]).then(() => promise);
  };
}

/**
 * Rolls back a transaction whose BEGIN or opening statements failed, because Kysely does not. A connection
 * that cannot roll back is not used again.
 */
async function rollBackQuietly(driver: Driver, connection: DatabaseConnection): Promise<void> {
  try {
    await driver.rollbackTransaction(connection);
  } catch {
    // An error of the ROLLBACK itself is ignored, because the caller throws the error that caused the
    // ROLLBACK.
  }
}

/**
 * True in code that runs inside a transaction. Every statement in this code must use the handle of the
 * transaction. A statement on the root handle would wait forever on PGlite; on PostgreSQL, it would not see
 * the transaction's changes. `requireNoOpenTransaction` throws an error on both databases.
 */
const insideTransaction = new AsyncLocalStorage<true>();

export function runFunctionAsIfInTransaction<Result>(work: () => Promise<Result>): Promise<Result> {
  return insideTransaction.run(true, work);
}

/**
 * Throws an error if the calling code runs inside a transaction. Code that uses the root database handle
 * calls this function first.
 */
export function requireNoOpenTransaction(): void {
  if (insideTransaction.getStore() === true)
    throw new Error("A statement on the root handle inside a transaction: use the transaction's handle.");
}

export function createNestedConnectionGuardDialect(dialect: Dialect): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createDriver: () => guardDriver(dialect.createDriver()),
  };
}

function guardDriver(driver: Driver): Driver {
  const acquire = driver.acquireConnection.bind(driver);
  driver.acquireConnection = (options) => {
    requireNoOpenTransaction();
    return acquire(options);
  };
  return driver;
}
