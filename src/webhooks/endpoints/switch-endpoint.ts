/** Switches an endpoint on and off, and takes it away. What was tried and waits, waits; what was not tried while it is off is skipped. */
import type { Transaction } from "#database/transaction.ts";
import { type EndpointTarget, type EndpointTenant, lockEndpoint, readEndpoint, saveEndpoint } from "./change-endpoint.ts";
import { refuseEndpoint, requireVersion, type WebhookEndpoint } from "./endpoint-aggregate.ts";
import { queuePing } from "./ping.ts";

/** It begins anew: what its receiver did before is forgotten, and a ping goes first. */
export async function enableEndpoint(transaction: Transaction, tenant: EndpointTenant, input: EndpointTarget): Promise<WebhookEndpoint> {
  const before = await lockEndpoint(transaction, tenant, input.endpointId);
  if (before.status === "enabled") throw refuseEndpoint("invalid_state", before, { reason: "already_enabled" });
  requireVersion(before, input.expectedVersion);
  const { now } = tenant;
  await saveEndpoint(transaction, before, { patch: { status: "enabled", disabledReason: null, disabledAt: null }, now });
  await transaction
    .updateTable("webhookEndpointHealth")
    .set({ consecutiveFailures: 0, failingSince: null, failedSinceSuccess: 0, degradedAt: null, probeAt: null })
    .where("endpointId", "=", before.id)
    .execute();
  const endpoint = await readEndpoint(transaction, before.id, now);
  await queuePing(transaction, tenant, endpoint);
  return endpoint;
}

export async function disableEndpoint(transaction: Transaction, tenant: EndpointTenant, input: EndpointTarget): Promise<WebhookEndpoint> {
  const before = await lockEndpoint(transaction, tenant, input.endpointId);
  if (before.status !== "enabled") throw refuseEndpoint("invalid_state", before, { reason: "not_enabled" });
  requireVersion(before, input.expectedVersion);
  const { now } = tenant;
  await saveEndpoint(transaction, before, { patch: { status: "disabled", disabledReason: "manual", disabledAt: now }, now });
  await transaction
    .updateTable("webhookDelivery")
    .set({ status: "skipped", nextAttemptAt: null, finishedAt: now })
    .where("endpointId", "=", before.id)
    .where("status", "=", "pending")
    .execute();
  return readEndpoint(transaction, before.id, now);
}

/** For good. What waits for it is canceled, also what is being sent: its answer is not waited for. Its secrets are erased. */
export async function deleteEndpoint(transaction: Transaction, tenant: EndpointTenant, input: EndpointTarget): Promise<string> {
  const before = await lockEndpoint(transaction, tenant, input.endpointId);
  requireVersion(before, input.expectedVersion);
  const { id } = before;
  const { now } = tenant;
  await saveEndpoint(transaction, before, { patch: { status: "deleted", disabledReason: null, disabledAt: null }, now });
  await transaction.deleteFrom("webhookSecret").where("endpointId", "=", id).execute();
  await transaction
    .updateTable("webhookDelivery")
    .set({ status: "canceled", nextAttemptAt: null, lease: null, finishedAt: now })
    .where("endpointId", "=", id)
    .where("nextAttemptAt", "is not", null)
    .execute();
  return id;
}
