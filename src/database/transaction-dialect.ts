/**
 * Two wrappers of Kysely dialects. `createPipelinedKyselyDialect` sends the statements at the beginning and
 * at the end of a transaction without waiting for the answers in between, so that they need one round trip.
 * The statements still run one after another, and each sees all changes that were committed before it
 * started. `createTransactionGuardKyselyDialect` refuses statements that are run inside a transaction, but
 * use the root handle (`Database`) instead of the transaction's handle.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from "kysely";

type Step = () => Promise<unknown>;

/**
 * Sends several statements without waiting for the answers in between. If several statements fail, throws the
 * error of the first one, because the later ones fail for the same reason.
 */
export async function sendStatementsPipelined<Result>(
  steps: readonly (() => Promise<Result>)[],
): Promise<Result[]> {
  const sent = await Promise.allSettled(steps.map((step) => step()));
  return sent.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
}

async function sendInTurn(steps: readonly Step[]): Promise<void> {
  for (const step of steps) await step();
}

/** The SQL statements that are sent together with the BEGIN and the COMMIT of a transaction. */
export interface StatementsSentWithBeginAndCommit {
  /**
   * The statements that are sent together with BEGIN. If BEGIN fails, these statements run outside of a
   * transaction, so they may only read rows and take locks.
   */
  readonly opening: readonly CompiledQuery[];
  readonly opened: QueryResult<unknown>[];
  /**
   * The statements that are sent together with COMMIT. If one of them fails, the transaction is not
   * committed.
   */
  readonly closing: readonly CompiledQuery[];
}

const pipelinedEnds = new AsyncLocalStorage<StatementsSentWithBeginAndCommit>();

export function runTransactionPipeliningBeginAndCommit<Result>(
  ends: StatementsSentWithBeginAndCommit,
  work: () => Promise<Result>,
): Promise<Result> {
  return pipelinedEnds.run(ends, work);
}

/**
 * Returns whether pg can certainly send the statement, which is the case if all its parameters are simple
 * values. A statement that pg fails to send does not abort the transaction, so a COMMIT that is sent right
 * after it would succeed without that statement.
 */
export const canStatementBePipelined = ({ parameters }: CompiledQuery): boolean =>
  parameters.every(
    (value) =>
      value === null || typeof value !== "object" || value instanceof Uint8Array || value instanceof Date,
  );

/**
 * Wraps a dialect so that `StatementsSentWithBeginAndCommit` are sent with BEGIN and COMMIT. `isPipelined`
 * says whether the dialect's connections accept a statement before earlier statements are answered. If not,
 * the statements are sent one after another.
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
      pipelinedDriver(dialect.createDriver(), isPipelined ? sendStatementsPipelined : sendInTurn),
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
 * transaction: a statement on the root handle would wait forever on PGlite, and would not see the
 * transaction's changes on PostgreSQL. `requireNoOpenTransaction` throws an error on both databases.
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

export function createTransactionGuardKyselyDialect(dialect: Dialect): Dialect {
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
