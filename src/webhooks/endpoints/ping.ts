/** `webhook.ping` goes to one endpoint alone, whatever it listens to: it has its delivery from the start, and is fanned out to nobody else. */
import { createId } from "#foundation/ids.ts";
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { writeEvents } from "#webhooks/outbox.ts";
import { type EndpointTarget, type EndpointTenant, lockEndpoint } from "./change-endpoint.ts";
import { refuseEndpoint, requireVersion, type WebhookEndpoint } from "./endpoint-aggregate.ts";

/** It is sent before whatever else waits for the endpoint. */
export async function queuePing(transaction: Transaction, tenant: EndpointTenant, endpoint: WebhookEndpoint): Promise<string> {
  const { id: endpointId, merchantId, installationId } = endpoint;
  const { now, cause, render } = tenant;
  const ping = { type: "webhook.ping", id: endpointId, installationId, thing: endpoint } as const;
  const [eventId = ""] = await writeEvents(transaction, [ping], { merchantId, now, cause, render, fannedOutAt: now });
  const deliveryId = createId("webhookDelivery", now.getTime());
  await sql`
    insert into webhook_delivery (id, merchant_id, installation_id, event_id, endpoint_id, status, next_attempt_at, created_at)
    select ${deliveryId}, ${merchantId}, ${installationId}, ${eventId}, ${endpointId}, 'pending',
      least(${now}::timestamptz, min(next_attempt_at) - interval '1 millisecond'), ${now}::timestamptz
    from webhook_delivery where endpoint_id = ${endpointId} and next_attempt_at is not null`.execute(transaction);
  return deliveryId;
}

/** To see whether a receiver works. */
export async function testEndpoint(transaction: Transaction, tenant: EndpointTenant, input: EndpointTarget): Promise<WebhookEndpoint> {
  const endpoint = await lockEndpoint(transaction, tenant, input.endpointId);
  if (endpoint.status !== "enabled") throw refuseEndpoint("webhook_endpoint_disabled", endpoint);
  requireVersion(endpoint, input.expectedVersion);
  await queuePing(transaction, tenant, endpoint);
  return endpoint;
}
