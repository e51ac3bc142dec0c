/**
 * Signed example requests with which developers test a signature verifier: one live request signed with the
 * secrets of the endpoint, and test vectors with public secrets that are the same everywhere. Nothing here
 * signs content that the caller chooses, because that would be a signing oracle.
 */
import { createHash } from "node:crypto";
import { createId } from "#foundation/ids.ts";
import { computeMac, signWebhook, signedContent, toSignature } from "./signatures.ts";

const toleranceSeconds = 300;

export interface FixtureRequest {
  readonly method: "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyUtf8: string;
  readonly bodyBase64: string;
}

export interface LiveFixture {
  /** The versions of the signing secrets, newest first, in the order of the signatures. */
  readonly secretVersions: readonly number[];
  readonly request: FixtureRequest;
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
  readonly live: LiveFixture;
  readonly vectors: readonly SignatureVector[];
}

export interface FixtureEndpoint {
  readonly id: string;
  readonly version: number;
  readonly merchantId: string;
  readonly mode: "live" | "test";
}

export interface FixtureSource {
  readonly endpoint: FixtureEndpoint;
  /** The secrets that sign now. */
  readonly secrets: readonly { readonly version: number; readonly value: string }[];
  readonly now: Date;
}

export function createSignatureFixture({ endpoint, secrets, now }: FixtureSource): SignatureFixture {
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
    live: createLiveFixture({ endpoint, secrets, now }),
    vectors: signatureVectors,
  };
}

/**
 * Creates a signed request that has no effect: its event type is never delivered, and its subject is the
 * endpoint itself.
 */
export function createLiveFixture({ endpoint, secrets, now }: FixtureSource): LiveFixture {
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
      bodyBase64: toBase64(body),
    },
    expires: new Date((timestampSeconds + toleranceSeconds) * 1000).toISOString(),
  };
}

function liveBody({ id, version, merchantId, mode }: FixtureEndpoint, eventId: string, now: Date): string {
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

export interface SignatureVector {
  readonly name: string;
  readonly purpose: string;
  /** The secret that the verifier is configured with. */
  readonly secret: string;
  /** The time of the verifier, in Unix seconds. */
  readonly now: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyUtf8: string;
  readonly bodyBase64: string;
  readonly bodySha256Hex: string;
  /**
   * The content that a verifier signs to check the request. If the request lacks the id, the content has the
   * id that the request was signed with.
   */
  readonly signedContentBase64: string;
  readonly expectedHmacHex: string;
  readonly expectedSignature: string;
  readonly expect: "accept" | "reject";
  readonly rejectReason: VectorRejectReason | null;
}

export type VectorRejectReason =
  | "missing_header"
  | "malformed_timestamp"
  | "timestamp_too_old"
  | "timestamp_too_new"
  | "no_matching_signature";

/** Public test secrets: the bytes 00 to 1f, and the bytes 20 to 3f. */
const secretA = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const secretB = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";
const vectorId = "evt_01jgfj2v00fxtr0000000000v1";
const vectorTimestamp = 1_735_689_600;
const vectorDocument = {
  id: vectorId,
  type: "fixture.signature",
  timestamp: "2025-01-01T00:00:00.000Z",
  data: { note: "Grüße, 世界 🌍", amountMinor: 1999 },
};
const vectorBody = JSON.stringify(vectorDocument);
const signedA = signWebhook({
  id: vectorId,
  timestampSeconds: vectorTimestamp,
  body: vectorBody,
  secrets: [secretA],
});
const signedB = signWebhook({
  id: vectorId,
  timestampSeconds: vectorTimestamp,
  body: vectorBody,
  secrets: [secretB],
});

interface VectorDraft {
  readonly name: string;
  readonly purpose: string;
  readonly secret?: string;
  readonly now?: number;
  /** Null if the header `webhook-id` is missing. */
  readonly id?: string | null;
  readonly timestamp?: string;
  readonly signature?: string;
  readonly body?: string;
  readonly rejectReason?: VectorRejectReason;
}

export const signatureVectors: readonly SignatureVector[] = (
  [
    { name: "valid", purpose: "A valid request." },
    {
      name: "rotation",
      purpose:
        "Two signatures, as while a secret is being replaced; the second signature was made with the secret of this vector.",
      signature: `${signedB} ${signedA}`,
    },
    {
      name: "body_changed",
      purpose: "One byte of the body was changed after signing.",
      body: vectorBody.replace("1999", "1998"),
      rejectReason: "no_matching_signature",
    },
    {
      name: "body_reserialized",
      purpose:
        "The same JSON serialized again with spaces. Verify the received bytes, never a reserialized body.",
      body: JSON.stringify(vectorDocument, null, 1).replaceAll(/\n */g, " "),
      rejectReason: "no_matching_signature",
    },
    {
      name: "too_old",
      purpose: "Sent 301 seconds ago.",
      now: vectorTimestamp + 301,
      rejectReason: "timestamp_too_old",
    },
    { name: "just_in_time", purpose: "Sent 299 seconds ago.", now: vectorTimestamp + 299 },
    {
      name: "from_the_future",
      purpose: "Sent 301 seconds from now.",
      now: vectorTimestamp - 301,
      rejectReason: "timestamp_too_new",
    },
    {
      name: "wrong_secret",
      purpose: "Signed with another secret than the secret of this vector.",
      secret: secretB,
      rejectReason: "no_matching_signature",
    },
    {
      name: "missing_id",
      purpose: "The header webhook-id is missing.",
      id: null,
      rejectReason: "missing_header",
    },
    {
      name: "unversioned_signature",
      purpose: "The right signature without its version `v1,`.",
      signature: signedA.slice("v1,".length),
      rejectReason: "no_matching_signature",
    },
    {
      name: "unknown_version",
      purpose: "A signature of an unknown version, which must be ignored, beside a valid signature.",
      signature: `v9,${"A".repeat(43)}= ${signedA}`,
    },
    {
      name: "truncated_signature",
      purpose: "The last four characters of the signature are missing.",
      signature: signedA.slice(0, -4),
      rejectReason: "no_matching_signature",
    },
    {
      name: "non_ascii_body",
      purpose:
        "A body with umlauts, Chinese and an emoji, signed with the other secret. The bytes of bodyBase64 must equal bodyUtf8 in UTF-8.",
      secret: secretB,
      signature: signedB,
    },
    {
      name: "empty_signature",
      purpose: "The header webhook-signature is empty.",
      signature: "",
      rejectReason: "missing_header",
    },
    {
      name: "timestamp_not_a_number",
      purpose: "The timestamp is not a number, but the signature is correct.",
      timestamp: "abc",
      signature: toSignature(
        computeMac(signedContent({ id: vectorId, timestamp: "abc", body: vectorBody }), secretA),
      ),
      rejectReason: "malformed_timestamp",
    },
    {
      name: "id_exchanged",
      purpose: "The webhook-id was replaced after signing.",
      id: "evt_01jgfj2v00fxtr0000000000v2",
      rejectReason: "no_matching_signature",
    },
  ] satisfies readonly VectorDraft[]
).map(toVector);

function toVector(draft: VectorDraft): SignatureVector {
  const {
    id = vectorId,
    body = vectorBody,
    secret = secretA,
    timestamp = String(vectorTimestamp),
    signature = signedA,
    rejectReason = null,
  } = draft;
  const content = signedContent({ id: id ?? vectorId, timestamp, body });
  const mac = computeMac(content, secret);
  return {
    name: draft.name,
    purpose: draft.purpose,
    secret,
    now: draft.now ?? vectorTimestamp,
    headers: {
      ...(id === null ? {} : { "webhook-id": id }),
      "webhook-timestamp": timestamp,
      "webhook-signature": signature,
    },
    bodyUtf8: body,
    bodyBase64: toBase64(body),
    bodySha256Hex: createHash("sha256").update(body).digest("hex"),
    signedContentBase64: content.toString("base64"),
    expectedHmacHex: mac.toString("hex"),
    expectedSignature: toSignature(mac),
    expect: rejectReason === null ? "accept" : "reject",
    rejectReason,
  };
}

function toBase64(text: string): string {
  return Buffer.from(text).toString("base64");
}
