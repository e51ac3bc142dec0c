/** Opens the database of the plain schema: Kysely on a pool of pg, without prepared or shared statements. */
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
    // Names inside JSON columns are not converted.
    plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })],
  });
}
