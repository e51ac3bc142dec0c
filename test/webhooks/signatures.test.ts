import { createHash } from "node:crypto";
import { spawnSync } from "node:child_process";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  type SignedExampleWebhookRequest,
  createSignedExampleWebhookRequest,
  createWebhookSignatureFixture,
} from "#webhooks/signature-fixture.ts";
import { signatureVectors, type WebhookSignatureTestVector } from "#webhooks/signature-vectors.ts";
import {
  createWebhookSecret,
  getWebhookSecretEncryptionContext,
  createWebhookSecretHint,
  signWebhook,
} from "#webhooks/signatures.ts";

const secretA = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const secretB = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";
const endpoint = {
  id: "whe_01jgfj2v00fxtr0000000000v1",
  version: 4,
  merchantId: "mer_01jgfj2v00fxtr0000000000v1",
  mode: "test",
} as const;
const now = new Date("2026-11-21T10:00:00.750Z");

const keyOf = (secret: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(secret.replace("whsec_", ""), "base64"));
const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(base64, "base64"));

afterEach(() => void vi.useRealTimers());

/** Verifies a vector with the library that receivers use, at the vector's time. */
function isVerified({
  secret,
  now: at,
  headers,
  bodyBase64,
}: Pick<WebhookSignatureTestVector, "secret" | "now" | "headers" | "bodyBase64">): boolean {
  vi.useFakeTimers({ now: at * 1000 });
  try {
    new Webhook(secret).verify(Buffer.from(bodyBase64, "base64"), { ...headers });
    return true;
  } catch {
    return false;
  }
}

/** A second implementation with Web Crypto, written only from the Standard Webhooks specification. */
async function macByWebCrypto(secret: string, content: Uint8Array<ArrayBuffer>): Promise<string> {
  const key = await crypto.subtle.importKey("raw", keyOf(secret), { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ]);
  return Buffer.from(await crypto.subtle.sign("HMAC", key, content)).toString("hex");
}

describe("a webhook's signature", () => {
  test("is the one that the Standard Webhooks libraries expect", () => {
    const known = {
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      timestampSeconds: 1_614_265_330,
      body: '{"test": 2432232314}',
    };
    expect(signWebhook({ ...known, secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] })).toBe(
      "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    );
  });

  test("is verified by the library with either of two secrets", () => {
    const [older, newer] = [createWebhookSecret(), createWebhookSecret()];
    const body = Buffer.from('{"note":"Grüße 🌍"}');
    const timestampSeconds = 1_700_000_000;
    const headers = {
      "webhook-id": "evt_1",
      "webhook-timestamp": String(timestampSeconds),
      "webhook-signature": signWebhook({ id: "evt_1", timestampSeconds, body, secrets: [newer, older] }),
    };
    const request = { now: timestampSeconds, headers, bodyBase64: body.toString("base64") };
    expect([newer, older, createWebhookSecret()].map((secret) => isVerified({ ...request, secret }))).toEqual(
      [true, true, false],
    );
  });

  test("requires one or two well-formed secrets", () => {
    const content = { id: "evt_1", timestampSeconds: 1, body: "" };
    expect(signWebhook({ ...content, secrets: [secretA, secretB] })).toMatch(
      /^v1,[\w+/]{43}= v1,[\w+/]{43}=$/,
    );
    expect(() => signWebhook({ ...content, secrets: [] })).toThrow("one or two secrets");
    expect(() => signWebhook({ ...content, secrets: [secretA, secretB, secretA] })).toThrow(
      "one or two secrets",
    );
    expect(() =>
      signWebhook({ ...content, secrets: ["AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="] }),
    ).toThrow("whsec_");
    expect(() => signWebhook({ ...content, secrets: ["whsec_"] })).toThrow("24 bytes");
  });

  test("uses a secret of 32 random bytes, whose hint is its end", () => {
    const secrets = Array.from({ length: 50 }, createWebhookSecret);
    expect(secrets.every((secret) => /^whsec_[\w+/]{43}=$/.test(secret) && keyOf(secret).length === 32)).toBe(
      true,
    );
    expect(new Set(secrets).size).toBe(50);
    expect(createWebhookSecretHint(secretA)).toBe("Hh8=");
  });

  test("uses a secret that is encrypted for its row and can be decrypted only there", () => {
    expect(getWebhookSecretEncryptionContext("whs_1")).toEqual({
      table: "webhook_secret",
      column: "sealed",
      rowId: "whs_1",
    });
  });
});

describe("the signature fixture's vectors", () => {
  test("are the documented sixteen, in order", () => {
    expect(
      signatureVectors.map(({ name, expect: verdict, rejectReason }) => [name, verdict, rejectReason]),
    ).toEqual([
      ["valid", "accept", null],
      ["rotation", "accept", null],
      ["body_changed", "reject", "no_matching_signature"],
      ["body_reserialized", "reject", "no_matching_signature"],
      ["too_old", "reject", "timestamp_too_old"],
      ["just_in_time", "accept", null],
      ["from_the_future", "reject", "timestamp_too_new"],
      ["wrong_secret", "reject", "no_matching_signature"],
      ["missing_id", "reject", "missing_header"],
      ["unversioned_signature", "reject", "no_matching_signature"],
      ["unknown_version", "accept", null],
      ["truncated_signature", "reject", "no_matching_signature"],
      ["non_ascii_body", "accept", null],
      ["empty_signature", "reject", "missing_header"],
      ["timestamp_not_a_number", "reject", "malformed_timestamp"],
      ["id_exchanged", "reject", "no_matching_signature"],
    ]);
  });

  test("contain the reference body and its two signatures", () => {
    const [valid] = signatureVectors;
    expect(Buffer.from(valid?.bodyBase64 ?? "", "base64").length).toBe(163);
    expect(valid).toMatchObject({
      secret: secretA,
      now: 1_735_689_600,
      bodySha256Hex: "c9e386e207d4ea171a5136a3b441fa4706aa2c474809bc559d2b90abce91d5de",
      expectedHmacHex: "df1bdd604ce4c79496be782aa274be92c379b66140db2fb6e7c720ddef805531",
      expectedSignature: "v1,3xvdYEzkx5SWvngqonS+ksN5tmFA2y+258cg3e+AVTE=",
      headers: {
        "webhook-id": "evt_01jgfj2v00fxtr0000000000v1",
        "webhook-timestamp": "1735689600",
        "webhook-signature": "v1,3xvdYEzkx5SWvngqonS+ksN5tmFA2y+258cg3e+AVTE=",
      },
    });
    expect(signatureVectors.find(({ name }) => name === "non_ascii_body")).toMatchObject({
      secret: secretB,
      expectedHmacHex: "2886cc263525d74ddae17d862a50ccd0e7abc43a6369281bf60dd7e827bd5985",
      expectedSignature: "v1,KIbMJjUl103a4X2GKlDM0OerxDpjaSgb9g3X6Ce9WYU=",
    });
  });

  test.each(signatureVectors.map((vector) => [vector.name, vector] as const))(
    "%s: the library decides as documented",
    (_, vector) => {
      expect(isVerified(vector) ? "accept" : "reject").toBe(vector.expect);
    },
  );

  test.each(signatureVectors.map((vector) => [vector.name, vector] as const))(
    "%s: a second implementation computes the same bytes",
    async (_, vector) => {
      const { headers, bodyUtf8, bodyBase64 } = vector;
      expect(Buffer.from(bodyUtf8).toString("base64")).toBe(bodyBase64);
      expect(createHash("sha256").update(bytesOf(bodyBase64)).digest("hex")).toBe(vector.bodySha256Hex);
      const id = headers["webhook-id"] ?? "evt_01jgfj2v00fxtr0000000000v1";
      const content = `${id}.${headers["webhook-timestamp"]}.${bodyUtf8}`;
      expect(Buffer.from(content).toString("base64")).toBe(vector.signedContentBase64);
      expect(await macByWebCrypto(vector.secret, bytesOf(vector.signedContentBase64))).toBe(
        vector.expectedHmacHex,
      );
      expect(`v1,${Buffer.from(vector.expectedHmacHex, "hex").toString("base64")}`).toBe(
        vector.expectedSignature,
      );
      // Vectors rejected for their time or a missing header have a valid signature; all other rejected
      // vectors do not.
      const isSigned = headers["webhook-signature"]?.split(" ").includes(vector.expectedSignature);
      const onlyTime =
        ["timestamp_too_old", "timestamp_too_new", "malformed_timestamp"].includes(
          vector.rejectReason ?? "",
        ) || vector.name === "missing_id";
      expect(isSigned).toBe(vector.expect === "accept" || onlyTime);
    },
  );

  const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
  test.skipIf(!hasOpenssl).each(signatureVectors.map((vector) => [vector.name, vector] as const))(
    "%s: openssl computes the same",
    (_, vector) => {
      const hex = Buffer.from(keyOf(vector.secret)).toString("hex");
      const { stdout } = spawnSync(
        "openssl",
        ["dgst", "-sha256", "-mac", "HMAC", "-macopt", `hexkey:${hex}`],
        {
          input: bytesOf(vector.signedContentBase64),
        },
      );
      expect(stdout.toString().trim().split(" ").at(-1)).toBe(vector.expectedHmacHex);
    },
  );

  test("are the same in every copy", () => {
    const one = createWebhookSignatureFixture({
      endpoint,
      secrets: [{ version: 1, value: createWebhookSecret() }],
      now,
    });
    const other = createWebhookSignatureFixture({
      endpoint: { ...endpoint, id: "whe_2" },
      secrets: [{ version: 1, value: createWebhookSecret() }],
      now: new Date(0),
    });
    expect(one.vectors).toEqual(other.vectors);
  });
});

describe("the live request", () => {
  const at = Math.floor(now.getTime() / 1000);
  const verdict = (
    { request: { headers, bodyBase64 } }: SignedExampleWebhookRequest,
    secret: string,
    seconds = at,
  ): boolean => isVerified({ secret, now: seconds, headers, bodyBase64 });

  test("is verified with each secret until the secret expires, and with no other", () => {
    const [first, second] = [createWebhookSecret(), createWebhookSecret()];
    const secrets = [
      { version: 1, value: first },
      { version: 2, value: second },
    ];
    const live = createSignedExampleWebhookRequest({ endpoint, secrets, now });
    expect(live.secretVersions).toEqual([2, 1]);
    expect(live.expires).toBe("2026-11-21T10:05:00.000Z");
    expect([verdict(live, first), verdict(live, second), verdict(live, createWebhookSecret())]).toEqual([
      true,
      true,
      false,
    ]);
    expect([verdict(live, first, at + 300), verdict(live, first, at + 301)]).toEqual([true, false]);
  });

  test("has an event type without side effects, about the endpoint itself", () => {
    const secret = createWebhookSecret();
    const { live, ...rest } = createWebhookSignatureFixture({
      endpoint,
      secrets: [{ version: 1, value: secret }],
      now,
    });
    const body: unknown = JSON.parse(live.request.bodyUtf8);
    expect(Buffer.from(live.request.bodyBase64, "base64").toString()).toBe(live.request.bodyUtf8);
    expect(body).toEqual({
      id: live.request.headers["webhook-id"],
      type: "fixture.signature",
      schemaVersion: 1,
      apiVersion: "v1",
      timestamp: "2026-11-21T10:00:00.750Z",
      mode: "test",
      merchantId: endpoint.merchantId,
      subject: { type: "webhook_endpoint", id: endpoint.id, version: 4 },
      data: { object: { id: endpoint.id }, previous: null, truncated: false },
      cause: { operationId: null, actor: "system", requestId: null },
    });
    expect(live.request.headers).toMatchObject({
      "content-type": "application/json",
      "webhook-timestamp": String(at),
      "webhook-event-type": "fixture.signature",
    });
    expect(rest).toMatchObject({
      endpointId: endpoint.id,
      algorithm: "HMAC-SHA256",
      toleranceSeconds: 300,
      serverTime: now.toISOString(),
    });
    expect(JSON.stringify({ live, ...rest })).not.toContain(secret.slice("whsec_".length));
  });
});
