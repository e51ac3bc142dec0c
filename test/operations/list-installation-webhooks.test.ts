/** listInstallationWebhooks: returns the webhook endpoints of the key's installation only. */
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createId } from "#foundation/ids.ts";
import { challenge, challengeInvalid, expectError } from "#test/support/expect-error.ts";
import { unknownKey } from "#test/support/keys.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { changeEndpoint, clearEndpoints, endpointsUrl, makeEndpoint } from "./webhook-calls.ts";

const hourMs = 3_600_000;

describe.each(["pglite", "postgres"] as const)("listInstallationWebhooks on %s", (engine) => {
  const world = useWorld(engine);
  let contract: Contract;
  beforeAll(async () => {
    contract = await readContract(world());
  });
  beforeEach(() => clearEndpoints(world()));

  const list = async (): Promise<{ endpoints: Record<string, unknown>[]; total: number; limit: number }> => {
    const answer = await world().getWithKey(endpointsUrl);
    expect(answer.status).toBe(200);
    expect(contract.faultsOf("listInstallationWebhooks", 200, answer.body)).toEqual([]);
    expect(answer.headers).toMatchObject({ "cache-control": "no-store", "x-api-stability": "stable" });
    return answer.body.data;
  };

  it("returns an empty list if the installation has no endpoints", async () => {
    expect(await list()).toEqual({ endpoints: [], total: 0, limit: 16 });
  });

  it("lists the installation's endpoints, oldest first, without deleted and foreign endpoints", async () => {
    const made = [];
    for (const enabled of [true, false, true]) {
      made.push(await makeEndpoint(world(), { enabled }));
      world().clock.advance(1000);
    }
    await makeEndpoint(world(), { key: "otherMerchant" });
    const gone = await makeEndpoint(world());
    await changeEndpoint(world(), "webhookEndpointDelete", { endpointId: gone.id });
    const { endpoints, total } = await list();
    expect(endpoints.map(({ id, status }) => [id, status])).toEqual([
      [made[0]?.id, "enabled"],
      [made[1]?.id, "disabled"],
      [made[2]?.id, "enabled"],
    ]);
    expect(total).toBe(3);
  });

  it("never returns a secret, only the hints of active secrets", async () => {
    const { id, secret } = await makeEndpoint(world());
    const rotated = await changeEndpoint(world(), "webhookSecretRotate", {
      endpointId: id,
      input: { overlapHours: 2 },
    });
    const hint = (value: string): string => `…${value.slice(-4)}`;
    const newer = {
      version: 2,
      hint: hint(rotated.data.secret.value),
      createdAt: world().clock.now().toISOString(),
      expiresAt: null,
    };
    const until = new Date(world().clock.now().getTime() + 2 * hourMs).toISOString();
    const { endpoints } = await list();
    expect(endpoints[0]?.["secrets"]).toMatchObject([
      newer,
      { version: 1, hint: hint(secret), expiresAt: until },
    ]);
    const { text } = await world().getWithKey(endpointsUrl);
    expect([secret, rotated.data.secret.value].filter((value) => text.includes(value.slice(6, -4)))).toEqual(
      [],
    );
    world().clock.advance(2 * hourMs);
    expect((await list()).endpoints[0]?.["secrets"]).toEqual([newer]);
  });

  it("returns an endpoint's health and the outcomes of its attempts in the last 24 hours", async () => {
    const { id } = await makeEndpoint(world());
    const { db } = world().database;
    const { id: deliveryId } = await db
      .selectFrom("webhookDelivery")
      .select("id")
      .where("endpointId", "=", id)
      .executeTakeFirstOrThrow();
    const now = world().clock.now();
    const ago = (hours: number): Date => new Date(now.getTime() - hours * hourMs);
    const attempts = [
      { at: ago(24), errorCode: null },
      { at: ago(23), errorCode: null },
      { at: ago(2), errorCode: "timeout" as const },
      { at: ago(1), errorCode: "http_status" as const },
    ];
    await db
      .insertInto("webhookAttempt")
      .values(
        attempts.map(({ at, errorCode }, index) => ({
          id: createId("webhookAttempt"),
          deliveryId,
          number: index + 1,
          startedAt: at,
          durationMs: 5,
          httpStatus: null,
          errorCode,
        })),
      )
      .execute();
    const failed = {
      consecutiveFailures: 2,
      failingSince: ago(2),
      lastFailureAt: ago(1),
      lastFailureCode: "http_status",
      lastFailureStatus: 503,
    };
    const set = (health: object) =>
      db.updateTable("webhookEndpointHealth").set(health).where("endpointId", "=", id).execute();
    await set({ ...failed, lastSuccessAt: ago(23) });
    const shown = {
      consecutiveFailures: 2,
      successRate24h: 0.3333,
      lastSuccessAt: ago(23).toISOString(),
      lastFailureAt: ago(1).toISOString(),
      lastFailure: { code: "http_status", httpStatus: 503 },
    };
    const health = async (): Promise<unknown> => (await list()).endpoints[0]?.["health"];
    expect(await health()).toEqual({ state: "healthy", ...shown });
    await set({ degradedAt: now });
    expect(await health()).toEqual({ state: "degraded", ...shown });
    await set({ probeAt: now });
    expect(await health()).toEqual({ state: "failing", ...shown });
    await set({
      probeAt: null,
      degradedAt: null,
      failingSince: null,
      consecutiveFailures: 0,
      lastSuccessAt: now,
    });
    expect(await health()).toMatchObject({ state: "healthy", consecutiveFailures: 0 });
  });

  it("runs three statements, one of them for any number of endpoints", async () => {
    await makeEndpoint(world());
    await makeEndpoint(world());
    expect(await statementsOf(world(), list)).toHaveLength(3);
  });

  it("requires a key with webhooks:read", async () => {
    expectError(await world().get(endpointsUrl), {
      status: 401,
      code: "credentials_missing",
      headers: { "www-authenticate": challenge },
    });
    expectError(await world().get(endpointsUrl, { authorization: `Bearer ${unknownKey()}` }), {
      status: 401,
      code: "api_key_invalid",
      headers: { "www-authenticate": challengeInvalid },
    });
    for (const key of ["noScope", "catalogRead", "checkoutQuote", "webhooksWrite"] as const)
      expectError(await world().getWithKey(endpointsUrl, key), {
        status: 403,
        code: "scope_missing",
        details: [
          { in: "header", field: "Authorization", code: "scope_missing", allowed: ["webhooks:read"] },
        ],
      });
    expect((await world().getWithKey(endpointsUrl, "webhooksRead")).status).toBe(200);
  });

  it("refuses every query parameter", async () => {
    expectError(await world().getWithKey(`${endpointsUrl}?page=1`), {
      status: 400,
      code: "unknown_parameter",
      details: [{ in: "query", field: "page", code: "unknown" }],
    });
  });
});
