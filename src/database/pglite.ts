/**
 * PGlite is PostgreSQL inside this process. PGlite has a single connection, and Kysely's driver gives it to
 * every caller, so a query of another request would become part of the open transaction. This dialect
 * therefore runs transactions and statements one at a time.
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
   * Replaces PGlite's adapter, with which Kysely would wait for the connection before it calls the driver,
   * and so before the guard (transaction-dialect.ts) could refuse a statement.
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
      // PGlite works in this thread and answers by promises only. Without this pause, statements that follow each
      // other would run before the next socket or timer is served.
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
