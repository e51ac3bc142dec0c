/** Reads merchants, apps, installations and keys: by id for the graph's loaders, page by page for its lists. Digests never leave this floor. */
import { type RawBuilder, type Selectable, type SelectQueryBuilder, sql } from "kysely";
import type { Reader } from "#database/transaction.ts";
import type { ApiKeyTable, AppTable, InstallationTable, InternalTokenTable, MerchantTable, Tables } from "#database/tables.ts";

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
const installationColumns = ["id", "merchantId", "appId", "status", "scopes", "version", "installedAt", "updatedAt"] as const;
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
const tokenColumns = ["id", "merchantId", "name", "role", "lastFour", "createdAt", "expiresAt", "revokedAt", "lastUsedAt"] as const;

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

export const merchantList = (reader: Reader, owner: Owner): SelectQueryBuilder<Tables, "merchant", MerchantRow> =>
  reader
    .selectFrom("merchant")
    .select(merchantColumns)
    .$if(owner !== null, (query) => query.where("id", "=", owner ?? ""));

export const appList = (reader: Reader): SelectQueryBuilder<Tables, "app", AppRow> => reader.selectFrom("app").select(appColumns);

export const installationList = (reader: Reader, owner: Owner): SelectQueryBuilder<Tables, "installation", InstallationRow> =>
  reader
    .selectFrom("installation")
    .select(installationColumns)
    .$if(owner !== null, (query) => query.where("merchantId", "=", owner ?? ""));

export const apiKeyList = (reader: Reader, owner: Owner): SelectQueryBuilder<Tables, "apiKey", ApiKeyRow> =>
  reader
    .selectFrom("apiKey")
    .select(apiKeyColumns)
    .$if(owner !== null, (query) => query.where("merchantId", "=", owner ?? ""));

export const internalTokenList = (reader: Reader, owner: Owner): SelectQueryBuilder<Tables, "internalToken", InternalTokenRow> =>
  reader
    .selectFrom("internalToken")
    .select(tokenColumns)
    .$if(owner !== null, (query) => query.where("merchantId", "=", owner ?? ""));
