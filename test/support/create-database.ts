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
 * unless `template` names another. The copy is deleted with the server.
 */
export async function createDatabase(template = templateDatabase): Promise<string> {
  const serverUrl = inject("postgresUrl");
  const name = `test_${randomBytes(8).toString("hex")}`;
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(`create database ${name} template ${template}`);
  } finally {
    await client.end();
  }
  return databaseUrl(serverUrl, name);
}
