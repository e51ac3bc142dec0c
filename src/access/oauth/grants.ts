/**
 * What a person of a merchant granted to an app: the credential of an installation, as an API key is.
 * Granting installs the app where it is not. Where it is, the grant holds no scope that the installation
 * lacks, as no key does: what an installation may do is set by who runs the merchant
 * (`installationScopesSet`), whose narrowing no consent takes back. Of one person, an app holds one grant in
 * force: a new one ends the earlier.
 */
import { type RawBuilder, type Selectable, type SelectQueryBuilder, sql } from "kysely";
import type { OauthGrantTable, Tables } from "#database/tables.ts";
import type { Reader, Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import { type AccessEvent, type RevokedGrant, revokeGrants } from "#access/credential-changes.ts";
import type { AccessCommandContext } from "#access/keys/manage-keys.ts";
import type { Scope } from "#access/viewer.ts";
import { createInstallation } from "#access/installations.ts";
import type { Database } from "#database/connect.ts";

export interface GrantInput {
  readonly clientId: string;
  readonly staffId: string;
  readonly scopes: readonly Scope[];
}

export interface CreateGrantResult {
  readonly grantId: string;
  readonly installationId: string;
  /** Those of the same person to the same client that it takes the place of. */
  readonly replaced: readonly RevokedGrant[];
}

export const grantDays = 90;
const dayMs = 86_400_000;

/**
 * The merchant is the person's own. Refused: `installation_suspended`, `merchant_suspended`,
 * `role_not_allowed` for an account that may not sign in, `invalid_state` for a scope that the app's
 * installation lacks.
 */
export async function createGrant(
  transaction: Transaction,
  access: AccessCommandContext,
  input: GrantInput,
): Promise<CreateGrantResult> {
  const scopes = [...new Set(input.scopes)].toSorted();
  if (scopes.length === 0) throw fail("invalid_field", { message: "A grant is of one scope at least." });
  const merchantId = await lockMerchantOf(transaction, access, input.staffId);
  const appId = await appOf(transaction, input.clientId);
  const installationId = await install(transaction, access, { merchantId, appId, scopes });
  const replaced = await endEarlier(transaction, access, {
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

/** Two who install the same app at once do it one after the other. */
async function lockMerchantOf(
  transaction: Transaction,
  access: AccessCommandContext,
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
    throw fail("role_not_allowed", { message: "This account may not sign in." });
  const merchant = await transaction
    .selectFrom("merchant")
    .select(["id", "status"])
    .where("id", "=", staff.merchantId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  if (merchant.status === "suspended") throw fail("merchant_suspended");
  return merchant.id;
}

async function appOf(transaction: Transaction, clientId: string): Promise<string> {
  const client = await transaction
    .selectFrom("oauthClient")
    .select("appId")
    .where("id", "=", clientId)
    .where("disabledAt", "is", null)
    // Whoever disables it waits, and ends this grant too.
    .forShare()
    .executeTakeFirst();
  if (client === undefined) throw fail("resource_not_found", { message: "There is no such OAuth client." });
  return client.appId;
}

interface Installing {
  readonly merchantId: string;
  readonly appId: string;
  readonly scopes: readonly Scope[];
}

async function install(
  transaction: Transaction,
  access: AccessCommandContext,
  input: Installing,
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
  if (status === "suspended") throw fail("installation_suspended");
  const excess = input.scopes.filter((scope) => !current.scopes.includes(scope));
  if (excess.length > 0)
    throw fail("invalid_state", {
      message: `The installation does not hold ${excess.join(", ")}.`,
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

interface Giver {
  readonly installationId: string;
  readonly clientId: string;
  readonly staffId: string;
}

/** With the merchant locked: nobody makes another meanwhile. */
async function endEarlier(
  transaction: Transaction,
  access: AccessCommandContext,
  { installationId, clientId, staffId }: Giver,
): Promise<readonly RevokedGrant[]> {
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
  const ended: RevokedGrant[] = [];
  for (const { id } of earlier)
    ended.push(...(await revokeGrants(transaction, access, { column: "id", value: id })));
  return ended;
}

/** From its commit on its tokens are refused. Revoking twice is revoking once: the first time stands. */
export async function revokeGrant(
  transaction: Transaction,
  access: AccessCommandContext,
  grantId: string,
): Promise<AccessEvent[]> {
  const grant = await transaction
    .selectFrom("oauthGrant")
    .select("id")
    .where("id", "=", grantId)
    .$if(access.merchantId !== null, (query) => query.where("merchantId", "=", access.merchantId ?? ""))
    .executeTakeFirst();
  if (grant === undefined) throw fail("resource_not_found", { message: "There is no such grant." });
  await revokeGrants(transaction, access, { column: "id", value: grant.id });
  return [];
}

export type GrantRow = Selectable<OauthGrantTable>;

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

/** One text however many ids there are, so that it is prepared once. */
const oneOf = (ids: readonly string[]): RawBuilder<boolean> => sql<boolean>`id = any(${ids}::text[])`;

export const findGrants = (reader: Reader, ids: readonly string[]): Promise<GrantRow[]> =>
  reader.selectFrom("oauthGrant").select(grantColumns).where(oneOf(ids)).execute();

/** Still to be paged or counted. Null: of all merchants. */
export const selectGrants = (
  reader: Reader,
  owner: string | null,
): SelectQueryBuilder<Tables, "oauthGrant", GrantRow> =>
  reader
    .selectFrom("oauthGrant")
    .select(grantColumns)
    .$if(owner !== null, (query) => query.where("merchantId", "=", owner ?? ""));

/** A grant can be read for this long after its end. */
const keptMs = 90 * 86_400_000;
const sweptAtOnce = 500;

/**
 * Deletes grants long after their end; what was done with them stays in the audit log. Returns the number of
 * deleted grants.
 */
export async function sweepGrants(db: Database, now: Date, signal?: AbortSignal): Promise<number> {
  const before = new Date(now.getTime() - keptMs);
  for (let total = 0; ;) {
    const { numAffectedRows } = await sql`
      delete from oauth_grant where id in (
        select id from oauth_grant where least(revoked_at, expires_at) <= ${before}
        order by least(revoked_at, expires_at) limit ${sweptAtOnce})`.execute(db);
    const deleted = Number(numAffectedRows);
    total += deleted;
    if (deleted < sweptAtOnce || signal?.aborted === true) return total;
  }
}
