/**
 * Idempotency (draft-ietf-httpapi-idempotency-key-header): a changing request that a client sends several
 * times with the same Idempotency-Key takes effect once. One transaction locks the key, runs the request, and
 * stores the answer. Only answers of committed requests are stored, so that a client can send a refused
 * request again with the same key. This file also parses keys and computes the fingerprints of requests.
 */
import type { Clock } from "#foundation/clock.ts";
import { hash } from "node:crypto";
import { CompiledQuery, type QueryResult } from "kysely";
import canonicalize from "canonicalize";
import { LRUCache } from "lru-cache";
import {
  type EncryptionKeyring,
  type EncryptionContext,
  type EncryptedValue,
} from "#foundation/encryption.ts";
import { createFailure } from "#foundation/failure.ts";
import type { Database } from "./connect.ts";
import {
  getViolatedConstraintName,
  isDatabaseUnreachableError,
  getSqlState,
  uniqueViolation,
} from "./database-errors.ts";
import {
  bufferWriteUntilNextStatement,
  buildRowLockSql,
  receiveRowsOfLockedRow,
  type RowLockWithReadQuery,
  type RowToLock,
  runInTransaction,
  type Transaction,
} from "./transaction.ts";

export interface IdempotencyKeyClaim {
  /**
   * Id of the owner of the key: an installation or an internal token. Keys of different owners are
   * independent.
   */
  readonly ownerId: string;
  /** The merchant to which the owner of the key belongs; null for the platform. */
  readonly merchantId: string | null;
  /** The idempotency key, in the form in which `parseIdempotencyKey` returns it. */
  readonly key: string;
  /** SHA-256 of the request, by which the service recognizes that a key is used again for a different request. */
  readonly fingerprint: Uint8Array;
}

/** The stored answer of a request. A replay sends this answer byte for byte. */
export interface StoredIdempotentAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** A request that must take effect only once, even if the client sends it several times. */
export interface IdempotentRequest<Result> {
  readonly claim: IdempotencyKeyClaim;
  /**
   * Converts the result of the request to the answer that is stored under the key. If the result is a
   * failure, this function may throw it instead: the transaction is then rolled back, and no answer is
   * stored.
   */
  readonly record: (result: Result) => StoredIdempotentAnswer;
  /**
   * True if the stored body is only the result of the request as JSON, and not the final answer. The final
   * answer is then built from the stored body, for the first request as well as for its repetitions.
   */
  readonly isAnsweredFromRecord?: boolean;
}

export interface IdempotentRequestResult {
  readonly recorded: StoredIdempotentAnswer;
  /**
   * True if an earlier request with the same key took effect; `recorded` is then the stored answer of that
   * request.
   */
  readonly isReplay: boolean;
}

/**
 * Runs the work in a transaction and stores its answer; returns the stored answer instead if an earlier
 * request with the same key has one. An error of the work rolls back the transaction and is thrown.
 */
export type IdempotentRequestRunner = (
  claim: IdempotencyKeyClaim,
  work: (transaction: Transaction) => Promise<StoredIdempotentAnswer>,
  /** The row that the work locks and reads first; if left out, the work locks its rows itself. */
  lockAndRead?: RowLockWithReadQuery,
) => Promise<IdempotentRequestResult>;

/**
 * Milliseconds for which the answer to a request with an idempotency key is stored. After this time, the key
 * counts as unused.
 */
export const answerRetentionMs = 7 * 86_400_000;

interface IdempotencyServices {
  readonly db: Database;
  readonly keyring: EncryptionKeyring;
  readonly clock: Clock;
}

export function createIdempotentRequestRunner(services: IdempotencyServices): IdempotentRequestRunner {
  // The requests that run now in this process, by idempotency key. PGlite has a single connection: without
  // this set, a duplicate request would wait until the first request ends, instead of being refused at once.
  const running = new Set<string>();
  return async (claim, work, lockAndRead) => {
    const digestedClaim: DigestedClaim = {
      ...claim,
      digest: hash("sha256", claim.key, "buffer"),
      now: services.clock.now(),
    };
    const name = `${claim.ownerId} ${digestedClaim.digest.toString("base64")}`;
    if (running.has(name)) throw createFailure("idempotency_in_progress");
    running.add(name);
    try {
      return await runOnce(services, digestedClaim, { work, lockAndRead });
    } finally {
      running.delete(name);
    }
  };
}

interface DigestedClaim extends IdempotencyKeyClaim {
  readonly digest: Buffer;
  readonly now: Date;
}

interface WorkToRunOnce {
  readonly work: Parameters<IdempotentRequestRunner>[1];
  readonly lockAndRead: RowLockWithReadQuery | undefined;
}

async function runOnce(
  services: IdempotencyServices,
  claim: DigestedClaim,
  { work, lockAndRead }: WorkToRunOnce,
): Promise<IdempotentRequestResult> {
  const { db, keyring } = services;
  let isCommitting = false;
  const runLocked = async (
    transaction: Transaction,
    [locked, ...results]: readonly QueryResult<unknown>[],
  ): Promise<IdempotentRequestResult> => {
    isCommitting = false;
    const [lock] = getRows(locked) as readonly LockRow[];
    if (lock?.isHeld !== true) throw createFailure("idempotency_in_progress");
    const record = getFoundRecord(results[0]);
    if (record?.isKept === true) return { recorded: openRecord(record, keyring, claim), isReplay: true };
    if (lockAndRead !== undefined)
      receiveRowsOfLockedRow(lockAndRead, transaction, { isLocked: lock.hasRow === true, results });
    const recorded = await work(transaction);
    await writeRecord(transaction, keyring, { claim, recorded, hasExpiredRecord: record !== undefined });
    isCommitting = true;
    return { recorded, isReplay: false };
  };
  try {
    return await runInTransaction(db, runLocked, {
      opening: buildOpeningStatements(claim, lockAndRead),
      merchantId: claim.merchantId ?? lockAndRead?.row.merchantId ?? null,
    });
  } catch (error) {
    const isUnknown = isCommitting && isDatabaseUnreachableError(error);
    if (!isUnknown && !isRecordedByOther(error)) throw error;
    const recorded = await findRecord(db, keyring, claim);
    if (recorded !== undefined) return { recorded, isReplay: !isUnknown };
    // No record of the request was found, but the database may still commit one, for example if the
    // connection broke during the commit. The client is therefore asked to retry: a retry with the same key
    // gets the stored answer, or runs the request if nothing was committed.
    throw createFailure("service_unavailable", { cause: error, retryAfterSeconds: 2 });
  }
}

/**
 * Builds the statements that are sent together with BEGIN. Locking the idempotency key and reading its record
 * need two statements. A single statement would read the record as it was before the key was locked.
 */
function buildOpeningStatements(
  claim: DigestedClaim,
  lockAndRead: RowLockWithReadQuery | undefined,
): readonly CompiledQuery[] {
  const [lock, find] = [buildLockStatement(claim, lockAndRead?.row), buildFindStatement(claim)];
  if (lockAndRead === undefined) return [lock, find];
  const [firstRead, ...reads] = lockAndRead.reads;
  return [lock, combineFindAndReadStatement(find, firstRead), ...reads];
}

const getRows = (result: QueryResult<unknown> | undefined): readonly unknown[] => result?.rows ?? [];

/**
 * Returns whether the error shows that another process has just stored a record with the same idempotency
 * key.
 */
const isRecordedByOther = (error: unknown): boolean =>
  getSqlState(error) === uniqueViolation && getViolatedConstraintName(error) === "idempotency_record_pkey";

interface LockRow {
  readonly isHeld: boolean;
  /** True if the row to lock was found and locked; undefined if the statement has no row to lock. */
  readonly hasRow?: boolean;
}

/**
 * Builds the statement that tries to lock the key, and then locks the row that the request changes. The
 * statement never waits for the lock of the key, because waiting duplicates could occupy all connections. It
 * locks the row only if it has locked the key, because a duplicate would otherwise wait for the row.
 */
function buildLockStatement({ ownerId, digest }: DigestedClaim, row: RowToLock | undefined): CompiledQuery {
  const owned = Buffer.concat([Buffer.from(`${ownerId}\n`), digest]);
  const lock = String(hash("sha256", owned, "buffer").readBigInt64BE());
  if (row === undefined)
    return CompiledQuery.raw(`select pg_try_advisory_xact_lock($1::bigint) as "isHeld"`, [lock]);
  const text = `with key as materialized (select pg_try_advisory_xact_lock($3::bigint) as is_held)
    select key.is_held as "isHeld", locked.id is not null as "hasRow"
    from key left join lateral (${buildRowLockSql(row, "key.is_held")}) locked on true`;
  return CompiledQuery.raw(text, [row.id, row.merchantId, lock]);
}

interface FoundRecord extends EncryptedValue {
  readonly fingerprint: Buffer;
  readonly status: number;
  readonly contentType: string;
  /** False if the idempotency record has expired, so that its key counts as unused. */
  readonly isKept: boolean;
}

const findText = `select fingerprint, status, content_type as "contentType", sealed, data_key as "dataKey",
  key_id as "keyId", created_at > $3 as "isKept"
  from idempotency_record where owner_id = $1 and idempotency_key = $2`;

const buildFindStatement = ({ ownerId, digest, now }: DigestedClaim): CompiledQuery<FoundRecord> =>
  CompiledQuery.raw(findText, [ownerId, digest, getIdempotencyRecordExpiryCutoff(now)]);

/** The columns of the record if `combineFindAndReadStatement` found none. */
interface NoRecord {
  readonly fingerprint: null;
}

function getFoundRecord(found: QueryResult<unknown> | undefined): FoundRecord | undefined {
  const [row] = getRows(found) as readonly (FoundRecord | NoRecord)[];
  return row === undefined || row.fingerprint === null ? undefined : row;
}

/** Maximum number of cached combined texts. The number of reads with different texts is far lower. */
const textsMax = 100;
const findAndReadTexts = new LRUCache<string, string>({ max: textsMax });

/**
 * Combines the statement that finds the record with `read`, which returns at most one row, because one
 * statement costs PostgreSQL and the driver less time than two. The combined statement returns one row with
 * the columns of both; the columns of a statement that found no row are null. The columns of the record come
 * last, so that no column of `read` with the same name can replace them.
 */
function combineFindAndReadStatement(find: CompiledQuery, read: CompiledQuery): CompiledQuery {
  let text = findAndReadTexts.get(read.sql);
  if (text === undefined) {
    const shift = find.parameters.length;
    const readText = read.sql.replaceAll(/\$(\d+)/g, (_, number: string) => `$${Number(number) + shift}`);
    text = `select read.*, found.* from (select 1) one left join (${find.sql}) found on true
      left join (${readText}) read on true`;
    findAndReadTexts.set(read.sql, text);
  }
  return CompiledQuery.raw(text, [...find.parameters, ...read.parameters]);
}

async function findRecord(
  db: Database,
  keyring: EncryptionKeyring,
  claim: DigestedClaim,
): Promise<StoredIdempotentAnswer | undefined> {
  const { rows } = await db.executeQuery(buildFindStatement(claim));
  const [row] = rows;
  return row?.isKept === true ? openRecord(row, keyring, claim) : undefined;
}

function openRecord(
  row: FoundRecord,
  keyring: EncryptionKeyring,
  claim: DigestedClaim,
): StoredIdempotentAnswer {
  const fingerprint = keyring.digest(row, getIdempotencyRecordEncryptionContext(claim), claim.fingerprint);
  if (!fingerprint.equals(row.fingerprint)) throw createFailure("idempotency_key_reused");
  return {
    status: row.status,
    contentType: row.contentType,
    body: keyring.open(row, getIdempotencyRecordEncryptionContext(claim)).toString(),
  };
}

interface RecordWrite {
  readonly claim: DigestedClaim;
  readonly recorded: StoredIdempotentAnswer;
  readonly hasExpiredRecord: boolean;
}

async function writeRecord(
  transaction: Transaction,
  keyring: EncryptionKeyring,
  { claim, recorded, hasExpiredRecord }: RecordWrite,
): Promise<void> {
  const { status, contentType, body } = recorded;
  const { ownerId, digest, now } = claim;
  const context = getIdempotencyRecordEncryptionContext(claim);
  // The fingerprint of a request is computed with a secret key (HMAC). From a plain digest, a password in the
  // request could be guessed.
  const { encrypted, digest: fingerprint } = keyring.sealWithDigest(body, context, claim.fingerprint);
  const { sealed, dataKey, keyId } = encrypted;
  const tables = ["idempotencyRecord"] as const;
  if (hasExpiredRecord)
    await bufferWriteUntilNextStatement(transaction, {
      query: CompiledQuery.raw(deleteText, [ownerId, digest, getIdempotencyRecordExpiryCutoff(now)]),
      tables,
    });
  const row = [ownerId, digest, fingerprint, status, contentType, sealed, dataKey, keyId, now];
  await bufferWriteUntilNextStatement(transaction, { query: CompiledQuery.raw(writeText, row), tables });
}

const deleteText =
  "delete from idempotency_record where owner_id = $1 and idempotency_key = $2 and created_at <= $3";
const writeText = `insert into idempotency_record (owner_id, idempotency_key, fingerprint, status,
  content_type, sealed, data_key, key_id, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

/**
 * Returns the latest creation time of an expired idempotency record: all records that were created at this
 * time or earlier have expired.
 */
export const getIdempotencyRecordExpiryCutoff = (now: Date): Date =>
  new Date(now.getTime() - answerRetentionMs);

export const getIdempotencyRecordEncryptionContext = ({
  ownerId,
  digest,
}: Pick<DigestedClaim, "ownerId" | "digest">): EncryptionContext => ({
  table: "idempotency_record",
  column: "sealed",
  rowId: `${ownerId} ${digest.toString("base64")}`,
});

/**
 * The characters that an idempotency key may have: printable ASCII without `"`, `\`, `,` and `;`, which have
 * a meaning in structured header fields (RFC 9651).
 */
const characters = String.raw`[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]{1,255}`;
const keyPattern = new RegExp(`^${characters}$`);

/** Pattern of the value of the Idempotency-Key header: the key, or the key in double quotes. */
export const idempotencyHeaderPattern = `^(?:${characters}|"${characters}")$`;

/**
 * Parses an Idempotency-Key header; returns undefined if the header is invalid. `"abc"` (a string of a
 * structured field) and `abc` are the same key.
 */
export function parseIdempotencyKey(text: string): string | undefined {
  const isQuoted = text.length >= 2 && text.startsWith('"') && text.endsWith('"');
  const key = isQuoted ? text.slice(1, -1) : text;
  return keyPattern.test(key) ? key : undefined;
}

/** Returns the SHA-256 of the request as canonical JSON (RFC 8785). Equal requests have the same SHA-256. */
export function createRequestFingerprint(request: Readonly<Record<string, unknown>>): Buffer {
  return hash("sha256", canonicalize(request) ?? "", "buffer");
}
