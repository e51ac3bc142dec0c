/** Creates databases on the PostgreSQL server of the test run. */
import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { inject } from "vitest";
import { databaseUrl, templateDatabase } from "./postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
    /** This run's folder for the copied databases. */
    copies: string;
  }
}

/**
 * Copies a database on the run's PostgreSQL and returns the copy's URL. Copies the migrated, empty database
 * unless `template` names another. The copy is deleted with the server, if not before.
 */
export async function createDatabase(template = templateDatabase): Promise<string> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  await runOnServer(`create database ${name} template ${template} strategy file_copy`);
  return databaseUrl(inject("postgresUrl"), name);
}

/** Deletes a database that no test uses any more. Open connections to the database are closed. */
export const dropDatabase = (url: string): Promise<void> =>
  runOnServer(`drop database if exists ${new URL(url).pathname.slice(1)} with (force)`);

async function runOnServer(text: string): Promise<void> {
  const client = new Client({ connectionString: inject("postgresUrl") });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
