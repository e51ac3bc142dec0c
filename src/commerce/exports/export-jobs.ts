/**
 * Creates, cancels and finds exports, and deletes expired exports. An export is a job that writes rows of a
 * merchant into a file; a worker (`export-worker.ts`) runs it.
 */
import { type SelectQueryBuilder, type Selectable, sql } from "kysely";
import type { Database } from "#database/connect.ts";
import type { ExportJobTable, Tables } from "#database/tables.ts";
import { runAfterCommit, type DatabaseOrTransaction, type Transaction } from "#database/transaction.ts";
import type { InProcessEventEmitter } from "#foundation/events.ts";
import { createFailure } from "#foundation/failure.ts";
import { createRequestBodyErrorDetail, requireNoInputFieldErrors } from "#foundation/faults.ts";
import { createId, blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import type { ExportKind } from "./export-kinds.ts";

export type ExportJobRow = Selectable<ExportJobTable>;

/** Maximum number of a merchant's exports that are waiting or running at the same time. */
export const unfinishedExportsMax = 2;
/** Maximum number of a merchant's stored exports, without canceled exports. */
export const storedExportsMax = 20;
/** How long an export is stored after it has ended, in hours. */
export const exportRetentionHours = 24;
/**
 * Minimum time between the end of an export's period and the first read of its rows, in seconds. After this
 * time, transactions that began in the period have ended, and a replica has received their rows.
 */
export const exportSettleSeconds = 60;

const settleMs = exportSettleSeconds * 1_000;

/**
 * Returns the time at which an export is deleted, a fixed time after `now`. Called when the export is
 * created, continued or ended, so each of these steps postpones the deletion.
 */
export const getExportExpiryTime = (now: Date): Date =>
  new Date(now.getTime() + exportRetentionHours * 3_600_000);

export interface ExportCommandContext {
  readonly merchantId: string;
  readonly now: Date;
  readonly events: InProcessEventEmitter;
}

export interface NewExportJob {
  readonly kind: ExportKind;
  readonly format: ExportJobRow["format"];
  /** Start of the period of the exported rows; if left out, the export begins with the oldest row. */
  readonly from?: Date | null | undefined;
  /**
   * End of the period of the exported rows, exclusive; if left out, `exportSettleSeconds` before the creation
   * of the export.
   */
  readonly to?: Date | null | undefined;
}

/**
 * Creates an export that waits for a worker. Throws `export_limit_reached` if the merchant has the maximum
 * number of exports.
 */
export async function queueExportJob(
  transaction: Transaction,
  { merchantId, now, events }: ExportCommandContext,
  { kind, format, from, to }: NewExportJob,
): Promise<ExportJobRow> {
  const periodEnd = to ?? new Date(now.getTime() - settleMs);
  requirePeriod({ from: from ?? null, to: periodEnd, isEndGiven: to instanceof Date, now });
  await requireFreeExport(transaction, merchantId, now);
  runAfterCommit(transaction, () => events.emit("exportsDue"));
  return transaction
    .insertInto("exportJob")
    .values({
      id: createId("export", now.getTime()),
      merchantId,
      kind,
      format,
      periodStart: from ?? null,
      periodEnd,
      dueAt: new Date(Math.max(now.getTime(), periodEnd.getTime() + settleMs)),
      createdAt: now,
      expiresAt: getExportExpiryTime(now),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

interface ExportPeriod {
  readonly from: Date | null;
  readonly to: Date;
  /** True if the caller has chosen the end of the export's period; false if the default end is used. */
  readonly isEndGiven: boolean;
  readonly now: Date;
}

function requirePeriod({ from, to, isEndGiven, now }: ExportPeriod): void {
  requireNoInputFieldErrors([
    ...(to > now
      ? [createRequestBodyErrorDetail("/to", "too_large", '"to" must not be in the future.')]
      : []),
    ...(from !== null && from >= to
      ? [
          createRequestBodyErrorDetail(
            "/from",
            "too_large",
            isEndGiven
              ? '"from" must be before "to".'
              : `"from" must be before the default end of the period, ${exportSettleSeconds} seconds ago.`,
          ),
        ]
      : []),
  ]);
}

async function requireFreeExport(transaction: Transaction, merchantId: string, now: Date): Promise<void> {
  // The lock on the merchant's row makes concurrent export requests of a merchant run one after the other.
  // Without this lock, two requests could each find one export fewer than the maximum, and together exceed
  // the maximum.
  const merchant = await transaction
    .selectFrom("merchant")
    .select("id")
    .where("id", "=", blankIdWithForbiddenCharacters(merchantId))
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (merchant === undefined) throw createFailure("merchant_not_found");
  const stored = await buildExportJobSqlQuery(transaction, { merchantId, now })
    .select("exportJob.status")
    .where("exportJob.status", "in", ["queued", "running", "completed"])
    .execute();
  const unfinished = stored.filter(({ status }) => status !== "completed").length;
  if (unfinished < unfinishedExportsMax && stored.length < storedExportsMax) return;
  const message =
    unfinished >= unfinishedExportsMax
      ? `At most ${unfinishedExportsMax} exports of a merchant run at the same time. Wait for one, or cancel it.`
      : `At most ${storedExportsMax} exports of a merchant are stored. Cancel one that is no longer needed.`;
  throw createFailure("export_limit_reached", { message });
}

export interface ExportFilter {
  /** The merchant whose exports are selected; null selects the exports of all merchants. */
  readonly merchantId: string | null;
  readonly now: Date;
}

/**
 * Returns the query for exports that have not expired. The caller selects columns, and adds order and paging
 * or counts the rows.
 */
export function buildExportJobSqlQuery(
  reader: DatabaseOrTransaction,
  { merchantId, now }: ExportFilter,
): SelectQueryBuilder<Tables, "exportJob", { id: string }> {
  const list = reader.selectFrom("exportJob").select("exportJob.id").where("exportJob.expiresAt", ">", now);
  return merchantId === null ? list : list.where("exportJob.merchantId", "=", merchantId);
}

/** Finds an export by its id; null if the export does not exist, has expired or belongs to another merchant. */
export async function findExportJob(
  reader: DatabaseOrTransaction,
  id: string,
  filter: ExportFilter,
): Promise<ExportJobRow | null> {
  const found = await buildExportJobSqlQuery(reader, filter)
    .selectAll("exportJob")
    .where("exportJob.id", "=", blankIdWithForbiddenCharacters(id))
    .executeTakeFirst();
  return found ?? null;
}

/**
 * Cancels an export that has not ended, or deletes the file of a completed export. Does nothing if the export
 * was already canceled or has failed.
 */
export async function cancelExportJob(
  transaction: Transaction,
  { merchantId, now }: ExportCommandContext,
  exportId: string,
): Promise<ExportJobRow> {
  const canceled = await transaction
    .updateTable("exportJob")
    .set({ status: "canceled", finishedAt: now })
    .where("id", "=", blankIdWithForbiddenCharacters(exportId))
    .where("merchantId", "=", merchantId)
    .where("status", "in", ["queued", "running", "completed"])
    .where("expiresAt", ">", now)
    .returningAll()
    .executeTakeFirst();
  if (canceled === undefined) {
    const found = await findExportJob(transaction, exportId, { merchantId, now });
    if (found === null) throw createFailure("resource_not_found");
    return found;
  }
  await transaction.deleteFrom("exportChunk").where("exportId", "=", canceled.id).execute();
  return canceled;
}

/**
 * Deletes expired exports with their chunks, one export per statement, and returns their number. If `signal`
 * is aborted, stops before the next export.
 */
export async function deleteExpiredExportJobs(
  db: Database,
  now: Date,
  signal?: AbortSignal,
): Promise<number> {
  for (let total = 0; ; total += 1) {
    const { numAffectedRows } = await sql`
      delete from export_job where id = (
        select id from export_job where expires_at <= ${now}::timestamptz
        order by expires_at limit 1 for update skip locked)`.execute(db);
    if (Number(numAffectedRows) === 0) return total;
    if (signal?.aborted === true) return total + 1;
  }
}

/** A part of an export's file: `size` bytes, starting at the byte `start` of the file. */
export interface ExportFileByteRange {
  readonly exportId: string;
  readonly start: number;
  readonly size: number;
}

export interface StoredExportChunk {
  readonly startByte: number;
  readonly sizeBytes: number;
  /** The rows of this part of the export (chunk) as NDJSON, compressed with gzip. */
  readonly content: Uint8Array;
}

/**
 * Finds the stored chunk that contains the given byte of an export's file; undefined if there is no such
 * chunk.
 */
export function findExportChunkAtByte(
  reader: DatabaseOrTransaction,
  exportId: string,
  byte: number,
): Promise<StoredExportChunk | undefined> {
  return reader
    .selectFrom("exportChunk")
    .select(["startByte", "sizeBytes", "content"])
    .where("exportId", "=", exportId)
    .where("startByte", "<=", byte)
    .orderBy("startByte", "desc")
    .limit(1)
    .executeTakeFirst();
}
