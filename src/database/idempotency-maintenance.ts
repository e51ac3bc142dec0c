/**
 * Maintenance of idempotency records: deletes expired records, and removes the stored answers that contain
 * data of an erased buyer.
 */
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import {
  DecryptionError,
  type EncryptionKeyring,
  type EncryptionContext,
  type EncryptedValue,
} from "#foundation/encryption.ts";
import type { Database } from "./connect.ts";
import { deleteRowsInBatches } from "./delete-rows.ts";
import { type DatabaseOrTransaction, type Transaction } from "./transaction.ts";
import { getIdempotencyRecordExpiryCutoff, getIdempotencyRecordEncryptionContext } from "./idempotency.ts";

/**
 * Deletes expired idempotency records in batches until none is left or the signal is aborted. Returns the
 * number of deleted records.
 */
export async function deleteExpiredIdempotencyRecords(
  db: Database,
  now: Date,
  signal?: AbortSignal,
): Promise<number> {
  return deleteRowsInBatches(
    db,
    {
      table: "idempotency_record",
      where: sql`created_at <= ${getIdempotencyRecordExpiryCutoff(now)}`,
      orderBy: sql`created_at`,
    },
    signal,
  );
}

/** The primary key of an idempotency record. */
export interface IdempotencyRecordKey {
  readonly ownerId: string;
  readonly idempotencyKey: Uint8Array;
}

interface RecordSearch {
  readonly ownerIds: readonly string[];
  /** Returns true if the search should return a record with this decrypted body. */
  readonly matchesBody: (body: string) => boolean;
  /** The earliest creation time of the records to search; records of any age are searched if it is left out. */
  readonly since?: Date;
}

const readPerBatch = 500;

/**
 * Finds idempotency records by the content of their decrypted bodies. A record that cannot be decrypted is
 * also returned, because its body cannot be checked.
 */
export async function findIdempotencyRecordsByBody(
  reader: DatabaseOrTransaction,
  keyring: EncryptionKeyring,
  { ownerIds, matchesBody, since }: RecordSearch,
): Promise<IdempotencyRecordKey[]> {
  const found: IdempotencyRecordKey[] = [];
  for (let after: IdempotencyRecordKey | undefined; ;) {
    const rows = await reader
      .selectFrom("idempotencyRecord")
      .select(["ownerId", "idempotencyKey", "sealed", "dataKey", "keyId"])
      .where(sql<boolean>`owner_id = any(${ownerIds}::text[])`)
      .$if(since !== undefined, (query) => query.where(sql<boolean>`created_at >= ${since}`))
      .$if(after !== undefined, (query) =>
        query.where(
          sql<boolean>`(owner_id, idempotency_key) > (${after?.ownerId}, ${after?.idempotencyKey}::bytea)`,
        ),
      )
      .orderBy("ownerId")
      .orderBy("idempotencyKey")
      .limit(readPerBatch)
      .execute();
    for (const row of rows) {
      const { ownerId, idempotencyKey } = row;
      const body = decryptBody(keyring, row);
      if (body === undefined || matchesBody(body)) found.push({ ownerId, idempotencyKey });
    }
    if (rows.length < readPerBatch) return found;
    after = rows.at(-1);
  }
}

function decryptBody(
  keyring: EncryptionKeyring,
  row: EncryptedValue & IdempotencyRecordKey,
): string | undefined {
  try {
    return keyring.open(row, sealContextOf(row)).toString();
  } catch (error) {
    if (error instanceof DecryptionError) return undefined;
    throw error;
  }
}

const sealContextOf = ({ ownerId, idempotencyKey }: IdempotencyRecordKey): EncryptionContext =>
  getIdempotencyRecordEncryptionContext({ ownerId, digest: Buffer.from(idempotencyKey) });

/**
 * Replaces the stored answers of idempotency records with empty texts, and their fingerprints with random
 * bytes. The keys stay in use: a client that sends its request again gets `idempotency_key_reused`, and the
 * request has no effect. Returns the number of changed records.
 */
export async function eraseStoredAnswersOfIdempotencyRecords(
  transaction: Transaction,
  keyring: EncryptionKeyring,
  keys: readonly IdempotencyRecordKey[],
): Promise<number> {
  const keysByRowId = new Map(keys.map((key) => [sealContextOf(key).rowId, key]));
  let emptied = 0;
  for (const { ownerId, idempotencyKey } of keysByRowId.values()) {
    const { numUpdatedRows } = await transaction
      .updateTable("idempotencyRecord")
      .set({ fingerprint: randomBytes(32), ...keyring.seal("", sealContextOf({ ownerId, idempotencyKey })) })
      .where("ownerId", "=", ownerId)
      .where("idempotencyKey", "=", idempotencyKey)
      .executeTakeFirst();
    emptied += Number(numUpdatedRows);
  }
  return emptied;
}
