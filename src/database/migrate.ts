/**
 * Applies all pending migrations in order, in one transaction, so that a failed migration leaves the database
 * unchanged. The statements of a released migration are never edited: their stored checksum would differ, and
 * the start would fail. Comments may be edited, because checksums leave them out.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { OpenedDatabase } from "./connect.ts";

export interface DatabaseMigration {
  readonly name: string;
  readonly sql: string;
}

const folder = new URL("../../schema/migrations/", import.meta.url);

/**
 * Checksums of the migration files 0001 to 0026 with their earlier comments. Earlier releases computed the
 * SHA-256 of the whole file with its comments, and databases that these releases migrated have stored these
 * values.
 */
const earlierChecksums = JSON.parse(
  readFileSync(new URL("earlier-checksums.json", folder), "utf8"),
) as Readonly<Record<string, string>>;
const advisoryLock = 7_462_193_015;

export function readMigrationFiles(from: URL = folder): DatabaseMigration[] {
  return readdirSync(from)
    .filter((name) => name.endsWith(".sql"))
    .toSorted()
    .map((name) => ({ name: name.slice(0, -".sql".length), sql: readFileSync(new URL(name, from), "utf8") }));
}

/**
 * Applies pending migrations and returns their names. If several processes start at the same time, one
 * applies the migrations and the others wait.
 */
export function migrate(
  database: OpenedDatabase,
  migrations: readonly DatabaseMigration[] = readMigrationFiles(),
): Promise<string[]> {
  return database.script(async (run) => {
    await run(`begin; select pg_advisory_xact_lock(${advisoryLock});
      create table if not exists schema_migration (
        name text primary key,
        checksum text not null,
        applied_at timestamptz not null default now()
      );`);
    try {
      const [rows = []] = await run("select name, checksum from schema_migration");
      const applied = new Map(rows.map((row) => [row["name"], row["checksum"]]));
      const pending = migrations.filter((migration) => isPending(migration, applied.get(migration.name)));
      for (const { name, sql } of pending) {
        await run(sql).catch((error: unknown) => {
          throw new Error(
            `Migration ${name} failed and changed nothing: ` +
              (error instanceof Error ? error.message : String(error)),
            {
              cause: error,
            },
          );
        });
        await run(`insert into schema_migration (name, checksum) values ('${name}', '${checksum(sql)}')`);
      }
      await run("commit");
      return pending.map(({ name }) => name);
    } catch (error) {
      await run("rollback");
      throw error;
    }
  });
}

/** Throws an error if the database lacks a migration. Changes nothing in the database. */
export async function requireMigratedDatabase(
  database: OpenedDatabase,
  migrations: readonly DatabaseMigration[] = readMigrationFiles(),
): Promise<void> {
  const applied = await database.script(async (run) => {
    const [[row] = []] = await run("select to_regclass('schema_migration') is not null as is_created");
    if (row?.["is_created"] !== true) return new Set();
    const [rows = []] = await run("select name from schema_migration");
    return new Set(rows.map(({ name }) => name));
  });
  const [first, ...others] = migrations.filter(({ name }) => !applied.has(name));
  if (first === undefined) return;
  const more = others.length === 0 ? "is" : `and ${others.length} later migrations are`;
  throw new Error(
    `Migration ${first.name} ${more} not applied to the database. Run the command \`migrate\`, or check ` +
      "that DATABASE_URL and DATA_DIR name the right database.",
  );
}

function isPending({ name, sql }: DatabaseMigration, appliedChecksum: unknown): boolean {
  if (appliedChecksum === undefined) return true;
  if (appliedChecksum !== checksum(sql) && appliedChecksum !== earlierChecksums[name])
    throw new Error(
      `Migration ${name} differs from the applied migration. Do not edit a released migration; ` +
        "add a new one.",
    );
  return false;
}

/** Returns the SHA-256 of the text of a migration, without the lines that are empty or contain only a comment. */
function checksum(sql: string): string {
  const statements = sql.split("\n").filter((line) => !/^\s*(--|$)/.test(line));
  return createHash("sha256").update(statements.join("\n")).digest("hex");
}
