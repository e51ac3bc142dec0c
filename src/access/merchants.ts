/** Creates, changes, suspends and reads merchants. */
import { type RawBuilder, type Selectable, type SelectQueryBuilder, sql } from "kysely";
import { createFailure, createFailureWithDetail, type ConflictErrorDetails } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import { getSqlState, uniqueViolation } from "#database/database-errors.ts";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import type { MerchantTable, Tables } from "#database/tables.ts";
import { invalidateCachedCredentials } from "./credential-changes.ts";
import type { AccessManagementCommandContext } from "./keys/manage-keys.ts";

export interface NewMerchant {
  readonly slug: string;
  readonly name: string;
  readonly mode: "live" | "test";
  readonly defaultLocale: string;
  readonly defaultMarket: string;
}

export async function createMerchant(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  input: NewMerchant,
): Promise<string> {
  const id = createId("merchant", access.now.getTime());
  await transaction
    .insertInto("merchant")
    .values({ id, ...input, createdAt: access.now, updatedAt: access.now })
    .execute()
    .catch((error: unknown) => {
      if (getSqlState(error) !== uniqueViolation) throw error;
      throw createFailureWithDetail("already_exists", {
        in: "body",
        field: "/slug",
        code: "duplicate",
        message: "Another merchant has this slug.",
      });
    });
  return id;
}

export interface UpdateMerchantInput {
  readonly merchantId: string;
  readonly expectedVersion?: number | null | undefined;
  readonly name?: string | null | undefined;
  readonly defaultLocale?: string | null | undefined;
  readonly defaultMarket?: string | null | undefined;
  readonly status?: "active" | "suspended";
}

/**
 * Changes the given fields of a merchant. Suspending or resuming invalidates the cached credentials of the
 * merchant. The version stays the same if no value changes.
 */
export async function updateMerchant(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  input: UpdateMerchantInput,
): Promise<void> {
  if (access.merchantId !== null && access.merchantId !== input.merchantId)
    throw createFailure("merchant_not_found");
  const current = await transaction
    .selectFrom("merchant")
    .selectAll()
    .where("id", "=", input.merchantId)
    .forUpdate()
    .executeTakeFirst();
  if (current === undefined) throw createFailure("merchant_not_found");
  if (typeof input.expectedVersion === "number" && input.expectedVersion !== current.version) {
    throw createFailure("version_conflict", {
      conflict: createConflictDetailsWithStatusAndVersion("merchant", current, null),
    });
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
      ...buildSuspendedAtColumnUpdate(current, next, access),
      version: current.version + 1,
      updatedAt: access.now,
    })
    .where("id", "=", current.id)
    .execute();
  if (next.status !== current.status)
    await invalidateCachedCredentials(transaction, { merchantId: current.id });
}

/**
 * Returns an object to add to the update of a merchant's or installation's status: the new value of the
 * column `suspendedAt`. Returns an empty object if the status stays the same.
 */
export function buildSuspendedAtColumnUpdate(
  current: { readonly status: string },
  next: { readonly status?: string },
  { now }: Pick<AccessManagementCommandContext, "now">,
): { suspendedAt?: Date | null } {
  if (next.status === undefined || next.status === current.status) return {};
  return { suspendedAt: next.status === "suspended" ? now : null };
}

/**
 * Builds the field `conflict` of an error body. It has the current status and version of the object that
 * prevents the change, and the reason.
 */
export function createConflictDetailsWithStatusAndVersion(
  resource: string,
  row: { readonly id: string; readonly status: string; readonly version: number },
  reason: string | null,
): ConflictErrorDetails {
  return { resource, id: row.id, currentStatus: row.status, currentVersion: row.version, reason, data: {} };
}

/**
 * A merchant's row without the columns `referenceKey` and `suspendedAt`, which only orders and readiness
 * checks need.
 */
export type MerchantRow = Omit<Selectable<MerchantTable>, "referenceKey" | "suspendedAt">;

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

/**
 * Returns the SQL condition that the id of a row is in the given list. The SQL text is the same for every
 * number of ids, so PostgreSQL prepares it once.
 */
const idIsOneOf = (ids: readonly string[]): RawBuilder<boolean> => sql<boolean>`id = any(${ids}::text[])`;

export const findMerchants = (
  reader: DatabaseOrTransaction,
  ids: readonly string[],
): Promise<MerchantRow[]> =>
  reader.selectFrom("merchant").select(merchantColumns).where(idIsOneOf(ids)).execute();

/**
 * Builds the query for the merchant with the id `owner`, or for all merchants if `owner` is null. The caller
 * adds the order or page, for example with `addKeysetPageToQuery`, or counts the rows.
 */
export const buildMerchantSqlQuery = (
  reader: DatabaseOrTransaction,
  owner: string | null,
): SelectQueryBuilder<Tables, "merchant", MerchantRow> =>
  reader
    .selectFrom("merchant")
    .select(merchantColumns)
    .$if(owner !== null, (query) => query.where("id", "=", owner ?? ""));
