/**
 * The signing secrets of endpoints. The API returns a secret only when the secret is created; the database
 * stores secrets encrypted. The current secret signs webhooks; a replaced secret also signs until it expires.
 * The example requests of an endpoint (signature fixtures) are signed with the same secrets.
 */
import { type RawBuilder, sql } from "kysely";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { createId } from "#foundation/ids.ts";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import {
  createWebhookSecret,
  getWebhookSecretEncryptionContext,
  createWebhookSecretHint,
} from "#webhooks/signatures.ts";
import type {
  WebhookSignatureFixtureEndpoint,
  EndpointWithDecryptedSecrets,
} from "#webhooks/signature-fixture.ts";
import {
  getPreviousValuesOfChangedEndpointFields,
  requireExpectedEndpointVersion,
  type WebhookEndpoint,
} from "./endpoint-aggregate.ts";
import {
  type EndpointIdAndExpectedVersion,
  type EndpointCommandContext,
  lockEndpoint,
  findWebhookEndpointOrThrow,
  saveEndpointPatch,
} from "./change-endpoint.ts";

export const secretOverlapHours = { max: 168, usual: 24 } as const;
const hourMs = 3_600_000;

export interface NewWebhookSecret {
  readonly version: number;
  /** The new secret, `whsec_…`. The API returns it only once. */
  readonly value: string;
}

export interface EndpointWithNewSecret {
  readonly endpoint: WebhookEndpoint;
  readonly secret: NewWebhookSecret;
}

export async function insertWebhookSecret(
  transaction: Transaction,
  { keyring, now }: { readonly keyring: EncryptionKeyring; readonly now: Date },
  { endpointId, version }: { readonly endpointId: string; readonly version: number },
): Promise<NewWebhookSecret> {
  const [id, value] = [createId("webhookSecret", now.getTime()), createWebhookSecret()];
  const sealed = keyring.seal(value, getWebhookSecretEncryptionContext(id));
  await transaction
    .insertInto("webhookSecret")
    .values({
      id,
      endpointId,
      version,
      ...sealed,
      hint: createWebhookSecretHint(value),
      createdAt: now,
      expiresAt: null,
    })
    .execute();
  return { version, value };
}

/**
 * Replaces the current signing secret of an endpoint by a new one. For the next `overlapHours` hours,
 * webhooks are signed with both secrets. A secret from an earlier rotation that has not expired yet is
 * deleted, so that an endpoint never has more than two secrets.
 */
export async function rotateWebhookSecret(
  transaction: Transaction,
  context: EndpointCommandContext,
  input: EndpointIdAndExpectedVersion & { readonly overlapHours?: number | null | undefined },
): Promise<EndpointWithNewSecret> {
  const before = await lockEndpoint(transaction, context, input.endpointId);
  requireExpectedEndpointVersion(before, input.expectedVersion);
  const { now } = context;
  const endsAt = new Date(now.getTime() + (input.overlapHours ?? secretOverlapHours.usual) * hourMs);
  const ofEndpoint = transaction.deleteFrom("webhookSecret").where("endpointId", "=", before.id);
  await ofEndpoint.where("expiresAt", "is not", null).execute();
  const current = await transaction
    .updateTable("webhookSecret")
    .set({ expiresAt: endsAt })
    .where("endpointId", "=", before.id)
    .returning("version")
    .executeTakeFirstOrThrow();
  if (endsAt <= now) await ofEndpoint.execute();
  const secret = await insertWebhookSecret(transaction, context, {
    endpointId: before.id,
    version: current.version + 1,
  });
  await saveEndpointPatch(transaction, before, { patch: {}, now });
  const endpoint = await findWebhookEndpointOrThrow(transaction, before.id, now);
  const { id, installationId } = endpoint;
  context.outbox.append({
    type: "webhook_endpoint.secret_rotated",
    id,
    installationId,
    previous: getPreviousValuesOfChangedEndpointFields(before, endpoint),
    object: endpoint,
  });
  return { endpoint, secret };
}

interface SealedRow {
  readonly id: string;
  readonly version: number;
  /** The encrypted signing secret in base64. */
  readonly sealed: string;
  readonly dataKey: string;
  readonly keyId: string;
}

/** A webhook endpoint with its signing secrets, encrypted as in the database. */
export interface EndpointWithEncryptedSecrets {
  readonly endpoint: WebhookSignatureFixtureEndpoint;
  readonly secrets: readonly SealedRow[];
}

/**
 * Finds webhook endpoints with their encrypted signing secrets. The keys of the result are endpoint ids. The
 * result includes disabled endpoints and excludes deleted endpoints.
 */
export async function findEndpointsWithEncryptedSecrets(
  reader: DatabaseOrTransaction,
  endpointIds: readonly string[],
  now: Date,
): Promise<Map<string, EndpointWithEncryptedSecrets>> {
  const { rows } = await sql<WebhookSignatureFixtureEndpoint & Pick<EndpointWithEncryptedSecrets, "secrets">>`
    select w.id, w.version, w.merchant_id, m.mode, ${sealedSecrets(now)} as secrets
    from webhook_endpoint w join merchant m on m.id = w.merchant_id
    where w.id = any(${endpointIds}::text[]) and w.status <> 'deleted'`.execute(reader);
  return new Map(rows.map(({ secrets, ...endpoint }) => [endpoint.id, { endpoint, secrets }]));
}

const sealedSecrets = (now: Date): RawBuilder<readonly SealedRow[]> => sql<readonly SealedRow[]>`(
  select coalesce(json_agg(json_build_object('id', s.id, 'version', s.version, 'sealed', encode(s.sealed,
  'base64'),
    'dataKey', encode(s.data_key, 'base64'), 'keyId', s.key_id)), '[]')
  from webhook_secret s where s.endpoint_id = w.id and (s.expires_at is null
  or s.expires_at > ${now}::timestamptz))`;

export function decryptEndpointSecrets(
  { endpoint, secrets }: EndpointWithEncryptedSecrets,
  keyring: EncryptionKeyring,
  now: Date,
): EndpointWithDecryptedSecrets {
  const opened = secrets.map(({ id, version, sealed, dataKey, keyId }) => {
    const row = { sealed: Buffer.from(sealed, "base64"), dataKey: Buffer.from(dataKey, "base64"), keyId };
    return { version, value: keyring.open(row, getWebhookSecretEncryptionContext(id)).toString("utf8") };
  });
  return { endpoint, secrets: opened, now };
}
