/** Databases on the PostgreSQL that the run has started. */
import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { inject } from "vitest";
import { databaseUrl, templateDatabase } from "./postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
    /** A folder of this run, for what is copied. */
    copies: string;
  }
}

/**
 * The URL of a new copy of a database on the run's PostgreSQL, of a migrated and empty one unless another is
 * named; it ends with the server.
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
