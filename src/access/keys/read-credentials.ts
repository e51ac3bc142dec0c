/** Reads API keys and internal tokens for display, without their digests. */
import { type RawBuilder, type Selectable, type SelectQueryBuilder, sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import type { ApiKeyTable, InternalTokenTable, Tables } from "#database/tables.ts";

/** A row of an API key without its digest and its number of sent expiry notices, which are never displayed. */
export type ApiKeyRow = Omit<Selectable<ApiKeyTable>, "digest" | "expiryNotices">;

/**
 * A row of an internal token without its digest and without the id that is part of the token's text, which
 * are never displayed.
 */
export type InternalTokenRow = Omit<Selectable<InternalTokenTable>, "digest" | "tokenId">;

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
  "documents",
  "lastFour",
  "createdAt",
  "expiresAt",
  "revokedAt",
  "lastUsedAt",
  "allowedOrigins",
] as const;

/**
 * Returns the SQL condition that the id of a row is in the given list. The SQL text is the same for every
 * number of ids, so PostgreSQL prepares it once.
 */
const idIsOneOf = (ids: readonly string[]): RawBuilder<boolean> => sql<boolean>`id = any(${ids}::text[])`;

export const findApiKeys = (reader: DatabaseOrTransaction, ids: readonly string[]): Promise<ApiKeyRow[]> =>
  reader.selectFrom("apiKey").select(apiKeyColumns).where(idIsOneOf(ids)).execute();

export const findInternalTokens = (
  reader: DatabaseOrTransaction,
  ids: readonly string[],
): Promise<InternalTokenRow[]> =>
  reader.selectFrom("internalToken").select(tokenColumns).where(idIsOneOf(ids)).execute();

/**
 * Builds the query for the API keys of a merchant, or of all merchants if `owner` is null. The caller adds
 * the order or page, or counts the rows.
 */
export const buildApiKeySqlQuery = (
  reader: DatabaseOrTransaction,
  owner: string | null,
): SelectQueryBuilder<Tables, "apiKey", ApiKeyRow> =>
  reader
    .selectFrom("apiKey")
    .select(apiKeyColumns)
    .$if(owner !== null, (query) => query.where("merchantId", "=", owner ?? ""));

/**
 * Builds the query for the internal tokens of a merchant, or of all merchants and the platform if `owner` is
 * null. The caller adds the order or page, or counts the rows.
 */
export const buildInternalTokenSqlQuery = (
  reader: DatabaseOrTransaction,
  owner: string | null,
): SelectQueryBuilder<Tables, "internalToken", InternalTokenRow> =>
  reader
    .selectFrom("internalToken")
    .select(tokenColumns)
    .$if(owner !== null, (query) => query.where("merchantId", "=", owner ?? ""));
