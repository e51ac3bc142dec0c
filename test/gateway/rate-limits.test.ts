/**
 * Rate limits over HTTP: fixed windows that start with the first request, headers with the state, and 429
 * with a time to wait.
 */
import { describe, expect, it } from "vitest";
import { challengeInvalid, expectError } from "#test/support/expect-error.ts";
import { unknownKey, withOtherSecret } from "#test/support/keys.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";

/** The service trusts two proxies, so the caller's address is the second from the right. */
const world = useWorld("postgres", { environment: { RATE_LIMIT_SCALE: "1", TRUST_PROXY: "2" } });
const identity = "/api/v1/open/identity";
const search = "/api/v1/search";
const product = "/api/v1/catalog/merchants/lindenhof/products/fjell-2-trekking-tent";

const from = (address: string): Record<string, string> => ({ "x-forwarded-for": `${address}, 10.0.0.1` });
const get = (url: string, address: string, key?: string): Promise<Answer> =>
  world().get(url, { ...from(address), ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) });
const repeat = async (times: number, call: () => Promise<Answer>): Promise<Answer[]> => {
  const answers: Answer[] = [];
  for (let count = 0; count < times; count += 1) answers.push(await call());
  return answers;
};
const quotaExceeded = (bucket: string): { in: "limit"; field: string; code: string } => ({
  in: "limit",
  field: bucket,
  code: "quota_exceeded",
});

describe("anonymous callers", () => {
  // Refused queries count like any other request and are cheaper to run.
  it.each([
    ["anon-search", search, 60, 400, "203.0.113.1"],
    ["anon-read", `${product}?x=1`, 300, 400, "203.0.113.2"],
  ] as const)(
    "may use the quota of %s, are refused until the reported time, then may again",
    async (bucket, url, quota, status, address) => {
      const answers = await repeat(quota, () => get(url, address));
      expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status));
      expect(answers[0]?.headers).toMatchObject({
        "ratelimit-policy": `"${bucket}";q=${quota};w=60`,
        ratelimit: `"${bucket}";r=${quota - 1};t=60`,
      });
      expect(answers.at(-1)?.headers["ratelimit"]).toBe(`"${bucket}";r=0;t=60`);
      world().clock.advance(19_500);
      const refused = await get(url, address);
      expectError(refused, {
        status: 429,
        code: "rate_limited",
        retryAfterSeconds: 41,
        details: [quotaExceeded(bucket)],
        headers: {
          "ratelimit-policy": `"${bucket}";q=${quota};w=60`,
          ratelimit: `"${bucket}";r=0;t=41`,
          "x-api-stability": "stable",
        },
      });
      world().clock.advance(Number(refused.headers["retry-after"]) * 1000);
      expect((await get(url, address)).headers["ratelimit"]).toBe(`"${bucket}";r=${quota - 1};t=60`);
    },
  );

  it("are counted per IPv4 address and per IPv6 /64, whatever X-Forwarded-For claims", async () => {
    const remaining = async (forwarded: string): Promise<string | undefined> =>
      /r=(\d+)/.exec(
        (await world().get(search, { "x-forwarded-for": forwarded })).headers["ratelimit"] ?? "",
      )?.[1];
    expect(await remaining("198.51.100.1, 10.0.0.1")).toBe("59");
    expect(await remaining("198.51.100.2, 10.0.0.1")).toBe("59");
    expect(await remaining("6.6.6.6, 198.51.100.1, 10.0.0.9")).toBe("58");
    expect(await remaining("::ffff:198.51.100.1, 10.0.0.1")).toBe("57");
    expect(await remaining("2001:db8:1:2::1, 10.0.0.1")).toBe("59");
    expect(await remaining("2001:db8:1:2:ffff::7, 10.0.0.1")).toBe("58");
    expect(await remaining("2001:db8:1:3::1, 10.0.0.1")).toBe("59");
  });

  it("are counted separately per bucket", async () => {
    expect((await get(search, "203.0.113.9")).headers["ratelimit"]).toBe('"anon-search";r=59;t=60');
    expect((await get(product, "203.0.113.9")).headers["ratelimit"]).toBe('"anon-read";r=299;t=60');
  });
});

describe("callers with a key", () => {
  it("have a quota per key and minute for all addresses, checked before scope and form", async () => {
    const { catalogRead, checkoutQuote } = world().demo.keys;
    const answers = await repeat(600, () => get(`${identity}?x=1`, "203.0.113.20", catalogRead));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 400));
    expect(answers[0]?.headers).toMatchObject({
      "ratelimit-policy": '"default";q=600;w=60',
      ratelimit: '"default";r=599;t=60',
    });
    expectError(await get(`${identity}?x=1`, "203.0.113.21", catalogRead), {
      status: 429,
      code: "rate_limited",
      retryAfterSeconds: 60,
      details: [quotaExceeded("default")],
      headers: { ratelimit: '"default";r=0;t=60', vary: "Authorization" },
    });
    expect((await get(identity, "203.0.113.20", checkoutQuote)).headers["ratelimit"]).toBe(
      '"default";r=599;t=60',
    );
    world().clock.advance(60_000);
    expect((await get(identity, "203.0.113.20", catalogRead)).headers["ratelimit"]).toBe(
      '"default";r=599;t=60',
    );
  });

  it("read from their identity every limit that the OpenAPI document names for keys", async () => {
    const { limits } = (await get(identity, "203.0.113.22", world().demo.keys.full)).body.data;
    expect(limits).toEqual([
      { bucket: "default", quota: 600, windowSeconds: 60 },
      { bucket: "write", quota: 120, windowSeconds: 60 },
      { bucket: "replay", quota: 60, windowSeconds: 60 },
      { bucket: "promo-fail", quota: 10, windowSeconds: 600 },
      { bucket: "promo-fail", quota: 60, windowSeconds: 600 },
    ]);
    const { paths } = (await world().get("/openapi.json")).body;
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods as object));
    const documented = operations
      .filter((operation) => operation["x-required-scope"] !== undefined)
      .flatMap((operation) => operation["x-rate-limits"])
      .map(({ bucket, quota, windowSeconds }) => JSON.stringify({ bucket, quota, windowSeconds }));
    expect(limits.map((limit: object) => JSON.stringify(limit)).toSorted()).toEqual(
      [...new Set(documented)].toSorted(),
    );
  });

  it("are counted per key on anonymous operations, even if their address is over its quota", async () => {
    const address = "203.0.113.23";
    await repeat(61, () => get(search, address));
    expect((await get(search, address)).status).toBe(429);
    const answer = await get(search, address, world().demo.keys.webhooksRead);
    expect(answer.status).toBe(400);
    expect(answer.headers["ratelimit"]).toBe('"default";r=599;t=60');
  });

  it("count as anonymous on anonymous operations if the key is invalid", async () => {
    const { full, expired, revoked } = world().demo.keys;
    for (const key of [unknownKey(), withOtherSecret(full), expired, revoked]) {
      const answer = await get(product, "203.0.113.24", key);
      expect(answer.status).toBe(200);
      expect(answer.headers["ratelimit-policy"]).toBe('"anon-read";q=300;w=60');
    }
  });
});

describe("guessing API keys", () => {
  const address = "203.0.113.30";
  const wrong = (): Promise<Answer> => get(identity, address, unknownKey());

  it("is refused after 20 failures of an address in five minutes; valid keys still pass", async () => {
    for (const answer of await repeat(20, wrong))
      expectError(answer, {
        status: 401,
        code: "api_key_invalid",
        headers: { "www-authenticate": challengeInvalid },
      });
    world().clock.advance(100_000);
    expectError(await wrong(), {
      status: 429,
      code: "too_many_failed_attempts",
      retryAfterSeconds: 200,
      details: [quotaExceeded("auth-fail")],
      headers: { "www-authenticate": undefined },
    });
    expect((await get(identity, address, world().demo.keys.full)).status).toBe(200);
    expectError(await get(identity, address), { status: 401, code: "credentials_missing" });
    expectError(await get(identity, "203.0.113.31", unknownKey()), { status: 401, code: "api_key_invalid" });
    world().clock.advance(200_000);
    expectError(await wrong(), { status: 401, code: "api_key_invalid" });
  });

  it("counts every kind of wrong credential, but not missing credentials", async () => {
    const other = "203.0.113.32";
    const { expired, revoked, full } = world().demo.keys;
    await repeat(30, () => get(identity, other));
    await repeat(7, () => get(identity, other, expired));
    await repeat(7, () => get(identity, other, revoked));
    await repeat(5, () => world().get(identity, { ...from(other), authorization: "Basic eA==" }));
    expectError(await get(identity, other, withOtherSecret(full)), { status: 401, code: "api_key_invalid" });
    expectError(await get(identity, other, expired), {
      status: 429,
      code: "too_many_failed_attempts",
      retryAfterSeconds: 300,
      details: [quotaExceeded("auth-fail")],
    });
  });

  it("counts payment provider events with a wrong signature, and then reads no body", async () => {
    const sendEvent = (body: string): Promise<Answer> =>
      world().send({
        method: "POST",
        url: "/payments/stripe/pcn_01hzzzzzzzzzzzzzzzzzzzzzzz/events",
        headers: { ...from("203.0.113.33"), "stripe-signature": "t=1,v1=00" },
        body,
      });
    for (const answer of await repeat(20, () => sendEvent("{}")))
      expectError(answer, { status: 400, code: "malformed_request" });
    // The body is above the limit. It would be refused with 413 if it were read.
    expectError(await sendEvent("x".repeat(600 * 1024)), {
      status: 429,
      code: "too_many_failed_attempts",
      retryAfterSeconds: 300,
      details: [quotaExceeded("auth-fail")],
    });
  });

  it("has one limit for REST and GraphQL; a valid token still passes", async () => {
    const other = "203.0.113.34";
    const ask = (token: string): Promise<Answer> =>
      world().send({
        method: "POST",
        url: "/graphql",
        headers: { ...from(other), authorization: `Bearer ${token}` },
        body: { query: "{ __typename }" },
      });
    const { admin } = world().demo.tokens;
    const [wrongTokens, wrongKeys] = [
      await repeat(10, () => ask(withOtherSecret(admin))),
      await repeat(10, () => get(identity, other, unknownKey())),
    ];
    expect([...wrongTokens, ...wrongKeys].map(({ status }) => status)).toEqual(Array(20).fill(401));
    const refused = await ask(withOtherSecret(admin));
    expect(refused.status).toBe(429);
    expect(refused.headers["retry-after"]).toBe("300");
    expect(refused.body.errors).toMatchObject([
      {
        extensions: {
          code: "too_many_failed_attempts",
          retryAfterSeconds: 300,
          details: [quotaExceeded("auth-fail")],
        },
      },
    ]);
    expect((await get(identity, other, unknownKey())).status).toBe(429);
    expect([(await ask(admin)).status, (await get(identity, other, world().demo.keys.full)).status]).toEqual([
      200, 200,
    ]);
    expect(
      (
        await world().send({
          method: "POST",
          url: "/graphql",
          headers: from(other),
          body: { query: "{ __typename }" },
        })
      ).status,
    ).toBe(401);
  });

  it("runs no statement for an anonymous caller over the limit", async () => {
    const other = "203.0.113.33";
    await repeat(60, () => get(search, other));
    expect(await statementsOf(world(), () => get(search, other))).toEqual([]);
  });
});

describe("routes without a rate limit", () => {
  it.each(["/healthz", "/openapi.json"])("%s has no rate limit headers", async (url) => {
    const answer = await get(url, "203.0.113.40");
    expect(answer.status).toBe(200);
    expect(answer.headers["ratelimit"]).toBeUndefined();
  });
});

describe("disabled rate limits", () => {
  const unlimited = useWorld("postgres", { environment: { RATE_LIMIT_SCALE: "0" } });

  it("send no headers and count nothing, not even wrong keys", async () => {
    for (let count = 0; count < 25; count += 1)
      expectError(await unlimited().get(identity, { authorization: `Bearer ${unknownKey()}` }), {
        status: 401,
        code: "api_key_invalid",
        headers: { ratelimit: undefined, "ratelimit-policy": undefined },
      });
    expect((await unlimited().getWithKey(identity)).headers["ratelimit"]).toBeUndefined();
  });
});
