/**
 * What the authorization server keeps for a while: codes, refresh tokens, pushed requests, sessions,
 * interactions and used proofs. An id is a secret and lies here as its digest; what is kept under it is
 * sealed. What has expired is not there, swept or not.
 */
import { createHash } from "node:crypto";
import { type Selectable, sql } from "kysely";
import type { Database } from "#database/connect.ts";
import type { OauthItemTable } from "#database/tables.ts";
import type { Reader, Transaction } from "#database/transaction.ts";
import type { Keyring, Place } from "#foundation/encryption.ts";

type Payload = Readonly<Record<string, unknown>>;

export interface OauthItem {
  readonly payload: Payload;
  readonly consumedAt: Date | null;
  /** Of a code or a refresh token, or of the interaction in which it was given. */
  readonly grantId: string | null;
}

export interface OauthItemInput {
  readonly kind: string;
  readonly id: string;
  readonly payload: Payload;
  readonly grantId: string | null;
  /** A second id that it may be found by. */
  readonly uid: string | null;
  readonly expiresAt: Date;
}

interface Store<Handle = Database> {
  readonly db: Handle;
  readonly keyring: Keyring;
}

/** Kept anew, what it is changes; whether it was consumed, and which grant came of it, does not. */
export async function saveOauthItem({ db, keyring }: Store, item: OauthItemInput): Promise<void> {
  const digest = digestOf(item.id);
  const values = {
    uidDigest: item.uid === null ? null : digestOf(item.uid),
    ...keyring.seal(JSON.stringify(item.payload), oauthItemSealContext(item.kind, digest)),
    expiresAt: item.expiresAt,
  };
  await db
    .insertInto("oauthItem")
    .values({ kind: item.kind, digest, grantId: item.grantId, ...values })
    .onConflict((conflict) => conflict.columns(["kind", "digest"]).doUpdateSet(values))
    .execute();
}

/** False when it was there already: of several at once, one alone keeps it. */
export async function saveOauthItemOnce(
  { db, keyring }: Store,
  item: OauthItemInput,
  now: Date,
): Promise<boolean> {
  const digest = digestOf(item.id);
  const values = {
    ...keyring.seal(JSON.stringify(item.payload), oauthItemSealContext(item.kind, digest)),
    expiresAt: item.expiresAt,
  };
  const kept = await db
    .insertInto("oauthItem")
    .values({ kind: item.kind, digest, ...values })
    .onConflict((conflict) =>
      conflict.columns(["kind", "digest"]).doUpdateSet(values).where("oauthItem.expiresAt", "<=", now),
    )
    .returning("kind")
    .executeTakeFirst();
  return kept !== undefined;
}

export interface OauthItemQuery {
  readonly kind: string;
  readonly by: "id" | "uid";
  readonly value: string;
  readonly now: Date;
}

export async function findOauthItem(
  { db, keyring }: Store<Reader>,
  { kind, by, value, now }: OauthItemQuery,
): Promise<OauthItem | undefined> {
  const row = await db
    .selectFrom("oauthItem")
    .selectAll()
    .where("kind", "=", kind)
    .where(by === "id" ? "digest" : "uidDigest", "=", digestOf(value))
    .where("expiresAt", ">", now)
    .executeTakeFirst();
  return row === undefined
    ? undefined
    : { payload: open(keyring, row), consumedAt: row.consumedAt, grantId: row.grantId };
}

function open(
  keyring: Keyring,
  { kind, digest, sealed, dataKey, keyId }: Selectable<OauthItemTable>,
): Payload {
  return JSON.parse(
    keyring.open({ sealed, dataKey, keyId }, oauthItemSealContext(kind, digest)).toString("utf8"),
  ) as Payload;
}

export interface OauthItemKey {
  readonly kind: string;
  readonly id: string;
}

export interface ConsumeOauthItemInput extends OauthItemKey {
  readonly now: Date;
  /**
   * What is left of it once it is used, by which it is known when it comes again; all of it, for as long as
   * it was good, unless told.
   */
  readonly toRemains?: ((payload: Payload) => ConsumedItemRecord) | undefined;
}

export interface ConsumedItemRecord {
  readonly payload: Payload;
  readonly expiresAt?: Date;
}

/**
 * Of several at once, one alone gets `taken`. The others get the grant that it was of, where it still lies
 * there.
 */
export async function consumeOauthItem(
  { db, keyring }: Store<Reader>,
  { kind, id, now, toRemains }: ConsumeOauthItemInput,
): Promise<{ readonly isTaken: boolean; readonly grantId: string | null }> {
  const digest = digestOf(id);
  const item =
    toRemains === undefined
      ? undefined
      : await findOauthItem({ db, keyring }, { kind, by: "id", value: id, now });
  const remains = item === undefined ? undefined : toRemains?.(item.payload);
  const taken = await db
    .updateTable("oauthItem")
    .set({
      consumedAt: now,
      ...(remains === undefined
        ? {}
        : keyring.seal(JSON.stringify(remains.payload), oauthItemSealContext(kind, digest))),
      ...(remains?.expiresAt === undefined ? {} : { expiresAt: remains.expiresAt }),
    })
    .where("kind", "=", kind)
    .where("digest", "=", digest)
    .where("consumedAt", "is", null)
    .where("expiresAt", ">", now)
    .returning("grantId")
    .executeTakeFirst();
  if (taken !== undefined) return { isTaken: true, grantId: taken.grantId };
  const row = await db
    .selectFrom("oauthItem")
    .select("grantId")
    .where("kind", "=", kind)
    .where("digest", "=", digest)
    .executeTakeFirst();
  return { isTaken: false, grantId: row?.grantId ?? null };
}

/** Says of an interaction which grant came of it; it goes with that. */
export async function setOauthItemGrant(
  transaction: Transaction,
  { kind, id, grantId }: OauthItemKey & { readonly grantId: string | null },
): Promise<void> {
  await transaction
    .updateTable("oauthItem")
    .set({ grantId })
    .where("kind", "=", kind)
    .where("digest", "=", digestOf(id))
    .execute();
}

export async function deleteOauthItem(db: Database, { kind, id }: OauthItemKey): Promise<void> {
  await db.deleteFrom("oauthItem").where("kind", "=", kind).where("digest", "=", digestOf(id)).execute();
}

const sweptAtOnce = 500;

/** What has expired; how much that was. */
export async function sweepOauthItems(db: Database, now: Date, signal?: AbortSignal): Promise<number> {
  for (let total = 0; ;) {
    const { numAffectedRows } = await sql`
      delete from oauth_item where (kind, digest) in (
        select kind, digest from oauth_item where expires_at <= ${now} order by expires_at limit ${sweptAtOnce})`.execute(
      db,
    );
    const deleted = Number(numAffectedRows);
    total += deleted;
    if (deleted < sweptAtOnce || signal?.aborted === true) return total;
  }
}

const digestOf = (id: string): Buffer => createHash("sha256").update(id).digest();

export function oauthItemSealContext(kind: string, digest: Uint8Array): Place {
  return { table: "oauth_item", column: "sealed", rowId: `${kind}:${Buffer.from(digest).toString("hex")}` };
}
