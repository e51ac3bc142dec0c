/**
 * Verifying secrets that clients hold: their form, digest and last use, and the verification of API keys,
 * `cpk_{live|test}_{id}_{secret}{checksum}`. Verification costs one statement. An unknown id, a wrong secret
 * and a wrong checksum are the same failure, so that callers cannot probe.
 */
import { hash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";
import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import { fail, type Failure } from "#foundation/failure.ts";
import type { Database } from "#database/connect.ts";
import type { Reader } from "#database/transaction.ts";
import { type ApiKeyViewer, type CredentialOwner, isScope } from "#access/viewer.ts";

/** What the database says of a key and of what it belongs to. */
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

export const verifyApiKey = (reader: Reader, value: string, now: Date): Promise<ApiKeyViewer> =>
  checkApiKey(value, now, ({ keyId }) => findApiKeyState(reader, keyId, value));

export interface PresentedApiKey {
  readonly keyId: string;
  /** Of the whole key: a name for it that gives nothing away. */
  readonly digest: string;
}

/** `find` gives the row of the key that is presented, and nothing for another key with the same id. */
export async function checkApiKey(
  value: string,
  now: Date,
  find: (presented: PresentedApiKey) => Promise<ApiKeyState | undefined>,
): Promise<ApiKeyViewer> {
  const parsed = parseSecret("cpk", value);
  if (parsed === undefined) throw fail("api_key_invalid");
  const row = await find({ keyId: parsed.id, digest: sha256Digest(value).toString("base64") });
  if (row === undefined) throw fail("api_key_invalid");
  // Whenever that was: the clock of the process that revoked it may be ahead of this one's.
  if (row.revokedAt !== null || row.installationStatus === "uninstalled")
    throw refused("api_key_revoked", row);
  if (row.expiresAt !== null && row.expiresAt <= now) throw refused("api_key_expired", row);
  const viewer = viewers.get(row) ?? toViewer(row);
  viewers.set(row, viewer);
  return viewer;
}

const owners = new WeakMap<object, CredentialOwner>();

function refused(
  code: "api_key_revoked" | "api_key_expired",
  { id: credentialId, merchantId, installationId }: ApiKeyState,
): Failure {
  const failure = fail(code);
  owners.set(failure, { credentialId, merchantId, installationId });
  return failure;
}

/** Whose key was refused by this, where it is somebody's. */
export const ownerOfRefusedApiKey = (error: unknown): CredentialOwner | undefined =>
  typeof error === "object" && error !== null ? owners.get(error) : undefined;

/** For as long as a row is kept. */
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
    suspended: credentialSuspension(row),
  };
}

export function credentialSuspension(
  row: Pick<ApiKeyState, "merchantStatus" | "installationStatus">,
): ApiKeyViewer["suspended"] {
  if (row.merchantStatus === "suspended") return "merchant_suspended";
  return row.installationStatus === "suspended" ? "installation_suspended" : null;
}

/** Only with the whole key at hand, which is compared in the same time whether the id is known or not. */
export async function findApiKeyState(
  reader: Reader,
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

/** At most one write per key and minute; the request does not wait for it. */
export function recordApiKeyUse(db: Database, apiKeyId: string, now: Date): Promise<void> {
  const minuteAgo = new Date(now.getTime() - 60_000);
  return recordUseOncePerMinute(db, { credentialId: apiKeyId, now }, () =>
    sql`update api_key set last_used_at = ${now} where id = ${apiKeyId} and (last_used_at is null or last_used_at <= ${minuteAgo})`.execute(
      db,
    ),
  );
}

/**
 * Secrets that clients hold: `{kind}_{label}_{id: 12 base62}_{secret: 43 base62, 256 bits}{CRC-32: 6
 * base62}`. The checksum settles typos and secret scanners' finds without a database; at rest there is only
 * the SHA-256 of the whole.
 */
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const idLength = 12;
const secretLength = 43;
const checksumLength = 6;

type SecretKind = "cpk" | "cit";

interface MintedSecret {
  readonly id: string;
  /** Shown once, kept nowhere. */
  readonly value: string;
  /** Everything before the secret: fit to be shown and logged. */
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

const form = new RegExp(
  `^(cpk|cit)_([a-z]+)_([0-9A-Za-z]{${idLength}})_[0-9A-Za-z]{${secretLength + checksumLength}}$`,
);

/** The id inside a well-formed secret of that kind with the right checksum; undefined for anything else. */
export function parseSecret(
  kind: SecretKind,
  text: string,
): { readonly id: string; readonly label: string } | undefined {
  const [, foundKind, label, id] = form.exec(text) ?? [];
  if (foundKind !== kind || id === undefined || label === undefined) return undefined;
  return checksumOf(text.slice(0, -checksumLength)) === text.slice(-checksumLength)
    ? { id, label }
    : undefined;
}

export function sha256Digest(value: string): Buffer {
  return hash("sha256", value, "buffer");
}

const nobody = sha256Digest("nobody");

/** Takes as long for an unknown id (no stored digest) as for a wrong secret. */
export function matchesDigest(value: string, stored: Uint8Array | undefined): boolean {
  const isEqual = timingSafeEqual(sha256Digest(value), stored ?? nobody);
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
 * When a credential was last used, noted once a minute at most: a request does not wait for it, and most cost
 * no statement at all.
 */
const noteEveryMs = 60_000;
const credentialsMax = 10_000;

const noted = new WeakMap<Database, LRUCache<string, number>>();

interface Use {
  readonly credentialId: string;
  readonly now: Date;
}

export function isUseRecorded(db: Database, { credentialId, now }: Use): boolean {
  const at = noted.get(db)?.get(credentialId);
  return at !== undefined && Math.abs(now.getTime() - at) < noteEveryMs;
}

/** `write` holds to the same minute by itself: other processes note as well. */
export async function recordUseOncePerMinute(
  db: Database,
  use: Use,
  write: () => Promise<unknown>,
): Promise<void> {
  if (isUseRecorded(db, use)) return;
  const { credentialId, now } = use;
  const times = noted.get(db) ?? new LRUCache<string, number>({ max: credentialsMax });
  noted.set(db, times);
  times.set(credentialId, now.getTime());
  try {
    await write();
  } catch (error) {
    times.delete(credentialId);
    throw error;
  }
}
