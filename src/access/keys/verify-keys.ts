/**
 * Verification of the secrets that clients hold: their format, digest and last use, and the verification of
 * API keys, `cpk_{live|test}_{id}_{secret}{checksum}`. Verifying a key takes at most one SQL statement. An
 * unknown id, a wrong secret and a wrong checksum return the same failure, so callers cannot probe.
 */
import { hash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";
import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import { fail, type Failure } from "#foundation/failure.ts";
import type { Database } from "#database/connect.ts";
import type { DatabaseReader } from "#database/transaction.ts";
import { type ApiKeyViewer, type CredentialOwner, isScope } from "#access/viewer.ts";

/** Database state of an API key, its installation and its merchant. */
export interface ApiKeyState {
  readonly id: string;
  readonly keyId: string;
  readonly mode: string;
  readonly digest: Uint8Array;
  readonly scopes: string[];
  readonly installationScopes: string[];
  readonly installationId: string;
  readonly appId: string;
  readonly merchantId: string;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly installationStatus: string;
  readonly merchantStatus: string;
}

export const verifyApiKey = (reader: DatabaseReader, value: string, now: Date): Promise<ApiKeyViewer> =>
  checkApiKey(value, now, ({ keyId }) => findApiKeyState(reader, keyId, value));

export interface PresentedApiKey {
  readonly keyId: string;
  /**
   * SHA-256 of the whole API key in base64. It is the cache key of the API key, so that the cache contains no
   * secrets.
   */
  readonly digest: string;
}

/**
 * Verifies an API key. `find` must return the state of exactly this key, and undefined for another key with
 * the same id.
 */
export async function checkApiKey(
  value: string,
  now: Date,
  find: (presented: PresentedApiKey) => Promise<ApiKeyState | undefined>,
): Promise<ApiKeyViewer> {
  const parsed = parseSecret("cpk", value);
  if (parsed === undefined) throw fail("api_key_invalid");
  const row = await find({ keyId: parsed.id, digest: sha256Digest(value).toString("base64") });
  if (row === undefined) throw fail("api_key_invalid");
  // A revocation takes effect at once, even if its time is later than `now`: the clock of the process that
  // revoked the key may be ahead.
  if (row.revokedAt !== null || row.installationStatus === "uninstalled")
    throw refused("api_key_revoked", row);
  if (row.expiresAt !== null && row.expiresAt <= now) throw refused("api_key_expired", row);
  const viewer = viewers.get(row) ?? toViewer(row);
  viewers.set(row, viewer);
  return viewer;
}

const ownersOfFailures = new WeakMap<object, CredentialOwner>();

function refused(
  code: "api_key_revoked" | "api_key_expired",
  { id: credentialId, merchantId, installationId }: ApiKeyState,
): Failure {
  const failure = fail(code);
  ownersOfFailures.set(failure, { credentialId, merchantId, installationId });
  return failure;
}

/**
 * Returns the owner of an expired or revoked key from the failure of its verification; undefined for every
 * other error.
 */
export const findOwnerOfRefusedApiKey = (error: unknown): CredentialOwner | undefined =>
  typeof error === "object" && error !== null ? ownersOfFailures.get(error) : undefined;

/** The viewers that were built from cached rows, so that each row's viewer is built only once. */
const viewers = new WeakMap<ApiKeyState, ApiKeyViewer>();

function toViewer(row: ApiKeyState): ApiKeyViewer {
  return {
    kind: "api_key",
    apiKeyId: row.id,
    keyPrefix: `cpk_${row.mode}_${row.keyId}`,
    installationId: row.installationId,
    appId: row.appId,
    merchantId: row.merchantId,
    scopes: new Set(row.scopes.filter(isScope).filter((scope) => row.installationScopes.includes(scope))),
    suspended: getCredentialSuspension(row),
  };
}

export function getCredentialSuspension(
  row: Pick<ApiKeyState, "merchantStatus" | "installationStatus">,
): ApiKeyViewer["suspended"] {
  if (row.merchantStatus === "suspended") return "merchant_suspended";
  return row.installationStatus === "suspended" ? "installation_suspended" : null;
}

/**
 * Reads the state of an API key if the whole key matches its stored digest. The comparison takes the same
 * time whether or not the id exists.
 */
export async function findApiKeyState(
  reader: DatabaseReader,
  keyId: string,
  value: string,
): Promise<ApiKeyState | undefined> {
  const row = await reader
    .selectFrom("apiKey")
    .innerJoin("installation", "installation.id", "apiKey.installationId")
    .innerJoin("merchant", "merchant.id", "apiKey.merchantId")
    .select([
      "apiKey.id",
      "apiKey.keyId",
      "apiKey.mode",
      "apiKey.digest",
      "apiKey.scopes",
      "apiKey.installationId",
      "apiKey.merchantId",
    ])
    .select([
      "apiKey.expiresAt",
      "apiKey.revokedAt",
      "installation.appId",
      "installation.scopes as installationScopes",
    ])
    .select(["installation.status as installationStatus", "merchant.status as merchantStatus"])
    .where("apiKey.keyId", "=", keyId)
    .executeTakeFirst();
  return matchesDigest(value, row?.digest) ? row : undefined;
}

/**
 * Records the last use of the key, with at most one write per key and minute. Requests do not wait for the
 * write.
 */
export function recordApiKeyUse(db: Database, apiKeyId: string, now: Date): Promise<void> {
  const minuteAgo = new Date(now.getTime() - 60_000);
  return recordUseOncePerMinute(db, { credentialId: apiKeyId, now }, () =>
    sql`update api_key set last_used_at = ${now} where id = ${apiKeyId} and (last_used_at is null
      or last_used_at <= ${minuteAgo})`.execute(db),
  );
}

/**
 * Format of the secrets: `{kind}_{label}_{id: 12 base62}_{secret: 43 base62, 256 bits}{CRC-32: 6 base62}`.
 * The checksum rejects typing errors, and lets secret scanners recognize real secrets, without a database.
 * The database stores only the SHA-256 of the whole secret.
 */
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const idLength = 12;
const secretLength = 43;
const checksumLength = 6;

type SecretKind = "cpk" | "cit";

interface MintedSecret {
  readonly id: string;
  /** The whole credential in plain text; returned to the caller once and never stored. */
  readonly value: string;
  /** The part of the credential before its secret; may be displayed and logged. */
  readonly prefix: string;
  readonly digest: Buffer;
  readonly lastFour: string;
}

export function mintSecret(kind: SecretKind, label: string): MintedSecret {
  const id = Array.from({ length: idLength }, () => base62.charAt(randomInt(62))).join("");
  const prefix = `${kind}_${label}_${id}`;
  const secret = toBase62(BigInt(`0x${randomBytes(32).toString("hex")}`), secretLength);
  const unchecked = `${prefix}_${secret}`;
  const value = unchecked + checksumOf(unchecked);
  return { id, value, prefix, digest: sha256Digest(value), lastFour: value.slice(-4) };
}

const secretFormat = new RegExp(
  `^(cpk|cit)_([a-z]+)_([0-9A-Za-z]{${idLength}})_[0-9A-Za-z]{${secretLength + checksumLength}}$`,
);

/**
 * Returns the id and the label of a well-formed secret of this kind with the right checksum; undefined for
 * any other text.
 */
export function parseSecret(
  kind: SecretKind,
  text: string,
): { readonly id: string; readonly label: string } | undefined {
  const [, foundKind, label, id] = secretFormat.exec(text) ?? [];
  if (foundKind !== kind || id === undefined || label === undefined) return undefined;
  return checksumOf(text.slice(0, -checksumLength)) === text.slice(-checksumLength)
    ? { id, label }
    : undefined;
}

export function sha256Digest(value: string): Buffer {
  return hash("sha256", value, "buffer");
}

const digestOfNoSecret = sha256Digest("digestOfNoSecret");

/** Compares a secret with a stored digest. The comparison takes the same time without a stored digest. */
export function matchesDigest(value: string, stored: Uint8Array | undefined): boolean {
  const isEqual = timingSafeEqual(sha256Digest(value), stored ?? digestOfNoSecret);
  return isEqual && stored !== undefined;
}

function checksumOf(text: string): string {
  let checksum = "";
  for (let rest = crc32(text), digits = 0; digits < checksumLength; digits += 1) {
    checksum = base62.charAt(rest % 62) + checksum;
    rest = Math.floor(rest / 62);
  }
  return checksum;
}

function toBase62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; rest > 0n; rest /= 62n) text = base62.charAt(Number(rest % 62n)) + text;
  return text.padStart(length, "0");
}

/**
 * The last use of a credential is recorded at most once per minute and process. A request does not wait for
 * the write, and most requests cause no write.
 */
const recordEveryMs = 60_000;
const credentialsMax = 10_000;

const lastRecorded = new WeakMap<Database, LRUCache<string, number>>();

interface Use {
  readonly credentialId: string;
  readonly now: Date;
}

export function wasUseRecordedRecently(db: Database, { credentialId, now }: Use): boolean {
  const at = lastRecorded.get(db)?.get(credentialId);
  return at !== undefined && Math.abs(now.getTime() - at) < recordEveryMs;
}

/**
 * Calls `write` if this process has not recorded a use of the credential within the last minute. `write` must
 * itself skip a use within one minute of the stored one, because other processes record uses too.
 */
export async function recordUseOncePerMinute(
  db: Database,
  use: Use,
  write: () => Promise<unknown>,
): Promise<void> {
  if (wasUseRecordedRecently(db, use)) return;
  const { credentialId, now } = use;
  const times = lastRecorded.get(db) ?? new LRUCache<string, number>({ max: credentialsMax });
  lastRecorded.set(db, times);
  times.set(credentialId, now.getTime());
  try {
    await write();
  } catch (error) {
    times.delete(credentialId);
    throw error;
  }
}
