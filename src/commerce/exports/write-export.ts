/**
 * Writes exports in steps. A first step gives the worker a lease on an export job. Each further step reads
 * one page of rows and stores the page as a chunk. All state is in the database, so another worker can
 * continue the job after any step. A chunk is stored only if the file still has the length from the beginning
 * of the step, so no row is stored twice.
 */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import type { ReportQueryRunner } from "#database/read-only.ts";
import { type DatabaseOrTransaction, runInTransaction } from "#database/transaction.ts";
import type { Clock } from "#foundation/clock.ts";
import { getCurrencyExponent } from "#foundation/money.ts";
import {
  buildExportRowCountSqlQuery,
  type ExportRowCell,
  exponentColumn,
  type ExportRowSortKeys,
  buildExportRowSqlQuery,
} from "./export-kinds.ts";
import { type ExportJobRow, getExportExpiryTime } from "./export-jobs.ts";

export interface ExportWriterOptions {
  readonly db: Database;
  /** Runs the queries that read the exported rows, on the replica if there is one. */
  readonly readOnly: ReportQueryRunner;
  readonly clock: Clock;
  /** Maximum number of rows of one export; `exportRowsMax` if left out. */
  readonly rowsMax?: number;
  /** Maximum number of rows of one chunk; 1,000 if left out. */
  readonly chunkRowsMax?: number;
}

export const exportRowsMax = 1_000_000;
const usualChunkRowsMax = 1_000;

/**
 * Length of the lease that a worker has on an export job, in milliseconds. Each stored chunk renews the
 * lease.
 */
export const exportLeaseMs = 60_000;

/**
 * Takes a lease for this worker on the export job that has been due for the longest time. Returns undefined
 * if no job is due.
 */
export async function claimDueExportJob(db: Database, now: Date): Promise<ExportJobRow | undefined> {
  return runInTransaction(db, async (transaction) => {
    const { rows } = await sql<ExportJobRow>`
      update export_job set status = 'running', due_at = ${new Date(now.getTime() + exportLeaseMs)}::timestamptz
      where id = (
        select id from export_job where status in ('queued', 'running') and due_at <= ${now}::timestamptz
        order by due_at, id limit 1 for update skip locked)
      returning *`.execute(transaction);
    return rows[0];
  });
}

/** Returns the time at which the next unfinished export job becomes due; null if there is none. */
export async function findNextExportJobDueAt(db: Database): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    select min(due_at) as at from export_job where status in ('queued', 'running')`.execute(db);
  return rows[0]?.at ?? null;
}

/**
 * Reads the next page of an export's rows and stores it as a chunk. Returns the changed job; undefined if the
 * export has ended or another worker has continued it.
 */
export async function writeNextExportChunk(
  options: ExportWriterOptions,
  job: ExportJobRow,
): Promise<ExportJobRow | undefined> {
  const { readOnly, rowsMax = exportRowsMax, chunkRowsMax = usualChunkRowsMax } = options;
  const totalRows = job.totalRows ?? (await countRows(options, job, rowsMax));
  if (totalRows > rowsMax) return endExport(options, job, "too_many_rows");
  const after = job.lastKeys;
  const { rows } = await readOnly((reader) =>
    buildExportRowSqlQuery(job, { after, limit: chunkRowsMax }).execute(reader),
  );
  const lines = Buffer.from(rows.map(({ rowKeys: _keys, ...cells }) => toLine(cells)).join(""));
  return storeChunk(options, job, {
    totalRows,
    lines,
    rowCount: rows.length,
    lastKeys: rows.at(-1)?.rowKeys ?? after,
    isLast: rows.length < chunkRowsMax,
  });
}

async function countRows(
  { readOnly }: ExportWriterOptions,
  job: ExportJobRow,
  rowsMax: number,
): Promise<number> {
  const { rows } = await readOnly(async (reader) => {
    await requireCurrentReader(reader, job);
    return buildExportRowCountSqlQuery(job, rowsMax + 1).execute(reader);
  });
  return rows[0]?.count ?? 0;
}

/**
 * Throws if the rows are read from a replica that is behind, so that it still shows the export job as
 * waiting. The lease on the job was taken after the end of the export's period. A replica that shows the
 * lease therefore also contains all rows of the period.
 */
async function requireCurrentReader(reader: DatabaseOrTransaction, { id }: ExportJobRow): Promise<void> {
  const job = await reader.selectFrom("exportJob").select("status").where("id", "=", id).executeTakeFirst();
  if (job?.status === "queued" || job === undefined)
    throw new Error("The replica has not received the export yet.");
}

/**
 * Converts an exported row to a line of NDJSON. Adds the number of decimal digits of the row's currency after
 * the currency.
 */
function toLine(cells: Readonly<Record<string, ExportRowCell>>): string {
  const { currency } = cells;
  if (typeof currency !== "string") return `${JSON.stringify(cells)}\n`;
  const entries = Object.entries(cells).flatMap((entry): [string, ExportRowCell][] =>
    entry[0] === "currency" ? [entry, [exponentColumn, getCurrencyExponent(currency)]] : [entry],
  );
  return `${JSON.stringify(Object.fromEntries(entries))}\n`;
}

interface NewChunk {
  readonly totalRows: number;
  /** The rows of the page as NDJSON: one JSON object on each line. Empty if the page has no rows. */
  readonly lines: Buffer;
  readonly rowCount: number;
  readonly lastKeys: ExportRowSortKeys | null;
  readonly isLast: boolean;
}

const compress = promisify(gzip);

async function storeChunk(
  { db, clock }: ExportWriterOptions,
  job: ExportJobRow,
  { totalRows, lines, rowCount, lastKeys, isLast }: NewChunk,
): Promise<ExportJobRow | undefined> {
  const now = clock.now();
  const content = await compress(lines);
  return runInTransaction(db, async (transaction) => {
    const changed = await transaction
      .updateTable("exportJob")
      .set({
        status: isLast ? "completed" : "running",
        totalRows,
        exportedRows: job.exportedRows + rowCount,
        sizeBytes: job.sizeBytes + lines.length,
        lastKeys: lastKeys === null ? null : [...lastKeys],
        failedAttempts: 0,
        dueAt: new Date(now.getTime() + exportLeaseMs),
        finishedAt: isLast ? now : null,
        expiresAt: getExportExpiryTime(now),
      })
      .where("id", "=", job.id)
      .where("status", "=", "running")
      .where("sizeBytes", "=", job.sizeBytes)
      .returningAll()
      .executeTakeFirst();
    if (changed === undefined) return undefined;
    if (rowCount > 0)
      await transaction
        .insertInto("exportChunk")
        .values({ exportId: job.id, startByte: job.sizeBytes, sizeBytes: lines.length, rowCount, content })
        .execute();
    return isLast ? undefined : changed;
  });
}

/**
 * Delays in milliseconds before a failed read of an export is repeated: after the first failure, the second,
 * and so on. The export fails if one more read fails.
 */
const backoffMs = [5_000, 10_000, 20_000, 60_000, 120_000, 300_000];

/**
 * Postpones an export job after a failed read, or ends the export as failed after the last attempt. Does
 * nothing if another worker has continued the job.
 */
export async function postponeExportJob(options: ExportWriterOptions, job: ExportJobRow): Promise<void> {
  const waitMs = backoffMs[job.failedAttempts];
  if (waitMs === undefined) {
    await endExport(options, job, "read_failed");
    return;
  }
  await options.db
    .updateTable("exportJob")
    .set({ failedAttempts: job.failedAttempts + 1, dueAt: new Date(options.clock.now().getTime() + waitMs) })
    .where("id", "=", job.id)
    .where("status", "=", "running")
    .where("sizeBytes", "=", job.sizeBytes)
    .execute();
}

/** Makes an export job due at once, so that any worker can continue it. */
export async function releaseExportJob(
  { db, clock }: ExportWriterOptions,
  { id }: ExportJobRow,
): Promise<void> {
  await db
    .updateTable("exportJob")
    .set({ dueAt: clock.now() })
    .where("id", "=", id)
    .where("status", "=", "running")
    .execute();
}

/** Ends a running export as failed and deletes its stored chunks. */
async function endExport(
  { db, clock }: ExportWriterOptions,
  { id, sizeBytes }: ExportJobRow,
  failure: NonNullable<ExportJobRow["failure"]>,
): Promise<undefined> {
  await runInTransaction(db, async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable("exportJob")
      .set({ status: "failed", failure, finishedAt: clock.now() })
      .where("id", "=", id)
      .where("status", "=", "running")
      .where("sizeBytes", "=", sizeBytes)
      .executeTakeFirst();
    if (numUpdatedRows > 0n) await transaction.deleteFrom("exportChunk").where("exportId", "=", id).execute();
  });
}
