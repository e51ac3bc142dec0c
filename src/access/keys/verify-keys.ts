/**
 * Verifies API keys (`cpk_{live|test}_{id}_{secret}{checksum}`) with at most one SQL statement for each key,
 * and records when a key was last used. This file also defines the text format and the digest of API keys and
 * internal tokens. An unknown id and a wrong secret return the same failure, so that callers cannot probe for
 * keys. Only a wrong form or checksum is described in detail, because everybody can check these without the
 * service.
 */
import { hash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";
import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import { createFailure, type Failure } from "#foundation/failure.ts";
import type { Database } from "#database/connect.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { type ApiKeyViewer, type CredentialAndOwnerIds, isPermissionScope } from "#access/viewer.ts";
import { describeMalformedCredentialSecret } from "./describe-secret.ts";

/** The state of an API key, its installation and its merchant, as stored in the database. */
export interface ApiKeyVerificationData {
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

export const verifyApiKey = (
  reader: DatabaseOrTransaction,
  value: string,
  now: Date,
): Promise<ApiKeyViewer> =>
  authenticateApiKey(value, now, ({ keyId }) => findApiKeyVerificationData(reader, keyId, value));

export interface ApiKeySentByCaller {
  readonly keyId: string;
  /** SHA-256 of the whole API key in base64. The cache uses it as the key, so that no secrets are cached. */
  readonly digest: string;
}

/**
 * Verifies an API key that a caller sent. `find` must return the stored state of exactly this key; if another
 * key has the same id, `find` must return undefined.
 */
export async function authenticateApiKey(
  value: string,
  now: Date,
  find: (presented: ApiKeySentByCaller) => Promise<ApiKeyVerificationData | undefined>,
): Promise<ApiKeyViewer> {
  const parsed = parseCredentialSecret("cpk", value);
  if (parsed === undefined) throw createMalformedCredentialSecretFailure("cpk", value);
  const row = await find({ keyId: parsed.id, digest: sha256Base64(value) });
  if (row === undefined) throw createFailure("api_key_invalid", { message: unknownKeyMessage });
  // The time of the revocation is not compared with `now`, because the clock of the process that revoked the
  // key may be ahead. A revoked key is always refused.
  if (row.revokedAt !== null || row.installationStatus === "uninstalled")
    throw refused("api_key_revoked", row);
  if (row.expiresAt !== null && row.expiresAt <= now) throw refused("api_key_expired", row);
  const viewer = viewers.get(row) ?? toViewer(row);
  viewers.set(row, viewer);
  return viewer;
}

const unknownKeyMessage =
  "This service has no such API key. Compare the key with the one that was shown when it was created, and " +
  "check that the request goes to the service that created the key.";

const ownersOfFailures = new WeakMap<object, CredentialAndOwnerIds>();

function refused(
  code: "api_key_revoked" | "api_key_expired",
  { id: credentialId, merchantId, installationId }: ApiKeyVerificationData,
): Failure {
  const failure = createFailure(code);
  ownersOfFailures.set(failure, { credentialId, merchantId, installationId });
  return failure;
}

/**
 * Returns the owner of the API key that was refused with this error, if the key is expired or revoked.
 * Returns undefined for other errors.
 */
export const findOwnerOfRefusedApiKey = (error: unknown): CredentialAndOwnerIds | undefined =>
  typeof error === "object" && error !== null ? ownersOfFailures.get(error) : undefined;

/**
 * Cache of the viewers (identity and permissions) of API keys. The cache key is the cached database row of
 * the API key, so each viewer is built once per cached row.
 */
const viewers = new WeakMap<ApiKeyVerificationData, ApiKeyViewer>();

function toViewer(row: ApiKeyVerificationData): ApiKeyViewer {
  return {
    kind: "api_key",
    apiKeyId: row.id,
    keyPrefix: `cpk_${row.mode}_${row.keyId}`,
    installationId: row.installationId,
    appId: row.appId,
    merchantId: row.merchantId,
    scopes: new Set(
      row.scopes.filter(isPermissionScope).filter((scope) => row.installationScopes.includes(scope)),
    ),
    suspended: getApiKeySuspensionCause(row),
  };
}

export function getApiKeySuspensionCause(
  row: Pick<ApiKeyVerificationData, "merchantStatus" | "installationStatus">,
): ApiKeyViewer["suspended"] {
  if (row.merchantStatus === "suspended") return "merchant_suspended";
  return row.installationStatus === "suspended" ? "installation_suspended" : null;
}

/**
 * Reads the state of an API key; undefined if the id is unknown or the key does not match the stored digest.
 * The comparison takes the same time in both cases.
 */
export async function findApiKeyVerificationData(
  reader: DatabaseOrTransaction,
  keyId: string,
  value: string,
): Promise<ApiKeyVerificationData | undefined> {
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
  return matchesSecretDigest(value, row?.digest) ? row : undefined;
}

/**
 * Records the last use of the key, with at most one write per key and minute. Requests do not wait for the
 * write.
 */
export function recordApiKeyUse(db: Database, apiKeyId: string, now: Date): Promise<void> {
  const minuteAgo = new Date(now.getTime() - 60_000);
  return recordCredentialUseOncePerMinute(db, { credentialId: apiKeyId, now }, () =>
    sql`update api_key set last_used_at = ${now} where id = ${apiKeyId} and (last_used_at is null
      or last_used_at <= ${minuteAgo})`.execute(db),
  );
}

/**
 * The format of secrets: `{kind}_{label}_{id: 12 base62}_{secret: 43 base62, 256 bits}{CRC-32: 6 base62}`.
 * With the checksum, typing errors are refused without reading the database, and secret scanners recognize
 * real secrets. The database stores only the SHA-256 of the whole secret.
 */
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const idLength = 12;
const secretLength = 43;
const checksumLength = 6;

type SecretKind = "cpk" | "cit";

interface GeneratedSecret {
  readonly id: string;
  /** The whole credential in plain text. It is returned to the caller once, and never stored. */
  readonly value: string;
  /** The part of the credential before its secret, which may be displayed and logged. */
  readonly prefix: string;
  readonly digest: Buffer;
  readonly lastFour: string;
}

export function generateCredentialSecret(kind: SecretKind, label: string): GeneratedSecret {
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
 * Returns the id and the label of a secret of the given kind; undefined if the text does not have the format
 * or its checksum is wrong.
 */
export function parseCredentialSecret(
  kind: SecretKind,
  text: string,
): { readonly id: string; readonly label: string } | undefined {
  const [, foundKind, label, id] = secretFormat.exec(text) ?? [];
  if (foundKind !== kind || id === undefined || label === undefined) return undefined;
  return checksumOf(text.slice(0, -checksumLength)) === text.slice(-checksumLength)
    ? { id, label }
    : undefined;
}

/** Returns the failure for an API key or internal token that `parseCredentialSecret` could not parse. */
export const createMalformedCredentialSecretFailure = (kind: SecretKind, value: string): Failure =>
  createFailure("api_key_invalid", {
    message: describeMalformedCredentialSecret({
      kind,
      value,
      hasForm: secretFormat.exec(value)?.[1] === kind,
    }),
  });

export function sha256Digest(value: string): Buffer {
  return hash("sha256", value, "buffer");
}

/**
 * Returns the SHA-256 digest of a text in base64. Needs a third of the time of
 * `sha256Digest(value).toString("base64")`.
 */
export const sha256Base64 = (value: string): string => hash("sha256", value, "base64");

const digestOfNoSecret = sha256Digest("digestOfNoSecret");

/**
 * Returns whether a secret matches a stored digest. The comparison takes the same time if there is no stored
 * digest.
 */
export function matchesSecretDigest(value: string, stored: Uint8Array | undefined): boolean {
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
 * Milliseconds between two records of the use of a credential. A process writes the last use of a credential
 * at most once in this time, so most requests cause no write. No request waits for the write.
 */
const recordEveryMs = 60_000;
const credentialsMax = 10_000;

const lastRecorded = new WeakMap<Database, LRUCache<string, number>>();

interface Use {
  readonly credentialId: string;
  readonly now: Date;
}

export function wasCredentialUseRecordedRecently(db: Database, { credentialId, now }: Use): boolean {
  const at = lastRecorded.get(db)?.get(credentialId);
  return at !== undefined && Math.abs(now.getTime() - at) < recordEveryMs;
}

/**
 * Calls `write`, which stores the time of a credential's last use, if this process has not stored a use of
 * the credential within the last minute. Other processes store uses too, so `write` must not replace a stored
 * time that is less than a minute old.
 */
export async function recordCredentialUseOncePerMinute(
  db: Database,
  use: Use,
  write: () => Promise<unknown>,
): Promise<void> {
  if (wasCredentialUseRecordedRecently(db, use)) return;
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
