/** Reads the file of a completed export for a caller, one chunk at a time. */
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import {
  type ExportJobRow,
  type ExportFileByteRange,
  findExportChunkAtByte,
  findExportJob,
} from "#commerce/exports/export-jobs.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import {
  type GraphqlContext,
  getCallerKindOfViewer,
  getCallerMerchantId,
  merchantReaders,
} from "#graph/context.ts";

export interface OpenedExportFile {
  readonly sizeBytes: number;
  /**
   * Reads `size` bytes of the export file from the offset `start`, in chunks. Only one chunk is in memory at
   * a time.
   */
  readonly read: (start: number, size: number) => AsyncGenerator<Buffer, void>;
}

const retryAfterSeconds = 5;

/**
 * Opens the file of an export. Throws `role_not_allowed` if the caller's role may not read exports, and
 * `resource_not_found` for an unknown, expired or foreign export. Throws `export_not_completed` while the
 * export runs, and `invalid_state` if it ended without a file.
 */
export async function openExportFile(context: GraphqlContext, exportId: string): Promise<OpenedExportFile> {
  if (!merchantReaders.includes(getCallerKindOfViewer(context.viewer)))
    throw createFailure("role_not_allowed");
  const { db } = context.services;
  const filter = { merchantId: getCallerMerchantId(context), now: context.clock.now() };
  const found = await findExportJob(db, exportId, filter);
  if (found === null) throw createFailure("resource_not_found");
  requireCompleted(found);
  return {
    sizeBytes: found.sizeBytes,
    read: (start, size) => readChunks(db, { exportId, start, size }),
  };
}

function requireCompleted({ id, status, failure }: ExportJobRow): void {
  if (status === "completed") return;
  const isUnfinished = status === "queued" || status === "running";
  throw createFailure(isUnfinished ? "export_not_completed" : "invalid_state", {
    conflict: {
      resource: "export",
      id,
      currentStatus: status,
      currentVersion: null,
      reason: failure,
      data: {},
    },
    ...(isUnfinished ? { retryAfterSeconds } : {}),
  });
}

const decompress = promisify(gunzip);

async function* readChunks(
  reader: DatabaseOrTransaction,
  { exportId, start, size }: ExportFileByteRange,
): AsyncGenerator<Buffer, void> {
  const end = start + size;
  for (let byte = start; byte < end;) {
    const chunk = await findExportChunkAtByte(reader, exportId, byte);
    if (chunk === undefined || chunk.startByte + chunk.sizeBytes <= byte)
      throw new Error(`The export ${exportId} was deleted during its download.`);
    const lines = await decompress(chunk.content);
    yield lines.subarray(byte - chunk.startByte, end - chunk.startByte);
    byte = chunk.startByte + chunk.sizeBytes;
  }
}
