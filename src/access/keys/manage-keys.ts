/** Creates, rotates and revokes API keys. */
import { createFailure } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import type { Transaction } from "#database/transaction.ts";
import { type InstallationOrApiKeyEvent, invalidateCachedCredentials } from "#access/credential-changes.ts";
import { expiryNoticeCountAfterRotationSql } from "./expiry-notices.ts";
import { generateCredentialSecret } from "./verify-keys.ts";
import type { PermissionScope } from "#access/viewer.ts";

export interface NewApiKey {
  readonly installationId: string;
  readonly name: string;
  readonly scopes: readonly PermissionScope[];
  readonly expiresAt: Date | null;
}

export interface AccessManagementCommandContext {
  /**
   * Id of the merchant whose data the caller may change; null if the caller is the platform, which may change
   * the data of all merchants.
   */
  readonly merchantId: string | null;
  readonly now: Date;
}

export interface CreatedApiKey {
  readonly apiKeyId: string;
  readonly value: string;
  readonly events: readonly InstallationOrApiKeyEvent[];
}

/**
 * Creates an API key. The result has the key in plain text, which cannot be read again later. A key cannot
 * have a scope that its installation lacks.
 */
export async function createApiKey(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  input: NewApiKey,
): Promise<CreatedApiKey> {
  const installation = await transaction
    .selectFrom("installation")
    .innerJoin("merchant", "merchant.id", "installation.merchantId")
    .select([
      "installation.id",
      "installation.merchantId",
      "installation.status",
      "installation.scopes",
      "merchant.mode",
    ])
    .where("installation.id", "=", input.installationId)
    .$if(access.merchantId !== null, (query) =>
      query.where("installation.merchantId", "=", access.merchantId ?? ""),
    )
    .executeTakeFirst();
  if (installation === undefined)
    throw createFailure("resource_not_found", { message: "There is no installation with this id." });
  if (installation.status === "uninstalled")
    throw createFailure("invalid_state", { message: "The installation is uninstalled." });
  const excess = input.scopes.filter((scope) => !installation.scopes.includes(scope));
  if (excess.length > 0) {
    const message = `The installation does not have the scopes ${excess.join(", ")}.`;
    throw createFailure("invalid_field", {
      message,
      details: [{ in: "body", field: "/scopes", code: "not_allowed", message, allowed: installation.scopes }],
    });
  }
  const { id: installationId, merchantId, mode } = installation;
  const created = await generateAndInsertApiKey(transaction, access, {
    ...input,
    merchantId,
    mode,
    scopes: [...new Set(input.scopes)].toSorted(),
  });
  return {
    ...created,
    events: [{ type: "api_key.created", id: created.apiKeyId, merchantId, installationId, previous: null }],
  };
}

interface NewKey {
  readonly merchantId: string;
  readonly installationId: string;
  readonly mode: "live" | "test";
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
}

export async function generateAndInsertApiKey(
  transaction: Transaction,
  { now }: Pick<AccessManagementCommandContext, "now">,
  key: NewKey,
): Promise<Omit<CreatedApiKey, "events">> {
  const { id: keyId, value, digest, lastFour } = generateCredentialSecret("cpk", key.mode);
  const apiKeyId = createId("apiKey", now.getTime());
  const { merchantId, installationId, mode, name, scopes, expiresAt } = key;
  await transaction
    .insertInto("apiKey")
    .values({
      id: apiKeyId,
      merchantId,
      installationId,
      keyId,
      name,
      mode,
      digest,
      lastFour,
      scopes: [...scopes],
      createdAt: now,
      expiresAt,
    })
    .execute();
  return { apiKeyId, value };
}

/**
 * Revokes an API key. Requests with the key are refused as soon as the transaction is committed. A key that
 * is already revoked keeps its first revocation time.
 */
export async function revokeApiKey(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  apiKeyId: string,
): Promise<InstallationOrApiKeyEvent[]> {
  const key = await transaction
    .selectFrom("apiKey")
    .select(["id", "revokedAt"])
    .where("id", "=", apiKeyId)
    .$if(access.merchantId !== null, (query) => query.where("merchantId", "=", access.merchantId ?? ""))
    .forUpdate()
    .executeTakeFirst();
  if (key === undefined)
    throw createFailure("resource_not_found", { message: "There is no API key with this id." });
  if (key.revokedAt !== null) return [];
  await invalidateCachedCredentials(transaction, { credentialId: key.id });
  return revokeApiKeys(transaction, access, { column: "id", value: key.id });
}

/**
 * Revokes a single key, or all keys of an installation. Returns an event for each key that was not revoked
 * before. The caller must invalidate the cached credentials.
 */
export async function revokeApiKeys(
  transaction: Transaction,
  { now }: Pick<AccessManagementCommandContext, "now">,
  { column, value }: { readonly column: "id" | "installationId"; readonly value: string },
): Promise<InstallationOrApiKeyEvent[]> {
  const revoked = await transaction
    .updateTable("apiKey")
    .set((key) => ({ revokedAt: now, version: key("version", "+", 1) }))
    .where(column, "=", value)
    .where("revokedAt", "is", null)
    .returning(["id", "merchantId", "installationId", "version"])
    .execute();
  return revoked.map(({ id, merchantId, installationId, version }) => {
    const previous = { version: version - 1, revokedAt: null };
    return { type: "api_key.revoked", id, merchantId, installationId, previous };
  });
}

export const keyOverlapHours = { max: 168, standard: 24 } as const;
const hourMs = 3_600_000;

export interface RotateApiKeyInput {
  readonly apiKeyId: string;
  readonly overlapHours?: number | null | undefined;
  /** The expiry of the new key; the new key never expires if this is null or left out. */
  readonly expiresAt?: Date | null | undefined;
}

/**
 * Creates the successor of an API key. A key can be rotated only once. The successor has the same scopes as
 * the key. This includes scopes that the installation has lost since then, because the installation may get
 * them back.
 */
export async function rotateApiKey(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  input: RotateApiKeyInput,
): Promise<CreatedApiKey> {
  const key = await lockKey(transaction, access, input.apiKeyId);
  const created = await generateAndInsertApiKey(transaction, access, {
    ...key,
    expiresAt: input.expiresAt ?? null,
  });
  const overlapEndsAt = new Date(
    access.now.getTime() + (input.overlapHours ?? keyOverlapHours.standard) * hourMs,
  );
  const expiresAt = key.expiresAt !== null && key.expiresAt < overlapEndsAt ? key.expiresAt : overlapEndsAt;
  await transaction
    .updateTable("apiKey")
    .set({
      rotatesTo: created.apiKeyId,
      expiresAt,
      expiryNotices: expiryNoticeCountAfterRotationSql(expiresAt, access.now),
      version: key.version + 1,
    })
    .where("id", "=", key.id)
    .execute();
  await invalidateCachedCredentials(transaction, { credentialId: key.id });
  const { id, merchantId, installationId, version } = key;
  const previous = {
    version,
    rotatesTo: null,
    ...(expiresAt === key.expiresAt ? {} : { expiresAt: key.expiresAt }),
  };
  return {
    ...created,
    events: [
      { type: "api_key.created", id: created.apiKeyId, merchantId, installationId, previous: null },
      { type: "api_key.rotated", id, merchantId, installationId, previous },
    ],
  };
}

interface LockedKey {
  readonly id: string;
  readonly merchantId: string;
  readonly installationId: string;
  readonly mode: "live" | "test";
  readonly name: string;
  readonly scopes: string[];
  readonly expiresAt: Date | null;
  readonly version: number;
}

/**
 * Locks the row of an API key and checks that the key is active. If two transactions rotate the same key at
 * the same time, the second one is therefore refused.
 */
async function lockKey(
  transaction: Transaction,
  { merchantId, now }: AccessManagementCommandContext,
  apiKeyId: string,
): Promise<LockedKey> {
  const key = await transaction
    .selectFrom("apiKey")
    .select([
      "id",
      "merchantId",
      "installationId",
      "mode",
      "name",
      "scopes",
      "expiresAt",
      "revokedAt",
      "rotatesTo",
      "version",
    ])
    .where("id", "=", apiKeyId)
    .$if(merchantId !== null, (query) => query.where("merchantId", "=", merchantId ?? ""))
    .forUpdate()
    .executeTakeFirst();
  if (key === undefined)
    throw createFailure("resource_not_found", { message: "There is no API key with this id." });
  const currentStatus = statusOf(key, now);
  if (currentStatus === "active") return key;
  const conflict = {
    resource: "api_key",
    id: key.id,
    currentStatus,
    currentVersion: key.version,
    reason: currentStatus,
    data: {},
  };
  throw createFailure("invalid_state", { message: rotationRefusals[currentStatus], conflict });
}

const rotationRefusals = {
  revoked: "A revoked key can't be rotated: create a new key.",
  expired: "An expired key can't be rotated: create a new key.",
  rotated: "The key is already rotated: rotate its successor.",
} as const;

type KeyEnd = Pick<LockedKey, "expiresAt"> & {
  readonly revokedAt: Date | null;
  readonly rotatesTo: string | null;
};

function statusOf(
  { revokedAt, expiresAt, rotatesTo }: KeyEnd,
  now: Date,
): "active" | keyof typeof rotationRefusals {
  if (revokedAt !== null) return "revoked";
  if (expiresAt !== null && expiresAt <= now) return "expired";
  return rotatesTo === null ? "active" : "rotated";
}
