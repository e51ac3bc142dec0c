/**
 * Applies pending migrations so that a running service is disturbed as little as possible. Only one process
 * migrates at a time. Consecutive migrations run in one transaction. It waits for a lock for two seconds at
 * most, because statements of requests wait behind it, and is repeated later if it does not get the lock. A
 * migration whose first line begins with `-- Runs outside of a transaction` creates or drops indexes while
 * other processes write to their tables. If it is interrupted, it can be repeated.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { OpenedDatabase, SqlScriptRunner } from "./connect.ts";
import { getSqlState } from "./database-errors.ts";

export interface PendingMigration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

export interface MigrationLockRetryOptions {
  /** Milliseconds for which a migration in a transaction waits for a lock before it is rolled back. */
  readonly lockTimeoutMs?: number;
  /**
   * The delays in milliseconds before a transaction that did not get a lock is repeated, one delay for each
   * repetition.
   */
  readonly retryDelaysMs?: readonly number[];
  /** Called before each delay, with a sentence that says why the transaction is repeated. */
  readonly onRetry?: (reason: string) => void;
}

const defaultRetryDelaysMs = [1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000, 15_000, 15_000];

const advisoryLock = 7_462_193_015;
/** Milliseconds between two attempts to become the process that migrates. */
const pollMs = 200;

const createMigrationTable = `create table if not exists schema_migration (
  name text primary key,
  checksum text not null,
  applied_at timestamptz not null default now()
)`;

/**
 * Calls `migrate` while this process has the migration lock, so that only one process migrates at a time. A
 * transaction on a separate connection has the lock. Processes poll for the lock: a statement that waits for
 * the lock would hold back `create index concurrently` of the process that has it. PGlite has only one
 * connection and needs no lock.
 */
export async function runWithMigrationLock<Result>(
  database: OpenedDatabase,
  migrate: (run: SqlScriptRunner) => Promise<Result>,
): Promise<Result> {
  if (database.engine === "pglite") return database.ownerScript(migrate);
  return database.ownerScript(async (run) => {
    while (!(await takeLock(run))) await sleep(pollMs);
    try {
      return await database.ownerScript(migrate);
    } finally {
      await run("rollback");
    }
  });
}

async function takeLock(run: SqlScriptRunner): Promise<boolean> {
  await run("begin; set local idle_in_transaction_session_timeout = 0");
  const [[row] = []] = await run(`select pg_try_advisory_xact_lock(${advisoryLock}) as is_locked`);
  if (row?.["is_locked"] === true) return true;
  await run("rollback");
  return false;
}

/** Applies the migrations in their order. */
export async function applyMigrations(
  run: SqlScriptRunner,
  pending: readonly PendingMigration[],
  limits: MigrationLockRetryOptions,
): Promise<void> {
  let rest = pending;
  while (rest.length > 0) {
    const [first] = rest;
    if (first !== undefined && isOutsideTransaction(first)) {
      await applyOutsideTransaction(run, first);
      rest = rest.slice(1);
    } else {
      const end = rest.findIndex(isOutsideTransaction);
      const together = end < 0 ? rest : rest.slice(0, end);
      await retryLocked(together, limits, () => applyInTransaction(run, together, limits));
      rest = rest.slice(together.length);
    }
  }
}

const defaultLockTimeoutMs = 2_000;

async function applyInTransaction(
  run: SqlScriptRunner,
  migrations: readonly PendingMigration[],
  { lockTimeoutMs = defaultLockTimeoutMs }: MigrationLockRetryOptions,
): Promise<void> {
  // The time limit of migration statements is switched off (0), because the database role may have a short
  // limit for the statements of requests.
  await run(`begin; set local lock_timeout = ${lockTimeoutMs}; set local statement_timeout = 0`);
  try {
    for (const [index, migration] of migrations.entries())
      await runOf(migration, "changed nothing", async () => {
        if (index === 0) await run(createMigrationTable);
        await run(migration.sql);
        await run(insertMigration(migration));
      });
    await run("commit");
  } catch (error) {
    await run("rollback");
    throw error;
  }
}

const insertMigration = ({ name, checksum }: PendingMigration): string =>
  `insert into schema_migration (name, checksum) values ('${name}', '${checksum}')`;

/** The SQLSTATEs that mean that PostgreSQL did not get a lock in time (55P03), or found a deadlock (40P01). */
const lockStates = new Set(["55P03", "40P01"]);

async function retryLocked(
  [first]: readonly PendingMigration[],
  { retryDelaysMs = defaultRetryDelaysMs, onRetry }: MigrationLockRetryOptions,
  apply: () => Promise<void>,
): Promise<void> {
  for (const delayMs of retryDelaysMs) {
    try {
      await apply();
      return;
    } catch (error) {
      if (!(error instanceof Error) || !lockStates.has(getSqlState(error.cause) ?? "")) throw error;
      onRetry?.(`${error.message}. The migrations from ${first?.name} on run again in ${delayMs / 1000} s.`);
      await sleep(delayMs);
    }
  }
  await apply();
}

const outsideTransactionMark = /^-- Runs outside of a transaction\b/;
const isOutsideTransaction = ({ sql }: Pick<PendingMigration, "sql">): boolean =>
  outsideTransactionMark.test(sql);

interface IndexStatement {
  readonly sql: string;
  /** The name of the index that the migration statement creates; undefined if the statement drops an index. */
  readonly created: string | undefined;
}

const indexStatement =
  /^(?:create (?:unique )?index concurrently if not exists (?<created>\w+) on\s|drop index concurrently if exists \w+$)/;

/**
 * Returns the statements of a migration that runs outside of a transaction; undefined for other migrations.
 * Throws if it contains anything but the creation and removal of indexes, because only these can be repeated
 * after an interruption.
 */
export function parseIndexMigrationStatements({
  name,
  sql,
}: Pick<PendingMigration, "name" | "sql">): readonly IndexStatement[] | undefined {
  if (!isOutsideTransaction({ sql })) return undefined;
  return sql
    .replaceAll(/^\s*--.*$/gm, "")
    .split(/;\s*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "")
    .map((statement) => {
      const match = indexStatement.exec(statement.replaceAll(/\s+/g, " "));
      if (match === null)
        throw new Error(
          `Migration ${name} runs outside of a transaction, so it may only contain "create index ` +
            'concurrently if not exists NAME on …" and "drop index concurrently if exists NAME", but not: ' +
            statement,
        );
      return { sql: statement, created: match.groups?.["created"] };
    });
}

async function applyOutsideTransaction(run: SqlScriptRunner, migration: PendingMigration): Promise<void> {
  // The time limits are switched off (0), because creating or dropping an index concurrently waits for older
  // transactions. It blocks no other statements while it waits.
  await run("set lock_timeout = 0");
  await run("set statement_timeout = 0");
  await run(createMigrationTable);
  for (const { sql, created } of parseIndexMigrationStatements(migration) ?? [])
    await runOf(migration, "is repeated from its beginning by the next run", async () => {
      if (created !== undefined) await dropInvalidIndex(run, created);
      await run(sql);
    });
  await run(insertMigration(migration));
}

/** Drops an index that an interrupted `create index concurrently` has left behind. No query can use it. */
async function dropInvalidIndex(run: SqlScriptRunner, index: string): Promise<void> {
  const [rows = []] = await run(
    `select 1 from pg_index where indexrelid = to_regclass('${index}') and not indisvalid`,
  );
  if (rows.length > 0) await run(`drop index concurrently ${index}`);
}

/**
 * Runs a step of a migration. If the step fails, throws an error that names the migration and contains
 * `outcome`, a text about the state of the database.
 */
async function runOf({ name }: PendingMigration, outcome: string, step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const advice =
      getSqlState(error) === "42501"
        ? ". Set DATABASE_OWNER_URL to the URL of the role that owns the tables"
        : "";
    throw new Error(`Migration ${name} failed and ${outcome}: ${reason}${advice}`, { cause: error });
  }
}
