/**
 * The tables as the plain resolvers read them: Kysely on a pool of pg, whose statements are neither kept nor
 * shared.
 */
import { CamelCasePlugin, Kysely, PostgresDialect } from "kysely";
import { Pool, types } from "pg";
import type { Tables } from "#database/tables.ts";

export type PlainDatabase = Kysely<Tables>;

types.setTypeParser(types.builtins.INT8, Number);

export const createPool = (connectionString: string | undefined): Pool =>
  new Pool({ connectionString, max: 10 });

export function openPlainDatabase(pool: Pool): PlainDatabase {
  return new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    // What is in JSON columns has names of its own.
    plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })],
  });
}
