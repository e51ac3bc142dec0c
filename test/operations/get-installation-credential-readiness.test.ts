/**
 * getInstallationCredentialReadiness: each check reports the state of the database, changes at its exact
 * time, and contributes to the overall status.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { challenge, challengeInvalid, expectError } from "#test/support/expect-error.ts";
import { unknownKey } from "#test/support/keys.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { createTokenClient } from "#test/support/token-client.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { changeEndpoint, clearEndpoints, makeEndpoint } from "./webhook-calls.ts";
import { expectShape, readinessAnswer } from "./shapes.ts";

const url = "/api/v1/open/installation/readiness";
const dayMs = 86_400_000;
const allScopes = ["catalog:read", "checkout:quote", "webhooks:read", "webhooks:write"];

describe.each(["pglite", "postgres"] as const)("getInstallationCredentialReadiness on %s", (engine) => {
  const world = useWorld(engine);
  let contract: Contract;
  beforeAll(async () => {
    contract = await readContract(world());
  });

  /**
   * Reads the readiness at a time, by default now. The test clock does not advance and would soon differ from
   * the database's clock.
   */
  const read = async (
    key: string = world().demo.keys.full,
    at = new Date(),
  ): Promise<Record<string, unknown> & { checks: Shown[] }> => {
    world().clock.at = at;
    const answer = await world().get(url, { authorization: `Bearer ${key}` });
    expect(answer.status).toBe(200);
    return answer.body.data;
  };
  interface Shown {
    code: string;
    status: string;
    since: string | null;
    remedy: string | null;
  }
  const check = async (code: string, key?: string, at?: Date): Promise<Shown | undefined> =>
    (await read(key, at)).checks.find((shown) => shown.code === code);
  const operate = async (mutation: string) => {
    const { body } = await world().graphql(`mutation { ${mutation} }`, { token: "operator" });
    expect(body.errors).toBeUndefined();
    return body.data[Object.keys(body.data)[0] ?? ""];
  };
  const installationId = async (): Promise<string> => String((await read())["installationId"]);
  const setScopes = async (scopes: string) =>
    operate(
      `installationScopesSet(input: { installationId: "${await installationId()}", scopes: ` +
        `[${scopes}] }) { id }`,
    );

  it("is ready for a full key of a merchant that is set up, in the contract's form", async () => {
    // The first request of a service compiles the document, which can take longer than the clocks may differ.
    await read();
    world().clock.at = new Date();
    const answer = await world().getWithKey(url);
    expect(answer.status).toBe(200);
    expectShape(readinessAnswer, answer.body);
    expect(contract.faultsOf("getInstallationCredentialReadiness", 200, answer.body)).toEqual([]);
    const { checks, ...data } = answer.body.data;
    expect(data).toMatchObject({
      status: "ready",
      requiredScopes: allScopes,
      grantedScopes: allScopes,
      missingScopes: [],
    });
    expect(data.evaluatedAt).toBe(world().clock.now().toISOString());
    expect(
      checks.map(({ code, severity, status }: Record<string, string>) => `${code} ${severity} ${status}`),
    ).toEqual([
      "api_key_active blocking pass",
      "api_key_expiry advisory pass",
      "scopes_granted blocking pass",
      "merchant_active blocking pass",
      "webhook_endpoint_present advisory pass",
      "webhook_delivery_healthy advisory pass",
      "webhook_secret_rotation advisory pass",
      "payment_provider_connected blocking pass",
      "tax_configured advisory pass",
      "market_configured blocking pass",
      "policy_return_configured advisory pass",
      "clock_skew advisory pass",
    ]);
    // The demo's endpoint is healthy, but one of its deliveries waits for a retry.
    expect(checks[5].message).toMatch(
      `Waiting for a retry after a failed attempt: 1 delivery to the webhook endpoint ${world().demo.webhooks.endpoint}. The service`,
    );
    expect(answer.headers).toMatchObject({
      "cache-control": "no-store",
      vary: "Authorization",
      "x-api-stability": "stable",
    });
  });

  it("runs four statements: the credential, the installation, its facts and its endpoints", async () => {
    expect(await statementsOf(world(), () => world().getWithKey(url))).toHaveLength(4);
  });

  it("warns about an expiring key from one millisecond after 14 days before its end", async () => {
    const now = new Date();
    const expiresAt = new Date(now.getTime() + 14 * dayMs);
    const key = world().demo.keys.webhooksRead;
    await world()
      .database.db.updateTable("apiKey")
      .set({ expiresAt })
      .where("name", "=", "Demo: webhooksRead")
      .execute();
    expect(await check("api_key_expiry", key, now)).toMatchObject({
      status: "pass",
      since: null,
      remedy: null,
    });
    const soon = await read(key, new Date(now.getTime() + 1));
    expect(soon.checks[1]).toMatchObject({
      code: "api_key_expiry",
      status: "warn",
      since: now.toISOString(),
      remedy: "Rotate the API key before it expires.",
    });
    expect(soon["nextActionAt"]).toBe(expiresAt.toISOString());
    world().clock.at = expiresAt;
    expectError(await world().getWithKey(url, "webhooksRead"), {
      status: 401,
      code: "api_key_expired",
      headers: { "www-authenticate": challengeInvalid },
    });
  });

  it("returns the successor of a rotated key", async () => {
    const made = await operate(
      `apiKeyCreate(input: { installationId: "${await installationId()}", name: "Old", scopes: ` +
        "[] }) { value apiKey { id } }",
    );
    const { apiKey, value } = await operate(
      `apiKeyRotate(input: { apiKeyId: "${made.apiKey.id}" }) { value apiKey { id } }`,
    );
    const shown = await read(made.value);
    expect(shown.checks[1]).toMatchObject({
      status: "warn",
      since: null,
      remedy: `Use its successor, the API key ${apiKey.id}.`,
    });
    expect(await check("api_key_expiry", value)).toMatchObject({ status: "pass" });
  });

  it("reports the scopes that a key lacks", async () => {
    const [none, one] = [await read(world().demo.keys.noScope), await read(world().demo.keys.catalogRead)];
    expect(none).toMatchObject({
      status: "action_required",
      requiredScopes: allScopes,
      grantedScopes: [],
      missingScopes: allScopes,
    });
    expect(one).toMatchObject({
      status: "action_required",
      grantedScopes: ["catalog:read"],
      missingScopes: allScopes.slice(1),
    });
    expect(one.checks[2]).toMatchObject({
      code: "scopes_granted",
      status: "fail",
      remedy: "Use a credential with the scopes checkout:quote, webhooks:read, webhooks:write.",
    });
  });

  it("reports scopes that the merchant removed from the installation after the key's creation", async () => {
    await setScopes("WEBHOOKS_READ, CATALOG_READ");
    const [full, own] = [await read(), await read(world().demo.keys.noScope)];
    await setScopes("CATALOG_READ, CHECKOUT_QUOTE, WEBHOOKS_READ, WEBHOOKS_WRITE");
    expect(full).toMatchObject({
      status: "action_required",
      grantedScopes: ["catalog:read", "webhooks:read"],
      missingScopes: ["checkout:quote", "webhooks:write"],
    });
    expect(full.checks[2]?.remedy).toBe(
      "Ask the merchant to grant the scopes checkout:quote, webhooks:write.",
    );
    expect(own).toMatchObject({
      requiredScopes: ["catalog:read", "webhooks:read"],
      missingScopes: ["catalog:read", "webhooks:read"],
    });
    expect((await read())["status"]).toBe("ready");
  });

  it("skips the key checks for an access token and compares the scopes of its grant", async () => {
    const [whole, part] = [
      await createTokenClient(world()),
      await createTokenClient(world(), { scopes: ["catalog:read"] }),
    ];
    world().clock.at = new Date();
    const { data } = (await whole.send({ url })).body;
    expect(data).toMatchObject({
      status: "ready",
      installationId: whole.installationId,
      grantedScopes: allScopes,
      missingScopes: [],
    });
    expect(data.checks.slice(0, 3).map(({ status }: Shown) => status)).toEqual([
      "skipped",
      "skipped",
      "pass",
    ]);
    expect((await part.send({ url })).body.data).toMatchObject({
      status: "action_required",
      missingScopes: allScopes.slice(1),
    });
  });

  it.each([
    ["installationSuspend", "installationResume", "installation_suspended"],
    ["merchantSuspend", "merchantResume", "merchant_suspended"],
  ])("is blocked after %s, like every operation except identity, until %s", async (suspend, resume, code) => {
    const id = suspend.startsWith("merchant")
      ? `merchantId: "${world().demo.merchants.first.id}"`
      : `installationId: "${await installationId()}"`;
    world().clock.at = new Date();
    await operate(`${suspend}(input: { ${id} }) { id }`);
    const since = world().clock.now().toISOString();
    const blocked = await read();
    expect(blocked).toMatchObject({ status: "blocked", missingScopes: [] });
    expect(blocked.checks[3]).toMatchObject({ code: "merchant_active", status: "fail", since });
    expect(blocked.checks.filter(({ status }) => status === "fail")).toHaveLength(1);
    expect((await world().getWithKey("/api/v1/open/identity")).status).toBe(200);
    expectError(await world().getWithKey("/api/v1/open/catalog/products"), {
      status: 401,
      code: code as "merchant_suspended",
    });
    await operate(`${resume}(input: { ${id} }) { id }`);
    expect((await read())["status"]).toBe("ready");
  });

  it("warns about missing tax rates, missing return policies and an unserved default country", async () => {
    const { db } = world().database;
    const { id } = world().demo.merchants.first;
    await db
      .deleteFrom("taxRate")
      .where("merchantId", "=", id)
      .where("country", "in", ["AT", "JP"])
      .execute();
    await db.deleteFrom("policy").where("merchantId", "=", id).where("type", "=", "return").execute();
    await db.updateTable("merchant").set({ defaultMarket: "BR" }).where("id", "=", id).execute();
    const shown = await read();
    expect(shown["status"]).toBe("degraded");
    expect(shown.checks.filter(({ status }) => status !== "pass")).toMatchObject([
      { code: "tax_configured", status: "warn", message: "There is no tax rate for AT, JP." },
      {
        code: "market_configured",
        status: "warn",
        message: "The merchant's default country, BR, belongs to no market.",
      },
      {
        code: "policy_return_configured",
        status: "warn",
        message: expect.stringMatching(/^There is no return policy for \S+, \S+, \S+\.$/),
      },
    ]);
    const [market] = await db
      .selectFrom("market")
      .select("id")
      .where("merchantId", "=", id)
      .orderBy("id")
      .execute();
    const summaries = '[{ locale: "en", text: "30 days." }]';
    await world().graphql(
      `mutation { policyUpsert(input: { marketId: "${market?.id}", type: RETURN, summaries: ${summaries} }) {
        id } }`,
    );
    expect((await check("policy_return_configured"))?.status).toBe("warn");
    await world().graphql(
      `mutation { policyUpsert(input: { type: RETURN, summaries: ${summaries} }) { id } }`,
    );
    expect((await check("policy_return_configured"))?.status).toBe("pass");
    await db.updateTable("merchant").set({ defaultMarket: "AT" }).where("id", "=", id).execute();
    expect((await check("market_configured"))?.status).toBe("pass");
  });

  it("requires a payment provider in live mode, and at least one market", async () => {
    const { id: merchantId } = await operate(
      'merchantCreate(input: { slug: "bare", name: "Bare", mode: LIVE, defaultLocale: "en", ' +
        'defaultMarket: "DE" }) { id }',
    );
    const app = await operate('appCreate(input: { name: "Bare" }) { id }');
    const made = await operate(
      `installationCreate(input: { merchantId: "${merchantId}", appId: "${app.id}", scopes: ` +
        "[CATALOG_READ] }) { id }",
    );
    const key = await operate(
      `apiKeyCreate(input: { installationId: "${made.id}", name: "Key", scopes: [CATALOG_READ] }) { value }`,
    );
    const bare = await read(key.value);
    expect(bare).toMatchObject({ status: "action_required", installationId: made.id, nextActionAt: null });
    expect(bare.checks.map(({ code, status }) => `${code} ${status}`).slice(4)).toEqual([
      "webhook_endpoint_present skipped",
      "webhook_delivery_healthy skipped",
      "webhook_secret_rotation skipped",
      "payment_provider_connected fail",
      "tax_configured skipped",
      "market_configured fail",
      "policy_return_configured skipped",
      "clock_skew pass",
    ]);
  });

  it.each([
    [10_000, "warn"],
    [-10_000, "warn"],
    [60_000, "fail"],
    [-60_000, "fail"],
  ])("compares the server's clock with the database's: a difference of %i ms is a %s", async (ms, status) => {
    expect(await check("clock_skew", undefined, new Date(Date.now() + ms))).toMatchObject({
      status,
      since: null,
    });
  });

  describe("checks of webhooks", () => {
    const endpointOf = async (): Promise<string> => {
      await clearEndpoints(world());
      return (await makeEndpoint(world())).id;
    };
    const setHealth = (id: string, health: object) =>
      world()
        .database.db.updateTable("webhookEndpointHealth")
        .set(health)
        .where("endpointId", "=", id)
        .execute();

    it("counts the deliveries of each endpoint that wait for a retry, and warns if the last attempt failed", async () => {
      const { db } = world().database;
      const { endpoint: id } = world().demo.webhooks;
      await setHealth(id, { consecutiveFailures: 2 });
      expect(await check("webhook_delivery_healthy")).toMatchObject({
        status: "warn",
        message: `Waiting for a retry after a failed attempt: 1 delivery to the webhook endpoint ${id}.`,
        remedy: expect.stringContaining(`Repair the receiver of the webhook endpoint ${id}.`),
      });
      await db
        .updateTable("webhookDelivery")
        .set({ status: "pending" })
        .where("endpointId", "=", id)
        .where("status", "=", "retrying")
        .execute();
      expect(await check("webhook_delivery_healthy")).toMatchObject({
        status: "pass",
        message: "No delivery to a webhook endpoint is failing.",
      });
      await setHealth(id, { consecutiveFailures: 0 });
    });

    it("warns if no endpoint exists or is enabled, and skips the other webhook checks", async () => {
      await clearEndpoints(world());
      const none = await read();
      expect(none.checks.slice(4, 7).map(({ status }) => status)).toEqual(["warn", "skipped", "skipped"]);
      expect(none["nextActionAt"]).toBeNull();
      const id = await endpointOf();
      world().clock.at = new Date();
      await changeEndpoint(world(), "webhookEndpointDisable", { endpointId: id });
      const since = world().clock.now().toISOString();
      const off = await read();
      expect(off.checks.slice(4, 7)).toMatchObject([
        { status: "warn", since },
        { status: "skipped" },
        { status: "skipped" },
      ]);
    });

    it("warns about a degraded endpoint, and fails for a failing or auto-disabled endpoint", async () => {
      const id = await endpointOf();
      const [now, lastSuccessAt] = [new Date(), new Date(Date.now() - 2 * dayMs)];
      await setHealth(id, { lastSuccessAt, failingSince: lastSuccessAt, degradedAt: now });
      expect(await check("webhook_delivery_healthy")).toMatchObject({
        status: "warn",
        message: `No delivery has succeeded for a day to the webhook endpoint ${id}.`,
        since: lastSuccessAt.toISOString(),
      });
      await setHealth(id, { probeAt: now });
      expect(await check("webhook_delivery_healthy")).toMatchObject({
        status: "fail",
        message: `Deliveries fail to the webhook endpoint ${id}.`,
        since: lastSuccessAt.toISOString(),
        remedy: "Repair the receiver.",
      });
      await world()
        .database.db.updateTable("webhookEndpoint")
        .set({ status: "auto_disabled", disabledReason: "gone", disabledAt: now })
        .where("id", "=", id)
        .execute();
      const off = await read();
      expect(off.checks.slice(4, 6)).toMatchObject([
        { status: "warn", remedy: `Enable the webhook endpoint ${id}, or create another endpoint.` },
        { status: "fail", since: now.toISOString(), message: expect.stringContaining(id) },
      ]);
      expect(off["status"]).toBe("degraded");
    });

    it("warns about a secret from one millisecond after its 365th day, with that time", async () => {
      const id = await endpointOf();
      const now = new Date();
      const setMadeAt = (createdAt: Date) =>
        world()
          .database.db.updateTable("webhookSecret")
          .set({ createdAt })
          .where("endpointId", "=", id)
          .execute();
      await setMadeAt(new Date(now.getTime() - 365 * dayMs));
      expect(await check("webhook_secret_rotation", undefined, now)).toMatchObject({ status: "pass" });
      expect(await check("webhook_secret_rotation", undefined, new Date(now.getTime() + 1))).toMatchObject({
        status: "warn",
        since: now.toISOString(),
        remedy: `Rotate the secret of the webhook endpoint ${id}.`,
      });
      await changeEndpoint(world(), "webhookSecretRotate", { endpointId: id });
      const rotated = await read();
      expect(rotated.checks[6]).toMatchObject({ code: "webhook_secret_rotation", status: "pass" });
      expect(rotated["nextActionAt"]).toMatch(/^\d{4}-/);
    });
  });

  it("requires credentials, and refuses parameters and a body", async () => {
    expectError(await world().get(url), {
      status: 401,
      code: "credentials_missing",
      headers: { "www-authenticate": challenge },
    });
    expectError(await world().get(url, { authorization: `Bearer ${unknownKey()}` }), {
      status: 401,
      code: "api_key_invalid",
    });
    expectError(await world().getWithKey(`${url}?verbose=1`), {
      status: 400,
      code: "unknown_parameter",
      details: [{ in: "query", field: "verbose", code: "unknown" }],
    });
    expectError(
      await world().send({
        method: "GET",
        url,
        body: "{}",
        headers: { authorization: `Bearer ${world().demo.keys.full}` },
      }),
      {
        status: 400,
        code: "unexpected_body",
        details: [{ in: "body", field: "", code: "body_not_allowed" }],
      },
    );
  });
});
