/** Commands on endpoints: create, update, enable, disable, delete and test them with a ping. */
import { sql } from "kysely";
import { createId } from "#foundation/ids.ts";
import { toJsonbValue } from "#database/sql-fragments.ts";
import type { Transaction } from "#database/transaction.ts";
import { normalizeEndpointUrl } from "#webhooks/endpoint-url.ts";
import { createFailure } from "#foundation/failure.ts";
import { allowEndpointDeliveriesInAnyOrder } from "#webhooks/delivery-order.ts";
import { insertEvents } from "#webhooks/outbox.ts";
import {
  type EndpointColumnUpdate,
  type EndpointIdAndExpectedVersion,
  type EndpointCommandContext,
  type EndpointCommandContextWithUrlFaults,
  lockEndpoint,
  lockInstallation,
  buildSqlQueryForEndpointOfCaller,
  findWebhookEndpointOrThrow,
  requireInstallationNotUninstalled,
  requireUniqueUrlWithinEndpointLimit,
  requireLoopbackUrlOnlyInTestMode,
  saveEndpointPatch,
} from "./change-endpoint.ts";
import { type EndpointInputFields, requireValidEndpointFields } from "./endpoint-input.ts";
import { toStoredChangedFieldsFilters } from "./field-filters.ts";
import { type EndpointWithNewSecret, insertWebhookSecret } from "./endpoint-secrets.ts";
import {
  createEndpointConflictFailure,
  requireExpectedEndpointVersion,
  type WebhookEndpoint,
} from "./endpoint-aggregate.ts";

export interface CreateEndpointInput extends EndpointInputFields {
  readonly installationId: string;
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly payloadMode?: "snapshot" | "thin" | null | undefined;
  readonly enabled?: boolean | null | undefined;
}

/**
 * Creates a webhook endpoint with its first signing secret. The first event that the endpoint receives is a
 * ping.
 */
export async function createEndpoint(
  transaction: Transaction,
  context: EndpointCommandContextWithUrlFaults,
  input: CreateEndpointInput,
): Promise<EndpointWithNewSecret> {
  requireValidEndpointFields(input, context);
  const installation = await lockInstallation(transaction, context, input.installationId);
  requireLoopbackUrlOnlyInTestMode(input.url, context, installation);
  requireInstallationNotUninstalled(installation);
  await requireUniqueUrlWithinEndpointLimit(transaction, installation, { url: input.url });
  const id = await insertEndpoint(transaction, context, input);
  const secret = await insertWebhookSecret(transaction, context, { endpointId: id, version: 1 });
  const endpoint = await findWebhookEndpointOrThrow(transaction, id, context.now);
  if (endpoint.status === "enabled") await queuePing(transaction, context, endpoint);
  return { endpoint, secret };
}

async function insertEndpoint(
  transaction: Transaction,
  { merchantId, now }: EndpointCommandContext,
  input: CreateEndpointInput,
): Promise<string> {
  const id = createId("webhookEndpoint", now.getTime());
  const { installationId, url } = input;
  const isEnabled = input.enabled ?? true;
  await transaction
    .insertInto("webhookEndpoint")
    .values({
      id,
      merchantId,
      installationId,
      url,
      urlNormalized: normalizeEndpointUrl(url),
      description: input.description ?? null,
      status: isEnabled ? "enabled" : "disabled",
      disabledReason: isEnabled ? null : "manual",
      disabledAt: isEnabled ? null : now,
      eventTypes: [...input.eventTypes],
      payloadMode: input.payloadMode ?? "snapshot",
      maxPerSecond: input.maxPerSecond ?? null,
      metadata: JSON.stringify(input.metadata ?? {}),
      fieldFilters: toJsonbValue(toStoredChangedFieldsFilters(input.fieldFilters)),
      deliveryOrder: input.deliveryOrder ?? "any",
      createdAt: now,
      updatedAt: now,
    })
    .execute();
  await transaction
    .insertInto("webhookEndpointHealth")
    .values({ endpointId: id, installationId, tokensAt: now })
    .execute();
  return id;
}

/**
 * The input that changes an endpoint. A field that is left out stays unchanged. If the URL changes,
 * deliveries that are already queued are sent to the new URL.
 */
interface EndpointUpdateInput extends EndpointIdAndExpectedVersion, EndpointInputFields {
  readonly payloadMode?: "snapshot" | "thin" | null | undefined;
}

export async function updateEndpoint(
  transaction: Transaction,
  context: EndpointCommandContextWithUrlFaults,
  input: EndpointUpdateInput,
): Promise<WebhookEndpoint> {
  requireValidEndpointFields(input, context);
  const { url, endpointId } = input;
  const before =
    typeof url === "string"
      ? await lockEndpointForNewUrl(transaction, context, { endpointId, url })
      : await lockEndpoint(transaction, context, endpointId);
  requireExpectedEndpointVersion(before, input.expectedVersion);
  const patch = toEndpointPatch(before, input);
  if (Object.keys(patch).length === 0) return before;
  await saveEndpointPatch(transaction, before, { patch, now: context.now });
  if (patch.deliveryOrder === "any")
    await allowEndpointDeliveriesInAnyOrder(transaction, before.id, context.now);
  return findWebhookEndpointOrThrow(transaction, before.id, context.now);
}

/**
 * Locks the installation, then the endpoint, and checks the new URL of the endpoint. The lock of the
 * installation prevents two concurrent commands from giving the same URL to two endpoints.
 */
async function lockEndpointForNewUrl(
  transaction: Transaction,
  context: EndpointCommandContext,
  { endpointId, url }: { readonly endpointId: string; readonly url: string },
): Promise<WebhookEndpoint> {
  const found = await buildSqlQueryForEndpointOfCaller(transaction, context, endpointId).executeTakeFirst();
  if (found === undefined) throw createFailure("webhook_endpoint_not_found");
  const installation = await lockInstallation(transaction, context, found.installationId);
  const endpoint = await lockEndpoint(transaction, context, endpointId);
  requireLoopbackUrlOnlyInTestMode(url, context, installation);
  await requireUniqueUrlWithinEndpointLimit(transaction, installation, { url, except: endpoint.id });
  return endpoint;
}

/**
 * Returns the endpoint's fields that the input changes, with their new values. If the input has null for the
 * description, the rate limit or the field filters, the endpoint's value is removed. If the input has null
 * for the URL, the event types, the payload mode or the delivery order, the endpoint's value stays
 * unchanged.
 */
function toEndpointPatch(before: WebhookEndpoint, input: EndpointUpdateInput): EndpointColumnUpdate {
  const { url, description, eventTypes, payloadMode, maxPerSecond, metadata } = input;
  const wanted: EndpointColumnUpdate = {
    ...(typeof url === "string" ? { url } : {}),
    ...(description === undefined ? {} : { description }),
    ...(eventTypes === undefined || eventTypes === null ? {} : { eventTypes: [...eventTypes] }),
    ...(payloadMode === undefined || payloadMode === null ? {} : { payloadMode }),
    ...(maxPerSecond === undefined ? {} : { maxPerSecond }),
    ...(metadata === undefined ? {} : { metadata: { ...metadata } }),
    ...toWantedOptions(input),
  };
  const changed: EndpointColumnUpdate = Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => !isSame(value, before[name as keyof typeof before])),
  );
  return changed.url === undefined
    ? changed
    : { ...changed, urlNormalized: normalizeEndpointUrl(changed.url) };
}

const toWantedOptions = ({ fieldFilters, deliveryOrder }: EndpointUpdateInput): EndpointColumnUpdate => ({
  ...(fieldFilters === undefined ? {} : { fieldFilters: toStoredChangedFieldsFilters(fieldFilters) }),
  ...(deliveryOrder === undefined || deliveryOrder === null ? {} : { deliveryOrder }),
});

/**
 * Compares two values as JSON, regardless of the order of their keys, because the database type jsonb does
 * not keep the order of keys.
 */
function isSame(one: unknown, other: unknown): boolean {
  return sortedText(one) === sortedText(other);
}

function sortedText(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === "object" && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

/**
 * Enables a disabled endpoint and resets its health. Queues a ping, which is sent before the deliveries that
 * waited while the endpoint was disabled.
 */
export async function enableEndpoint(
  transaction: Transaction,
  context: EndpointCommandContext,
  input: EndpointIdAndExpectedVersion,
): Promise<WebhookEndpoint> {
  const before = await lockEndpoint(transaction, context, input.endpointId);
  if (before.status === "enabled")
    throw createEndpointConflictFailure("invalid_state", before, { reason: "already_enabled" });
  requireExpectedEndpointVersion(before, input.expectedVersion);
  const { now } = context;
  await saveEndpointPatch(transaction, before, {
    patch: { status: "enabled", disabledReason: null, disabledAt: null },
    now,
  });
  await transaction
    .updateTable("webhookEndpointHealth")
    .set({
      consecutiveFailures: 0,
      failingSince: null,
      failedSinceSuccess: 0,
      degradedAt: null,
      probeAt: null,
    })
    .where("endpointId", "=", before.id)
    .execute();
  const endpoint = await findWebhookEndpointOrThrow(transaction, before.id, now);
  await queuePing(transaction, context, endpoint);
  return endpoint;
}

/**
 * Disables an endpoint. Deliveries with at least one attempt wait until the endpoint is enabled again;
 * deliveries without an attempt are skipped.
 */
export async function disableEndpoint(
  transaction: Transaction,
  context: EndpointCommandContext,
  input: EndpointIdAndExpectedVersion,
): Promise<WebhookEndpoint> {
  const before = await lockEndpoint(transaction, context, input.endpointId);
  if (before.status !== "enabled")
    throw createEndpointConflictFailure("invalid_state", before, { reason: "not_enabled" });
  requireExpectedEndpointVersion(before, input.expectedVersion);
  const { now } = context;
  await saveEndpointPatch(transaction, before, {
    patch: { status: "disabled", disabledReason: "manual", disabledAt: now },
    now,
  });
  await transaction
    .updateTable("webhookDelivery")
    .set({ status: "skipped", nextAttemptAt: null, finishedAt: now })
    .where("endpointId", "=", before.id)
    .where("status", "=", "pending")
    .execute();
  return findWebhookEndpointOrThrow(transaction, before.id, now);
}

/** Deletes the endpoint and its secrets permanently. Cancels all unfinished deliveries. */
export async function deleteEndpoint(
  transaction: Transaction,
  context: EndpointCommandContext,
  input: EndpointIdAndExpectedVersion,
): Promise<string> {
  const before = await lockEndpoint(transaction, context, input.endpointId);
  requireExpectedEndpointVersion(before, input.expectedVersion);
  const { id } = before;
  const { now } = context;
  await saveEndpointPatch(transaction, before, {
    patch: { status: "deleted", disabledReason: null, disabledAt: null },
    now,
  });
  await transaction.deleteFrom("webhookSecret").where("endpointId", "=", id).execute();
  await transaction
    .updateTable("webhookDelivery")
    .set({ status: "canceled", nextAttemptAt: null, lease: null, finishedAt: now })
    .where("endpointId", "=", id)
    .where("nextAttemptAt", "is not", null)
    .execute();
  return id;
}

/**
 * Queues a `webhook.ping` event for one endpoint. The ping is sent before the endpoint's other deliveries.
 * The endpoint receives the ping even if it does not subscribe to this event type; no other endpoint receives
 * the ping.
 */
async function queuePing(
  transaction: Transaction,
  context: EndpointCommandContext,
  endpoint: WebhookEndpoint,
): Promise<string> {
  const { id: endpointId, merchantId, installationId } = endpoint;
  const { now, cause, render } = context;
  const ping = { type: "webhook.ping", id: endpointId, installationId, object: endpoint } as const;
  const [eventId = ""] = await insertEvents(transaction, [ping], {
    merchantId,
    now,
    cause,
    render,
    fannedOutAt: now,
  });
  const deliveryId = createId("webhookDelivery", now.getTime());
  await sql`
    insert into webhook_delivery (id, merchant_id, installation_id, event_id, endpoint_id, status,
    next_attempt_at, created_at)
    select ${deliveryId}, ${merchantId}, ${installationId}, ${eventId}, ${endpointId}, 'pending',
      least(${now}::timestamptz, min(next_attempt_at) - interval '1 millisecond'), ${now}::timestamptz
    from webhook_delivery where endpoint_id = ${endpointId} and next_attempt_at is not null`.execute(
    transaction,
  );
  return deliveryId;
}

/** Sends a ping to an endpoint, so that a developer can test the receiver. */
export async function sendTestPingToEndpoint(
  transaction: Transaction,
  context: EndpointCommandContext,
  input: EndpointIdAndExpectedVersion,
): Promise<WebhookEndpoint> {
  const endpoint = await lockEndpoint(transaction, context, input.endpointId);
  if (endpoint.status !== "enabled")
    throw createEndpointConflictFailure("webhook_endpoint_disabled", endpoint);
  requireExpectedEndpointVersion(endpoint, input.expectedVersion);
  await queuePing(transaction, context, endpoint);
  return endpoint;
}
