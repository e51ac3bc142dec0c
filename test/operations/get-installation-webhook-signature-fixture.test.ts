/**
 * getInstallationWebhookSignatureFixture: returns signed requests to test a verifier with. Compared with an
 * independent implementation of the signature scheme.
 */
import { Webhook } from "standardwebhooks";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { challenge, expectError } from "#test/support/expect-error.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";
import { expectShape, id, timestamp } from "./shapes.ts";
import { changeEndpoint, endpointsUrl, makeEndpoint } from "./webhook-calls.ts";

const headers = z.record(z.string(), z.string());
const fixtureAnswer = z.strictObject({
  data: z.strictObject({
    endpointId: id("whe"),
    algorithm: z.literal("HMAC-SHA256"),
    scheme: z.literal("standard-webhooks/1.0.0"),
    signedContentTemplate: z.literal("{webhook-id}.{webhook-timestamp}.{body}"),
    secretEncoding: z.literal("base64 after the whsec_ prefix"),
    signatureEncoding: z.literal("base64"),
    toleranceSeconds: z.literal(300),
    serverTime: timestamp,
    headers: z.strictObject({
      id: z.literal("webhook-id"),
      timestamp: z.literal("webhook-timestamp"),
      signature: z.literal("webhook-signature"),
    }),
    live: z.strictObject({
      secretVersions: z.array(z.int()).min(1).max(2),
      request: z.strictObject({
        method: z.literal("POST"),
        headers,
        bodyUtf8: z.string(),
        bodyBase64: z.base64(),
      }),
      expires: timestamp,
    }),
    vectors: z
      .array(
        z.strictObject({
          name: z.string(),
          purpose: z.string(),
          secret: z.string().startsWith("whsec_"),
          now: z.int(),
          headers,
          bodyUtf8: z.string(),
          bodyBase64: z.base64(),
          bodySha256Hex: z.hex().length(64),
          signedContentBase64: z.base64(),
          expectedHmacHex: z.hex().length(64),
          expectedSignature: z.string().startsWith("v1,"),
          expect: z.enum(["accept", "reject"]),
          rejectReason: z.string().nullable(),
        }),
      )
      .length(16),
  }),
});

describe.each(["pglite", "postgres"] as const)("getInstallationWebhookSignatureFixture on %s", (engine) => {
  const world = useWorld(engine);
  let contract: Contract;
  beforeAll(async () => {
    contract = await readContract(world());
  });

  const get = (
    endpointId: string,
    key: Parameters<ReturnType<typeof world>["getWithKey"]>[1] = "full",
  ): Promise<Answer> => world().getWithKey(`${endpointsUrl}/${endpointId}/signature-fixture`, key);
  /** True if a verifier with this secret accepts the live request. */
  const isTaken = ({ body }: Answer, secret: string): boolean => {
    const { request } = body.data.live;
    vi.useFakeTimers({ now: world().clock.now(), toFake: ["Date"] });
    try {
      new Webhook(secret).verify(Buffer.from(request.bodyBase64, "base64").toString("utf8"), request.headers);
      return true;
    } catch {
      return false;
    } finally {
      vi.useRealTimers();
    }
  };

  it("returns a request that only the endpoint's own secret verifies", async () => {
    const { id: endpointId, secret } = await makeEndpoint(world());
    const { secret: another } = await makeEndpoint(world());
    const answer = await get(endpointId);
    expect(answer.status).toBe(200);
    expectShape(fixtureAnswer, answer.body);
    expect(contract.faultsOf("getInstallationWebhookSignatureFixture", 200, answer.body)).toEqual([]);
    expect([isTaken(answer, secret), isTaken(answer, another)]).toEqual([true, false]);
    expect(answer.text).not.toContain(secret.slice("whsec_".length));
    const now = world().clock.now();
    const seconds = Math.floor(now.getTime() / 1000);
    const { request, ...live } = answer.body.data.live;
    expect({
      ...live,
      endpointId: answer.body.data.endpointId,
      serverTime: answer.body.data.serverTime,
    }).toEqual({
      secretVersions: [1],
      expires: new Date((seconds + 300) * 1000).toISOString(),
      endpointId,
      serverTime: now.toISOString(),
    });
    expect(Buffer.from(request.bodyBase64, "base64").toString("utf8")).toBe(request.bodyUtf8);
    expect(JSON.parse(request.bodyUtf8)).toMatchObject({
      id: request.headers["webhook-id"],
      type: "fixture.signature",
      subject: { type: "webhook_endpoint", id: endpointId },
    });
    expect(answer.headers).toMatchObject({ "cache-control": "no-store", "x-api-stability": "stable" });
  });

  it("signs with both secrets during a rotation, and with the new secret alone afterwards", async () => {
    const { id: endpointId, secret: old } = await makeEndpoint(world());
    const { data } = await changeEndpoint(world(), "webhookSecretRotate", {
      endpointId,
      input: { overlapHours: 1 },
    });
    const during = await get(endpointId);
    expect(during.body.data.live.secretVersions).toEqual([2, 1]);
    expect([isTaken(during, old), isTaken(during, data.secret.value)]).toEqual([true, true]);
    world().clock.advance(3_600_000);
    const after = await get(endpointId);
    expect(after.body.data.live.secretVersions).toEqual([2]);
    expect([isTaken(after, old), isTaken(after, data.secret.value)]).toEqual([false, true]);
  });

  it("answers while the endpoint is disabled, and returns 404 once it is deleted", async () => {
    const { id: endpointId, secret } = await makeEndpoint(world());
    await changeEndpoint(world(), "webhookEndpointDisable", { endpointId });
    const off = await get(endpointId);
    expect([off.status, isTaken(off, secret)]).toEqual([200, true]);
    await changeEndpoint(world(), "webhookEndpointDelete", { endpointId });
    expectError(await get(endpointId), { status: 404, code: "webhook_endpoint_not_found" });
  });

  it('answers foreign, missing and malformed endpoint ids with "not found"', async () => {
    const { id: own } = await makeEndpoint(world());
    const { id: foreign } = await makeEndpoint(world(), { key: "otherMerchant" });
    for (const endpointId of [
      foreign,
      "whe_00000000000000000000000000",
      own.toUpperCase(),
      own.slice(0, -1),
      "1",
      "%00",
    ])
      expectError(await get(endpointId), { status: 404, code: "webhook_endpoint_not_found" });
    expectError(await get(own, "otherMerchant"), { status: 404, code: "webhook_endpoint_not_found" });
  });

  it("requires a key with webhooks:read", async () => {
    const { id: endpointId } = await makeEndpoint(world());
    expect((await get(endpointId, "webhooksRead")).status).toBe(200);
    const address = `${endpointsUrl}/${endpointId}/signature-fixture`;
    expectError(await world().get(address), {
      status: 401,
      code: "credentials_missing",
      headers: { "www-authenticate": challenge },
    });
    for (const key of ["noScope", "webhooksWrite"] as const)
      expectError(await get(endpointId, key), {
        status: 403,
        code: "scope_missing",
        details: [
          { in: "header", field: "Authorization", code: "scope_missing", allowed: ["webhooks:read"] },
        ],
      });
  });

  it("runs three statements: the credential, the endpoint, its secrets", async () => {
    const { id: endpointId } = await makeEndpoint(world());
    expect(await statementsOf(world(), () => get(endpointId))).toHaveLength(3);
  });
});
