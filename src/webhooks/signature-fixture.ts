/**
 * Signature fixtures: signed example requests with which developers test a signature verifier. There is one
 * live request, which is signed with the secrets of the endpoint, and test vectors with public secrets, which
 * are the same everywhere. The caller cannot choose the signed content; otherwise the fixture could be used
 * to forge webhooks.
 */
import { createId } from "#foundation/ids.ts";
import { signWebhook } from "./signatures.ts";
import {
  signatureVectors,
  type WebhookSignatureTestVector,
  encodeTextAsBase64,
} from "./signature-vectors.ts";

const toleranceSeconds = 300;

export interface WebhookSignatureFixtureRequest {
  readonly method: "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyUtf8: string;
  readonly bodyBase64: string;
}

export interface SignedExampleWebhookRequest {
  /**
   * The versions of the secrets that have signed the example request, newest first, in the order of the
   * signatures.
   */
  readonly secretVersions: readonly number[];
  readonly request: WebhookSignatureFixtureRequest;
  readonly expires: string;
}

export interface SignatureFixture {
  readonly endpointId: string;
  readonly algorithm: "HMAC-SHA256";
  readonly scheme: "standard-webhooks/1.0.0";
  readonly signedContentTemplate: "{webhook-id}.{webhook-timestamp}.{body}";
  readonly secretEncoding: "base64 after the whsec_ prefix";
  readonly signatureEncoding: "base64";
  readonly toleranceSeconds: number;
  readonly serverTime: string;
  readonly headers: {
    readonly id: "webhook-id";
    readonly timestamp: "webhook-timestamp";
    readonly signature: "webhook-signature";
  };
  readonly live: SignedExampleWebhookRequest;
  readonly vectors: readonly WebhookSignatureTestVector[];
}

export interface WebhookSignatureFixtureEndpoint {
  readonly id: string;
  readonly version: number;
  readonly merchantId: string;
  readonly mode: "live" | "test";
}

export interface EndpointWithDecryptedSecrets {
  readonly endpoint: WebhookSignatureFixtureEndpoint;
  /** The secrets with which webhooks to the endpoint are currently signed. */
  readonly secrets: readonly { readonly version: number; readonly value: string }[];
  readonly now: Date;
}

export function createWebhookSignatureFixture({
  endpoint,
  secrets,
  now,
}: EndpointWithDecryptedSecrets): SignatureFixture {
  return {
    endpointId: endpoint.id,
    algorithm: "HMAC-SHA256",
    scheme: "standard-webhooks/1.0.0",
    signedContentTemplate: "{webhook-id}.{webhook-timestamp}.{body}",
    secretEncoding: "base64 after the whsec_ prefix",
    signatureEncoding: "base64",
    toleranceSeconds,
    serverTime: now.toISOString(),
    headers: { id: "webhook-id", timestamp: "webhook-timestamp", signature: "webhook-signature" },
    live: createSignedExampleWebhookRequest({ endpoint, secrets, now }),
    vectors: signatureVectors,
  };
}

/**
 * Creates a signed example request that has no consequences for a receiver. No endpoint ever receives an
 * event of its type, and the subject of the event is the endpoint itself.
 */
export function createSignedExampleWebhookRequest({
  endpoint,
  secrets,
  now,
}: EndpointWithDecryptedSecrets): SignedExampleWebhookRequest {
  const newestFirst = secrets.toSorted((one, other) => other.version - one.version);
  const id = createId("event", now.getTime());
  const timestampSeconds = Math.floor(now.getTime() / 1000);
  const body = liveBody(endpoint, id, now);
  const signature = signWebhook({
    id,
    timestampSeconds,
    body,
    secrets: newestFirst.map(({ value }) => value),
  });
  return {
    secretVersions: newestFirst.map(({ version }) => version),
    request: {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": String(timestampSeconds),
        "webhook-signature": signature,
        "webhook-event-type": "fixture.signature",
      },
      bodyUtf8: body,
      bodyBase64: encodeTextAsBase64(body),
    },
    expires: new Date((timestampSeconds + toleranceSeconds) * 1000).toISOString(),
  };
}

function liveBody(
  { id, version, merchantId, mode }: WebhookSignatureFixtureEndpoint,
  eventId: string,
  now: Date,
): string {
  return JSON.stringify({
    id: eventId,
    type: "fixture.signature",
    schemaVersion: 1,
    apiVersion: "v1",
    timestamp: now.toISOString(),
    mode,
    merchantId,
    subject: { type: "webhook_endpoint", id, version },
    data: { object: { id }, previous: null, truncated: false },
    cause: { operationId: null, actor: "system", requestId: null },
  });
}
