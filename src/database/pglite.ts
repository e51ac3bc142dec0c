/**
 * PGlite, PostgreSQL in this process. It has one connection, so a transaction must have it to itself:
 * Kysely's driver hands the same connection to everybody, and a query of another request would join the
 * transaction that happens to be open. Here one waits for the other.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { PGlite, types } from "@electric-sql/pglite";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import {
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  PGliteDialect,
  PostgresAdapter,
} from "kysely";

export interface PGliteOptions {
  /** Without it, the database lives in memory. */
  readonly dataDir?: string | undefined;
  /** A dump that a new database starts from. */
  readonly image?: Blob | undefined;
}

export function openPGlite({ dataDir, image }: PGliteOptions = {}): Promise<PGlite> {
  return PGlite.create({
    ...(dataDir === undefined ? {} : { dataDir }),
    ...(image === undefined ? {} : { loadDataDir: image }),
    extensions: { pg_trgm },
    parsers: { [types.INT8]: Number },
  });
}

export class SerialPGliteDialect extends PGliteDialect {
  /**
   * PGlite's own would make Kysely wait for the connection before it asks the driver, and so before the guard
   * (transaction-dialect.ts) could refuse.
   */
  override createAdapter(): DialectAdapter {
    return new PostgresAdapter();
  }

  override createDriver(): Driver {
    const driver = super.createDriver();
    const acquire = driver.acquireConnection.bind(driver);
    const waiting: (() => void)[] = [];
    let isTaken = false;
    driver.acquireConnection = async (options): Promise<DatabaseConnection> => {
      if (isTaken) await new Promise<void>((go) => waiting.push(go));
      isTaken = true;
      // The database works in this very thread and answers by promises alone: started within a socket's
      // callback, or right after one another, all of its work would be done before the next socket is read.
      // So sockets and timers come in between.
      await nextTurn();
      return acquire(options);
    };
    driver.releaseConnection = (): Promise<void> => {
      const next = waiting.shift();
      if (next === undefined) isTaken = false;
      else next();
      return Promise.resolve();
    };
    return driver;
  }
}
