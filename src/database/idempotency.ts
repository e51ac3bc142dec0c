/**
 * Idempotency: a request that changes something happens once, however often it is sent. One transaction holds
 * the claim of the key, the effect and the record of the answer. Only committed effects are recorded, so that
 * a request that was refused runs again. Also the form of keys and the fingerprint of requests
 * (draft-ietf-httpapi-idempotency-key-header).
 */
import type { Clock } from "#foundation/clock.ts";
import { createHash } from "node:crypto";
import { CompiledQuery, type QueryResult } from "kysely";
import canonicalize from "canonicalize";
import { type Keyring, type SealContext, type SealedValue } from "#foundation/encryption.ts";
import { fail } from "#foundation/failure.ts";
import type { Database } from "./connect.ts";
import {
  getBrokenConstraint,
  isDatabaseUnreachable,
  getSqlState,
  uniqueViolation,
} from "./database-errors.ts";
import { inTransaction, runWithCommit, type Transaction } from "./transaction.ts";

export interface IdempotencyClaim {
  /** The owner of the key: an installation or an internal token. */
  readonly ownerId: string;
  /** The key as `parseIdempotencyKey` returns it. */
  readonly key: string;
  /** SHA-256 of the request. */
  readonly fingerprint: Uint8Array;
}

/** A stored answer; replays send it byte for byte. */
export interface StoredAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** A request whose effect must happen only once. */
export interface IdempotentRequest<Result> {
  readonly claim: IdempotencyClaim;
  /** The answer to record for a result without errors. May throw the failure that the result means. */
  readonly record: (result: Result) => StoredAnswer;
  /** True if the stored body is the result itself, as JSON. */
  readonly isAnsweredFromRecord?: boolean;
}

export interface IdempotentResult {
  readonly recorded: StoredAnswer;
  /** True if an earlier request had the effect. */
  readonly isReplay: boolean;
}

/**
 * Runs the work, or returns the stored answer if the work was done before. An error of the work rolls
 * everything back and is thrown.
 */
export type RunIdempotent = (
  claim: IdempotencyClaim,
  work: (transaction: Transaction) => Promise<StoredAnswer>,
) => Promise<IdempotentResult>;

/** How long an answer is stored; afterwards the key counts as new. */
export const answerStoredMs = 7 * 86_400_000;

interface OnceServices {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

export function createIdempotentRunner(services: OnceServices): RunIdempotent {
  // PGlite has one connection: without this check, a duplicate would wait for the first request instead of
  // being refused at once.
  const running = new Set<string>();
  return async (claim, work) => {
    const held: DigestedClaim = {
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

interface DigestedClaim extends IdempotencyClaim {
  readonly digest: Buffer;
  readonly now: Date;
}

async function once(
  services: OnceServices,
  claim: DigestedClaim,
  work: (transaction: Transaction) => Promise<StoredAnswer>,
): Promise<IdempotentResult> {
  const { db, keyring } = services;
  let isCommitting = false;
  const begun = async (
    transaction: Transaction,
    [locked, found]: readonly QueryResult<unknown>[],
  ): Promise<IdempotentResult> => {
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
    // The record is read by a separate statement: one that also took the lock would see the rows from before
    // the lock.
    return await inTransaction(db, begun, [lockOf(claim), lookFor(claim)]);
  } catch (error) {
    const isUnknown = isCommitting && isDatabaseUnreachable(error);
    if (!isUnknown && !isTaken(error)) throw error;
    const recorded = await findRecord(db, keyring, claim);
    if (recorded !== undefined) return { recorded, isReplay: !isUnknown };
    // It is unknown whether the transaction was committed; a retry with the same key finds out.
    throw fail("service_unavailable", { cause: error, retryAfterSeconds: 2 });
  }
}

/** True if another process recorded the same key between reading and writing the record. */
const isTaken = (error: unknown): boolean =>
  getSqlState(error) === uniqueViolation && getBrokenConstraint(error) === "idempotency_record_pkey";

interface Locked {
  readonly isHeld: boolean;
}

/** Tries to lock the key and never waits, because waiting duplicates would occupy all connections. */
function lockOf({ ownerId, digest }: DigestedClaim): CompiledQuery {
  const lock = createHash("sha256").update(`${ownerId}\n`).update(digest).digest().readBigInt64BE();
  return CompiledQuery.raw(`select pg_try_advisory_xact_lock($1::bigint) as "isHeld"`, [String(lock)]);
}

interface FoundRecord extends SealedValue {
  readonly fingerprint: Buffer;
  readonly status: number;
  readonly contentType: string;
  /** False if the record has expired, so that its key counts as new. */
  readonly isKept: boolean;
}

const lookText = `select fingerprint, status, content_type as "contentType", sealed, data_key as "dataKey", key_id as "keyId", created_at > $3 as "isKept"
  from idempotency_record where owner_id = $1 and idempotency_key = $2`;

const lookFor = ({ ownerId, digest, now }: DigestedClaim): CompiledQuery<FoundRecord> =>
  CompiledQuery.raw(lookText, [ownerId, digest, oldestStored(now)]);

async function findRecord(
  db: Database,
  keyring: Keyring,
  claim: DigestedClaim,
): Promise<StoredAnswer | undefined> {
  const { rows } = await db.executeQuery(lookFor(claim));
  const [row] = rows;
  return row?.isKept === true ? openRecord(row, keyring, claim) : undefined;
}

function openRecord(row: FoundRecord, keyring: Keyring, claim: DigestedClaim): StoredAnswer {
  const fingerprint = keyring.digest(row, recordSealContext(claim), claim.fingerprint);
  if (!fingerprint.equals(row.fingerprint)) throw fail("idempotency_key_reused");
  return {
    status: row.status,
    contentType: row.contentType,
    body: keyring.open(row, recordSealContext(claim)).toString(),
  };
}

interface Writing {
  readonly claim: DigestedClaim;
  readonly recorded: StoredAnswer;
  readonly isThereAnOldOne: boolean;
}

async function writeRecord(
  transaction: Transaction,
  keyring: Keyring,
  { claim, recorded, isThereAnOldOne }: Writing,
): Promise<void> {
  const { status, contentType, body } = recorded;
  const { ownerId, digest, now } = claim;
  const place = recordSealContext(claim);
  const { sealed, dataKey, keyId } = keyring.seal(body, place);
  // A request may contain a password, which could be guessed from a plain digest in the table.
  const fingerprint = keyring.digest({ sealed, dataKey, keyId }, place, claim.fingerprint);
  if (isThereAnOldOne)
    await runWithCommit(transaction, CompiledQuery.raw(forgetText, [ownerId, digest, oldestStored(now)]));
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

/** The creation time before which records have expired. */
export const oldestStored = (now: Date): Date => new Date(now.getTime() - answerStoredMs);

export const recordSealContext = ({
  ownerId,
  digest,
}: Pick<DigestedClaim, "ownerId" | "digest">): SealContext => ({
  table: "idempotency_record",
  column: "sealed",
  rowId: `${ownerId} ${digest.toString("base64")}`,
});

/** Printable ASCII without `"`, `\`, `,` and `;`, which have a meaning in structured headers. */
const characters = String.raw`[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]{1,255}`;
const keyPattern = new RegExp(`^${characters}$`);

/** A pattern of the header's values: the key, or the key in quotes. */
export const idempotencyHeaderPattern = `^(?:${characters}|"${characters}")$`;

/**
 * Returns the key of a header value; undefined if it is invalid. `"abc"` (a string of a structured field) and
 * `abc` are the same key.
 */
export function parseIdempotencyKey(text: string): string | undefined {
  const isQuoted = text.length >= 2 && text.startsWith('"') && text.endsWith('"');
  const key = isQuoted ? text.slice(1, -1) : text;
  return keyPattern.test(key) ? key : undefined;
}

/** Returns the SHA-256 of the canonical JSON (RFC 8785), which is the same for equal requests. */
export function requestFingerprint(request: Readonly<Record<string, unknown>>): Buffer {
  return createHash("sha256")
    .update(canonicalize(request) ?? "")
    .digest();
}
