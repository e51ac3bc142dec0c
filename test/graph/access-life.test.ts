/** Granting and revoking access over GraphQL takes effect on the next REST request. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorld, type World } from "#test/support/world.ts";

describe("access", () => {
  let world: World;
  let merchantId: string;
  let installationId: string;
  let key: string;
  let apiKeyId: string;
  beforeAll(async () => {
    world = await createWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const operate = async (mutation: string) => {
    const { body } = await world.graphql(`mutation { ${mutation} }`, { token: "operator" });
    return { data: body.data?.[Object.keys(body.data)[0] ?? ""], error: body.errors?.[0]?.extensions };
  };
  const identity = () => world.get("/api/v1/open/identity", { authorization: `Bearer ${key}` });
  const products = () => world.get("/api/v1/open/catalog/products", { authorization: `Bearer ${key}` });

  it("leads from a new merchant to a working key", async () => {
    const merchant = await operate(
      'merchantCreate(input: { slug: "atelier", name: "Atelier", mode: LIVE, defaultLocale: "fr", ' +
        'defaultMarket: "FR" }) { id mode }',
    );
    merchantId = merchant.data.id;
    const app = await operate('appCreate(input: { name: "Connector", publisher: "Acme" }) { id }');
    const installation = await operate(
      `installationCreate(input: { merchantId: "${merchantId}", appId: "${app.data.id}", scopes: ` +
        "[CATALOG_READ, WEBHOOKS_READ] }) { id scopes }",
    );
    expect(installation.data.scopes).toEqual(["catalog:read", "webhooks:read"]);
    installationId = installation.data.id;
    const made = await operate(
      `apiKeyCreate(input: { installationId: "${installationId}", name: "Server", scopes: ` +
        "[CATALOG_READ] }) { value apiKey { id prefix lastFour } }",
    );
    key = made.data.value;
    apiKeyId = made.data.apiKey.id;
    expect(key).toMatch(/^cpk_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/);
    expect(key.startsWith(`${made.data.apiKey.prefix}_`)).toBe(true);
    expect(key.endsWith(made.data.apiKey.lastFour)).toBe(true);
    const { status, body } = await identity();
    expect({
      status,
      id: body.data.apiKey.id,
      mode: body.data.apiKey.mode,
      scopes: body.data.apiKey.scopes,
      merchant: body.data.merchant.slug,
    }).toEqual({
      status: 200,
      id: apiKeyId,
      mode: "live",
      scopes: ["catalog:read"],
      merchant: "atelier",
    });
    expect(body.data.app).toMatchObject({ name: "Connector", publisher: "Acme" });
    expect((await products()).body.data).toEqual([]);
  });

  it("stores no secret: neither a key nor its last characters are in the database", async () => {
    const secret = key.split("_")[3] ?? "";
    const dump = await world.database.script(async (run) =>
      JSON.stringify(await run("select to_jsonb(k) - 'digest' as k from api_key k")),
    );
    expect(secret).toHaveLength(49);
    expect(dump).not.toContain(secret);
    expect(JSON.stringify(world.logged)).not.toContain(secret);
  });

  it("refuses a key with more scopes than its installation", async () => {
    const { error } = await operate(
      `apiKeyCreate(input: { installationId: "${installationId}", name: "Greedy", scopes: ` +
        "[WEBHOOKS_WRITE] }) { value }",
    );
    expect(error).toMatchObject({
      code: "invalid_field",
      details: [{ field: "/scopes", code: "not_allowed", allowed: ["catalog:read", "webhooks:read"] }],
    });
  });

  it("removes a scope from all keys of an installation at once", async () => {
    await operate(`installationScopesSet(input: { installationId: "${installationId}", scopes: [] }) { id }`);
    expect((await identity()).body.data.apiKey.scopes).toEqual([]);
  });

  it("refuses to install an app twice", async () => {
    const { body } = await world.graphql(`{ installation(id: "${installationId}") { app { id } } }`, {
      token: "operator",
    });
    const { error } = await operate(
      `installationCreate(input: { merchantId: "${merchantId}", appId: ` +
        `"${body.data.installation.app.id}", scopes: [] }) { id }`,
    );
    expect(error).toMatchObject({ code: "already_exists", details: [{ field: "/appId" }] });
  });

  it.each([
    ["installationSuspend", "installationResume", "installation_suspended"],
    ["merchantSuspend", "merchantResume", "merchant_suspended"],
  ])("allows only identity at once after %s, and everything after %s", async (suspend, resume, code) => {
    const input = suspend.startsWith("merchant")
      ? `{ merchantId: "${merchantId}" }`
      : `{ installationId: "${installationId}" }`;
    await operate(`${suspend}(input: ${input}) { id }`);
    expect((await products()).body.error.code).toBe(code);
    expect((await products()).status).toBe(401);
    expect((await identity()).status).toBe(200);
    await operate(`${resume}(input: ${input}) { id }`);
    expect((await products()).status).toBe(200);
  });

  it("refuses a revoked key from the next request on; a second revocation changes nothing", async () => {
    const first = await operate(`apiKeyRevoke(input: { apiKeyId: "${apiKeyId}" }) { revokedAt }`);
    expect((await identity()).body.error.code).toBe("api_key_revoked");
    world.clock.advance(1000);
    expect((await operate(`apiKeyRevoke(input: { apiKeyId: "${apiKeyId}" }) { revokedAt }`)).data).toEqual(
      first.data,
    );
  });

  it("revokes the keys of an uninstalled installation permanently", async () => {
    const made = await operate(
      `apiKeyCreate(input: { installationId: "${installationId}", name: "Last", scopes: [] }) { value }`,
    );
    key = made.data.value;
    expect((await identity()).status).toBe(200);
    await operate(`installationUninstall(input: { installationId: "${installationId}" }) { id }`);
    expect((await identity()).body.error.code).toBe("api_key_revoked");
    expect(
      (await operate(`installationResume(input: { installationId: "${installationId}" }) { id }`)).error,
    ).toMatchObject({
      code: "invalid_state",
      conflict: { currentStatus: "uninstalled" },
    });
  });

  it("allows a merchant's admin to create tokens only for that merchant, not for the platform", async () => {
    const own = await world.graphql(
      'mutation { internalTokenCreate(input: { name: "shop", role: STOREFRONT }) { value internalToken { ' +
        "id merchantId } } }",
    );
    const { value, internalToken } = own.body.data.internalTokenCreate;
    expect(internalToken.merchantId).toBe(world.demo.merchants.first.id);
    expect((await world.graphql("{ viewer { role } }", { token: value })).body.data.viewer.role).toBe(
      "storefront",
    );
    for (const [input, code] of [
      [`{ name: "x", role: ADMIN, merchantId: "${merchantId}" }`, "merchant_not_found"],
      ['{ name: "x", role: OPERATOR }', "invalid_field"],
    ] as const) {
      const { body } = await world.graphql(`mutation { internalTokenCreate(input: ${input}) { value } }`);
      expect(body.errors[0].extensions.code).toBe(code);
      if (code === "invalid_field")
        expect(body.errors[0].extensions).toMatchObject({
          message: "Only a token of the platform can create tokens of the role OPERATOR.",
          details: [{ field: "/role", code: "not_allowed" }],
        });
    }
    await world.graphql(
      `mutation { internalTokenRevoke(input: { internalTokenId: "${internalToken.id}" }) { id } }`,
    );
    expect((await world.graphql("{ viewer { role } }", { token: value })).status).toBe(401);
  });
});
