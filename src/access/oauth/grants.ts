/**
 * Creates and revokes OAuth grants. With a grant, a staff member of a merchant gives an app access to the
 * merchant's data. Like an API key, a grant is a credential of an installation. If the app is not installed
 * with the merchant, creating the grant installs the app. If the app is installed, the grant can have only
 * scopes of the installation, because only the mutation `installationScopesSet` may extend the scopes of an
 * installation. A staff member has at most one grant in force per client; a new grant revokes the earlier
 * grant.
 */
import { type RawBuilder, type Selectable, type SelectQueryBuilder, sql } from "kysely";
import type { OauthGrantTable, Tables } from "#database/tables.ts";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import {
  type InstallationOrApiKeyEvent,
  type RevokedOauthGrant,
  revokeOauthGrants,
} from "#access/credential-changes.ts";
import type { AccessManagementCommandContext } from "#access/keys/manage-keys.ts";
import type { PermissionScope } from "#access/viewer.ts";
import { createInstallation } from "#access/installations.ts";
import type { Database } from "#database/connect.ts";
import { deleteRowsInBatches } from "#database/delete-rows.ts";

export interface NewOauthGrant {
  readonly clientId: string;
  readonly staffId: string;
  readonly scopes: readonly PermissionScope[];
}

export interface CreatedOauthGrant {
  readonly grantId: string;
  readonly installationId: string;
  /** The earlier grants of the same staff member to the same client, which the new grant has revoked. */
  readonly replaced: readonly RevokedOauthGrant[];
}

export const grantDays = 90;
const dayMs = 86_400_000;

/**
 * Creates a grant for the staff member's merchant. Fails with `installation_suspended` or
 * `merchant_suspended`, with `role_not_allowed` if the staff account is disabled, or with `invalid_state` if
 * the installation lacks a scope.
 */
export async function createOauthGrant(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  input: NewOauthGrant,
): Promise<CreatedOauthGrant> {
  const scopes = [...new Set(input.scopes)].toSorted();
  if (scopes.length === 0)
    throw createFailure("invalid_field", { message: "A grant needs at least one scope." });
  const merchantId = await lockMerchantOfStaff(transaction, access, input.staffId);
  const appId = await findAppOfClient(transaction, input.clientId);
  const installationId = await ensureInstallation(transaction, access, { merchantId, appId, scopes });
  const replaced = await revokeEarlierGrants(transaction, access, {
    installationId,
    clientId: input.clientId,
    staffId: input.staffId,
  });
  const grantId = createId("oauthGrant", access.now.getTime());
  await transaction
    .insertInto("oauthGrant")
    .values({
      id: grantId,
      merchantId,
      installationId,
      clientId: input.clientId,
      staffId: input.staffId,
      scopes,
      issuedAt: access.now,
      expiresAt: new Date(access.now.getTime() + grantDays * dayMs),
    })
    .execute();
  return { grantId, installationId, replaced };
}

/**
 * Locks the staff member's merchant and returns its id. The lock prevents two staff members who grant access
 * to an app at the same time from installing the app twice.
 */
async function lockMerchantOfStaff(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  staffId: string,
): Promise<string> {
  const staff = await transaction
    .selectFrom("staffAccount")
    .select(["merchantId", "disabledAt"])
    .where("id", "=", staffId)
    .$if(access.merchantId !== null, (query) => query.where("merchantId", "=", access.merchantId ?? ""))
    .forShare()
    .executeTakeFirst();
  if (staff === undefined || staff.disabledAt !== null)
    throw createFailure("role_not_allowed", {
      message: "This staff account is disabled and cannot grant access.",
    });
  const merchant = await transaction
    .selectFrom("merchant")
    .select(["id", "status"])
    .where("id", "=", staff.merchantId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  if (merchant.status === "suspended") throw createFailure("merchant_suspended");
  return merchant.id;
}

async function findAppOfClient(transaction: Transaction, clientId: string): Promise<string> {
  const client = await transaction
    .selectFrom("oauthClient")
    .select("appId")
    .where("id", "=", clientId)
    .where("disabledAt", "is", null)
    // Locks the client until the end of the transaction (FOR SHARE). A transaction that disables the client
    // at the same time waits for this lock, and then also revokes the new grant.
    .forShare()
    .executeTakeFirst();
  if (client === undefined)
    throw createFailure("resource_not_found", { message: "There is no OAuth client with this id." });
  return client.appId;
}

interface AppToInstall {
  readonly merchantId: string;
  readonly appId: string;
  readonly scopes: readonly PermissionScope[];
}

async function ensureInstallation(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  input: AppToInstall,
): Promise<string> {
  const current = await transaction
    .selectFrom("installation")
    .select(["id", "status", "scopes", "version"])
    .where("merchantId", "=", input.merchantId)
    .where("appId", "=", input.appId)
    .where("status", "<>", "uninstalled")
    .forUpdate()
    .executeTakeFirst();
  if (current === undefined) return createInstallation(transaction, access, input);
  const { id, status, version } = current;
  if (status === "suspended") throw createFailure("installation_suspended");
  const excess = input.scopes.filter((scope) => !current.scopes.includes(scope));
  if (excess.length > 0)
    throw createFailure("invalid_state", {
      message: `The installation does not have the scopes ${excess.join(", ")}.`,
      conflict: {
        resource: "installation",
        id,
        currentStatus: status,
        currentVersion: version,
        reason: "scope_not_held",
        data: {},
      },
    });
  return id;
}

interface GrantHolder {
  readonly installationId: string;
  readonly clientId: string;
  readonly staffId: string;
}

/**
 * Revokes the earlier grants of the staff member to the client. The merchant is locked, so no other
 * transaction creates a grant in the meantime.
 */
async function revokeEarlierGrants(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  { installationId, clientId, staffId }: GrantHolder,
): Promise<readonly RevokedOauthGrant[]> {
  const earlier = await transaction
    .selectFrom("oauthGrant")
    .select("id")
    .where("staffId", "=", staffId)
    .where("clientId", "=", clientId)
    .where("installationId", "=", installationId)
    .where("revokedAt", "is", null)
    .where("expiresAt", ">", access.now)
    .orderBy("id")
    .execute();
  const revoked: RevokedOauthGrant[] = [];
  for (const { id } of earlier)
    revoked.push(...(await revokeOauthGrants(transaction, access, { column: "id", value: id })));
  return revoked;
}

/**
 * Revokes a grant. The tokens of the grant are refused as soon as the transaction is committed. A grant that
 * is already revoked keeps its first revocation time.
 */
export async function revokeOauthGrant(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  grantId: string,
): Promise<InstallationOrApiKeyEvent[]> {
  const grant = await transaction
    .selectFrom("oauthGrant")
    .select("id")
    .where("id", "=", grantId)
    .$if(access.merchantId !== null, (query) => query.where("merchantId", "=", access.merchantId ?? ""))
    .executeTakeFirst();
  if (grant === undefined)
    throw createFailure("resource_not_found", { message: "There is no grant with this id." });
  await revokeOauthGrants(transaction, access, { column: "id", value: grant.id });
  return [];
}

export type OauthGrantRow = Selectable<OauthGrantTable>;

const grantColumns = [
  "id",
  "merchantId",
  "installationId",
  "clientId",
  "staffId",
  "scopes",
  "version",
  "issuedAt",
  "expiresAt",
  "revokedAt",
  "lastUsedAt",
] as const;

/**
 * Returns the SQL condition that the id of a row is in the given list. The SQL text is the same for every
 * number of ids, so PostgreSQL prepares it once.
 */
const idIsOneOf = (ids: readonly string[]): RawBuilder<boolean> => sql<boolean>`id = any(${ids}::text[])`;

export const findOauthGrants = (
  reader: DatabaseOrTransaction,
  ids: readonly string[],
): Promise<OauthGrantRow[]> =>
  reader.selectFrom("oauthGrant").select(grantColumns).where(idIsOneOf(ids)).execute();

/**
 * Builds the query for the OAuth grants of a merchant, or of all merchants if `owner` is null. The caller
 * adds the order or page, or counts the rows.
 */
export const buildOauthGrantSqlQuery = (
  reader: DatabaseOrTransaction,
  owner: string | null,
): SelectQueryBuilder<Tables, "oauthGrant", OauthGrantRow> =>
  reader
    .selectFrom("oauthGrant")
    .select(grantColumns)
    .$if(owner !== null, (query) => query.where("merchantId", "=", owner ?? ""));

/** Milliseconds for which an OAuth grant can still be read after it has expired or was revoked. */
const retentionMs = 90 * 86_400_000;

/**
 * Deletes OAuth grants 90 days after their end; their audit entries remain. Returns the number of deleted
 * grants.
 */
export async function deleteOauthGrantsPastRetention(
  db: Database,
  now: Date,
  signal?: AbortSignal,
): Promise<number> {
  const before = new Date(now.getTime() - retentionMs);
  return deleteRowsInBatches(
    db,
    {
      table: "oauth_grant",
      where: sql`least(revoked_at, expires_at) <= ${before}`,
      orderBy: sql`least(revoked_at, expires_at)`,
    },
    signal,
  );
}
