/**
 * The TypeScript client's retries: which requests it repeats, when, and with which headers, against made-up
 * answers.
 */
import { describe, expect, it } from "vitest";
import { type CommerceClient, CommerceApiError, createCommerceClient } from "#client/index.ts";
import { answer, type Asked, clientOf, done, gone, refusal } from "./scripted-client.ts";

type More = NonNullable<Parameters<CommerceClient["search"]>[1]>;

const change = ({ client }: Asked, more: More = {}): Promise<unknown> =>
  client.put("/api/v1/open/storefront/carts/{cartId}/promotion", {
    params: { path: { cartId: "cart_1" } },
    body: { code: "TEN" },
    ...more,
  });

describe("the client repeats", () => {
  it.each([
    ["a connection that broke", gone, [1000, 1250]],
    ["a quota that is used up, after the time it names", refusal(429, "rate_limited", 7), [7000, 8750]],
    ["the same request, still being done", refusal(409, "idempotency_in_progress", 1), [1000, 1250]],
    [
      "a service that is not there, after the time it names",
      refusal(503, "service_unavailable", 3),
      [3000, 3750],
    ],
    ["a bug", refusal(500, "internal_error", null), [1000, 1250]],
    ["a proxy that says so itself", answer(502, "<h1>Bad gateway</h1>"), [1000, 1250]],
    ["a proxy that says when", answer(503, "Busy", { "retry-after": "5" }), [5000, 6250]],
    [
      "a proxy that says when by a date",
      () => answer(503, "Busy", { "retry-after": new Date(Date.now() + 30_000).toUTCString() })(),
      [28_000, 37_500],
    ],
    [
      "a proxy whose date is over",
      answer(503, "Busy", { "retry-after": new Date(0).toUTCString() }),
      [1000, 1250],
    ],
    ["a proxy's quota, without a time", answer(429, "<h1>Slow down</h1>"), [1000, 1250]],
    ["a proxy that had waited for the request", answer(408, ""), [1000, 1250]],
  ] as const)("%s: the same bytes with the same key", async (_name, first, [least, most]) => {
    const asked = clientOf([first, done]);
    expect(await change(asked)).toEqual({ data: { cartVersion: 8 } });
    const [one, other] = asked.requests;
    expect(one?.headers.get("idempotency-key")).toMatch(/^[0-9a-f-]{36}$/);
    expect([other?.headers.get("idempotency-key"), await other?.text()]).toEqual([
      one?.headers.get("idempotency-key"),
      '{"code":"TEN"}',
    ]);
    expect(asked.waits).toEqual([expect.toSatisfy((ms: number) => ms >= least && ms <= most)]);
  });

  it("with doubling pauses, and finally throws the last error", async () => {
    const asked = clientOf([gone, refusal(503, "service_unavailable", null)]);
    await expect(change(asked)).rejects.toMatchObject({
      code: "service_unavailable",
      status: 503,
      retryable: true,
    });
    expect(asked.requests).toHaveLength(5);
    for (const [index, ms] of asked.waits.entries())
      expect([ms >= 1000 * 2 ** index, ms <= 1250 * 2 ** index]).toEqual([true, true]);
  });

  it("and finally reports that no answer came, and why", async () => {
    const refused = (): Error =>
      new TypeError("fetch failed", { cause: Object.assign(new Error("connect"), { code: "ECONNREFUSED" }) });
    const asked = clientOf([refused], { attemptsMax: 2 });
    const error = await change(asked).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CommerceApiError);
    expect(error).toMatchObject({
      code: "no_answer",
      status: 0,
      retryable: true,
      requestId: null,
      message:
        "PUT https://shop.test/api/v1/open/storefront/carts/cart_1/promotion got no answer: fetch failed " +
        "(ECONNREFUSED).",
      cause: { message: "fetch failed" },
    });
    expect(String(error)).not.toContain("cpk_test");
  });
});

describe("the client does not repeat", () => {
  it.each([
    ["what is wrong", refusal(400, "invalid_field", null, false)],
    ["what stands in the way for as long as it stands", refusal(409, "cart_locked", null)],
    ["what is to wait longer than the caller would", refusal(429, "too_many_failed_attempts", 300)],
    ["what a proxy refuses", answer(413, "Too large")],
    ["what fails for good", refusal(501, "some_later_code", null, false)],
  ])("%s", async (_name, first) => {
    const asked = clientOf([first]);
    await expect(change(asked)).rejects.toBeInstanceOf(CommerceApiError);
    expect([asked.requests.length, asked.waits]).toEqual([1, []]);
  });

  it("a request whose next attempt would start after the deadline", async () => {
    const asked = clientOf([refusal(503, "service_unavailable", 7)], { deadlineMs: 5000 });
    await expect(change(asked)).rejects.toMatchObject({ code: "service_unavailable", retryAfterSeconds: 7 });
    expect([asked.requests.length, asked.waits]).toEqual([1, []]);
  });

  it("a request that has no answer at the deadline; the error has the key for a later retry", async () => {
    const asked = clientOf([() => new Promise<never>(() => undefined)]);
    await expect(change(asked, { retries: { deadlineMs: 20 } })).rejects.toMatchObject({
      code: "no_answer",
      retryable: true,
      idempotencyKey: expect.stringMatching(/^[0-9a-f-]{36}$/),
      cause: { name: "TimeoutError" },
    });
    expect([asked.requests.length, asked.waits]).toEqual([1, []]);
  });

  it("more often than a call's own options allow", async () => {
    const asked = clientOf([gone]);
    await expect(change(asked, { retries: { attemptsMax: 2 } })).rejects.toMatchObject({ code: "no_answer" });
    expect(asked.requests).toHaveLength(2);
  });

  it("a request that the caller aborted, before or between attempts", async () => {
    const asked = clientOf([gone], { wait: () => Promise.resolve(stop.abort()) });
    const stop = new AbortController();
    await expect(change(asked, { signal: stop.signal })).rejects.toMatchObject({ name: "AbortError" });
    expect(asked.requests.length).toBeLessThanOrEqual(2);
    const real = createCommerceClient({
      baseUrl: "https://shop.test",
      fetch: () => Promise.reject(gone()),
      retries: { waitMsBase: 60_000 },
    });
    const signal = AbortSignal.timeout(5);
    await expect(real.get("/api/v1/open/identity", { signal })).rejects.toMatchObject({
      name: "TimeoutError",
    });
  });
});

describe("each request", () => {
  it("has the API key, and as a mutation a new Idempotency-Key or the caller's", async () => {
    const asked = clientOf([done]);
    await asked.client.get("/api/v1/open/identity");
    await change(asked);
    await change(asked);
    await change(asked, { headers: { "idempotency-key": "order-17" } });
    const keys = asked.requests.map(({ headers }) => headers.get("idempotency-key"));
    expect([keys[0], keys[3], new Set(keys).size]).toEqual([null, "order-17", 4]);
    expect(new Set(asked.requests.map(({ headers }) => headers.get("authorization")))).toEqual(
      new Set(["Bearer cpk_test"]),
    );
  });

  it("is canceled at the timeout, and repeated", async () => {
    let attempts = 0;
    const client = createCommerceClient({
      baseUrl: "https://shop.test",
      fetch: (_, { signal }) => {
        attempts += 1;
        if (attempts > 1) return Promise.resolve(done());
        return new Promise((__, failed) =>
          signal.addEventListener("abort", () => failed(signal.reason as Error), { once: true }),
        );
      },
      retries: { timeoutMs: 5, waitMsBase: 1 },
    });
    await client.get("/api/v1/open/identity");
    expect(attempts).toBe(2);
  });
});

describe("a failed request", () => {
  it.each([
    ["nothing was answered", gone, { code: "no_answer" }],
    ["the service is not there", refusal(503, "service_unavailable", null), { code: "service_unavailable" }],
    [
      "a proxy has a quota",
      answer(429, "Slow", { "retry-after": "100" }),
      { code: "unreadable_answer", retryAfterSeconds: 100, cause: "Slow" },
    ],
    [
      "a proxy is alone",
      answer(502, "", { "x-request-id": "req_proxy" }),
      { code: "unreadable_answer", requestId: "req_proxy" },
    ],
  ])("can be repeated later with the same key: %s", async (_name, last, expected) => {
    const asked = clientOf([last], { attemptsMax: 2 });
    const error = (await change(asked).catch((thrown: unknown) => thrown)) as CommerceApiError;
    expect(error).toMatchObject({ ...expected, retryable: true });
    const key = String(error.idempotencyKey);
    await change(asked, { headers: { "idempotency-key": key } }).catch(() => undefined);
    expect(new Set(asked.requests.map(({ headers }) => headers.get("idempotency-key")))).toEqual(
      new Set([key]),
    );
  });
});

describe("an answer that is not the service's", () => {
  it.each([
    ["a page of a proxy's", answer(200, "<h1>Log in</h1>"), 200],
    ["nothing in it", answer(200, ""), 200],
    ["JSON that is no answer", answer(200, "null"), 200],
    ["none at all", () => new Response(null, { status: 204 }), 204],
    ["that nothing has changed", () => new Response(null, { status: 304 }), 304],
  ])("throws a distinct error: %s", async (_name, first, status) => {
    const asked = clientOf([first]);
    await expect(change(asked)).rejects.toMatchObject({
      name: "CommerceApiError",
      code: "unreadable_answer",
      status,
      retryable: false,
    });
    expect(asked.requests).toHaveLength(1);
  });
});

describe("a call", () => {
  it("reports the headers of its answer on request", async () => {
    const expected: Headers[] = [];
    const asked = clientOf([
      answer(200, { data: {} }, { "x-request-id": "req_9", "idempotent-replayed": "true" }),
    ]);
    await change(asked, { onHeaders: (headers) => void expected.push(headers) });
    expect(
      expected.map((headers) => [headers.get("x-request-id"), headers.get("idempotent-replayed")]),
    ).toEqual([["req_9", "true"]]);
  });

  it("does not accept options that bypass the client's key and types", async () => {
    const asked = clientOf([gone, done]);
    const around = {
      baseUrl: "https://other.test",
      fetch: () => Promise.reject(new Error("Around.")),
      parseAs: "text",
    } as const;
    expect(await change(asked, { ...around } as More)).toEqual({ data: { cartVersion: 8 } });
    expect(asked.requests.map(({ url }) => new URL(url).host)).toEqual(["shop.test", "shop.test"]);
    // @ts-expect-error The compiler says so too.
    await asked.client.get("/api/v1/open/identity", { parseAs: "text" });
  });
});
