/**
 * Inside a transaction every statement must go through the transaction's own handle. One on the root handle would wait for ever on PGlite
 * and read stale rows on PostgreSQL; this makes it throw at once instead, on both.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Dialect, Driver } from "kysely";

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
