/**
 * Idempotency: a request that changes something happens once, however often it is sent. One transaction holds
 * the claim of the key, the effect and the record of the answer. Only committed effects are recorded, so that
 * a request that was refused runs again. Also the form of keys and the fingerprint of requests
 * (draft-ietf-httpapi-idempotency-key-header).
 */
import type { Clock } from "#foundation/clock.ts";
import { createHash, randomBytes } from "node:crypto";
import { CompiledQuery, type QueryResult, sql } from "kysely";
import canonicalize from "canonicalize";
import {
  DecryptionFailed,
  type Keyring,
  type SealContext,
  type SealedValue,
} from "#foundation/encryption.ts";
import { fail } from "#foundation/failure.ts";
import type { Database } from "./connect.ts";
import {
  getBrokenConstraint,
  isDatabaseUnreachable,
  getSqlState,
  uniqueViolation,
} from "./database-errors.ts";
import { inTransaction, type Reader, runWithCommit, type Transaction } from "./transaction.ts";

export interface Claim {
  /** Whose key it is: the installation, or the internal token. */
  readonly ownerId: string;
  /** As `parseIdempotencyKey` gives it. */
  readonly key: string;
  /** SHA-256 of what is asked. */
  readonly fingerprint: Uint8Array;
}

/** What is answered, byte for byte. */
export interface Recorded {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** A request that may have its effect once only. */
export interface OnceRequest<Result> {
  readonly claim: Claim;
  /** The answer to record for a result without errors. May throw the failure that the result means. */
  readonly record: (result: Result) => Recorded;
  /** The recorded body is the result itself, as JSON. */
  readonly isAnsweredFromRecord?: boolean;
}

export interface Once {
  readonly recorded: Recorded;
  /** Whether an earlier request had the effect. */
  readonly isReplay: boolean;
}

/**
 * Does the work, or gives what was answered when it was done. What the work throws rolls everything back and
 * is thrown on.
 */
export type DoOnce = (claim: Claim, work: (transaction: Transaction) => Promise<Recorded>) => Promise<Once>;

/** Kept for so long after the effect; then the key is a new one. */
export const keptMs = 7 * 86_400_000;

interface OnceServices {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

export function createDoOnce(services: OnceServices): DoOnce {
  // PGlite has one connection: without this a duplicate would wait for the first instead of being told at
  // once.
  const running = new Set<string>();
  return async (claim, work) => {
    const held: HeldClaim = {
      ...claim,
      digest: createHash("sha256").update(claim.key).digest(),
      now: services.clock.now(),
    };
    const name = `${claim.ownerId} ${held.digest.toString("base64")}`;
    if (running.has(name)) throw fail("idempotency_in_progress");
    running.add(name);
    try {
      return await once(services, held, work);
    } finally {
      running.delete(name);
    }
  };
}

interface HeldClaim extends Claim {
  readonly digest: Buffer;
  readonly now: Date;
}

async function once(
  services: OnceServices,
  claim: HeldClaim,
  work: (transaction: Transaction) => Promise<Recorded>,
): Promise<Once> {
  const { db, keyring } = services;
  let isCommitting = false;
  const begun = async (
    transaction: Transaction,
    [locked, found]: readonly QueryResult<unknown>[],
  ): Promise<Once> => {
    isCommitting = false;
    const [lock] = (locked?.rows ?? []) as readonly Locked[];
    if (lock?.isHeld !== true) throw fail("idempotency_in_progress");
    const [row] = (found?.rows ?? []) as readonly FoundRecord[];
    if (row?.isKept === true) return { recorded: openRecord(row, keyring, claim), isReplay: true };
    const recorded = await work(transaction);
    await writeRecord(transaction, keyring, { claim, recorded, isThereAnOldOne: row !== undefined });
    isCommitting = true;
    return { recorded, isReplay: false };
  };
  try {
    // The record is looked for by a statement of its own: one that also took the lock would see the rows from
    // before it had it.
    return await inTransaction(db, begun, [lockOf(claim), lookFor(claim)]);
  } catch (error) {
    const isUnknown = isCommitting && isDatabaseUnreachable(error);
    if (!isUnknown && !isTaken(error)) throw error;
    const recorded = await findRecord(db, keyring, claim);
    if (recorded !== undefined) return { recorded, isReplay: !isUnknown };
    // Whether it was committed is not known, and the same key will tell.
    throw fail("service_unavailable", { cause: error, retryAfterSeconds: 2 });
  }
}

/** Another process recorded the same key between our look and our record. */
const isTaken = (error: unknown): boolean =>
  getSqlState(error) === uniqueViolation && getBrokenConstraint(error) === "idempotency_record_pkey";

interface Locked {
  readonly isHeld: boolean;
}

/** Tries, and never waits: fifty duplicates that waited would hold all connections. */
function lockOf({ ownerId, digest }: HeldClaim): CompiledQuery {
  const lock = createHash("sha256").update(`${ownerId}\n`).update(digest).digest().readBigInt64BE();
  return CompiledQuery.raw(`select pg_try_advisory_xact_lock($1::bigint) as "isHeld"`, [String(lock)]);
}

interface FoundRecord extends SealedValue {
  readonly fingerprint: Buffer;
  readonly status: number;
  readonly contentType: string;
  /** Or it is to be swept, and its key is a new one. */
  readonly isKept: boolean;
}

const lookText = `select fingerprint, status, content_type as "contentType", sealed, data_key as "dataKey", key_id as "keyId", created_at > $3 as "isKept"
  from idempotency_record where owner_id = $1 and idempotency_key = $2`;

const lookFor = ({ ownerId, digest, now }: HeldClaim): CompiledQuery<FoundRecord> =>
  CompiledQuery.raw(lookText, [ownerId, digest, oldest(now)]);

async function findRecord(db: Database, keyring: Keyring, claim: HeldClaim): Promise<Recorded | undefined> {
  const { rows } = await db.executeQuery(lookFor(claim));
  const [row] = rows;
  return row?.isKept === true ? openRecord(row, keyring, claim) : undefined;
}

function openRecord(row: FoundRecord, keyring: Keyring, claim: HeldClaim): Recorded {
  const fingerprint = keyring.digest(row, placeOfRecord(claim), claim.fingerprint);
  if (!fingerprint.equals(row.fingerprint)) throw fail("idempotency_key_reused");
  return {
    status: row.status,
    contentType: row.contentType,
    body: keyring.open(row, placeOfRecord(claim)).toString(),
  };
}

interface Writing {
  readonly claim: HeldClaim;
  readonly recorded: Recorded;
  readonly isThereAnOldOne: boolean;
}

async function writeRecord(
  transaction: Transaction,
  keyring: Keyring,
  { claim, recorded, isThereAnOldOne }: Writing,
): Promise<void> {
  const { status, contentType, body } = recorded;
  const { ownerId, digest, now } = claim;
  const place = placeOfRecord(claim);
  const { sealed, dataKey, keyId } = keyring.seal(body, place);
  // What was asked may hold a password: its plain digest would let somebody who has the table guess it.
  const fingerprint = keyring.digest({ sealed, dataKey, keyId }, place, claim.fingerprint);
  if (isThereAnOldOne)
    await runWithCommit(transaction, CompiledQuery.raw(forgetText, [ownerId, digest, oldest(now)]));
  await runWithCommit(
    transaction,
    CompiledQuery.raw(writeText, [
      ownerId,
      digest,
      fingerprint,
      status,
      contentType,
      sealed,
      dataKey,
      keyId,
      now,
    ]),
  );
}

const forgetText =
  "delete from idempotency_record where owner_id = $1 and idempotency_key = $2 and created_at <= $3";
const writeText = `insert into idempotency_record (owner_id, idempotency_key, fingerprint, status, content_type, sealed, data_key, key_id, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

const oldest = (now: Date): Date => new Date(now.getTime() - keptMs);

export const placeOfRecord = ({ ownerId, digest }: Pick<HeldClaim, "ownerId" | "digest">): SealContext => ({
  table: "idempotency_record",
  column: "sealed",
  rowId: `${ownerId} ${digest.toString("base64")}`,
});

const sweptAtOnce = 1000;

/** Deletes all that is kept no longer, so many at a time until the signal comes; gives how many. */
export async function sweepRecords(db: Database, now: Date, signal?: AbortSignal): Promise<number> {
  for (let total = 0; ;) {
    const { numAffectedRows } = await sql`
      delete from idempotency_record where (owner_id, idempotency_key) in (
        select owner_id, idempotency_key from idempotency_record where created_at <= ${oldest(now)} order by created_at limit ${sweptAtOnce})`.execute(
      db,
    );
    const deleted = Number(numAffectedRows);
    total += deleted;
    if (deleted < sweptAtOnce || signal?.aborted === true) return total;
  }
}

/** Where a record lies. */
export interface RecordKey {
  readonly ownerId: string;
  readonly idempotencyKey: Uint8Array;
}

interface RecordSearch {
  readonly ownerIds: readonly string[];
  /** Whether it is one that is looked for, by what was answered. */
  readonly holds: (body: string) => boolean;
  /** Only those of then or later. */
  readonly since?: Date;
}

const lookedAtOnce = 500;

/** One that does not open is found too: nobody can say that it is none. */
export async function findRecords(
  reader: Reader,
  keyring: Keyring,
  { ownerIds, holds, since }: RecordSearch,
): Promise<RecordKey[]> {
  const found: RecordKey[] = [];
  for (let after: RecordKey | undefined; ;) {
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
      .limit(lookedAtOnce)
      .execute();
    for (const row of rows) {
      const { ownerId, idempotencyKey } = row;
      const body = openOrNothing(keyring, row);
      if (body === undefined || holds(body)) found.push({ ownerId, idempotencyKey });
    }
    if (rows.length < lookedAtOnce) return found;
    after = rows.at(-1);
  }
}

function openOrNothing(keyring: Keyring, row: SealedValue & RecordKey): string | undefined {
  try {
    return keyring.open(row, placeOf(row)).toString();
  } catch (error) {
    if (error instanceof DecryptionFailed) return undefined;
    throw error;
  }
}

const placeOf = ({ ownerId, idempotencyKey }: RecordKey): SealContext =>
  placeOfRecord({ ownerId, digest: Buffer.from(idempotencyKey) });

/**
 * Forgets answers and keeps their keys taken: whoever retries is told that the key was used for something
 * else, and nothing happens twice. Gives how many there were; one that is named twice counts once.
 */
export async function emptyRecords(
  transaction: Transaction,
  keyring: Keyring,
  keys: readonly RecordKey[],
): Promise<number> {
  const places = new Map(keys.map((key) => [placeOf(key).rowId, key]));
  let emptied = 0;
  for (const { ownerId, idempotencyKey } of places.values()) {
    const { numUpdatedRows } = await transaction
      .updateTable("idempotencyRecord")
      .set({ fingerprint: randomBytes(32), ...keyring.seal("", placeOf({ ownerId, idempotencyKey })) })
      .where("ownerId", "=", ownerId)
      .where("idempotencyKey", "=", idempotencyKey)
      .executeTakeFirst();
    emptied += Number(numUpdatedRows);
  }
  return emptied;
}

/** Printable ASCII but `"`, `\`, `,` and `;`, which would be structure in a header. */
const characters = String.raw`[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]{1,255}`;
const keyPattern = new RegExp(`^${characters}$`);

/** The values of the header: the key, or the key in quotes. */
export const idempotencyHeaderPattern = `^(?:${characters}|"${characters}")$`;

/** `"abc"` (a structured field's string) and `abc` are the same key; undefined when it is none. */
export function parseIdempotencyKey(text: string): string | undefined {
  const isQuoted = text.length >= 2 && text.startsWith('"') && text.endsWith('"');
  const key = isQuoted ? text.slice(1, -1) : text;
  return keyPattern.test(key) ? key : undefined;
}

/** SHA-256 over the canonical JSON (RFC 8785): two requests that mean the same have the same. */
export function fingerprintOf(asked: Readonly<Record<string, unknown>>): Buffer {
  return createHash("sha256")
    .update(canonicalize(asked) ?? "")
    .digest();
}
