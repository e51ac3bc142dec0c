/** A new endpoint of an installation, with its first secret. What it is sent first is a ping. */
import { createId } from "#foundation/ids.ts";
import type { Transaction } from "#database/transaction.ts";
import { normalizeEndpointUrl } from "#webhooks/endpoint-url.ts";
import { type EndpointTenant, readEndpoint } from "./change-endpoint.ts";
import { type EndpointFields, requireEndpointFields } from "./endpoint-input.ts";
import { lockInstallation, requireInstalled, requirePlace, requireUrlOfMode } from "./endpoint-place.ts";
import { type EndpointWithSecret, insertSecret } from "./endpoint-secrets.ts";
import { queuePing } from "./ping.ts";

export interface NewEndpoint extends EndpointFields {
  readonly installationId: string;
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly payloadMode?: "snapshot" | "thin" | null | undefined;
  readonly enabled?: boolean | null | undefined;
}

export async function createEndpoint(transaction: Transaction, tenant: EndpointTenant, input: NewEndpoint): Promise<EndpointWithSecret> {
  requireEndpointFields(input, tenant);
  const installation = await lockInstallation(transaction, tenant, input.installationId);
  requireUrlOfMode(input.url, tenant, installation);
  requireInstalled(installation);
  await requirePlace(transaction, installation, { url: input.url });
  const id = await insertEndpoint(transaction, tenant, input);
  const secret = await insertSecret(transaction, tenant, { endpointId: id, version: 1 });
  const endpoint = await readEndpoint(transaction, id, tenant.now);
  if (endpoint.status === "enabled") await queuePing(transaction, tenant, endpoint);
  return { endpoint, secret };
}

async function insertEndpoint(transaction: Transaction, { merchantId, now }: EndpointTenant, input: NewEndpoint): Promise<string> {
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
      createdAt: now,
      updatedAt: now,
    })
    .execute();
  await transaction.insertInto("webhookEndpointHealth").values({ endpointId: id, installationId, tokensAt: now }).execute();
  return id;
}
