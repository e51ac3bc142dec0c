/**
 * Freshly migrated databases for tests. What touches SQL is tried on both engines: `describeOnBoth` runs a suite once on PGlite and once on
 * PostgreSQL, and closes what the suite opened.
 */
import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { afterAll, describe, inject } from "vitest";
import { type DatabaseOptions, type OpenDatabase, openDatabase } from "#database/connect.ts";
import { migrate } from "#database/migrate.ts";
import { databaseUrl, templateDatabase } from "./postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

export type Engine = OpenDatabase["engine"];
export type OpenOptions = Pick<DatabaseOptions, "poolSize" | "prepared" | "onStatement">;
/** Opens a database of its own at each call. */
export type Open = (options?: OpenOptions) => Promise<OpenDatabase>;

export function describeOnBoth(name: string, suite: (open: Open, engine: Engine) => void): void {
  describe.each(["pglite", "postgres"] as const)(`${name} on %s`, (engine) => {
    const opened: OpenDatabase[] = [];
    suite(async (options) => {
      const database = await openFresh(engine, options);
      opened.push(database);
      return database;
    }, engine);
    afterAll(() => Promise.all(opened.map((database) => database.close())));
  });
}

/** A migrated and empty database; closing it twice does no harm. */
export async function openFresh(engine: Engine, options: OpenOptions = {}): Promise<OpenDatabase> {
  const database = await openDatabase(engine === "postgres" ? { ...options, url: await createDatabase() } : options);
  if (engine === "pglite") await migrate(database);
  let closing: Promise<void> | undefined;
  return { ...database, close: () => (closing ??= database.close()) };
}

/** The URL of a migrated and empty database on the run's PostgreSQL; it ends with the server. */
export async function createDatabase(): Promise<string> {
  const serverUrl = inject("postgresUrl");
  const name = `test_${randomBytes(8).toString("hex")}`;
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(`create database ${name} template ${templateDatabase}`);
  } finally {
    await client.end();
  }
  return databaseUrl(serverUrl, name);
}
