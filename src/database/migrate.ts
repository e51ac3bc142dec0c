/**
 * Reads the migrations of this release, and applies those that the database lacks, in their order
 * (apply-migrations.ts). A failed migration in a transaction leaves the database unchanged. The statements of
 * a released migration are never edited: their stored checksum would differ, and the start would fail.
 * Comments may be edited, because checksums leave them out.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { formatCountWithNoun } from "#foundation/text.ts";
import {
  applyMigrations,
  type MigrationLockRetryOptions,
  type PendingMigration,
  runWithMigrationLock,
} from "./apply-migrations.ts";
import type { OpenedDatabase, SqlScriptRunner } from "./connect.ts";

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

export function readMigrationFiles(from: URL = folder): DatabaseMigration[] {
  return readdirSync(from)
    .filter((name) => name.endsWith(".sql"))
    .toSorted()
    .map((name) => ({ name: name.slice(0, -".sql".length), sql: readFileSync(new URL(name, from), "utf8") }));
}

/**
 * Applies pending migrations and returns their names. If several processes start at the same time, one
 * applies the migrations and the others wait. If no migration is pending, the database is only read, so a
 * role without the right to create tables can call this function.
 */
export async function migrate(
  database: OpenedDatabase,
  migrations: readonly DatabaseMigration[] = readMigrationFiles(),
  limits: MigrationLockRetryOptions = {},
): Promise<string[]> {
  if ((await database.script((run) => readPending(run, migrations))).length === 0) return [];
  return runWithMigrationLock(database, async (run) => {
    // The pending migrations are read again, because another process may have applied some while this process
    // waited for the migration lock.
    const pending = await readPending(run, migrations);
    await applyMigrations(run, pending, limits);
    return pending.map(({ name }) => name);
  });
}

async function readPending(
  run: SqlScriptRunner,
  migrations: readonly DatabaseMigration[],
): Promise<PendingMigration[]> {
  const applied = await readApplied(run);
  return migrations
    .filter((migration) => isPending(migration, applied.get(migration.name)))
    .map(({ name, sql }) => ({ name, sql, checksum: checksum(sql) }));
}

/** Returns the checksums of the applied migrations by their names. */
async function readApplied(run: SqlScriptRunner): Promise<ReadonlyMap<unknown, unknown>> {
  const [[row] = []] = await run(selectMigrationTable);
  if (row?.["is_created"] !== true) return new Map();
  const [rows = []] = await run("select name, checksum from schema_migration");
  return new Map(rows.map(({ name, checksum: stored }) => [name, stored]));
}

const selectMigrationTable = "select to_regclass('schema_migration') is not null as is_created";

/** Returns whether the table of applied migrations exists. If not, no migration was ever applied. */
export async function isMigrationTableCreated(database: OpenedDatabase): Promise<boolean> {
  const [[row] = []] = await database.script((run) => run(selectMigrationTable));
  return row?.["is_created"] === true;
}

/** Throws if a migration is not applied to the database. Changes nothing. */
export async function requireMigratedDatabase(
  database: OpenedDatabase,
  migrations: readonly DatabaseMigration[] = readMigrationFiles(),
): Promise<void> {
  const applied = await database.script(readApplied);
  const [first, ...others] = migrations.filter(({ name }) => !applied.has(name));
  if (first === undefined) return;
  const more =
    others.length === 0 ? "is" : `and ${formatCountWithNoun(others.length, "later migration")} are`;
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
