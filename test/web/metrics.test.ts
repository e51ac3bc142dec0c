/** /metrics: who may read it, what is counted, and that no client's value becomes a label. */
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import { createLog } from "#foundation/log.ts";
import { createFastifyServer } from "#http/server.ts";
import { openCart, openShop, type Shop } from "#soak/shop.ts";
import { follow } from "#test/graph/live/streams.ts";
import { portOf } from "#test/support/raw-http.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";
import { metricsPlugin } from "#observability/plugin.ts";
import { readScrape, type Scrape } from "./scrape.ts";

describe("access to /metrics", () => {
  const token = "a-token-of-sixteen-characters-or-more";
  const right = { authorization: `Bearer ${token}` };
  const log = createLog("silent");
  const through = (client: string): Record<string, string> => ({ "x-forwarded-for": client });

  async function ask(options: {
    token?: string;
    proxies?: number;
    from?: string;
    headers?: Record<string, string>;
    method?: "GET" | "POST" | "HEAD";
  }) {
    const { proxies = 0, from = "127.0.0.1", headers = {}, method = "GET" } = options;
    const server = await createFastifyServer({ publicUrl: "https://shop.test", log, proxies });
    await server.register(metricsPlugin, {
      token: options.token,
      isBehindProxy: proxies > 0,
      contentType: "text/plain",
      text: () => Promise.resolve("one 1\n"),
    });
    const answer = await server.inject({ method, url: "/metrics", remoteAddress: from, headers });
    const elsewhere = await server.inject({ method, url: "/no-such-page", remoteAddress: from, headers });
    await server.close();
    return { answer, elsewhere };
  }

  it.each([
    ["this machine", {}],
    ["this machine over IPv6", { from: "::1" }],
    ["this machine where both are one", { from: "::ffff:127.0.0.1" }],
    ["this machine by its address", { headers: { host: "127.0.0.1:4000" } }],
    ["this machine by its address over IPv6", { headers: { host: "[::1]:4000" } }],
    ["two local proxies with a local client", { proxies: 2, headers: through("127.0.0.1, ::1") }],
    ["a local proxy with a local client", { proxies: 1, headers: through("127.0.0.1") }],
    ["a proxy here, for itself", { proxies: 1 }],
    ["a caller with the token, from any address", { token, from: "203.0.113.7", headers: right }],
    [
      "a caller with the token, through a proxy",
      { token, proxies: 1, headers: { ...right, ...through("203.0.113.7") } },
    ],
  ])("is allowed to %s", async (_who, options) => {
    const { answer } = await ask(options);
    expect([answer.statusCode, answer.body, answer.headers["cache-control"]]).toEqual([
      200,
      "one 1\n",
      "no-store",
    ]);
  });

  it.each([
    ["another machine", { from: "203.0.113.7" }],
    ["another machine in the same network", { from: "10.0.0.7" }],
    ["another machine that says it is this one", { from: "203.0.113.7", headers: through("127.0.0.1") }],
    ["a local proxy with a remote client", { proxies: 1, headers: through("203.0.113.7") }],
    [
      "a local proxy with a remote client that claims a local address",
      { proxies: 1, headers: through("127.0.0.1, 203.0.113.7") },
    ],
    ["a local proxy with a malformed client address", { proxies: 1, headers: through("garbage") }],
    ["a remote proxy with a local client", { proxies: 1, from: "10.0.0.7", headers: through("127.0.0.1") }],
    ["an unknown local proxy", { headers: through("203.0.113.7") }],
    ["an unknown local proxy that sends another header", { headers: { forwarded: "for=203.0.113.7" } }],
    [
      "an unknown local proxy that sends only the client's address",
      { headers: { "x-real-ip": "203.0.113.7" } },
    ],
    ["an unknown local proxy that sends only Via", { headers: { via: "1.1 proxy" } }],
    ["an unknown local proxy that forwards only the host name", { headers: { host: "shop.test" } }],
    ["a known local proxy that sends no client address", { proxies: 1, headers: { host: "shop.test" } }],
    [
      "a known local proxy that sends another header",
      { proxies: 1, headers: { forwarded: "for=203.0.113.7" } },
    ],
    [
      "the nearer of two proxies, without the other, with a client that claims a local address",
      { proxies: 2, headers: through("127.0.0.1, 203.0.113.7") },
    ],
    ["a caller with a token that is not configured", { from: "203.0.113.7", headers: right }],
    ["a local caller without the configured token", { token }],
    ["a caller with another token", { token, headers: { authorization: `Bearer ${token}x` } }],
    [
      "a caller with a part of the token",
      { token, headers: { authorization: `Bearer ${token.slice(0, -1)}` } },
    ],
    [
      "a caller that sends the token with another scheme",
      { token, headers: { authorization: `Basic ${token}` } },
    ],
  ])("is hidden (404) from %s", async (_who, options) => {
    const { answer, elsewhere } = await ask(options);
    expect(answer.statusCode).toBe(404);
    const visiblePart = ({ body, headers }: typeof answer): unknown => {
      const { error } = JSON.parse(body) as { error: { requestId: string } };
      return { error: { ...error, requestId: "" }, headers: { ...headers, "x-request-id": "", date: "" } };
    };
    expect(visiblePart(answer)).toEqual(visiblePart(elsewhere));
  });

  it("is limited to GET", async () => {
    const { answer } = await ask({ method: "POST" });
    expect([answer.statusCode, answer.headers["allow"]]).toEqual([405, "GET, HEAD"]);
    expect((await ask({ method: "HEAD" })).answer.statusCode).toBe(200);
  });
});

describe("/metrics counts", () => {
  const world = useWorld("postgres", { environment: { PORT: "0", RATE_LIMIT_SCALE: "1" } });
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(world().send, world().demo);
    await world().app.listen();
  });

  const scrape = async (): Promise<Scrape> => {
    const { status, text, headers } = await world().get("/metrics");
    expect([status, headers["content-type"]]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
    return readScrape(text);
  };
  /** Returns by how much a value grew during the work. */
  async function grown(
    act: () => Promise<unknown>,
  ): Promise<(name: string, labels?: Record<string, string>) => number> {
    const before = await scrape();
    await act();
    const after = await scrape();
    return (name, labels) => (after.value(name, labels) ?? 0) - (before.value(name, labels) ?? 0);
  }
  const writeAddress = (cartId: string, key: string, city = "Berlin"): Promise<Answer> =>
    world().send({
      method: "PUT",
      url: `/api/v1/open/storefront/carts/${cartId}/address`,
      headers: { authorization: `Bearer ${world().demo.keys.full}`, "idempotency-key": key },
      body: {
        address: {
          recipientName: "Anna Beispiel",
          line1: "Musterweg 1",
          postalCode: "10115",
          city,
          countryCode: "DE",
        },
      },
    });

  it("requests by operation, status and code, with their durations", async () => {
    const growth = await grown(async () => {
      await world().getWithKey("/api/v1/open/identity");
      await world().getWithKey("/api/v1/open/identity");
      await world().get("/api/v1/open/identity");
      await world().get("/openapi.json");
      await world().get("/nothing-is-here");
      await world().get("/%zz");
      await world().send({ method: "PUT", url: "/docs/guides/x" });
    });
    const requests = "commerce_http_requests_total";
    expect(growth(requests, { operation: "getApiKeyIdentity", status: "200", code: "none" })).toBe(2);
    expect(
      growth(requests, { operation: "getApiKeyIdentity", status: "401", code: "credentials_missing" }),
    ).toBe(1);
    expect(growth(requests, { operation: "/openapi.json", status: "200", code: "none" })).toBe(1);
    expect(growth(requests, { operation: "unknown", status: "404", code: "route_not_found" })).toBe(2);
    expect(growth(requests, { operation: "/docs/*", status: "405", code: "method_not_allowed" })).toBe(1);
    expect(growth("commerce_http_request_duration_seconds_count", { operation: "getApiKeyIdentity" })).toBe(
      3,
    );
  });

  it("the outcomes of requests with idempotency keys, over REST and GraphQL", async () => {
    const { id } = await openCart(world().send, shop);
    const key = randomUUID();
    const growth = await grown(async () => {
      const both = await Promise.all([writeAddress(id, key), writeAddress(id, key)]);
      expect(both.map(({ status }) => String(status)).toSorted()).toEqual(["200", "409"]);
      expect((await writeAddress(id, key)).headers["idempotent-replayed"]).toBe("true");
      expect((await writeAddress(id, key, "Hamburg")).status).toBe(409);
      expect((await writeAddress("cart_00000000000000000000000000", randomUUID())).status).toBe(404);
      const opened = `mutation { cartCreate(input: { market: "DE" }, idempotencyKey: "${randomUUID()}") { id }
        }`;
      expect((await world().graphql(opened, { token: "storefront" })).body.errors).toBeUndefined();
    });
    const outcomes = ["executed", "replayed", "in_progress", "key_reused", "refused"];
    const counted = outcomes.map((outcome) => [
      outcome,
      growth("commerce_idempotent_requests_total", { outcome }),
    ]);
    expect(Object.fromEntries(counted)).toEqual({
      executed: 2,
      replayed: 1,
      in_progress: 1,
      key_reused: 1,
      refused: 1,
    });
  });

  it("requests refused by quotas", async () => {
    const guess = () => world().get("/api/v1/open/identity", { authorization: "Bearer wrong" });
    const growth = await grown(async () => {
      const statuses: number[] = [];
      for (let guesses = 0; guesses < 23; guesses += 1) statuses.push((await guess()).status);
      expect(statuses.filter((status) => status === 429)).toHaveLength(3);
    });
    expect(growth("commerce_rate_limit_refusals_total", { bucket: "auth-fail" })).toBe(3);
    expect(growth("commerce_rate_limit_refusals_total")).toBe(3);
  });

  it("the cost of documents, and refused documents", async () => {
    const growth = await grown(async () => {
      await world().graphql("{ __typename }");
      await world().graphql("{ nothingLikeThis }");
    });
    expect(growth("commerce_graphql_document_cost_count")).toBe(1);
    expect(growth("commerce_http_requests_total", { operation: "/graphql", code: "malformed_request" })).toBe(
      1,
    );
  });

  it("requests in progress, and clients that left early", async () => {
    const before = await scrape();
    const socket = connect(portOf(world()), "127.0.0.1");
    socket.write(
      "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n",
    );
    socket.write(`Authorization: Bearer ${world().demo.tokens.admin}\r\n\r\n{`);
    const inside = async (): Promise<number> =>
      (await scrape()).value("commerce_http_requests_in_flight") ?? 0;
    // The request for /metrics counts too.
    await expect.poll(inside).toBe(2);
    socket.destroy();
    await expect.poll(inside).toBe(1);
    const after = await scrape();
    expect(after.value("commerce_http_requests_aborted_total")).toBe(
      (before.value("commerce_http_requests_aborted_total") ?? 0) + 1,
    );
  });

  it("subscriptions as open while they have subscribers, and then as answered", async () => {
    const { id } = await openCart(world().send, shop);
    const open = async (): Promise<number> =>
      (await scrape()).value("commerce_graphql_subscriptions_open") ?? 0;
    const growth = await grown(async () => {
      const query = "subscription ($id: ID!) { cartChanged(id: $id) { version } }";
      const { leave, response } = await follow({
        port: portOf(world()),
        token: world().demo.tokens.storefront,
        query,
        variables: { id },
      });
      expect(response.headers.get("content-type")).toContain("text/event-stream");
      await expect.poll(open).toBe(1);
      leave();
      await expect.poll(open).toBe(0);
    });
    expect(
      growth("commerce_http_requests_total", { operation: "/graphql", status: "200", code: "none" }),
    ).toBe(1);
    expect(growth("commerce_http_requests_aborted_total")).toBe(0);
    expect(growth("commerce_http_request_duration_seconds_count", { operation: "/graphql" })).toBe(0);
  });

  it("with no labels from client input", async () => {
    const junk = async (turn: number): Promise<void> => {
      const name = `junk-${turn}-${randomUUID()}`;
      const bearer = {
        authorization: `Bearer ${world().demo.keys.full}`,
        "idempotency-key": name,
        "x-buyer-reference": name,
        "user-agent": name,
      };
      await world().get(`/${name}`, bearer);
      await world().get(`/%zz${name}`);
      await world().get(`/api/v1/search?q=${name}&locale=${name}&market=${name}&${name}=1`, {
        "accept-language": name,
      });
      await world().get(`/api/v1/open/storefront/orders/${name}`, bearer);
      await world().get(`/api/v1/catalog/merchants/${name}/products/${name}`);
      await world().send({
        method: "PUT",
        url: `/api/v1/open/storefront/carts/${name}/address`,
        headers: bearer,
        body: { [name]: name },
      });
      await world().send({ method: "MKCOL", url: "/docs" });
      await world().send({ method: "PROPFIND", url: `/${name}` });
      await world().graphql(`query ${name.replaceAll("-", "_")} { ${name.replaceAll("-", "_")} }`);
      await world().graphql("{ __typename }", { token: name });
      await world().get(`/docs/${name}`);
      await world().get(`/assets/${name}`);
      await world().get(`/checkout/${name}`);
    };
    await junk(1);
    const first = await scrape();
    for (const turn of [2, 3, 4]) await junk(turn);
    const second = await scrape();
    expect(second.text).not.toContain("junk");
    const added = [...new Set(seriesOf(second))].filter((name) => !seriesOf(first).includes(name));
    // Leaves out the process's momentary load and the requests refused because of it.
    expect(
      added.filter(
        (name) =>
          name.startsWith("commerce_") && !/code="(?:rate_limited|too_many_failed_attempts)"/.test(name),
      ),
    ).toEqual([]);
    // No ids and no keys.
    expect(second.text).not.toMatch(/[a-z]{3,4}_[0-9a-hjkmnp-tv-z]{26}|c[pi][kt]_/);
  });
});

const seriesOf = ({ text }: Scrape): string[] =>
  text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.slice(0, line.lastIndexOf(" ")));
