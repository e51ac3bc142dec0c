/** Manages apps and their installations. An installation is an app to which a merchant has granted scopes. */
import { type RawBuilder, type Selectable, type SelectQueryBuilder, sql } from "kysely";
import { createFailure, createFailureWithDetail } from "#foundation/failure.ts";
import { createId, blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import { getViolatedConstraintName } from "#database/database-errors.ts";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import type { AppTable, InstallationTable, Tables } from "#database/tables.ts";
import {
  type InstallationOrApiKeyEvent,
  invalidateCachedCredentials,
  revokeOauthGrants,
} from "./credential-changes.ts";
import { type AccessManagementCommandContext, revokeApiKeys } from "./keys/manage-keys.ts";
import { createConflictDetailsWithStatusAndVersion, buildSuspendedAtColumnUpdate } from "./merchants.ts";
import type { PermissionScope } from "./viewer.ts";

export interface RegisterAppInput {
  readonly name: string;
  readonly publisher: string | null;
}

export async function registerApp(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  input: RegisterAppInput,
): Promise<string> {
  const id = createId("app", access.now.getTime());
  await transaction
    .insertInto("app")
    .values({ id, ...input, createdAt: access.now })
    .execute();
  return id;
}

export interface NewInstallation {
  readonly merchantId: string;
  readonly appId: string;
  readonly scopes: readonly PermissionScope[];
}

/**
 * Installs an app with a merchant. A merchant can have at most one installation of an app at a time;
 * installations that were uninstalled do not count.
 */
export async function createInstallation(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  input: NewInstallation,
): Promise<string> {
  if (access.merchantId !== null && access.merchantId !== input.merchantId)
    throw createFailure("merchant_not_found");
  const [merchant, app] = await Promise.all([
    transaction.selectFrom("merchant").select("id").where("id", "=", input.merchantId).executeTakeFirst(),
    transaction.selectFrom("app").select("id").where("id", "=", input.appId).executeTakeFirst(),
  ]);
  if (merchant === undefined) throw createFailure("merchant_not_found");
  if (app === undefined)
    throw createFailure("resource_not_found", { message: "There is no app with this id." });
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
      if (getViolatedConstraintName(error) !== "installation_live") throw error;
      throw createFailureWithDetail("already_exists", {
        in: "body",
        field: "/appId",
        code: "duplicate",
        message: "The app is already installed with this merchant.",
      });
    });
  return id;
}

export type UpdateInstallationInput = { readonly installationId: string } & (
  | { readonly scopes: readonly PermissionScope[] }
  | { readonly status: "active" | "suspended" | "uninstalled" }
);

/**
 * Changes the scopes or the status of an installation. Uninstalling is final and revokes the installation's
 * keys and grants. Returns the events to publish.
 */
export async function updateInstallation(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  change: UpdateInstallationInput,
): Promise<InstallationOrApiKeyEvent[]> {
  const current = await transaction
    .selectFrom("installation")
    .select(["id", "merchantId", "status", "scopes", "version"])
    .where("id", "=", change.installationId)
    .$if(access.merchantId !== null, (query) => query.where("merchantId", "=", access.merchantId ?? ""))
    .forUpdate()
    .executeTakeFirst();
  if (current === undefined)
    throw createFailure("resource_not_found", { message: "There is no installation with this id." });
  if (current.status === "uninstalled")
    throw createFailure("invalid_state", {
      conflict: createConflictDetailsWithStatusAndVersion("installation", current, "uninstalled"),
    });
  const next =
    "scopes" in change ? { scopes: [...new Set(change.scopes)].toSorted() } : { status: change.status };
  const isSame =
    "scopes" in next ? next.scopes.join(" ") === current.scopes.join(" ") : next.status === current.status;
  if (isSame) return [];
  await transaction
    .updateTable("installation")
    .set({
      ...next,
      ...buildSuspendedAtColumnUpdate(current, next, access),
      version: current.version + 1,
      updatedAt: access.now,
    })
    .where("id", "=", current.id)
    .execute();
  await invalidateCachedCredentials(transaction, { installationId: current.id });
  const { id, merchantId, version, scopes } = current;
  const before = "status" in next ? { status: current.status } : { scopes: scopes.toSorted() };
  const type = "status" in next ? statusEventTypes[next.status] : "installation.scopes_changed";
  const isOver = "status" in next && next.status === "uninstalled";
  if (isOver)
    await revokeOauthGrants(transaction, access, {
      column: "installationId",
      value: id,
      reason: "uninstalled",
    });
  return [
    { type, id, merchantId, installationId: id, previous: { version, ...before } },
    ...(isOver ? await revokeApiKeys(transaction, access, { column: "installationId", value: id }) : []),
  ];
}

const statusEventTypes = {
  active: "installation.resumed",
  suspended: "installation.suspended",
  uninstalled: "installation.uninstalled",
} as const;

export type AppRow = Selectable<AppTable>;

export type InstallationRow = Omit<Selectable<InstallationTable>, "suspendedAt">;

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

/**
 * Returns the SQL condition that the id of a row is in the given list. The SQL text is the same for every
 * number of ids, so PostgreSQL prepares it once.
 */
const idIsOneOf = (ids: readonly string[]): RawBuilder<boolean> => sql<boolean>`id = any(${ids}::text[])`;

export const findApps = (reader: DatabaseOrTransaction, ids: readonly string[]): Promise<AppRow[]> =>
  reader.selectFrom("app").select(appColumns).where(idIsOneOf(ids)).execute();

export const findInstallations = (
  reader: DatabaseOrTransaction,
  ids: readonly string[],
): Promise<InstallationRow[]> =>
  reader.selectFrom("installation").select(installationColumns).where(idIsOneOf(ids)).execute();

/** Builds the query for all apps. The caller adds the order or page, or counts the rows. */
export const buildAppSqlQuery = (reader: DatabaseOrTransaction): SelectQueryBuilder<Tables, "app", AppRow> =>
  reader.selectFrom("app").select(appColumns);

/**
 * Builds the query for the installations of a merchant, or of all merchants if `owner` is null. The caller
 * adds the order or page, or counts the rows.
 */
export const buildInstallationSqlQuery = (
  reader: DatabaseOrTransaction,
  owner: string | null,
): SelectQueryBuilder<Tables, "installation", InstallationRow> =>
  reader
    .selectFrom("installation")
    .select(installationColumns)
    .$if(owner !== null, (query) => query.where("merchantId", "=", owner ?? ""));

export interface InstallationUsedByListenCommand {
  readonly id: string;
  readonly merchantId: string;
  readonly mode: "live" | "test";
  readonly appName: string;
}

/**
 * Finds the active installation whose events a caller listens to. Without an id, the merchant must have
 * exactly one active installation.
 */
export async function findInstallationForListenCommand(
  reader: DatabaseOrTransaction,
  {
    merchantId,
    installationId,
  }: { readonly merchantId: string | null; readonly installationId: string | null },
): Promise<InstallationUsedByListenCommand> {
  if (merchantId === null && installationId === null)
    throw failAtInstallation("required", "A token of the platform must name the installation.");
  const found = await reader
    .selectFrom("installation")
    .innerJoin("merchant", "merchant.id", "installation.merchantId")
    .innerJoin("app", "app.id", "installation.appId")
    .select(["installation.id", "installation.merchantId", "merchant.mode", "app.name as appName"])
    .where("installation.status", "=", "active")
    .$if(merchantId !== null, (query) => query.where("installation.merchantId", "=", merchantId ?? ""))
    .$if(installationId !== null, (query) =>
      query.where("installation.id", "=", blankIdWithForbiddenCharacters(installationId ?? "")),
    )
    .orderBy("installation.id")
    .limit(17)
    .execute();
  const [first, second] = found;
  if (first === undefined)
    throw createFailure("resource_not_found", {
      message: "There is no active installation with this id, or the merchant has none.",
    });
  if (second !== undefined) {
    const names = found.map(({ id, appName }) => `${id} (${appName})`).join(", ");
    throw failAtInstallation("required", `The merchant has several installations: choose one of ${names}.`);
  }
  return first;
}

const failAtInstallation = (code: string, message: string): Error =>
  createFailureWithDetail("missing_field", { in: "body", field: "/installationId", code, message });
