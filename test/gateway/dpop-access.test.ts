/**
 * An access token may call the same operations as an API key, as far as token, grant and installation all
 * allow, and acts as the same installation.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { integratorScopes as allScopes, type PermissionScope } from "#access/viewer.ts";
import { callCart, cartsUrl, makeCart } from "#test/operations/cart-calls.ts";
import { challenge, dpopChallengeFor, expectError } from "#test/support/expect-error.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { createTokenClient, type TokenClient } from "#test/support/token-client.ts";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";

const identityUrl = "/api/v1/open/identity";

describe.each(["postgres"] as const)("an access token on %s", (engine) => {
  const world = useWorld(engine);
  let contract: Contract;
  beforeAll(async () => {
    contract = await readContract(world());
  });

  // The operations that accept access tokens, and their scopes, are tested in every-scope.test.ts.
  const keyed = (): Contract["operations"] =>
    contract.operations.filter(({ security }) => security.some((way) => "oauth" in way));
  /** A request with unknown ids: authentication and scope are checked before the ids. */
  const callOf = ({
    method,
    path,
  }: {
    method: string;
    path: string;
  }): { method: string; url: string; body?: unknown; headers: Record<string, string> } => ({
    method,
    url: path.replaceAll(/\{\w+\}/g, "x"),
    headers: { "idempotency-key": randomUUID() },
    ...(method === "GET" ? {} : { body: {} }),
  });

  it("is offered beside the API key in every challenge and in the OpenAPI document", async () => {
    for (const operation of keyed().filter(
      ({ operationId }) => operationId !== "describeOAuthAuthorization",
    )) {
      const { method, url, headers, body } = callOf(operation);
      const answer = await world().send({ method, url, headers, body });
      expectError(answer, {
        status: 401,
        code: "credentials_missing",
        headers: { "www-authenticate": challenge },
      });
      const scope = operation["x-required-scope"];
      const scopes = scope === "none" ? [] : [scope];
      expect(operation.security).toEqual([{ apiKey: scopes }, { oauth: scopes }]);
    }
    const { securitySchemes } = contract.document.components as unknown as {
      securitySchemes: Record<string, Record<string, unknown>>;
    };
    expect(securitySchemes["oauth"]).toMatchObject({
      type: "oauth2",
      description: expect.stringContaining("/.well-known/oauth-authorization-server"),
      flows: {
        authorizationCode: {
          authorizationUrl: `${publicUrl}/oauth/authorize`,
          tokenUrl: `${publicUrl}/oauth/token`,
          scopes: expect.anything(),
        },
      },
    });
    const { flows } = securitySchemes["oauth"] as { flows: { authorizationCode: { scopes: object } } };
    expect(Object.keys(flows.authorizationCode.scopes)).toEqual(allScopes);
  });

  const reads = async (
    client: TokenClient,
    claims: Readonly<Record<string, unknown>> = {},
  ): Promise<number> => {
    const url = `${cartsUrl}/x`;
    const token = await client.token({ claims });
    return (
      await client.send({
        url,
        headers: { authorization: `DPoP ${token}`, dpop: await client.proof({ url }, token) },
      })
    ).status;
  };

  it("is allowed what token, grant and installation all allow", async () => {
    const { db } = world().database;
    const client = await createTokenClient(world(), { merchant: "second" });
    expect(await reads(client)).toBe(404);
    expect(await reads(client, { scope: "webhooks:read catalog:read openid" })).toBe(404);
    for (const scope of [
      "webhooks:read",
      "",
      "catalog:readcatalog:read",
      "CATALOG:READ",
      undefined,
      ["catalog:read"],
    ])
      expect(await reads(client, { scope })).toBe(403);
    const setGrant = (scopes: PermissionScope[]): Promise<unknown> =>
      db.updateTable("oauthGrant").set({ scopes }).where("id", "=", client.grantId).execute();
    const setInstallation = (scopes: PermissionScope[]): Promise<unknown> =>
      db.updateTable("installation").set({ scopes }).where("id", "=", client.installationId).execute();
    await setGrant(["checkout:quote"]);
    expect(await reads(client)).toBe(403);
    await setGrant([...allScopes]);
    await setInstallation(["checkout:quote"]);
    expect(await reads(client)).toBe(403);
    await setInstallation([...allScopes]);
    expect(await reads(client)).toBe(404);
  });

  it("returns the grant instead of a key in its identity", async () => {
    const client = await createTokenClient(world(), { scopes: ["webhooks:read", "catalog:read"] });
    const { status, body } = await client.send({ url: identityUrl });
    const { data: withKey } = (await world().getWithKey(identityUrl)).body;
    expect(status).toBe(200);
    expect(body).toEqual({
      data: {
        ...withKey,
        credential: "oauth",
        apiKey: null,
        oauthGrant: {
          id: client.grantId,
          clientId: client.clientId,
          scopes: ["catalog:read", "webhooks:read"],
          issuedAt: world().clock.now().toISOString(),
          expiresAt: new Date(world().clock.now().getTime() + 30 * 86_400_000).toISOString(),
        },
      },
    });
    expect(contract.faultsOf("getApiKeyIdentity", 200, body)).toEqual([]);
  });

  it("of a suspended installation or merchant reads its identity and nothing else", async () => {
    const { db } = world().database;
    const client = await createTokenClient(world(), { merchant: "second" });
    const { id } = world().demo.merchants.second;
    for (const [table, column, code] of [
      ["installation", "merchantId", "installation_suspended"],
      ["merchant", "id", "merchant_suspended"],
    ] as const) {
      await db.updateTable(table).set({ status: "suspended" }).where(column, "=", id).execute();
      expect((await client.send({ url: identityUrl })).body.data.oauthGrant.id).toBe(client.grantId);
      expectError(await client.send({ url: "/api/v1/open/catalog/products" }), {
        status: 401,
        code,
        headers: { "www-authenticate": dpopChallengeFor("invalid_token") },
      });
      await db.updateTable(table).set({ status: "active" }).where(column, "=", id).execute();
    }
    expect((await client.send({ url: "/api/v1/open/catalog/products" })).status).toBe(200);
  });

  it("reads the same as its merchant's key, and nothing of another merchant", async () => {
    const { id } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    const own = await createTokenClient(world());
    expect((await own.send({ url: `${cartsUrl}/${id}` })).body).toEqual(
      (await callCart(world(), "getPublicCart", { cartId: id })).body,
    );
    const foreign = await createTokenClient(world(), { merchant: "second" });
    expectError(await foreign.send({ url: `${cartsUrl}/${id}` }), { status: 404, code: "cart_not_found" });
  });

  it("shares idempotency keys with the installation's API keys, in both directions", async () => {
    const client = await createTokenClient(world());
    const code = world().demo.promotionCodes.percentage;
    for (const isKeyFirst of [true, false]) {
      const { id } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
      const headers = { "idempotency-key": randomUUID() };
      const url = `${cartsUrl}/${id}/promotion`;
      const withKey = () =>
        callCart(world(), "applyPublicCartPromotion", { cartId: id, body: { code }, headers });
      const withToken = () => client.send({ method: "PUT", url, headers, body: { code } });
      const first = await (isKeyFirst ? withKey() : withToken());
      const second = await (isKeyFirst ? withToken() : withKey());
      expect([first.status, first.headers["idempotent-replayed"]]).toEqual([200, "false"]);
      expect([second.status, second.headers["idempotent-replayed"], second.text]).toEqual([
        200,
        "true",
        first.text,
      ]);
    }
  });

  it("updates the grant's lastUsedAt after the answer, at most once a minute", async () => {
    const { database, clock } = world();
    const client = await createTokenClient(world());
    const row = (): Promise<unknown> =>
      database.db
        .selectFrom("oauthGrant")
        .select("lastUsedAt")
        .where("id", "=", client.grantId)
        .executeTakeFirst();
    const noted = async (at: Date): Promise<void> => {
      await expect.poll(row).toEqual({ lastUsedAt: at });
    };
    const first = clock.now();
    await client.send({ url: identityUrl });
    await noted(first);
    clock.advance(59_999);
    await client.send({ url: identityUrl });
    clock.advance(2);
    await client.send({ url: identityUrl });
    await noted(clock.now());
  });
});

describe("the rate limits of an access token", () => {
  const world = useWorld("postgres", { environment: { RATE_LIMIT_SCALE: "1", TRUST_PROXY: "2" } });
  let address = 0;
  beforeEach(() => {
    address += 1;
  });
  const from = (): Record<string, string> => ({ "x-forwarded-for": `203.0.113.${address}, 10.0.0.1` });
  const repeat = async (times: number, call: () => Promise<unknown>): Promise<void> => {
    for (let count = 0; count < times; count += 1) await call();
  };
  const refused = { status: 429, code: "too_many_failed_attempts", retryAfterSeconds: 300 } as const;

  it("are counted per grant", async () => {
    const [one, other] = [await createTokenClient(world()), await createTokenClient(world())];
    expect((await one.send({ url: identityUrl })).headers["ratelimit"]).toBe('"default";r=599;t=60');
    expect((await one.send({ url: identityUrl })).headers["ratelimit"]).toBe('"default";r=598;t=60');
    expect((await other.send({ url: identityUrl })).headers["ratelimit"]).toBe('"default";r=599;t=60');
    expect((await one.send({ url: "/api/v1/search" })).headers["ratelimit"]).toBe('"default";r=597;t=60');
    expect(
      (await world().get("/api/v1/search", { ...from(), authorization: "DPoP x", dpop: "y" })).headers[
        "ratelimit-policy"
      ],
    ).toMatch(/^"anon-search"/);
  });

  it("count wrong tokens and proofs per address; valid tokens still pass", async () => {
    const client = await createTokenClient(world());
    const token = await client.token();
    const wrong: readonly (() => Promise<Record<string, string>>)[] = [
      async () => ({ authorization: "DPoP x", dpop: await client.proof({ url: identityUrl }, "x") }),
      async () => ({ authorization: `DPoP ${token}`, dpop: "x" }),
      async () => ({ authorization: `DPoP ${token}` }),
      async () => ({ authorization: `Bearer ${token}` }),
    ];
    await repeat(30, () => world().get(identityUrl, from()));
    await repeat(30, () => world().get("/api/v1/oauth/authorize", from()));
    for (const headers of wrong)
      await repeat(5, async () =>
        expect((await world().get(identityUrl, { ...from(), ...(await headers()) })).status).toBe(401),
      );
    for (const headers of wrong)
      expectError(await world().get(identityUrl, { ...from(), ...(await headers()) }), {
        ...refused,
        details: [{ in: "limit", field: "auth-fail", code: "quota_exceeded" }],
        headers: { "www-authenticate": undefined },
      });
    expect((await client.send({ url: identityUrl, headers: from() })).status).toBe(200);
    expectError(await world().get(identityUrl, from()), { status: 401, code: "credentials_missing" });
  });

  it("do not count the token of a suspended installation as a wrong one", async () => {
    const client = await createTokenClient(world(), { merchant: "second" });
    const { id } = world().demo.merchants.second;
    await world()
      .database.db.updateTable("installation")
      .set({ status: "suspended" })
      .where("merchantId", "=", id)
      .execute();
    const send = (): Promise<{ status: number }> =>
      client.send({ url: "/api/v1/open/catalog/products", headers: from() });
    await repeat(25, async () => expect((await send()).status).toBe(401));
  });
});

describe("the graph", () => {
  const world = useWorld();

  it("refuses access tokens: it accepts internal tokens only", async () => {
    const client = await createTokenClient(world());
    const answer = await client.send({
      method: "POST",
      url: "/graphql",
      body: { query: "{ viewer { role } }" },
    });
    expect([answer.status, answer.body.errors[0].extensions.code]).toEqual([401, "credentials_malformed"]);
    expect(answer.headers["www-authenticate"]).toBe(`Bearer realm="${publicUrl}", error="invalid_token"`);
  });

  it("returns to staff how clients get tokens", async () => {
    const { body } = await world().graphql("{ oauthAuthorization { issuer scopesSupported { name } } }", {
      token: "analyst",
    });
    expect(body.data.oauthAuthorization).toEqual({
      issuer: publicUrl,
      scopesSupported: allScopes.map((name) => ({ name })),
    });
  });
});
