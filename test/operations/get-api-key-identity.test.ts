/** getApiKeyIdentity: returns the key's identity and refuses every kind of invalid key. */
import { beforeAll, describe, expect, it } from "vitest";
import { challenge, challengeInvalid, expectError } from "#test/support/expect-error.ts";
import { unknownKey, withOtherSecret, withTypo } from "#test/support/keys.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { expectShape, identityAnswer } from "./shapes.ts";

const url = "/api/v1/open/identity";

describe.each(["pglite", "postgres"] as const)("getApiKeyIdentity on %s", (engine) => {
  const world = useWorld(engine);
  let contract: Contract;
  beforeAll(async () => {
    contract = await readContract(world());
  });

  it("returns the key, its installation, app and merchant, the limits and the time", async () => {
    const answer = await world().getWithKey(url);
    expect(answer.status).toBe(200);
    expectShape(identityAnswer, answer.body);
    expect(contract.faultsOf("getApiKeyIdentity", 200, answer.body)).toEqual([]);
    expect(answer.body).toMatchObject({
      data: {
        credential: "api_key",
        apiKey: {
          name: "Demo: full",
          prefix: world().demo.keys.full.slice(0, "cpk_test_".length + 12),
          mode: "test",
          scopes: ["catalog:read", "checkout:quote", "webhooks:read", "webhooks:write"],
          createdAt: world().clock.now().toISOString(),
          expiresAt: null,
          rotatesTo: null,
        },
        installation: { status: "active" },
        merchant: {
          ...world().demo.merchants.first,
          defaultLocale: "en",
          defaultMarket: "DE",
          currencies: ["EUR", "JPY", "USD"],
        },
        limits: [],
        api: { serverTime: world().clock.now().toISOString() },
      },
    });
    expect(answer.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-store",
      vary: "Authorization",
      "x-api-stability": "stable",
      "x-content-type-options": "nosniff",
    });
    expect(answer.headers["x-request-id"]).toMatch(/^req_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
  });

  it("runs six statements: the credential, then key, installation, app, merchant and markets", async () => {
    expect(await statementsOf(world(), () => world().getWithKey(url))).toHaveLength(6);
  });

  it("returns the scopes of the key", async () => {
    expect((await world().getWithKey(url, "noScope")).body.data.apiKey.scopes).toEqual([]);
    expect((await world().getWithKey(url, "catalogRead")).body.data.apiKey.scopes).toEqual(["catalog:read"]);
  });

  it("updates the key's lastUsedAt after the answer, at most once a minute", async () => {
    const { database, clock, getWithKey } = world();
    const lastUsedAt = async (): Promise<string | null> =>
      (await getWithKey(url, "webhooksRead")).body.data.apiKey.lastUsedAt;
    const noted = async (at: Date): Promise<void> => {
      const row = (): Promise<unknown> =>
        database.db
          .selectFrom("apiKey")
          .select("lastUsedAt")
          .where("name", "=", "Demo: webhooksRead")
          .executeTakeFirst();
      await expect.poll(row).toEqual({ lastUsedAt: at });
    };
    expect(await lastUsedAt()).toBeNull();
    const first = clock.now();
    await noted(first);
    clock.advance(59_999);
    expect(await lastUsedAt()).toBe(first.toISOString());
    clock.advance(2);
    expect(await lastUsedAt()).toBe(first.toISOString());
    await noted(clock.now());
  });

  const wrongKeys: Readonly<Record<string, (keys: { full: string }) => string>> = {
    "an unknown id": unknownKey,
    "a wrong secret": ({ full }) => withOtherSecret(full),
    "a wrong checksum": ({ full }) => withTypo(full),
    "a key cut short": ({ full }) => full.slice(0, -7),
    "something else": () => "secret",
    "an internal token's form": ({ full }) => full.replace("cpk_test", "cit_admin"),
  };

  it.each(Object.keys(wrongKeys))("answers %s with the same 401", async (name) => {
    const key = wrongKeys[name]?.(world().demo.keys) ?? "";
    expectError(await world().get(url, { authorization: `Bearer ${key}` }), {
      status: 401,
      code: "api_key_invalid",
      headers: { "www-authenticate": challengeInvalid },
    });
  });

  it("runs no statement for a key with a wrong checksum", async () => {
    const authorization = `Bearer ${withTypo(world().demo.keys.full)}`;
    expect(await statementsOf(world(), () => world().get(url, { authorization }))).toEqual([]);
  });

  it("refuses an internal token", async () => {
    expectError(await world().get(url, { authorization: `Bearer ${world().demo.tokens.admin}` }), {
      status: 401,
      code: "api_key_invalid",
    });
  });

  it.each([
    ["expired", "api_key_expired"],
    ["revoked", "api_key_revoked"],
  ] as const)("refuses the %s key", async (key, code) => {
    expectError(await world().getWithKey(url, key), {
      status: 401,
      code,
      headers: { "www-authenticate": challengeInvalid },
    });
  });

  it("refuses a key from the millisecond in which it expires", async () => {
    const { database, clock, getWithKey } = world();
    await database.db
      .updateTable("apiKey")
      .set({ expiresAt: new Date(clock.now().getTime() + 1) })
      .where("name", "=", "Demo: webhooksWrite")
      .execute();
    expect((await getWithKey(url, "webhooksWrite")).status).toBe(200);
    clock.advance(1);
    expectError(await getWithKey(url, "webhooksWrite"), { status: 401, code: "api_key_expired" });
  });

  it("answers credentials_missing, not invalid, if no credentials were sent", async () => {
    expectError(await world().get(url), {
      status: 401,
      code: "credentials_missing",
      headers: { "www-authenticate": challenge },
    });
  });

  it("reads the key from the header only: a key in the query or a cookie is ignored", async () => {
    const { full } = world().demo.keys;
    const answer = await world().get(`${url}?api_key=${full}&access_token=${full}`, {
      cookie: `api_key=${full}`,
    });
    expectError(answer, {
      status: 401,
      code: "credentials_missing",
      details: [{ in: "query", field: "api_key", code: "credentials_misplaced", allowed: ["Authorization"] }],
      headers: { "www-authenticate": challenge },
    });
  });

  it.each([
    ["the Basic scheme", "Basic Y3BrOnNlY3JldA=="],
    ["no scheme", "cpk_test"],
    ["a scheme alone", "Bearer"],
    ["two tokens", "Bearer one two"],
    ["a list of two credentials", "Bearer one, Bearer two"],
    ["nothing", ""],
  ])("answers credentials_malformed for %s", async (_name, authorization) => {
    expectError(await world().get(url, { authorization }), {
      status: 401,
      code: "credentials_malformed",
      headers: { "www-authenticate": challengeInvalid },
    });
  });

  it.each(["bearer", "BEARER", "bEaReR"])("accepts the scheme in any case: %s", async (scheme) => {
    expect((await world().get(url, { authorization: `${scheme} ${world().demo.keys.full}` })).status).toBe(
      200,
    );
  });

  it("refuses every query parameter by name", async () => {
    expectError(await world().getWithKey(`${url}?verbose=1&page=2`), {
      status: 400,
      code: "unknown_parameter",
      details: [
        { in: "query", field: "verbose", code: "unknown" },
        { in: "query", field: "page", code: "unknown" },
      ],
    });
  });

  it("refuses a body", async () => {
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

  it("answers HEAD like GET, without the body", async () => {
    const answer = await world().send({
      method: "HEAD",
      url,
      headers: { authorization: `Bearer ${world().demo.keys.full}` },
    });
    expect(answer).toMatchObject({ status: 200, text: "", headers: { "x-api-stability": "stable" } });
  });
});

describe("while access is suspended", () => {
  const world = useWorld();
  const listUrl = "/api/v1/open/catalog/products";

  it.each([
    ["installation", "installation_suspended", { status: "suspended" }],
    ["merchant", "merchant_suspended", { status: "active" }],
  ] as const)(
    "still returns its identity, and nothing else, to a key of a suspended %s",
    async (table, code, shown) => {
      const { database, demo, getWithKey } = world();
      const column = table === "merchant" ? "id" : "merchantId";
      const setStatus = async (status: "active" | "suspended"): Promise<void> => {
        await database.db
          .updateTable(table)
          .set({ status })
          .where(column, "=", demo.merchants.first.id)
          .execute();
      };
      await setStatus("suspended");
      try {
        const identity = await getWithKey(url);
        expect(identity.status).toBe(200);
        expectShape(identityAnswer, identity.body);
        expect(identity.body.data.installation).toMatchObject(shown);
        expectError(await getWithKey(listUrl), {
          status: 401,
          code,
          headers: { "www-authenticate": challengeInvalid },
        });
        expect((await getWithKey(url, "otherMerchant")).status).toBe(200);
        expect((await getWithKey(listUrl, "otherMerchant")).status).toBe(200);
      } finally {
        await setStatus("active");
      }
      expect((await getWithKey(listUrl)).status).toBe(200);
    },
  );

  it("answers api_key_revoked to a key of an uninstalled installation", async () => {
    const { database, demo, getWithKey } = world();
    await database.db
      .updateTable("installation")
      .set({ status: "uninstalled" })
      .where("merchantId", "=", demo.merchants.second.id)
      .execute();
    expectError(await getWithKey(url, "otherMerchant"), {
      status: 401,
      code: "api_key_revoked",
      headers: { "www-authenticate": challengeInvalid },
    });
  });

  it("returns the successor of a rotated key", async () => {
    const { database, getWithKey } = world();
    const keyOf = (name: string): Promise<{ id: string }> =>
      database.db.selectFrom("apiKey").select("id").where("name", "=", name).executeTakeFirstOrThrow();
    const [old, next] = await Promise.all([keyOf("Demo: noScope"), keyOf("Demo: full")]);
    await database.db.updateTable("apiKey").set({ rotatesTo: next.id }).where("id", "=", old.id).execute();
    expect((await getWithKey(url, "noScope")).body.data.apiKey.rotatesTo).toBe(next.id);
  });
});
