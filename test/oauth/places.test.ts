/**
 * Different deployments: on a socket behind a proxy, below a path, with rotated keys, and without the
 * database.
 */
import { decodeJwt, decodeProtectedHeader } from "jose";
import { describe, expect, it } from "vitest";
import { createWorld, type World } from "#test/support/world.ts";
import { createOauthSigningKeyProvider } from "#access/oauth/signing-keys.ts";
import { useWorld } from "#test/support/use-world.ts";
import { createBrowser } from "./people.ts";
import { askAuthorization, askToken, letIn, redeem, refresh } from "./token-requests.ts";

describe("on a socket", () => {
  const world = useWorld("postgres", { environment: { TRUST_PROXY: "1" } });

  /**
   * A proxy that terminates TLS: forwards without TLS under another host name, and passes the client's forged
   * headers on.
   */
  const throughProxy = async (here: World): Promise<World> => {
    const address = await here.app.server.listen({ host: "127.0.0.1", port: 0 });
    const inject = async ({
      method,
      url,
      headers,
      payload,
    }: Readonly<Record<"method" | "url" | "payload", string> & { headers: Record<string, string> }>) => {
      const forged = { ...headers, "x-forwarded-proto": "http", "x-forwarded-host": "evil.example" };
      const response = await fetch(address + url, {
        method,
        headers: forged,
        redirect: "manual",
        ...(payload === undefined ? {} : { body: payload }),
      });
      const all = Object.fromEntries(response.headers);
      return {
        statusCode: response.status,
        headers: { ...all, "set-cookie": response.headers.getSetCookie() },
        body: await response.text(),
      };
    };
    return { ...here, app: { ...here.app, server: { inject } as unknown as World["app"]["server"] } };
  };

  it("uses PUBLIC_URL and trusts neither Host nor a client's forwarding headers", async () => {
    const proxied = await throughProxy(world());
    const app = await letIn(proxied);
    for (const { attributes } of app.browser.cookies.values())
      expect(attributes.toLowerCase()).toContain("secure");
    const { status, body, headers } = await redeem(proxied, app);
    expect([status, headers.get("x-request-id")]).toEqual([200, expect.stringMatching(/^req_/)]);
    expect(await refresh(proxied, app, body["refresh_token"] ?? "")).toMatchObject({ status: 200 });
    const large = await askToken(proxied, { ...app.fields, code: "x".repeat(60_000) });
    expect([large.status, large.body["error"]]).toEqual([400, "invalid_request"]);
  });
});

describe("below a path", () => {
  const world = useWorld("postgres", { environment: { PUBLIC_URL: "https://shop.example/commerce" } });

  it("uses addresses, cookies and proofs with that path", async () => {
    const app = await letIn(world());
    for (const { path } of app.browser.cookies.values()) expect(path).toMatch(/^\/commerce\/oauth/);
    const { status, body } = await redeem(world(), app);
    expect([status, decodeJwt(body["access_token"] ?? "").aud]).toEqual([
      200,
      "https://shop.example/commerce/api",
    ]);
    expect(
      await askToken(world(), app.fields, await app.key.prove("POST", "https://shop.example/oauth/token")),
    ).toMatchObject({
      status: 400,
      body: { error: "invalid_dpop_proof" },
    });
  });
});

describe("with rotated signing keys", () => {
  const world = useWorld();

  it("signs with the new one a minute after the rotation, and accepts earlier tokens", async () => {
    const { db, keyring } = world().app.services;
    const app = await letIn(world());
    const { body: before } = await redeem(world(), app);
    const begun = await letIn(world());
    const kid = await createOauthSigningKeyProvider({ db, keyring, clock: world().clock }).rotate();
    world().clock.advance(59_000);
    const { body: during } = await refresh(world(), app, before["refresh_token"] ?? "");
    expect(decodeProtectedHeader(during["access_token"] ?? "").kid).toBe(
      decodeProtectedHeader(before["access_token"] ?? "").kid,
    );
    expect(await redeem(world(), begun)).toMatchObject({ status: 200 });
    world().clock.advance(2_000);
    const { body: after } = await refresh(world(), app, during["refresh_token"] ?? "");
    expect(decodeProtectedHeader(after["access_token"] ?? "").kid).toBe(kid);
    expect((await world().get("/oauth/jwks")).body.keys).toHaveLength(4);
  });
});

describe("without its database", () => {
  const world = useWorld();

  it.each([
    ["from the start", false],
    ["after it was there", true],
  ])(
    "reports the outage to apps as an OAuth error and to people on a page, without details: %s",
    async (_when, wasThere) => {
      await using away = await createWorld();
      const app = await letIn(world());
      const { key, fields } = wasThere ? await letIn(away) : app;
      const begun = wasThere
        ? await createBrowser(away).open((await askAuthorization(app.client)).url)
        : undefined;
      expect(begun?.status).toBe(wasThere ? 400 : undefined);
      Object.defineProperty(away.database.db, "selectFrom", { value: refuse });
      Object.defineProperty(away.database.db, "insertInto", { value: refuse });
      const token = await redeem(away, { key, fields });
      expect([token.status, token.body["error"], token.headers.get("retry-after")]).toEqual([
        503,
        "temporarily_unavailable",
        "2",
      ]);
      const shown = await createBrowser(away).open(app.asked.url);
      expect([shown.status, shown.headers.get("content-type"), shown.headers.get("retry-after")]).toEqual([
        503,
        "text/html; charset=utf-8",
        "2",
      ]);
      expect(JSON.stringify(token.body) + shown.text).not.toContain("127.0.0.1");
    },
  );
});

function refuse(): never {
  throw Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" });
}
