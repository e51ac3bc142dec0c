/** Limits of the authorization server: requests per address, and the size of each. */
import { describe, expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";
import { createBrowser, createClient, createPerson, password, redirectUri } from "./people.ts";
import { askAuthorization, letIn, redeem, refresh } from "./token-requests.ts";

const form = { "content-type": "application/x-www-form-urlencoded" };

describe("requests of an address", () => {
  const world = useWorld("postgres", { environment: { RATE_LIMIT_SCALE: "0.01", TRUST_PROXY: "1" } });
  const kept = async (): Promise<number> => {
    const rows = await world()
      .database.db.selectFrom("oauthItem")
      .select("kind")
      .where("kind", "in", ["Interaction", "PushedAuthorizationRequest"])
      .execute();
    return rows.length;
  };

  it.each([
    ["an authorization request", "GET", "203.0.113.1", "text/html; charset=utf-8"],
    ["a pushed one", "POST", "203.0.113.2", "application/json; charset=utf-8"],
  ] as const)(
    "that store %s count as anonymous requests, and store nothing if refused",
    async (_what, method, address, type) => {
      const asked = new URL((await askAuthorization(await createClient(world()))).url);
      const headers = { "x-forwarded-for": address };
      const ask = (): Promise<Answer> =>
        method === "GET"
          ? world().get(asked.pathname + asked.search, headers)
          : world().send({
              method,
              url: "/oauth/par",
              headers: { ...headers, ...form },
              body: asked.search.slice(1),
            });
      const done = [await ask(), await ask(), await ask()];
      expect(done.map(({ status }) => status)).toEqual(method === "GET" ? [303, 303, 303] : [201, 201, 201]);
      expect(done[2]?.headers).toMatchObject({
        "ratelimit-policy": '"anon-read";q=3;w=60',
        ratelimit: '"anon-read";r=0;t=60',
      });
      const before = await kept();
      const refused = await ask();
      expect(refused.headers).toMatchObject({
        "content-type": type,
        "retry-after": "60",
        ratelimit: '"anon-read";r=0;t=60',
      });
      expect([refused.status, await kept()]).toEqual([429, before]);
      if (method === "POST") expect(refused.body.error).toBe("temporarily_unavailable");
      else expect(refused.text).toContain("Too many requests");
      expect(world().logged.at(-1)).toMatchObject({ status: 429, code: "rate_limited" });
      const product = "/api/v1/catalog/merchants/lindenhof/products/fjell-2-trekking-tent";
      expect((await world().get(product, headers)).status).toBe(429);
      expect((await world().get("/oauth/authorize", { "x-forwarded-for": "203.0.113.9" })).status).toBe(400);
      world().clock.advance(60_000);
      expect((await ask()).status).toBe(done[0]?.status);
    },
  );

  it("to a page are counted as well, whatever form they send", async () => {
    const { email } = await createPerson(world());
    const browser = createBrowser(world(), { "x-forwarded-for": "203.0.113.4" });
    const page = await browser.open((await askAuthorization(await createClient(world()))).url);
    expect(
      (await browser.submit(page, { email, password: "a wrong password", action: "sign-in" })).status,
    ).toBe(400);
    const refused = await browser.submit(page, { email, password, action: "sign-in" });
    expect([
      refused.status,
      refused.headers.get("retry-after"),
      refused.text.includes("Too many requests"),
    ]).toEqual([429, "60", true]);
  });

  it("that are CORS preflights are not counted", async () => {
    const ask = () =>
      world().send({
        method: "OPTIONS",
        url: "/oauth/par",
        headers: {
          "x-forwarded-for": "203.0.113.3",
          origin: "https://app.example",
          "access-control-request-method": "POST",
        },
      });
    for (let time = 0; time < 5; time += 1) expect((await ask()).status).toBe(204);
  });
});

describe("requests with a refresh token", () => {
  const world = useWorld("postgres", { environment: { RATE_LIMIT_SCALE: "0.05", TRUST_PROXY: "1" } });

  it("are counted per grant, and a refused one does not use up its token", async () => {
    const app = await letIn(world(), { from: "203.0.113.5" });
    let { body } = await redeem(world(), app);
    const renew = (): ReturnType<typeof refresh> => refresh(world(), app, body["refresh_token"] ?? "");
    for (let time = 0; time < 6; time += 1) {
      const renewed = await renew();
      expect(renewed.status).toBe(200);
      ({ body } = renewed);
    }
    const refused = await renew();
    expect([refused.status, refused.body["error"], refused.headers.get("retry-after")]).toEqual([
      429,
      "temporarily_unavailable",
      "60",
    ]);
    const other = await letIn(world(), { client: app.client, from: "203.0.113.6" });
    const { body: others } = await redeem(world(), other);
    expect((await refresh(world(), other, others["refresh_token"] ?? "")).status).toBe(200);
    world().clock.advance(60_000);
    expect((await renew()).status).toBe(200);
  });
});

describe("a parameter of more than two thousand characters", () => {
  const world = useWorld();
  const long = "x".repeat(2049);

  it.each(["state", "login_hint", "ui_locales"])("is refused: %s", async (name) => {
    const client = await createClient(world());
    const asked = await askAuthorization(client, { [name]: long });
    const { url } = await createBrowser(world()).open(asked.url);
    expect(url.startsWith(`${redirectUri}?`)).toBe(true);
    const answer = new URL(url).searchParams;
    expect([answer.get("error"), answer.get("error_description")]).toEqual([
      "invalid_request",
      `parameter '${name}' is longer than 2048 characters`,
    ]);
    const pushed = await world().send({
      method: "POST",
      url: "/oauth/par",
      headers: form,
      body: new URL(asked.url).search.slice(1),
    });
    expect([pushed.status, pushed.body.error]).toEqual([400, "invalid_request"]);
    const rows = await world().database.db.selectFrom("oauthItem").select("kind").execute();
    expect(rows).toEqual([]);
  });

  it("is accepted with exactly two thousand", async () => {
    const { url } = await askAuthorization(await createClient(world()), {
      state: long.slice(1),
      login_hint: long.slice(1),
    });
    expect((await createBrowser(world()).open(url)).text).toContain("Sign in");
  });
});

describe("a page that calls the token endpoint", () => {
  const world = useWorld();

  it("is allowed on the app's origin, and refused if the app has none", async () => {
    const redirectUris = ["https://app.example/callback", "com.example.app:/callback"];
    const client = await createClient(world(), { redirectUris });
    const allowed = async (origin: string): Promise<string | undefined> => {
      const body = new URLSearchParams({
        client_id: client.clientId,
        grant_type: "refresh_token",
        refresh_token: "none",
      }).toString();
      const { headers } = await world().send({
        method: "POST",
        url: "/oauth/token",
        headers: { ...form, origin },
        body,
      });
      return headers["access-control-allow-origin"];
    };
    expect([
      await allowed("https://app.example"),
      await allowed("https://other.example"),
      await allowed("null"),
    ]).toEqual(["https://app.example", undefined, undefined]);
  });
});
