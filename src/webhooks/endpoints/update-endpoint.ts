/** Changes where an endpoint is, what it listens to and how it is sent. What is on its way goes to the new URL. */
import { fail } from "#foundation/failure.ts";
import type { Transaction } from "#database/transaction.ts";
import { normalizeEndpointUrl } from "#webhooks/endpoint-url.ts";
import {
  type EndpointPatch,
  type EndpointTarget,
  type EndpointTenant,
  lockEndpoint,
  ownEndpoint,
  readEndpoint,
  saveEndpoint,
} from "./change-endpoint.ts";
import { requireVersion, type WebhookEndpoint } from "./endpoint-aggregate.ts";
import { type EndpointFields, requireEndpointFields } from "./endpoint-input.ts";
import { lockInstallation, requirePlace, requireUrlOfMode } from "./endpoint-place.ts";

/** What is left out stays. */
export interface EndpointChange extends EndpointTarget, EndpointFields {
  readonly payloadMode?: "snapshot" | "thin" | null | undefined;
}

export async function updateEndpoint(transaction: Transaction, tenant: EndpointTenant, input: EndpointChange): Promise<WebhookEndpoint> {
  requireEndpointFields(input, tenant);
  const { url, endpointId } = input;
  const before =
    typeof url === "string" ? await lockWithPlace(transaction, tenant, { endpointId, url }) : await lockEndpoint(transaction, tenant, endpointId);
  requireVersion(before, input.expectedVersion);
  const patch = patchOf(before, input);
  if (Object.keys(patch).length === 0) return before;
  await saveEndpoint(transaction, before, { patch, now: tenant.now });
  return readEndpoint(transaction, before.id, tenant.now);
}

/** The installation first: two endpoints that want the same URL follow each other. */
async function lockWithPlace(
  transaction: Transaction,
  tenant: EndpointTenant,
  { endpointId, url }: { readonly endpointId: string; readonly url: string },
): Promise<WebhookEndpoint> {
  const found = await ownEndpoint(transaction, tenant, endpointId).executeTakeFirst();
  if (found === undefined) throw fail("webhook_endpoint_not_found");
  const installation = await lockInstallation(transaction, tenant, found.installationId);
  const endpoint = await lockEndpoint(transaction, tenant, endpointId);
  requireUrlOfMode(url, tenant, installation);
  await requirePlace(transaction, installation, { url, except: endpoint.id });
  return endpoint;
}

/** What is different from what it is. Null takes a description or a limit away, and leaves what must be there. */
function patchOf(before: WebhookEndpoint, { url, description, eventTypes, payloadMode, maxPerSecond, metadata }: EndpointChange): EndpointPatch {
  const wanted: EndpointPatch = {
    ...(typeof url === "string" ? { url } : {}),
    ...(description === undefined ? {} : { description }),
    ...(eventTypes === undefined || eventTypes === null ? {} : { eventTypes: [...eventTypes] }),
    ...(payloadMode === undefined || payloadMode === null ? {} : { payloadMode }),
    ...(maxPerSecond === undefined ? {} : { maxPerSecond }),
    ...(metadata === undefined ? {} : { metadata: { ...metadata } }),
  };
  const changed: EndpointPatch = Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => !isSame(value, before[name as keyof typeof before])),
  );
  return changed.url === undefined ? changed : { ...changed, urlNormalized: normalizeEndpointUrl(changed.url) };
}

/** The database keeps the keys of a map in an order of its own. */
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
