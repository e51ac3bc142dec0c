/**
 * Creates, cancels and finds exports, and deletes expired ones. An export is a job that a worker runs
 * (`export-worker.ts`).
 */
import { type SelectQueryBuilder, type Selectable, sql } from "kysely";
import type { Database } from "#database/connect.ts";
import type { ExportJobTable, Tables } from "#database/tables.ts";
import { afterCommit, type DatabaseReader, type Transaction } from "#database/transaction.ts";
import type { ServiceEvents } from "#foundation/events.ts";
import { fail } from "#foundation/failure.ts";
import { createBodyFault, requireNoFaults } from "#foundation/faults.ts";
import { createId, toSafeId } from "#foundation/ids.ts";
import type { ExportKind } from "./export-kinds.ts";

export type ExportJobRow = Selectable<ExportJobTable>;

/** The maximum number of a merchant's exports that are queued or running at the same time. */
export const unfinishedExportsMax = 2;
/** The maximum number of a merchant's exports that are stored at the same time, without canceled ones. */
export const storedExportsMax = 20;
/** How long an export is stored after it has ended, in hours. */
export const exportRetentionHours = 24;
/**
 * Seconds between the end of an export's period and its first read. Transactions that began before the end of
 * the period have ended by then, and a replica has received their rows.
 */
export const exportSettleSeconds = 60;

const settleMs = exportSettleSeconds * 1_000;

/** Returns the time from which an export that ends now, or is continued now, is deleted. */
export const getExportExpiry = (now: Date): Date =>
  new Date(now.getTime() + exportRetentionHours * 3_600_000);

export interface ExportCommandContext {
  readonly merchantId: string;
  readonly now: Date;
  readonly events: ServiceEvents;
}

export interface NewExport {
  readonly kind: ExportKind;
  readonly format: ExportJobRow["format"];
  /** Start of the period; without it, the export begins with the oldest row. */
  readonly from?: Date | null | undefined;
  /** End of the period, excluded; without it, `exportSettleSeconds` before the creation of the export. */
  readonly to?: Date | null | undefined;
}

/** Queues an export. Throws `export_limit_reached` if the merchant has the maximum number of exports. */
export async function queueExportJob(
  transaction: Transaction,
  { merchantId, now, events }: ExportCommandContext,
  { kind, format, from, to }: NewExport,
): Promise<ExportJobRow> {
  const periodEnd = to ?? new Date(now.getTime() - settleMs);
  requirePeriod({ from: from ?? null, to: periodEnd, isEndGiven: to instanceof Date, now });
  await requireFreeExport(transaction, merchantId, now);
  afterCommit(transaction, () => events.emit("exportsDue"));
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
      expiresAt: getExportExpiry(now),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

interface ExportPeriod {
  readonly from: Date | null;
  readonly to: Date;
  /** False if `to` is the default end of the period. */
  readonly isEndGiven: boolean;
  readonly now: Date;
}

function requirePeriod({ from, to, isEndGiven, now }: ExportPeriod): void {
  requireNoFaults([
    ...(to > now ? [createBodyFault("/to", "too_large", '"to" must not be in the future.')] : []),
    ...(from !== null && from >= to
      ? [
          createBodyFault(
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
  // The lock on the merchant's row makes concurrent requests count one after the other.
  const merchant = await transaction
    .selectFrom("merchant")
    .select("id")
    .where("id", "=", toSafeId(merchantId))
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (merchant === undefined) throw fail("merchant_not_found");
  const stored = await buildExportJobQuery(transaction, { merchantId, now })
    .select("exportJob.status")
    .where("exportJob.status", "in", ["queued", "running", "completed"])
    .execute();
  const unfinished = stored.filter(({ status }) => status !== "completed").length;
  if (unfinished < unfinishedExportsMax && stored.length < storedExportsMax) return;
  const message =
    unfinished >= unfinishedExportsMax
      ? `At most ${unfinishedExportsMax} exports of a merchant run at the same time. Wait for one, or cancel it.`
      : `At most ${storedExportsMax} exports of a merchant are stored. Cancel one that is no longer needed.`;
  throw fail("export_limit_reached", { message });
}

export interface ExportFilter {
  /** The merchant whose exports are selected; null selects the exports of all merchants. */
  readonly merchantId: string | null;
  readonly now: Date;
}

/** Selects exports that have not expired. The caller selects columns, and orders, pages or counts the query. */
export function buildExportJobQuery(
  reader: DatabaseReader,
  { merchantId, now }: ExportFilter,
): SelectQueryBuilder<Tables, "exportJob", { id: string }> {
  const list = reader.selectFrom("exportJob").select("exportJob.id").where("exportJob.expiresAt", ">", now);
  return merchantId === null ? list : list.where("exportJob.merchantId", "=", merchantId);
}

/** Finds an export by its id; null if it does not exist, has expired or belongs to another merchant. */
export async function findExport(
  reader: DatabaseReader,
  id: string,
  filter: ExportFilter,
): Promise<ExportJobRow | null> {
  const found = await buildExportJobQuery(reader, filter)
    .selectAll("exportJob")
    .where("exportJob.id", "=", toSafeId(id))
    .executeTakeFirst();
  return found ?? null;
}

/**
 * Cancels an export that has not ended, or deletes the file of a completed one. Changes nothing if the export
 * was canceled before or has failed.
 */
export async function cancelExport(
  transaction: Transaction,
  { merchantId, now }: ExportCommandContext,
  exportId: string,
): Promise<ExportJobRow> {
  const canceled = await transaction
    .updateTable("exportJob")
    .set({ status: "canceled", finishedAt: now })
    .where("id", "=", toSafeId(exportId))
    .where("merchantId", "=", merchantId)
    .where("status", "in", ["queued", "running", "completed"])
    .where("expiresAt", ">", now)
    .returningAll()
    .executeTakeFirst();
  if (canceled === undefined) {
    const found = await findExport(transaction, exportId, { merchantId, now });
    if (found === null) throw fail("resource_not_found");
    return found;
  }
  await transaction.deleteFrom("exportChunk").where("exportId", "=", canceled.id).execute();
  return canceled;
}

/**
 * Deletes expired exports with their chunks, one export per statement. Returns the number of deleted exports.
 * `signal` ends the job between two exports.
 */
export async function deleteExpiredExports(db: Database, now: Date, signal?: AbortSignal): Promise<number> {
  for (let total = 0; ; total += 1) {
    const { numAffectedRows } = await sql`
      delete from export_job where id = (
        select id from export_job where expires_at <= ${now}::timestamptz
        order by expires_at limit 1 for update skip locked)`.execute(db);
    if (Number(numAffectedRows) === 0) return total;
    if (signal?.aborted === true) return total + 1;
  }
}

/** A part of an export's file: `size` bytes of the file, from the byte `start` on. */
export interface ExportFilePart {
  readonly exportId: string;
  readonly start: number;
  readonly size: number;
}

export interface StoredExportChunk {
  readonly startByte: number;
  readonly sizeBytes: number;
  /** The chunk's rows as NDJSON, compressed with gzip. */
  readonly content: Uint8Array;
}

/** Finds the stored chunk that contains a byte of the file; undefined if there is none. */
export function findExportChunkAtByte(
  reader: DatabaseReader,
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
