/**
 * Test vectors for signature verifiers. Each test vector is a request with public secrets, and says whether a
 * verifier must accept or reject the request.
 */
import { createHash } from "node:crypto";
import {
  computeWebhookSignatureHmac,
  signWebhook,
  buildSignedWebhookContent,
  formatWebhookSignature,
} from "./signatures.ts";

export interface WebhookSignatureTestVector {
  readonly name: string;
  readonly purpose: string;
  /** The signing secret with which the verifier is configured. */
  readonly secret: string;
  /** The time that the verifier must use as the current time, in Unix seconds. */
  readonly now: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyUtf8: string;
  readonly bodyBase64: string;
  readonly bodySha256Hex: string;
  /**
   * The content over which a verifier computes the signature, in base64. If the request has no header with an
   * id, the content contains the id over which the request was signed.
   */
  readonly signedContentBase64: string;
  readonly expectedHmacHex: string;
  readonly expectedSignature: string;
  readonly expect: "accept" | "reject";
  readonly rejectReason: SignatureRejectReason | null;
}

export type SignatureRejectReason =
  | "missing_header"
  | "malformed_timestamp"
  | "timestamp_too_old"
  | "timestamp_too_new"
  | "no_matching_signature";

/** Two public test secrets: the bytes with the hexadecimal values 00 to 1f, and the bytes 20 to 3f. */
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
  /**
   * The value of the header `webhook-id` of the example request; null if the request does not have this
   * header.
   */
  readonly id?: string | null;
  readonly timestamp?: string;
  readonly signature?: string;
  readonly body?: string;
  readonly rejectReason?: SignatureRejectReason;
}

export const signatureVectors: readonly WebhookSignatureTestVector[] = (
  [
    { name: "valid", purpose: "A valid request." },
    {
      name: "rotation",
      purpose:
        "Two signatures, as while a secret is being replaced; the second signature was made with the " +
        "secret of this vector.",
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
        "A body with umlauts, Chinese and an emoji, signed with the other secret. The bytes of " +
        "bodyBase64 must equal bodyUtf8 in UTF-8.",
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
      signature: formatWebhookSignature(
        computeWebhookSignatureHmac(
          buildSignedWebhookContent({ id: vectorId, timestamp: "abc", body: vectorBody }),
          secretA,
        ),
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

function toVector(draft: VectorDraft): WebhookSignatureTestVector {
  const {
    id = vectorId,
    body = vectorBody,
    secret = secretA,
    timestamp = String(vectorTimestamp),
    signature = signedA,
    rejectReason = null,
  } = draft;
  const content = buildSignedWebhookContent({ id: id ?? vectorId, timestamp, body });
  const mac = computeWebhookSignatureHmac(content, secret);
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
    bodyBase64: encodeTextAsBase64(body),
    bodySha256Hex: createHash("sha256").update(body).digest("hex"),
    signedContentBase64: content.toString("base64"),
    expectedHmacHex: mac.toString("hex"),
    expectedSignature: formatWebhookSignature(mac),
    expect: rejectReason === null ? "accept" : "reject",
    rejectReason,
  };
}

export function encodeTextAsBase64(text: string): string {
  return Buffer.from(text).toString("base64");
}
