/**
 * The records of the authorization server, all of which expire: codes, refresh tokens, pushed requests,
 * sessions, interactions (sign-ins with consent) and used proofs. The id of a record is a secret, so the
 * database has only its digest. The payload is encrypted. Expired records are never returned, even before
 * they are deleted.
 */
import { createHash } from "node:crypto";
import { type Selectable, sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { deleteRowsInBatches } from "#database/delete-rows.ts";
import type { OauthItemTable } from "#database/tables.ts";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import type { EncryptionKeyring, EncryptionContext } from "#foundation/encryption.ts";

type Payload = Readonly<Record<string, unknown>>;

export interface OauthServerRecord {
  readonly payload: Payload;
  readonly consumedAt: Date | null;
  /**
   * Id of the grant to which the record belongs: for a code or a refresh token, its grant; for an interaction
   * (a sign-in with consent), the grant that was created in it. Null if the record has no grant.
   */
  readonly grantId: string | null;
}

export interface NewOauthServerRecord {
  readonly kind: string;
  readonly id: string;
  readonly payload: Payload;
  readonly grantId: string | null;
  /** A second id with which the record can be found; null if the record has only one id. */
  readonly uid: string | null;
  readonly expiresAt: Date;
}

interface ItemStore<Handle = Database> {
  readonly db: Handle;
  readonly keyring: EncryptionKeyring;
}

/**
 * Inserts or updates a record. An update changes the payload and the expiry. The grant of the record, and
 * whether the record was consumed, stay unchanged.
 */
export async function saveOauthServerRecord(
  { db, keyring }: ItemStore,
  item: NewOauthServerRecord,
): Promise<void> {
  const digest = digestOfId(item.id);
  const values = {
    uidDigest: item.uid === null ? null : digestOfId(item.uid),
    ...keyring.seal(JSON.stringify(item.payload), getOauthServerRecordEncryptionContext(item.kind, digest)),
    expiresAt: item.expiresAt,
  };
  await db
    .insertInto("oauthItem")
    .values({ kind: item.kind, digest, grantId: item.grantId, ...values })
    .onConflict((conflict) => conflict.columns(["kind", "digest"]).doUpdateSet(values))
    .execute();
}

/**
 * Inserts a record and returns true. If an unexpired record with this id exists, changes nothing and returns
 * false. If several calls with the same id run at the same time, only one of them returns true.
 */
export async function insertOauthServerRecordIfNew(
  { db, keyring }: ItemStore,
  item: NewOauthServerRecord,
  now: Date,
): Promise<boolean> {
  const digest = digestOfId(item.id);
  const values = {
    ...keyring.seal(JSON.stringify(item.payload), getOauthServerRecordEncryptionContext(item.kind, digest)),
    expiresAt: item.expiresAt,
  };
  const inserted = await db
    .insertInto("oauthItem")
    .values({ kind: item.kind, digest, grantId: item.grantId, ...values })
    .onConflict((conflict) =>
      conflict.columns(["kind", "digest"]).doUpdateSet(values).where("oauthItem.expiresAt", "<=", now),
    )
    .returning("kind")
    .executeTakeFirst();
  return inserted !== undefined;
}

export interface OauthServerRecordLookup {
  readonly kind: string;
  readonly by: "id" | "uid";
  readonly value: string;
  readonly now: Date;
}

export async function findOauthServerRecord(
  { db, keyring }: ItemStore<DatabaseOrTransaction>,
  { kind, by, value, now }: OauthServerRecordLookup,
): Promise<OauthServerRecord | undefined> {
  const row = await db
    .selectFrom("oauthItem")
    .selectAll()
    .where("kind", "=", kind)
    .where(by === "id" ? "digest" : "uidDigest", "=", digestOfId(value))
    .where("expiresAt", ">", now)
    .executeTakeFirst();
  return row === undefined
    ? undefined
    : { payload: openPayload(keyring, row), consumedAt: row.consumedAt, grantId: row.grantId };
}

function openPayload(
  keyring: EncryptionKeyring,
  { kind, digest, sealed, dataKey, keyId }: Selectable<OauthItemTable>,
): Payload {
  return JSON.parse(
    keyring
      .open({ sealed, dataKey, keyId }, getOauthServerRecordEncryptionContext(kind, digest))
      .toString("utf8"),
  ) as Payload;
}

export interface OauthServerRecordKey {
  readonly kind: string;
  readonly id: string;
}

export interface ConsumeOauthServerRecordInput extends OauthServerRecordKey {
  readonly now: Date;
  /**
   * Returns the payload and the expiry that the record has after it was consumed (used). If this function is
   * omitted, both stay unchanged. The record is not deleted when it is consumed, so that a second use is
   * recognized.
   */
  readonly toConsumedRecord?: ((payload: Payload) => ConsumedOauthServerRecord) | undefined;
}

export interface ConsumedOauthServerRecord {
  readonly payload: Payload;
  readonly expiresAt?: Date;
}

/**
 * Consumes a record. The first call for a record returns `isFirstUse: true`, even if several calls run at the
 * same time. Further calls, and calls for an expired or unknown record, return `isFirstUse: false`. All calls
 * return the grant of the record if the record exists.
 */
export async function markOauthServerRecordConsumed(
  { db, keyring }: ItemStore<DatabaseOrTransaction>,
  { kind, id, now, toConsumedRecord }: ConsumeOauthServerRecordInput,
): Promise<{
  readonly isFirstUse: boolean;
  readonly grantId: string | null;
  readonly consumedAt: Date | null;
}> {
  const digest = digestOfId(id);
  const item =
    toConsumedRecord === undefined
      ? undefined
      : await findOauthServerRecord({ db, keyring }, { kind, by: "id", value: id, now });
  const record = item === undefined ? undefined : toConsumedRecord?.(item.payload);
  const taken = await db
    .updateTable("oauthItem")
    .set({
      consumedAt: now,
      ...(record === undefined
        ? {}
        : keyring.seal(JSON.stringify(record.payload), getOauthServerRecordEncryptionContext(kind, digest))),
      ...(record?.expiresAt === undefined ? {} : { expiresAt: record.expiresAt }),
    })
    .where("kind", "=", kind)
    .where("digest", "=", digest)
    .where("consumedAt", "is", null)
    .where("expiresAt", ">", now)
    .returning("grantId")
    .executeTakeFirst();
  if (taken !== undefined) return { isFirstUse: true, grantId: taken.grantId, consumedAt: now };
  const row = await db
    .selectFrom("oauthItem")
    .select(["grantId", "consumedAt"])
    .where("kind", "=", kind)
    .where("digest", "=", digest)
    .executeTakeFirst();
  return { isFirstUse: false, grantId: row?.grantId ?? null, consumedAt: row?.consumedAt ?? null };
}

/** Returns whether at least one of the codes or tokens with these ids has already been used (consumed). */
export async function isAnyOauthServerRecordConsumed(
  db: DatabaseOrTransaction,
  { kind, ids }: { readonly kind: string; readonly ids: readonly string[] },
): Promise<boolean> {
  const row = await db
    .selectFrom("oauthItem")
    .select("kind")
    .where("kind", "=", kind)
    .where("digest", "in", ids.map(digestOfId))
    .where("consumedAt", "is not", null)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Stores the id of a grant in the record of the interaction (a sign-in with consent) that created the grant;
 * null removes the id. The record is deleted together with the grant whose id it has.
 */
export async function linkOauthInteractionToGrant(
  transaction: Transaction,
  { kind, id, grantId }: OauthServerRecordKey & { readonly grantId: string | null },
): Promise<void> {
  await transaction
    .updateTable("oauthItem")
    .set({ grantId })
    .where("kind", "=", kind)
    .where("digest", "=", digestOfId(id))
    .execute();
}

export async function deleteOauthServerRecord(
  db: Database,
  { kind, id }: OauthServerRecordKey,
): Promise<void> {
  await db.deleteFrom("oauthItem").where("kind", "=", kind).where("digest", "=", digestOfId(id)).execute();
}

/** Deletes expired records of the authorization server. Returns the number of deleted records. */
export async function deleteExpiredOauthServerRecords(
  db: Database,
  now: Date,
  signal?: AbortSignal,
): Promise<number> {
  return deleteRowsInBatches(
    db,
    { table: "oauth_item", where: sql`expires_at <= ${now}`, orderBy: sql`expires_at` },
    signal,
  );
}

const digestOfId = (id: string): Buffer => createHash("sha256").update(id).digest();

export function getOauthServerRecordEncryptionContext(kind: string, digest: Uint8Array): EncryptionContext {
  return { table: "oauth_item", column: "sealed", rowId: `${kind}:${Buffer.from(digest).toString("hex")}` };
}
