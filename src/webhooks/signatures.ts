/**
 * Standard Webhooks 1.0.0: HMAC-SHA256 over `{webhook-id}.{webhook-timestamp}.{body}`, the body byte for byte
 * as it is sent. While a secret is being replaced both sign, so that a receiver with either of them
 * verifies.
 */
import { createHmac, randomBytes } from "node:crypto";
import type { Place } from "#foundation/encryption.ts";

export interface WebhookToSign {
  /** `webhook-id`: the event's. */
  readonly id: string;
  /** Unix time of this attempt. */
  readonly timestampSeconds: number;
  readonly body: Uint8Array | string;
  /** One or two; the newest first. */
  readonly secrets: readonly string[];
}

const secretPrefix = "whsec_";
const secretBytes = 32;

/** What a secret is sealed for. */
export const webhookSecretSealContext = (id: string): Place => ({
  table: "webhook_secret",
  column: "sealed",
  rowId: id,
});

/** The value of `webhook-signature`. */
export function signWebhook({ id, timestampSeconds, body, secrets }: WebhookToSign): string {
  if (secrets.length === 0 || secrets.length > 2)
    throw new Error(`A webhook is signed by one or two secrets, not by ${secrets.length}.`);
  const content = signedContent({ id, timestamp: String(timestampSeconds), body });
  return secrets.map((secret) => toSignature(computeMac(content, secret))).join(" ");
}

export function signedContent({
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

export function computeMac(content: Uint8Array, secret: string): Buffer {
  return createHmac("sha256", keyOf(secret)).update(content).digest();
}

export function toSignature(mac: Buffer): string {
  return `v1,${mac.toString("base64")}`;
}

export function createWebhookSecret(): string {
  return `${secretPrefix}${randomBytes(secretBytes).toString("base64")}`;
}

/** Enough to tell two secrets apart, too little to be one. */
export function webhookSecretHint(secret: string): string {
  return secret.slice(-4);
}

function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.slice(secretPrefix.length), "base64");
  // Node skips what is not base64 and signs with nothing at all; nobody would ever verify that.
  if (!secret.startsWith(secretPrefix) || key.length < 24)
    throw new Error("A webhook's secret is whsec_ and at least 24 bytes in base64.");
  return key;
}
