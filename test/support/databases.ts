/**
 * Freshly migrated databases for tests. `describeOnBoth` runs a suite once on PGlite and once on PostgreSQL,
 * for SQL, locks and drivers in which the engines differ. `describeOnPostgres` runs a suite once, on the
 * faster engine, for rules that stand in the code. Both close the databases that the suite opened.
 */
import { sql } from "kysely";
import { afterAll, describe } from "vitest";
import { type Database, type DatabaseOptions, type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { copyMigrated } from "./copies.ts";
import { connectionsOf, createDatabase, dropDatabase } from "./create-database.ts";

export type Engine = OpenedDatabase["engine"];
export type OpenOptions = Pick<DatabaseOptions, "poolSize" | "prepared" | "onStatement">;
/** Opens a new database at each call. With PostgreSQL, it has 4 connections unless `poolSize` is given. */
export type Open = (options?: OpenOptions) => Promise<OpenedDatabase>;

type Suite = (open: Open, engine: Engine) => void;

/** Mutation tests (test/mutation/) use only the faster engine. */
const isMutated = process.env["MUTATION_MODULE"] !== undefined;

export const describeOnBoth = (name: string, suite: Suite): void =>
  describeOn(isMutated ? ["postgres"] : ["pglite", "postgres"], name, suite);

export const describeOnPostgres = (name: string, suite: Suite): void => describeOn(["postgres"], name, suite);

function describeOn(engines: readonly Engine[], name: string, suite: Suite): void {
  describe.each(engines)(`${name} on %s`, (engine) => {
    const opened: OpenedDatabase[] = [];
    suite(async (options) => {
      const database = await openFresh(engine, options);
      opened.push(database);
      return database;
    }, engine);
    afterAll(() => Promise.all(opened.map((database) => database.close())));
  });
}

/**
 * The number of connections to a PostgreSQL database of a test. Every new connection reads the catalog and
 * plans its statements again: with 10 connections, the tests of `test/gateway` and `test/access` took 3 to 16
 * % more CPU time. Tests in which more than this number of writes compete at once use the service's own
 * number.
 */
export const fewConnections = 4;
/** The service's number of connections, which is the default of DATABASE_POOL. */
export const manyConnections = 10;

/** Opens a migrated and empty database. Closing it twice has no effect. */
export async function openFresh(engine: Engine, options: OpenOptions = {}): Promise<OpenedDatabase> {
  return openCopy({
    ...options,
    ...(engine === "postgres" ? connectionsOf(await createDatabase()) : { filesystem: await copyMigrated() }),
  });
}

/**
 * Opens a copied database, and deletes it when it is closed. Closing it twice has no effect. Scripts run with
 * the role that owns the tables.
 */
export async function openCopy(options: DatabaseOptions): Promise<OpenedDatabase> {
  const database = await openDatabase({ poolSize: fewConnections, ...options });
  const { url } = options;
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await database.close();
    if (url !== undefined) await dropDatabase(url);
  };
  return { ...database, script: database.ownerScript, close: () => (closing ??= close()) };
}

/**
 * Returns how many rows of a table the statements of this connection have read until now. The count shows a
 * plan that reads rows again and again. Use it on PGlite, which has one connection.
 */
export async function countReadRows(db: Database, table: string): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(db);
  const { rows } = await sql<{ count: number }>`select (seq_tup_read + idx_tup_fetch)::integer as count
    from pg_stat_user_tables where relname = ${table}`.execute(db);
  const [found] = rows;
  if (found === undefined) throw new Error(`PostgreSQL has no statistics of the table ${table}.`);
  return found.count;
}
