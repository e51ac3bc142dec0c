/**
 * API keys: `cpk_{live|test}_{id}_{secret}{checksum}`. Verifying one costs one statement and says nothing about a key to who does not hold the
 * whole of it: an unknown id, a wrong secret and a wrong checksum are the same failure.
 */
import { type Failure, fail } from "#foundation/failure.ts";
import type { Database } from "#database/connect.ts";
import type { Reader } from "#database/transaction.ts";
import { sql } from "kysely";
import { digestOf, matchesDigest, noteUse, parseSecret } from "#access/secrets.ts";
import { type ApiKeyViewer, type CredentialOwner, isScope } from "#access/viewer.ts";

/** What the database says of a key and of what it belongs to. */
export interface KeyRow {
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
  checkApiKey(value, now, ({ keyId }) => findKey(reader, keyId, value));

export interface PresentedKey {
  readonly keyId: string;
  /** Of the whole key: a name for it that gives nothing away. */
  readonly digest: string;
}

/** `find` gives the row of the key that is presented, and nothing for another key with the same id. */
export async function checkApiKey(value: string, now: Date, find: (presented: PresentedKey) => Promise<KeyRow | undefined>): Promise<ApiKeyViewer> {
  const parsed = parseSecret("cpk", value);
  if (parsed === undefined) throw fail("api_key_invalid");
  const row = await find({ keyId: parsed.id, digest: digestOf(value).toString("base64") });
  if (row === undefined) throw fail("api_key_invalid");
  // Whenever that was: the clock of the process that revoked it may be ahead of this one's.
  if (row.revokedAt !== null || row.installationStatus === "uninstalled") throw refused("api_key_revoked", row);
  if (row.expiresAt !== null && row.expiresAt <= now) throw refused("api_key_expired", row);
  const viewer = viewers.get(row) ?? toViewer(row);
  viewers.set(row, viewer);
  return viewer;
}

const owners = new WeakMap<object, CredentialOwner>();

function refused(code: "api_key_revoked" | "api_key_expired", { id: credentialId, merchantId, installationId }: KeyRow): Failure {
  const failure = fail(code);
  owners.set(failure, { credentialId, merchantId, installationId });
  return failure;
}

/** Whose key was refused by this, where it is somebody's. */
export const ownerOfRefused = (error: unknown): CredentialOwner | undefined =>
  typeof error === "object" && error !== null ? owners.get(error) : undefined;

/** For as long as a row is kept. */
const viewers = new WeakMap<KeyRow, ApiKeyViewer>();

function toViewer(row: KeyRow): ApiKeyViewer {
  return {
    kind: "api_key",
    apiKeyId: row.id,
    keyPrefix: `cpk_${row.mode}_${row.keyId}`,
    installationId: row.installationId,
    appId: row.appId,
    merchantId: row.merchantId,
    scopes: new Set(row.scopes.filter(isScope).filter((scope) => row.installationScopes.includes(scope))),
    suspended: suspensionOf(row),
  };
}

export function suspensionOf(row: Pick<KeyRow, "merchantStatus" | "installationStatus">): ApiKeyViewer["suspended"] {
  if (row.merchantStatus === "suspended") return "merchant_suspended";
  return row.installationStatus === "suspended" ? "installation_suspended" : null;
}

/** Only with the whole key at hand, which is compared in the same time whether the id is known or not. */
export async function findKey(reader: Reader, keyId: string, value: string): Promise<KeyRow | undefined> {
  const row = await reader
    .selectFrom("apiKey")
    .innerJoin("installation", "installation.id", "apiKey.installationId")
    .innerJoin("merchant", "merchant.id", "apiKey.merchantId")
    .select(["apiKey.id", "apiKey.keyId", "apiKey.mode", "apiKey.digest", "apiKey.scopes", "apiKey.installationId", "apiKey.merchantId"])
    .select(["apiKey.expiresAt", "apiKey.revokedAt", "installation.appId", "installation.scopes as installationScopes"])
    .select(["installation.status as installationStatus", "merchant.status as merchantStatus"])
    .where("apiKey.keyId", "=", keyId)
    .executeTakeFirst();
  return matchesDigest(value, row?.digest) ? row : undefined;
}

/** At most one write per key and minute; the request does not wait for it. */
export function recordUse(db: Database, apiKeyId: string, now: Date): Promise<void> {
  const minuteAgo = new Date(now.getTime() - 60_000);
  return noteUse(db, { credentialId: apiKeyId, now }, () =>
    sql`update api_key set last_used_at = ${now} where id = ${apiKeyId} and (last_used_at is null or last_used_at <= ${minuteAgo})`.execute(db),
  );
}
