/**
 * Statements that are sent without waiting for the answer to the one before: one round trip for all of them. They run one after the other all the
 * same, and each sees what was committed before it began.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from "kysely";

type Step = () => Promise<unknown>;

/** The first that fails is thrown: those behind it fail because of it. */
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

/** What goes together with the beginning and the end of a transaction. */
export interface PipelinedEnds {
  /** Only reads and takes locks, because it is sent before it is known that the transaction has begun. */
  readonly opening: readonly CompiledQuery[];
  readonly opened: QueryResult<unknown>[];
  /** Where one fails, nothing is committed. */
  readonly closing: readonly CompiledQuery[];
}

const current = new AsyncLocalStorage<PipelinedEnds>();

export function withPipelinedEnds<Result>(edges: PipelinedEnds, work: () => Promise<Result>): Promise<Result> {
  return current.run(edges, work);
}

/**
 * What cannot fail before it is sent. A statement that pg itself could not send would leave the transaction whole, and the commit behind it would be
 * done without it.
 */
export const canBePipelined = ({ parameters }: CompiledQuery): boolean =>
  parameters.every((value) => value === null || typeof value !== "object" || value instanceof Uint8Array || value instanceof Date);

/** `isPipelined`: its connections take statements while others are on their way. */
export function pipelinedDialect(dialect: Dialect, { isPipelined }: { readonly isPipelined: boolean }): Dialect {
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
    const { opening = [], opened = [] } = current.getStore() ?? {};
    if (opening.length === 0) return begin(connection, settings);
    try {
      await send([
        () => begin(connection, settings),
        ...opening.map((query, index) => async () => {
          opened[index] = await connection.executeQuery(query);
        }),
      ]);
    } catch (error) {
      await leave(driver, connection);
      throw error;
    }
  };
  driver.commitTransaction = async (connection) => {
    const { closing = [] } = current.getStore() ?? {};
    await (closing.length === 0
      ? commit(connection)
      : send([...closing.map((query) => () => connection.executeQuery(query)), () => commit(connection)]));
  };
  return driver;
}

/** Kysely rolls back nothing that has not begun in its eyes. A connection that cannot even do that is not used again. */
async function leave(driver: Driver, connection: DatabaseConnection): Promise<void> {
  try {
    await driver.rollbackTransaction(connection);
  } catch {
    // What went wrong at first says more.
  }
}

/**
 * Inside a transaction every statement must go through the transaction's own handle. One on the root handle would wait for ever on PGlite
 * and read stale rows on PostgreSQL; this makes it throw at once instead, on both.
 */
const insideTransaction = new AsyncLocalStorage<true>();

export function runInsideTransaction<Result>(work: () => Promise<Result>): Promise<Result> {
  return insideTransaction.run(true, work);
}

/** For what goes by the root handle, at once or later. */
export function refuseInsideTransaction(): void {
  if (insideTransaction.getStore() === true) throw new Error("A statement on the root handle inside a transaction: use the transaction's handle.");
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
