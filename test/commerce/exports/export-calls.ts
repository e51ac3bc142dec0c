/** Creates, reads and downloads exports in tests. */
import { gunzipSync } from "node:zlib";
import { queueExportJob, type ExportJobRow, findExportJob } from "#commerce/exports/export-jobs.ts";
import type { ExportKind } from "#commerce/exports/export-kinds.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createInProcessEventEmitter } from "#foundation/events.ts";
import type { World } from "#test/support/world.ts";

/** Creates an export of the first merchant, or of the given one. */
export function makeExport(
  world: World,
  {
    kind = "orders",
    merchantId = world.demo.merchants.first.id,
    ...period
  }: { kind?: ExportKind; merchantId?: string; from?: Date; to?: Date } = {},
): Promise<ExportJobRow> {
  const context = { merchantId, now: world.clock.now(), events: createInProcessEventEmitter() };
  return runInTransaction(world.database.db, (transaction) =>
    queueExportJob(transaction, context, { kind, format: "ndjson", ...period }),
  );
}

export const readExport = (world: World, id: string): Promise<ExportJobRow | null> =>
  findExportJob(world.database.db, id, { merchantId: null, now: world.clock.now() });

/** Reads the rows of all stored chunks of an export in their order, with the number of rows of each chunk. */
export async function readStoredRows(
  world: World,
  exportId: string,
): Promise<{ rows: Record<string, unknown>[]; chunks: number[] }> {
  const chunks = await world.database.db
    .selectFrom("exportChunk")
    .selectAll()
    .where("exportId", "=", exportId)
    .orderBy("startByte")
    .execute();
  const texts = chunks.map(({ content }) => gunzipSync(content).toString("utf8"));
  return { rows: texts.flatMap(parseNdjson), chunks: chunks.map(({ rowCount }) => rowCount) };
}

export const parseNdjson = (text: string): Record<string, unknown>[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
