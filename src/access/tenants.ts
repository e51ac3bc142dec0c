/**
 * Merchants, the apps that integrate with them, and installations: an app let in by a merchant with some
 * scopes.
 */
import { type RawBuilder, type Selectable, type SelectQueryBuilder, sql } from "kysely";
import { fail, failAt, type FailureConflict } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import { brokenConstraint, sqlState, uniqueViolation } from "#database/database-errors.ts";
import type { Reader, Transaction } from "#database/transaction.ts";
import type {
  ApiKeyTable,
  AppTable,
  InstallationTable,
  InternalTokenTable,
  MerchantTable,
  Tables,
} from "#database/tables.ts";
import { type AccessEvent, invalidateCredentials, revokeGrants } from "./credential-changes.ts";
import { type AccessContext, revokeKeys } from "./keys/manage-keys.ts";
import type { Scope } from "./viewer.ts";

export interface MerchantInput {
  readonly slug: string;
  readonly name: string;
  readonly mode: "live" | "test";
  readonly defaultLocale: string;
  readonly defaultMarket: string;
}

export async function createMerchant(
  transaction: Transaction,
  access: AccessContext,
  input: MerchantInput,
): Promise<string> {
  const id = createId("merchant", access.now.getTime());
  await transaction
    .insertInto("merchant")
    .values({ id, ...input, createdAt: access.now, updatedAt: access.now })
    .execute()
    .catch((error: unknown) => {
      if (sqlState(error) !== uniqueViolation) throw error;
      throw failAt("already_exists", {
        in: "body",
        field: "/slug",
        code: "duplicate",
        message: "Another merchant has this slug.",
      });
    });
  return id;
}

export interface MerchantChange {
  readonly merchantId: string;
  readonly expectedVersion?: number | null | undefined;
  readonly name?: string | null | undefined;
  readonly defaultLocale?: string | null | undefined;
  readonly defaultMarket?: string | null | undefined;
  readonly status?: "active" | "suspended";
}

/** Changes what is given; a change that changes nothing leaves the version. */
export async function updateMerchant(
  transaction: Transaction,
  access: AccessContext,
  input: MerchantChange,
): Promise<void> {
  if (access.merchantId !== null && access.merchantId !== input.merchantId) throw fail("merchant_not_found");
  const current = await transaction
    .selectFrom("merchant")
    .selectAll()
    .where("id", "=", input.merchantId)
    .forUpdate()
    .executeTakeFirst();
  if (current === undefined) throw fail("merchant_not_found");
  if (typeof input.expectedVersion === "number" && input.expectedVersion !== current.version) {
    throw fail("version_conflict", { conflict: conflictOf("merchant", current, null) });
  }
  const next = {
    name: input.name ?? current.name,
    defaultLocale: input.defaultLocale ?? current.defaultLocale,
    defaultMarket: input.defaultMarket ?? current.defaultMarket,
    status: input.status ?? current.status,
  };
  if (Object.entries(next).every(([key, value]) => current[key as keyof typeof next] === value)) return;
  await transaction
    .updateTable("merchant")
    .set({
      ...next,
      ...suspension(current, next, access),
      version: current.version + 1,
      updatedAt: access.now,
    })
    .where("id", "=", current.id)
    .execute();
  if (next.status !== current.status) await invalidateCredentials(transaction, { merchantId: current.id });
}

export interface RegisterAppInput {
  readonly name: string;
  readonly publisher: string | null;
}

export async function registerApp(
  transaction: Transaction,
  access: AccessContext,
  input: RegisterAppInput,
): Promise<string> {
  const id = createId("app", access.now.getTime());
  await transaction
    .insertInto("app")
    .values({ id, ...input, createdAt: access.now })
    .execute();
  return id;
}

export interface InstallationInput {
  readonly merchantId: string;
  readonly appId: string;
  readonly scopes: readonly Scope[];
}

/** An app is installed once with a merchant at a time. */
export async function createInstallation(
  transaction: Transaction,
  access: AccessContext,
  input: InstallationInput,
): Promise<string> {
  if (access.merchantId !== null && access.merchantId !== input.merchantId) throw fail("merchant_not_found");
  const [merchant, app] = await Promise.all([
    transaction.selectFrom("merchant").select("id").where("id", "=", input.merchantId).executeTakeFirst(),
    transaction.selectFrom("app").select("id").where("id", "=", input.appId).executeTakeFirst(),
  ]);
  if (merchant === undefined) throw fail("merchant_not_found");
  if (app === undefined) throw fail("resource_not_found", { message: "There is no such app." });
  const id = createId("installation", access.now.getTime());
  await transaction
    .insertInto("installation")
    .values({
      id,
      merchantId: merchant.id,
      appId: app.id,
      scopes: [...new Set(input.scopes)].toSorted(),
      installedAt: access.now,
      updatedAt: access.now,
    })
    .execute()
    .catch((error: unknown) => {
      if (brokenConstraint(error) !== "installation_live") throw error;
      throw failAt("already_exists", {
        in: "body",
        field: "/appId",
        code: "duplicate",
        message: "The app is installed with this merchant already.",
      });
    });
  return id;
}

export type InstallationChange = { readonly installationId: string } & (
  | { readonly scopes: readonly Scope[] }
  | { readonly status: "active" | "suspended" | "uninstalled" }
);

/** Uninstalling is for good and revokes the installation's keys and grants with it. */
export async function changeInstallation(
  transaction: Transaction,
  access: AccessContext,
  change: InstallationChange,
): Promise<AccessEvent[]> {
  const current = await transaction
    .selectFrom("installation")
    .select(["id", "merchantId", "status", "scopes", "version"])
    .where("id", "=", change.installationId)
    .$if(access.merchantId !== null, (query) => query.where("merchantId", "=", access.merchantId ?? ""))
    .forUpdate()
    .executeTakeFirst();
  if (current === undefined) throw fail("resource_not_found", { message: "There is no such installation." });
  if (current.status === "uninstalled")
    throw fail("invalid_state", { conflict: conflictOf("installation", current, "uninstalled") });
  const next =
    "scopes" in change ? { scopes: [...new Set(change.scopes)].toSorted() } : { status: change.status };
  const isSame =
    "scopes" in next ? next.scopes.join(" ") === current.scopes.join(" ") : next.status === current.status;
  if (isSame) return [];
  await transaction
    .updateTable("installation")
    .set({
      ...next,
      ...suspension(current, next, access),
      version: current.version + 1,
      updatedAt: access.now,
    })
    .where("id", "=", current.id)
    .execute();
  await invalidateCredentials(transaction, { installationId: current.id });
  const { id, merchantId, version, scopes } = current;
  const before = "status" in next ? { status: current.status } : { scopes: scopes.toSorted() };
  const type = "status" in next ? transitions[next.status] : "installation.scopes_changed";
  const isOver = "status" in next && next.status === "uninstalled";
  if (isOver)
    await revokeGrants(transaction, access, { column: "installationId", value: id, why: "uninstalled" });
  return [
    { type, id, merchantId, installationId: id, previous: { version, ...before } },
    ...(isOver ? await revokeKeys(transaction, access, { column: "installationId", value: id }) : []),
  ];
}

/** Since when it is suspended, where that changes. */
function suspension(
  current: { readonly status: string },
  next: { readonly status?: string },
  { now }: AccessContext,
): { suspendedAt?: Date | null } {
  if (next.status === undefined || next.status === current.status) return {};
  return { suspendedAt: next.status === "suspended" ? now : null };
}

const transitions = {
  active: "installation.resumed",
  suspended: "installation.suspended",
  uninstalled: "installation.uninstalled",
} as const;

function conflictOf(
  resource: string,
  row: { readonly id: string; readonly status: string; readonly version: number },
  reason: string | null,
): FailureConflict {
  return { resource, id: row.id, currentStatus: row.status, currentVersion: row.version, reason, data: {} };
}

/** Without what only orders and readiness need to know. */
export type MerchantRow = Omit<Selectable<MerchantTable>, "referenceKey" | "suspendedAt">;
export type AppRow = Selectable<AppTable>;
export type InstallationRow = Omit<Selectable<InstallationTable>, "suspendedAt">;
export type ApiKeyRow = Omit<Selectable<ApiKeyTable>, "digest" | "expiryNotices">;
export type InternalTokenRow = Omit<Selectable<InternalTokenTable>, "digest" | "tokenId">;

const merchantColumns = [
  "id",
  "slug",
  "name",
  "mode",
  "status",
  "defaultLocale",
  "defaultMarket",
  "catalogVersion",
  "version",
  "createdAt",
  "updatedAt",
] as const;
const appColumns = ["id", "name", "publisher", "createdAt"] as const;
const installationColumns = [
  "id",
  "merchantId",
  "appId",
  "status",
  "scopes",
  "version",
  "installedAt",
  "updatedAt",
] as const;
const apiKeyColumns = [
  "id",
  "merchantId",
  "installationId",
  "keyId",
  "name",
  "mode",
  "lastFour",
  "scopes",
  "createdAt",
  "expiresAt",
  "revokedAt",
  "lastUsedAt",
  "rotatesTo",
  "version",
] as const;
const tokenColumns = [
  "id",
  "merchantId",
  "name",
  "role",
  "lastFour",
  "createdAt",
  "expiresAt",
  "revokedAt",
  "lastUsedAt",
] as const;

/** One text however many ids there are, so that it is prepared once. */
const oneOf = (ids: readonly string[]): RawBuilder<boolean> => sql<boolean>`id = any(${ids}::text[])`;

export const findMerchants = (reader: Reader, ids: readonly string[]): Promise<MerchantRow[]> =>
  reader.selectFrom("merchant").select(merchantColumns).where(oneOf(ids)).execute();

export const findApps = (reader: Reader, ids: readonly string[]): Promise<AppRow[]> =>
  reader.selectFrom("app").select(appColumns).where(oneOf(ids)).execute();

export const findInstallations = (reader: Reader, ids: readonly string[]): Promise<InstallationRow[]> =>
  reader.selectFrom("installation").select(installationColumns).where(oneOf(ids)).execute();

export const findApiKeys = (reader: Reader, ids: readonly string[]): Promise<ApiKeyRow[]> =>
  reader.selectFrom("apiKey").select(apiKeyColumns).where(oneOf(ids)).execute();

export const findInternalTokens = (reader: Reader, ids: readonly string[]): Promise<InternalTokenRow[]> =>
  reader.selectFrom("internalToken").select(tokenColumns).where(oneOf(ids)).execute();

/** Null: of all merchants. */
type Owner = string | null;

/* The lists are queries still to be paged or counted; the graph says which. */

export const selectMerchants = (
  reader: Reader,
  owner: Owner,
): SelectQueryBuilder<Tables, "merchant", MerchantRow> =>
  reader
    .selectFrom("merchant")
    .select(merchantColumns)
    .$if(owner !== null, (query) => query.where("id", "=", owner ?? ""));

export const selectApps = (reader: Reader): SelectQueryBuilder<Tables, "app", AppRow> =>
  reader.selectFrom("app").select(appColumns);

export const selectInstallations = (
  reader: Reader,
  owner: Owner,
): SelectQueryBuilder<Tables, "installation", InstallationRow> =>
  reader
    .selectFrom("installation")
    .select(installationColumns)
    .$if(owner !== null, (query) => query.where("merchantId", "=", owner ?? ""));

export const selectApiKeys = (
  reader: Reader,
  owner: Owner,
): SelectQueryBuilder<Tables, "apiKey", ApiKeyRow> =>
  reader
    .selectFrom("apiKey")
    .select(apiKeyColumns)
    .$if(owner !== null, (query) => query.where("merchantId", "=", owner ?? ""));

export const selectInternalTokens = (
  reader: Reader,
  owner: Owner,
): SelectQueryBuilder<Tables, "internalToken", InternalTokenRow> =>
  reader
    .selectFrom("internalToken")
    .select(tokenColumns)
    .$if(owner !== null, (query) => query.where("merchantId", "=", owner ?? ""));
