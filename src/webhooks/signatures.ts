/**
 * Signs webhooks as Standard Webhooks 1.0.0 defines: HMAC-SHA256 over
 * `{webhook-id}.{webhook-timestamp}.{body}`, with the body exactly as sent. While a secret is being replaced,
 * a webhook has two signatures, one with the old secret and one with the new secret, so that a receiver may
 * verify with either secret.
 */
import { createHmac, randomBytes } from "node:crypto";
import type { EncryptionContext } from "#foundation/encryption.ts";

export interface WebhookSignatureInput {
  /** The event id, which the webhook request contains in the header `webhook-id`. */
  readonly id: string;
  /** The Unix time of this delivery attempt, in seconds. */
  readonly timestampSeconds: number;
  readonly body: Uint8Array | string;
  /** The one or two secrets that sign the webhook, newest first. */
  readonly secrets: readonly string[];
}

const secretPrefix = "whsec_";
const secretBytes = 32;

/**
 * Returns the table, column and row in which an encrypted webhook secret is stored. The secret can be
 * decrypted only with these values.
 */
export const getWebhookSecretEncryptionContext = (id: string): EncryptionContext => ({
  table: "webhook_secret",
  column: "sealed",
  rowId: id,
});

/** Returns the value of the header `webhook-signature` of a webhook request. */
export function signWebhook({ id, timestampSeconds, body, secrets }: WebhookSignatureInput): string {
  if (secrets.length === 0 || secrets.length > 2)
    throw new Error(`A webhook needs one or two secrets to sign; got ${secrets.length}.`);
  const content = buildSignedWebhookContent({ id, timestamp: String(timestampSeconds), body });
  return secrets
    .map((secret) => formatWebhookSignature(computeWebhookSignatureHmac(content, secret)))
    .join(" ");
}

export function buildSignedWebhookContent({
  id,
  timestamp,
  body,
}: {
  readonly id: string;
  readonly timestamp: string;
  readonly body: Uint8Array | string;
}): Buffer {
  return Buffer.concat([
    Buffer.from(`${id}.${timestamp}.`),
    typeof body === "string" ? Buffer.from(body) : body,
  ]);
}

export function computeWebhookSignatureHmac(content: Uint8Array, secret: string): Buffer {
  return createHmac("sha256", keyOf(secret)).update(content).digest();
}

export function formatWebhookSignature(mac: Buffer): string {
  return `v1,${mac.toString("base64")}`;
}

export function createWebhookSecret(): string {
  return `${secretPrefix}${randomBytes(secretBytes).toString("base64")}`;
}

/**
 * Returns the last four characters of a secret. They are enough to distinguish two secrets of an endpoint,
 * and too few to guess a secret.
 */
export function createWebhookSecretHint(secret: string): string {
  return secret.slice(-4);
}

function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.slice(secretPrefix.length), "base64");
  // The base64 text of the secret is checked, because Node ignores invalid characters when it decodes base64.
  // Without this check, a malformed secret could give an empty key, with which the webhook would be signed.
  if (!secret.startsWith(secretPrefix) || key.length < 24)
    throw new Error('A webhook secret must be "whsec_" and at least 24 bytes in base64.');
  return key;
}
