/**
 * Two wrappers around Kysely's dialect, both for transactions. Pipelining sends several statements without
 * waiting for the answers in between, so that all need one round trip. The statements still run one after
 * another, and each sees everything that was committed before it started. The guard refuses a statement
 * inside a transaction that uses the root handle (`Database`) instead of the transaction's handle.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from "kysely";

type Step = () => Promise<unknown>;

/**
 * Sends the statements without waiting in between. Throws the first error, because later statements fail for
 * the same reason.
 */
export async function sendPipelined<Result>(steps: readonly (() => Promise<Result>)[]): Promise<Result[]> {
  const sent = await Promise.allSettled(steps.map((step) => step()));
  return sent.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}

async function sendInTurn(steps: readonly Step[]): Promise<void> {
  for (const step of steps) await step();
}

/** Statements that are pipelined with the begin and the commit of a transaction. */
export interface BeginAndCommitStatements {
  /** Statements sent with BEGIN. They may only read and take locks, because BEGIN may fail. */
  readonly opening: readonly CompiledQuery[];
  readonly opened: QueryResult<unknown>[];
  /** Statements sent with COMMIT. If one fails, the transaction is not committed. */
  readonly closing: readonly CompiledQuery[];
}

const pipelinedEnds = new AsyncLocalStorage<BeginAndCommitStatements>();

export function withBeginAndCommitStatements<Result>(
  ends: BeginAndCommitStatements,
  work: () => Promise<Result>,
): Promise<Result> {
  return pipelinedEnds.run(ends, work);
}

/**
 * True if pg can certainly send the statement. A statement that pg fails to send does not abort the
 * transaction, so a pipelined commit would succeed without that statement.
 */
export const canBePipelined = ({ parameters }: CompiledQuery): boolean =>
  parameters.every(
    (value) =>
      value === null || typeof value !== "object" || value instanceof Uint8Array || value instanceof Date,
  );

/**
 * Adds pipelining to a dialect. `isPipelined` is true if its connections accept statements before earlier
 * ones are answered.
 */
export function pipelinedDialect(
  dialect: Dialect,
  { isPipelined }: { readonly isPipelined: boolean },
): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createDriver: () => pipelinedDriver(dialect.createDriver(), isPipelined ? sendPipelined : sendInTurn),
  };
}

function pipelinedDriver(driver: Driver, send: (steps: readonly Step[]) => Promise<unknown>): Driver {
  const begin = driver.beginTransaction.bind(driver);
  const commit = driver.commitTransaction.bind(driver);
  driver.beginTransaction = async (connection, settings) => {
    const { opening = [], opened = [] } = pipelinedEnds.getStore() ?? {};
    if (opening.length === 0) return begin(connection, settings);
    try {
      await send([
        () => begin(connection, settings),
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
    const { closing = [] } = pipelinedEnds.getStore() ?? {};
    await (closing.length === 0
      ? commit(connection)
      : send([...closing.map((query) => () => connection.executeQuery(query)), () => commit(connection)]));
  };
  return driver;
}

/**
 * Rolls back a transaction whose BEGIN failed, which Kysely does not do. A connection that cannot roll back
 * is not used again.
 */
async function rollBackQuietly(driver: Driver, connection: DatabaseConnection): Promise<void> {
  try {
    await driver.rollbackTransaction(connection);
  } catch {
    // An error of the rollback is ignored, because the caller throws the error that caused the rollback.
  }
}

/**
 * True inside a transaction, where every statement must use the transaction's handle. A statement on the root
 * handle would wait forever on PGlite, and would not see the transaction's changes on PostgreSQL. The guard
 * throws at once on both.
 */
const insideTransaction = new AsyncLocalStorage<true>();

export function runInsideTransaction<Result>(work: () => Promise<Result>): Promise<Result> {
  return insideTransaction.run(true, work);
}

/** Throws an error if it is called inside a transaction. Code calls it before it uses the root handle. */
export function refuseInsideTransaction(): void {
  if (insideTransaction.getStore() === true)
    throw new Error("A statement on the root handle inside a transaction: use the transaction's handle.");
}

export function guardDialect(dialect: Dialect): Dialect {
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
    refuseInsideTransaction();
    return acquire(options);
  };
  return driver;
}
