/** Creates databases on the PostgreSQL server of the test run. */
import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { inject } from "vitest";
import type { DatabaseOptions } from "#database/connect.ts";
import { databaseUrl, serviceRole, templateDatabase } from "./postgres.ts";

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

/**
 * Returns the options with which the service connects to a database of `createDatabase`: with a role to which
 * row level security applies. Scripts with the rights of the owner run as a superuser.
 */
export function connectionsOf(url: string): Required<Pick<DatabaseOptions, "url" | "ownerUrl">> {
  const service = new URL(url);
  service.username = serviceRole;
  return { url: String(service), ownerUrl: url };
}

/** Runs SQL on a connection of its own, with the role that the URL names. */
export async function query(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}
