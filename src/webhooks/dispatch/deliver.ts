/** One attempt of one delivery: opens the secrets, signs the body as it was written, sends it. */
import { createHash, randomBytes } from "node:crypto";
import type { Keyring } from "#foundation/encryption.ts";
import type { AttemptResult, SafeSender } from "#webhooks/safe-request.ts";
import { placeOfSecret, sign } from "#webhooks/signatures.ts";
import type { ClaimedDelivery, SealedSecret } from "./claim-deliveries.ts";

export interface Delivering {
  readonly sender: SafeSender;
  readonly keyring: Keyring;
  readonly now: Date;
  /** The process ends: rejects, and nothing is known. */
  readonly signal: AbortSignal;
}

const userAgent = "CommerceGateway-Webhooks/1";

export function deliver(delivery: ClaimedDelivery, { sender, keyring, now, signal }: Delivering): Promise<AttemptResult> {
  const { url, body, mode } = delivery;
  return sender.send({ url, body, headers: headersOf(delivery, { keyring, now }), isLoopbackAllowed: mode === "test", signal });
}

function headersOf(delivery: ClaimedDelivery, { keyring, now }: Pick<Delivering, "keyring" | "now">): Record<string, string> {
  const { eventId, eventType, id, installationId, attemptNumber, isReplay, body } = delivery;
  const timestampSeconds = Math.floor(now.getTime() / 1000);
  const secrets = delivery.secrets.map((secret) => openSecret(keyring, secret));
  return {
    "content-type": "application/json",
    "user-agent": userAgent,
    "webhook-id": eventId,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": sign({ id: eventId, timestampSeconds, body, secrets }),
    "webhook-event-type": eventType,
    "webhook-delivery-id": id,
    "webhook-installation-id": installationId,
    "webhook-attempt": String(attemptNumber),
    "webhook-replay": String(isReplay),
    traceparent: traceOf(id),
  };
}

export function openSecret(keyring: Keyring, { id, sealed, dataKey, keyId }: SealedSecret): string {
  const decoded = { sealed: Buffer.from(sealed, "base64"), dataKey: Buffer.from(dataKey, "base64"), keyId };
  return keyring.open(decoded, placeOfSecret(id)).toString("utf8");
}

/** W3C Trace Context: all attempts of a delivery are one trace, each a span of its own. */
function traceOf(deliveryId: string): string {
  const trace = createHash("sha256").update(deliveryId).digest("hex").slice(0, 32);
  return `00-${trace}-${randomBytes(8).toString("hex")}-00`;
}
