/**
 * Functions that several commands on webhook endpoints use: lock the endpoint and its installation, check the
 * limits of an installation (number of endpoints, unique URLs), and save the endpoint.
 */
import type { SelectQueryBuilder } from "kysely";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { createFailure, type ConflictErrorDetails } from "#foundation/failure.ts";
import { isTextWithoutForbiddenCharacters } from "#foundation/text.ts";
import { toJsonbValue } from "#database/sql-fragments.ts";
import type { Tables } from "#database/tables.ts";
import type { DeliveryOrderMode } from "#webhooks/delivery-order.ts";
import type { Transaction } from "#database/transaction.ts";
import type { MerchantTimeAndCauseOfEvent, EventOutbox, EventSubjectRenderer } from "#webhooks/outbox.ts";
import { normalizeEndpointUrl } from "#webhooks/endpoint-url.ts";
import { findEndpoints, createEndpointConflictFailure, type WebhookEndpoint } from "./endpoint-aggregate.ts";
import { type EndpointInputCheckOptions, requireValidEndpointUrl } from "./endpoint-input.ts";
import type { StoredChangedFieldsFilters } from "./field-filters.ts";

export interface EndpointCommandContext
  extends MerchantTimeAndCauseOfEvent, Omit<EndpointInputCheckOptions, "resolvedFaults"> {
  /**
   * The installation that runs the command; null if the caller acts for the merchant and may change endpoints
   * of all installations of the merchant.
   */
  readonly installationId: string | null;
  readonly keyring: EncryptionKeyring;
  readonly outbox: EventOutbox;
  readonly render: EventSubjectRenderer;
}

/**
 * The context of a command whose input can contain a URL. `resolvedFaults` has the faults of the IP addresses
 * of the URL's host name. The field is required, so that callers cannot forget to look up the addresses
 * before the transaction of the command.
 */
export type EndpointCommandContextWithUrlFaults = EndpointCommandContext &
  Pick<EndpointInputCheckOptions, "resolvedFaults">;

/**
 * The endpoint to change. If `expectedVersion` is given and is not the current version of the endpoint, the
 * change is refused.
 */
export interface EndpointIdAndExpectedVersion {
  readonly endpointId: string;
  readonly expectedVersion?: number | null | undefined;
}

type Found = Pick<WebhookEndpoint, "id" | "installationId">;

/**
 * Returns an SQL query that selects an endpoint if the caller may use it. Deleted endpoints and endpoints of
 * other merchants or installations are not found.
 */
export function buildSqlQueryForEndpointOfCaller(
  transaction: Transaction,
  { merchantId, installationId }: Pick<EndpointCommandContext, "merchantId" | "installationId">,
  endpointId: string,
): SelectQueryBuilder<Tables, "webhookEndpoint", Found> {
  return transaction
    .selectFrom("webhookEndpoint")
    .select(["id", "installationId"])
    .where("id", "=", isTextWithoutForbiddenCharacters(endpointId) ? endpointId : "")
    .where("merchantId", "=", merchantId)
    .where("status", "<>", "deleted")
    .$if(installationId !== null, (query) => query.where("installationId", "=", installationId ?? ""));
}

/**
 * Locks an endpoint and reads it. The lock is `for no key update`, so that transactions that insert
 * deliveries to the endpoint do not wait.
 */
export async function lockEndpoint(
  transaction: Transaction,
  context: EndpointCommandContext,
  endpointId: string,
): Promise<WebhookEndpoint> {
  const found = await buildSqlQueryForEndpointOfCaller(transaction, context, endpointId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (found === undefined) throw createFailure("webhook_endpoint_not_found");
  return findWebhookEndpointOrThrow(transaction, found.id, context.now);
}

/** Reads an endpoint by its id. Throws if the endpoint does not exist. */
export async function findWebhookEndpointOrThrow(
  transaction: Transaction,
  id: string,
  now: Date,
): Promise<WebhookEndpoint> {
  const endpoint = (await findEndpoints(transaction, [id], now)).get(id);
  if (endpoint === undefined) throw new Error(`The webhook endpoint ${id} does not exist.`);
  return endpoint;
}

export interface EndpointColumnUpdate {
  readonly url?: string;
  readonly urlNormalized?: string;
  readonly description?: string | null;
  readonly eventTypes?: string[];
  readonly payloadMode?: "snapshot" | "thin";
  readonly maxPerSecond?: number | null;
  readonly metadata?: Record<string, string>;
  readonly fieldFilters?: StoredChangedFieldsFilters | null;
  readonly deliveryOrder?: DeliveryOrderMode;
  readonly status?: "enabled" | "disabled" | "deleted";
  readonly disabledReason?: "manual" | null;
  readonly disabledAt?: Date | null;
}

/** Saves the changed fields of an endpoint and increments its version by one. */
export async function saveEndpointPatch(
  transaction: Transaction,
  { id, version }: WebhookEndpoint,
  { patch, now }: { patch: EndpointColumnUpdate; now: Date },
): Promise<void> {
  const { metadata, fieldFilters, ...rest } = patch;
  await transaction
    .updateTable("webhookEndpoint")
    .set({
      ...rest,
      ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }),
      ...(fieldFilters === undefined ? {} : { fieldFilters: toJsonbValue(fieldFilters) }),
      version: version + 1,
      updatedAt: now,
    })
    .where("id", "=", id)
    .execute();
}

export const endpointsPerInstallationMax = 16;

interface LockedInstallation {
  readonly id: string;
  readonly status: "active" | "suspended" | "uninstalled";
  readonly version: number;
  /** The mode of the merchant that owns the installation: live or test. */
  readonly mode: "live" | "test";
}

/**
 * Locks an installation and reads it. The lock is `for no key update`, so that transactions that insert rows
 * of the installation do not wait.
 */
export async function lockInstallation(
  transaction: Transaction,
  { merchantId }: EndpointCommandContext,
  installationId: string,
): Promise<LockedInstallation> {
  const row = await transaction
    .selectFrom("installation as i")
    .innerJoin("merchant as m", "m.id", "i.merchantId")
    .select(["i.id", "i.status", "i.version", "m.mode"])
    .where("i.id", "=", isTextWithoutForbiddenCharacters(installationId) ? installationId : "")
    .where("i.merchantId", "=", merchantId)
    .forNoKeyUpdate("i")
    .executeTakeFirst();
  if (row === undefined)
    throw createFailure("resource_not_found", { message: "There is no such installation." });
  return row;
}

/** Refuses the URL of a receiver on this machine unless the merchant is in test mode. */
export function requireLoopbackUrlOnlyInTestMode(
  url: string,
  { isLoopbackAllowed }: EndpointCommandContext,
  { mode }: LockedInstallation,
): void {
  requireValidEndpointUrl(url, { isLoopbackAllowed: isLoopbackAllowed && mode === "test" });
}

/**
 * Refuses a URL that another endpoint of the installation already uses, and refuses a new endpoint if the
 * installation has the maximum number of endpoints. If an existing endpoint gets another URL, `except` is the
 * id of this endpoint.
 */
export async function requireUniqueUrlWithinEndpointLimit(
  transaction: Transaction,
  installation: LockedInstallation,
  { url, except }: { readonly url: string; readonly except?: string },
): Promise<void> {
  const endpoints = await transaction
    .selectFrom("webhookEndpoint")
    .select(["id", "status", "version", "urlNormalized"])
    .where("installationId", "=", installation.id)
    .where("status", "<>", "deleted")
    .execute();
  const normalized = normalizeEndpointUrl(url);
  const duplicate = endpoints.find(({ id, urlNormalized }) => id !== except && urlNormalized === normalized);
  if (duplicate !== undefined)
    throw createEndpointConflictFailure(
      "webhook_endpoint_duplicate",
      { ...duplicate, status: duplicate.status as WebhookEndpoint["status"] },
      { message: `The endpoint ${duplicate.id} of the installation has this URL.` },
    );
  if (except === undefined && endpoints.length >= endpointsPerInstallationMax)
    throw createFailure("webhook_endpoint_limit_reached", {
      message:
        `The installation has ${endpointsPerInstallationMax} webhook endpoints, the maximum. Delete one first: ` +
        "on the page Webhooks of the console, or with the GraphQL mutation webhookEndpointDelete.",
      conflict: conflictOf(installation, { data: { limit: endpointsPerInstallationMax } }),
    });
}

export function requireInstallationNotUninstalled(installation: LockedInstallation): void {
  if (installation.status === "uninstalled")
    throw createFailure("invalid_state", {
      conflict: conflictOf(installation, { reason: "installation_uninstalled" }),
    });
}

function conflictOf(
  { id, status, version }: LockedInstallation,
  {
    reason = null,
    data = {},
  }: { readonly reason?: string | null; readonly data?: Readonly<Record<string, unknown>> },
): ConflictErrorDetails {
  return { resource: "installation", id, currentStatus: status, currentVersion: version, reason, data };
}
