/**
 * Makes one attempt of a webhook delivery: decrypts the signing secrets, signs the stored body and sends the
 * request.
 */
import { hash, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { type SpanOptions, runInSpan } from "#foundation/tracing.ts";
import type { DeliverySendResult, WebhookSender } from "#webhooks/safe-request.ts";
import { getWebhookSecretEncryptionContext, signWebhook } from "#webhooks/signatures.ts";
import type { ClaimedDelivery, EncryptedWebhookSecret } from "./claim-deliveries.ts";

export interface DeliverySendContext {
  readonly sender: WebhookSender;
  readonly decrypt: WebhookSecretDecryptFunction;
  readonly now: Date;
  /**
   * The signal that is aborted when the process stops. `sendDelivery` then rejects, and there is no result to
   * record.
   */
  readonly signal: AbortSignal;
}

const userAgent = "CommerceGateway-Webhooks/1";

export function sendDelivery(
  delivery: ClaimedDelivery,
  { sender, decrypt, now, signal }: DeliverySendContext,
): Promise<DeliverySendResult> {
  const { url, body, mode } = delivery;
  const traceId = traceIdOf(delivery.id);
  return runInSpan(spanOf(delivery, traceId), async (span) => {
    const secrets = delivery.secrets.map(decrypt);
    const signed = createWebhookHeaders({ ...delivery, deliveryId: delivery.id, secrets, now });
    const headers = span === undefined ? signed : { ...signed, traceparent: span.traceparent };
    const result = await sender.send({ url, body, headers, isLoopbackAllowed: mode === "test", signal });
    span?.set({
      "http.response.status_code": result.httpStatus ?? undefined,
      "error.type": result.errorCode ?? undefined,
    });
    if (result.errorCode !== null) span?.markFailed();
    return result;
  });
}

/**
 * Returns the options of the tracing span of a delivery attempt. The span is linked to the request that
 * caused the event, and is not its child, because that request did not wait for the delivery. The span does
 * not contain the URL, which may contain secrets of the receiver.
 */
function spanOf(
  { id, eventId, eventType, endpointId, installationId, attemptNumber, traceparent }: ClaimedDelivery,
  traceId: string,
): SpanOptions {
  return {
    name: "webhook attempt",
    kind: "client",
    ownTrace: { id: traceId },
    causes: traceparent === null ? [] : [traceparent],
    attributes: {
      "http.request.method": "POST",
      "http.request.resend_count": attemptNumber - 1,
      "commerce.webhook.delivery.id": id,
      "commerce.webhook.endpoint.id": endpointId,
      "commerce.event.id": eventId,
      "commerce.event.type": eventType,
      "commerce.installation.id": installationId,
    },
  };
}

interface SignedRequest {
  readonly eventId: string;
  readonly eventType: string;
  readonly deliveryId: string;
  readonly installationId: string;
  readonly attemptNumber: number;
  readonly isReplay: boolean;
  readonly body: string;
  /** The one or two secrets that sign the webhook, newest first. */
  readonly secrets: readonly string[];
  readonly now: Date;
}

/** Creates the HTTP headers of a webhook request. */
export function createWebhookHeaders({
  eventId,
  eventType,
  deliveryId,
  installationId,
  attemptNumber,
  isReplay,
  body,
  secrets,
  now,
}: SignedRequest): Record<string, string> {
  const timestampSeconds = Math.floor(now.getTime() / 1000);
  return {
    "content-type": "application/json",
    "user-agent": userAgent,
    "webhook-id": eventId,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": signWebhook({ id: eventId, timestampSeconds, body, secrets }),
    "webhook-event-type": eventType,
    "webhook-delivery-id": deliveryId,
    "webhook-installation-id": installationId,
    "webhook-attempt": String(attemptNumber),
    "webhook-replay": String(isReplay),
    traceparent: `00-${traceIdOf(deliveryId)}-${randomBytes(8).toString("hex")}-00`,
  };
}

export type WebhookSecretDecryptFunction = (secret: EncryptedWebhookSecret) => string;

/** Milliseconds for which a decrypted secret stays in memory, and the largest number of such secrets. */
const [decryptedMs, decryptedMax] = [10_000, 2_000];

/**
 * Returns the function that decrypts signing secrets. Keeps decrypted secrets in memory for a few seconds,
 * because decryption takes as long as signing, and one endpoint often receives several deliveries in a row.
 */
export function createWebhookSecretDecryptor(keyring: EncryptionKeyring): WebhookSecretDecryptFunction {
  const decrypted = new LRUCache<string, string>({ max: decryptedMax, ttl: decryptedMs });
  return ({ id, sealed, dataKey, keyId }) => {
    const cacheKey = `${id} ${keyId} ${dataKey} ${sealed}`;
    const known = decrypted.get(cacheKey);
    if (known !== undefined) return known;
    const bytes = { sealed: Buffer.from(sealed, "base64"), dataKey: Buffer.from(dataKey, "base64"), keyId };
    const secret = keyring.open(bytes, getWebhookSecretEncryptionContext(id)).toString("utf8");
    decrypted.set(cacheKey, secret);
    return secret;
  };
}

/**
 * Returns the W3C trace id of a delivery. All attempts of a delivery belong to this one trace, even if
 * different processes make the attempts.
 */
function traceIdOf(deliveryId: string): string {
  return hash("sha256", deliveryId).slice(0, 32);
}
