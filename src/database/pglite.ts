/**
 * PGlite is PostgreSQL inside this process. PGlite has a single connection, and Kysely's driver gives it to
 * every caller, so a query of another request would run inside an open transaction. This dialect therefore
 * runs transactions and statements one at a time.
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
  /** The folder of the database; undefined to keep it in memory. */
  readonly dataDir?: string | undefined;
  /** A dump from which a new database starts. */
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
   * Replaces PGlite's adapter. With it, Kysely would wait for the connection before it calls the driver, and
   * the guard of transaction-dialect.ts would refuse statements too late.
   */
  override createAdapter(): DialectAdapter {
    return new PostgresAdapter();
  }

  override createDriver(): Driver {
    const driver = super.createDriver();
    const acquire = driver.acquireConnection.bind(driver);
    const waiting: (() => void)[] = [];
    let isInUse = false;
    driver.acquireConnection = async (options): Promise<DatabaseConnection> => {
      if (isInUse) await new Promise<void>((go) => waiting.push(go));
      isInUse = true;
      // PGlite works in this thread and answers only by promises. Without this pause, a sequence of statements
      // would delay sockets and timers.
      await nextTurn();
      return acquire(options);
    };
    driver.releaseConnection = (): Promise<void> => {
      const next = waiting.shift();
      if (next === undefined) isInUse = false;
      else next();
      return Promise.resolve();
    };
    return driver;
  }
}
