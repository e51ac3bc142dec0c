/** The secrets of endpoints: shown once, when they are made, and kept sealed. The current one signs, and the one before until its time is over. */
import type { Keyring } from "#foundation/encryption.ts";
import { createId } from "#foundation/ids.ts";
import type { Transaction } from "#database/transaction.ts";
import { createSecret, placeOfSecret, secretHint } from "#webhooks/signatures.ts";
import { requireVersion, previousOf, type WebhookEndpoint } from "./endpoint-aggregate.ts";
import { type EndpointTarget, type EndpointTenant, lockEndpoint, readEndpoint, saveEndpoint } from "./change-endpoint.ts";

export const overlapHours = { max: 168, usual: 24 } as const;
const hourMs = 3_600_000;

export interface SecretShown {
  readonly version: number;
  /** `whsec_…`: nobody will see it again. */
  readonly value: string;
}

export interface EndpointWithSecret {
  readonly endpoint: WebhookEndpoint;
  readonly secret: SecretShown;
}

export async function insertSecret(
  transaction: Transaction,
  { keyring, now }: { readonly keyring: Keyring; readonly now: Date },
  { endpointId, version }: { readonly endpointId: string; readonly version: number },
): Promise<SecretShown> {
  const [id, value] = [createId("webhookSecret", now.getTime()), createSecret()];
  const sealed = keyring.seal(value, placeOfSecret(id));
  await transaction
    .insertInto("webhookSecret")
    .values({ id, endpointId, version, ...sealed, hint: secretHint(value), createdAt: now, expiresAt: null })
    .execute();
  return { version, value };
}

/** The current one goes on signing beside the new one for so long. Only two ever do: one that was already being replaced ends at once. */
export async function rotateSecret(
  transaction: Transaction,
  tenant: EndpointTenant,
  input: EndpointTarget & { readonly overlapHours?: number | null | undefined },
): Promise<EndpointWithSecret> {
  const before = await lockEndpoint(transaction, tenant, input.endpointId);
  requireVersion(before, input.expectedVersion);
  const { now } = tenant;
  const endsAt = new Date(now.getTime() + (input.overlapHours ?? overlapHours.usual) * hourMs);
  const ofEndpoint = transaction.deleteFrom("webhookSecret").where("endpointId", "=", before.id);
  await ofEndpoint.where("expiresAt", "is not", null).execute();
  const current = await transaction
    .updateTable("webhookSecret")
    .set({ expiresAt: endsAt })
    .where("endpointId", "=", before.id)
    .returning("version")
    .executeTakeFirstOrThrow();
  if (endsAt <= now) await ofEndpoint.execute();
  const secret = await insertSecret(transaction, tenant, { endpointId: before.id, version: current.version + 1 });
  await saveEndpoint(transaction, before, { patch: {}, now });
  const endpoint = await readEndpoint(transaction, before.id, now);
  const { id, installationId } = endpoint;
  tenant.outbox.append({ type: "webhook_endpoint.secret_rotated", id, installationId, previous: previousOf(before, endpoint), thing: endpoint });
  return { endpoint, secret };
}
