/**
 * Freshly migrated databases for tests. `describeOnBoth` runs a suite once on PGlite and once on PostgreSQL,
 * and closes the databases that the suite opened.
 */
import { afterAll, describe } from "vitest";
import { type DatabaseOptions, type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { copyMigrated } from "./copies.ts";
import { createDatabase } from "./create-database.ts";

export type Engine = OpenedDatabase["engine"];
export type OpenOptions = Pick<DatabaseOptions, "poolSize" | "prepared" | "onStatement">;
/** Opens a new database at each call. */
export type Open = (options?: OpenOptions) => Promise<OpenedDatabase>;

export function describeOnBoth(name: string, suite: (open: Open, engine: Engine) => void): void {
  describe.each(["pglite", "postgres"] as const)(`${name} on %s`, (engine) => {
    const opened: OpenedDatabase[] = [];
    suite(async (options) => {
      const database = await openFresh(engine, options);
      opened.push(database);
      return database;
    }, engine);
    afterAll(() => Promise.all(opened.map((database) => database.close())));
  });
}

/** Opens a migrated and empty database. Closing it twice has no effect. */
export async function openFresh(engine: Engine, options: OpenOptions = {}): Promise<OpenedDatabase> {
  return closeOnce(
    await openDatabase({
      ...options,
      ...(engine === "postgres" ? { url: await createDatabase() } : { image: await copyMigrated() }),
    }),
  );
}

export function closeOnce(database: OpenedDatabase): OpenedDatabase {
  let closing: Promise<void> | undefined;
  return { ...database, close: () => (closing ??= database.close()) };
}
