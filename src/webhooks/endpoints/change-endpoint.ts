/** For whom an endpoint is changed, and what every change of one has in common: it holds the row, and tells once what it has become. */
import type { SelectQueryBuilder } from "kysely";
import type { Keyring } from "#foundation/encryption.ts";
import { fail } from "#foundation/failure.ts";
import { isCleanText } from "#foundation/text.ts";
import type { Tables } from "#database/tables.ts";
import type { Transaction } from "#database/transaction.ts";
import type { Circumstances, Outbox, RenderSubject } from "#webhooks/outbox.ts";
import type { WebhookEndpoint } from "./endpoint-aggregate.ts";
import type { InputRules } from "./endpoint-input.ts";
import { findEndpoints } from "./find-endpoints.ts";

export interface EndpointTenant extends Circumstances, InputRules {
  /** The installation that asks; null: who runs the merchant, for any of its installations. */
  readonly installationId: string | null;
  readonly keyring: Keyring;
  readonly outbox: Outbox;
  readonly render: RenderSubject;
}

/** What names an endpoint, and what the caller has seen of it. */
export interface EndpointTarget {
  readonly endpointId: string;
  readonly expectedVersion?: number | null | undefined;
}

type Found = Pick<WebhookEndpoint, "id" | "installationId">;

/** What is somebody else's, or was deleted, is not there. */
export function ownEndpoint(
  transaction: Transaction,
  { merchantId, installationId }: Pick<EndpointTenant, "merchantId" | "installationId">,
  endpointId: string,
): SelectQueryBuilder<Tables, "webhookEndpoint", Found> {
  return transaction
    .selectFrom("webhookEndpoint")
    .select(["id", "installationId"])
    .where("id", "=", isCleanText(endpointId) ? endpointId : "")
    .where("merchantId", "=", merchantId)
    .where("status", "<>", "deleted")
    .$if(installationId !== null, (query) => query.where("installationId", "=", installationId ?? ""));
}

/** `no key`: deliveries that only refer to it need not wait. */
export async function lockEndpoint(transaction: Transaction, tenant: EndpointTenant, endpointId: string): Promise<WebhookEndpoint> {
  const found = await ownEndpoint(transaction, tenant, endpointId).forNoKeyUpdate().executeTakeFirst();
  if (found === undefined) throw fail("webhook_endpoint_not_found");
  return readEndpoint(transaction, found.id, tenant.now);
}

/** One that is there. */
export async function readEndpoint(transaction: Transaction, id: string, now: Date): Promise<WebhookEndpoint> {
  const endpoint = (await findEndpoints(transaction, [id], now)).get(id);
  if (endpoint === undefined) throw new Error(`The webhook endpoint ${id} is not there.`);
  return endpoint;
}

export interface EndpointPatch {
  readonly url?: string;
  readonly urlNormalized?: string;
  readonly description?: string | null;
  readonly eventTypes?: string[];
  readonly payloadMode?: "snapshot" | "thin";
  readonly maxPerSecond?: number | null;
  readonly metadata?: Record<string, string>;
  readonly status?: "enabled" | "disabled" | "deleted";
  readonly disabledReason?: "manual" | null;
  readonly disabledAt?: Date | null;
}

/** Raises the version, once. */
export async function saveEndpoint(
  transaction: Transaction,
  { id, version }: WebhookEndpoint,
  { patch, now }: { patch: EndpointPatch; now: Date },
): Promise<void> {
  const { metadata, ...rest } = patch;
  await transaction
    .updateTable("webhookEndpoint")
    .set({ ...rest, ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }), version: version + 1, updatedAt: now })
    .where("id", "=", id)
    .execute();
}
