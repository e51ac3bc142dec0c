/**
 * Mistakes of integrators, one row each: the answer says what is wrong, where, and what is allowed. The codes
 * are those of the contract; only messages and details help further.
 */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { unknownKey, withTypo } from "#test/support/keys.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";

const world = useWorld();
const identity = "/api/v1/open/identity";
const ulid = "01m8a2p4cdk5wgy2ntep81464a";

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly allowed: readonly string[] | null;
}

function refusalOf({ status, body }: Answer): Refusal {
  const { code, message, details } = body.error;
  return { status, code, message, allowed: details[0]?.allowed ?? null };
}

const asKey = (): Record<string, string> => ({ authorization: `Bearer ${world().demo.keys.full}` });
const cart = (): string => `/api/v1/open/storefront/carts/${world().demo.carts.active}`;

async function change(method: string, url: string, body: unknown): Promise<Refusal> {
  const headers = { ...asKey(), "idempotency-key": randomUUID() };
  return refusalOf(await world().send({ method, url, headers, body }));
}

describe("the answer to credentials", () => {
  const cases: readonly [string, () => Record<string, string>, string, RegExp][] = [
    [
      "in X-API-Key",
      () => ({ "x-api-key": world().demo.keys.full }),
      "credentials_missing",
      /header X-API-Key\. Send .*`Authorization: Bearer`/,
    ],
    ["missing", () => ({}), "credentials_missing", /no credentials\. Send .*`Authorization: Bearer`/],
    [
      "without a scheme",
      () => ({ authorization: world().demo.keys.full }),
      "credentials_malformed",
      /no scheme: send `Bearer`/,
    ],
    [
      "after Bearer missing",
      () => ({ authorization: "Bearer " }),
      "credentials_malformed",
      /nothing after `Bearer`/,
    ],
    [
      "in quotation marks",
      () => ({ authorization: `Bearer "${world().demo.keys.full}"` }),
      "credentials_malformed",
      /no quotation marks/,
    ],
    [
      "with the scheme Basic",
      () => ({ authorization: "Basic YTpi" }),
      "credentials_malformed",
      /must be `Bearer` and the key/,
    ],
    [
      "with the scheme DPoP",
      () => ({ authorization: `DPoP ${world().demo.keys.full}` }),
      "oauth_token_invalid",
      /`Authorization: Bearer`/,
    ],
    [
      "that are an internal token",
      () => ({ authorization: `Bearer ${world().demo.tokens.admin}` }),
      "api_key_invalid",
      /only for \/graphql.*needs an API key \(cpk_…\)/,
    ],
    [
      "that are a buyer session",
      () => ({ authorization: "Bearer cbs_abc" }),
      "api_key_invalid",
      /buyer sessions.*only for \/graphql/,
    ],
    [
      "that are the id of a key",
      () => ({ authorization: `Bearer key_${ulid}` }),
      "api_key_invalid",
      /id of an API key/,
    ],
    [
      "that are a webhook secret",
      () => ({ authorization: "Bearer whsec_abc" }),
      "api_key_invalid",
      /signing secret/,
    ],
    ["that are another text", () => ({ authorization: "Bearer abc" }), "api_key_invalid", /begins with cpk_/],
    [
      "mistyped",
      () => ({ authorization: `Bearer ${withTypo(world().demo.keys.full)}` }),
      "api_key_invalid",
      /checksum .* does not match.*mistyped/,
    ],
    [
      "cut off",
      () => ({ authorization: `Bearer ${world().demo.keys.full.slice(0, -3)}` }),
      "api_key_invalid",
      /has 68 characters instead of 71/,
    ],
    [
      "unknown",
      () => ({ authorization: `Bearer ${unknownKey()}` }),
      "api_key_invalid",
      /has no such API key/,
    ],
  ];
  it.each(cases)("%s names the remedy", async (_name, headers, code, message) => {
    const sent = headers();
    const answer = await world().get(identity, sent);
    expect(refusalOf(answer)).toMatchObject({ status: 401, code, message: expect.stringMatching(message) });
    for (const value of Object.values(sent)) expect(answer.text).not.toContain(value.slice(-20));
    expect(JSON.stringify(world().logged)).not.toContain(world().demo.keys.full.slice(-20));
  });

  it("in the query string names the parameter", async () => {
    const answer = await world().get(`${identity}?api_key=abc`);
    expect(answer.body.error.details).toMatchObject([
      { in: "query", field: "api_key", code: "credentials_misplaced", allowed: ["Authorization"] },
    ]);
  });

  it("that are mistyped are refused without reading the database", async () => {
    const authorization = `Bearer ${withTypo(world().demo.keys.full)}`;
    expect(await statementsOf(world(), () => world().get(identity, { authorization }))).toEqual([]);
  });
});

describe("the answer to a wrong path", () => {
  it.each([
    ["GET", "/api/v1/open/storefront/cart/x", "GET /api/v1/open/storefront/carts/{cartId}"],
    ["GET", "/open/identity", "GET /api/v1/open/identity"],
    ["GET", "/api/v1/identity", "GET /api/v1/open/identity"],
    ["GET", "/api/v2/open/identity", "GET /api/v1/open/identity"],
    ["GET", "/API/V1/open/identity", "GET /api/v1/open/identity"],
    ["GET", "/api/v1/products", "GET /api/v1/open/catalog/products"],
    ["DELETE", "/api/v1/open/carts/x/promotion", "DELETE /api/v1/open/storefront/carts/{cartId}/promotion"],
    ["GET", "/health", "GET /healthz"],
    ["GET", "/api/v1/open/storefront/orders", "GET /api/v1/open/storefront/orders/{orderId}"],
  ])("%s %s is answered with the nearest, %s", async (method, url, nearest) => {
    const refusal = refusalOf(await world().send({ method, url }));
    expect(refusal).toEqual({
      status: 404,
      code: "route_not_found",
      message: `No route has this path. The nearest is ${nearest}.`,
      allowed: [nearest],
    });
  });

  it.each(["/wp-login.php", "/api", `/${"a/".repeat(30)}`, `/${"identity".repeat(40)}`])(
    "%s has no near route",
    async (url) => {
      expect(refusalOf(await world().get(url))).toMatchObject({
        message: expect.stringContaining("begin with /api/v1/"),
        allowed: null,
      });
    },
  );

  it("with a trailing slash or two slashes says so", async () => {
    expect((await world().get(`${identity}/`)).body.error.message).toMatch(
      /^Paths have no slash at the end\..*identity\.$/,
    );
    expect((await world().get("/api//v1/open/identity")).body.error.message).toMatch(/two slashes in a row/);
  });

  it("with another method names the methods", async () => {
    const answer = await world().send({ method: "POST", url: `${cart()}/promotion` });
    expect(refusalOf(answer)).toEqual({
      status: 405,
      code: "method_not_allowed",
      message: "This path supports only DELETE, PUT.",
      allowed: ["DELETE", "PUT"],
    });
    expect(answer.headers["allow"]).toBe("DELETE, PUT");
  });
});

describe("the answer to a wrong id", () => {
  const read = async (url: string): Promise<Refusal> => refusalOf(await world().get(url, asKey()));

  it.each([
    [
      `/api/v1/open/storefront/carts/ord_${ulid}`,
      "cart_not_found",
      /^cartId is the id of an order \(ord_…\).*cart \(cart_…\)\.$/,
    ],
    [`/api/v1/open/storefront/orders/cart_${ulid}`, "order_not_found", /^orderId is the id of a cart/],
    [
      "/api/v1/open/storefront/orders/1042",
      "order_not_found",
      /^orderId does not have the form of an id.*ord_/,
    ],
    ["/api/v1/open/storefront/carts/%7BcartId%7D", "cart_not_found", /^cartId does not have the form/],
    [
      `/api/v1/open/webhooks/endpoints/whd_${ulid}/signature-fixture`,
      "webhook_endpoint_not_found",
      /^id is the id of a webhook delivery/,
    ],
    [
      `/api/v1/catalog/merchants/mer_${ulid}/products/x`,
      "merchant_not_found",
      /^merchantSlug must be a slug.*merchant\.$/,
    ],
    [
      `/api/v1/catalog/merchants/lindenhof/products/prd_${ulid}`,
      "product_not_found",
      /^productSlug must be a slug/,
    ],
  ])("in %s names the kinds", async (url, code, message) => {
    expect(await read(url)).toMatchObject({ status: 404, code, message: expect.stringMatching(message) });
  });

  it("in the body is named by its JSON Pointer", async () => {
    const { demo } = world();
    const url = `/api/v1/open/webhooks/deliveries/${demo.webhooks.deliveries.exhausted}/replay`;
    const headers = { ...asKey(), "idempotency-key": randomUUID() };
    const body = { reason: "testing", endpointId: demo.carts.active };
    const answer = await world().send({ method: "POST", url, headers, body });
    expect(answer.body.error).toMatchObject({
      code: "webhook_endpoint_not_found",
      details: [{ in: "body", field: "/endpointId", code: "wrong_kind" }],
    });
  });

  it("of the right form gets the same answer whether the object is unknown or another merchant's", async () => {
    const [unknown, foreign] = await Promise.all(
      [`cart_${ulid}`, world().demo.carts.otherMerchant].map((id) =>
        read(`/api/v1/open/storefront/carts/${id}`),
      ),
    );
    expect(unknown).toEqual(foreign);
    expect(unknown).toMatchObject({ code: "cart_not_found", allowed: null });
  });
});

describe("the answer to a wrong value", () => {
  const search = async (name: string, value: string): Promise<Refusal> => {
    const query = {
      q: "",
      locale: "en",
      market: "DE",
      sort: "newest",
      page: "1",
      pageSize: "5",
      [name]: value,
    };
    return refusalOf(await world().get(`/api/v1/search?${new URLSearchParams(query)}`));
  };

  it.each([
    ["market", "Germany", "unknown_market", /for example DE; the value seems to mean DE\.$/],
    ["locale", "en_US", "invalid_locale", /; the value seems to mean en-US\.$/],
    ["page", "0", "invalid_parameter", /^page must be an integer from 1 to 10000\.$/],
    ["pageSize", "1000", "invalid_parameter", /^pageSize must be an integer from 1 to 100\.$/],
    ["page", "1.5", "invalid_parameter", /^page must be an integer from 1 to 10000 in decimal digits\.$/],
    ["page_size", "5", "unknown_parameter", /; the nearest is pageSize\.$/],
    ["category", "Tents & more", "invalid_parameter", /for example trail-running-shoe\.$/],
  ])("of the parameter %s: %s", async (name, value, code, message) => {
    expect(await search(name, value)).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it.each<[unknown, string, RegExp]>([
    [[1], "invalid_field", /^The body must be a JSON object\.$/],
    [
      { code: "X", expectedVersion: '"v7"' },
      "invalid_field",
      /^\/expectedVersion must be an integer.*For the ETag "v7" send the number 7\.$/,
    ],
    [{ cod: "X" }, "missing_field", /^\/code is required/],
    [{ code: "X", expectedVersio: 1 }, "unknown_field", /; the nearest is expectedVersion\.$/],
    [{ code: 10 }, "invalid_field", /^\/code must be a text in quotation marks\.$/],
  ])("of the body: %j", async (body, code, message) => {
    expect(await change("PUT", `${cart()}/promotion`, body)).toMatchObject({
      status: 400,
      code,
      message: expect.stringMatching(message),
    });
  });

  it("in If-Match is not read", async () => {
    const headers = { ...asKey(), "idempotency-key": randomUUID(), "if-match": '"v1"' };
    const answer = await world().send({ method: "DELETE", url: `${cart()}/promotion`, headers, body: {} });
    expect(answer.body.error.message).toContain("does not read the header If-Match");
  });

  it.each([
    ["order.place", ["order.placed"]],
    ["orders.*", ["order.*"]],
    ["order.eaten", null],
    ["invoice.paid", null],
  ])("of the event types: %s", async (type, allowed) => {
    const body = { url: "https://shop.example.com/hook", eventTypes: [type] };
    const refusal = await change("POST", "/api/v1/open/webhooks/endpoints", body);
    expect(refusal).toMatchObject({ status: 400, code: "unknown_event_type" });
    if (allowed !== null) expect(refusal.allowed).toEqual(allowed);
    else if (type.startsWith("order")) expect(refusal.allowed).toContain("order.placed");
    else expect(refusal.message).toContain("listInstallationWebhookEvents");
  });

  it("of the header Content-Type", async () => {
    const headers = { ...asKey(), "idempotency-key": randomUUID(), "content-type": "text/plain" };
    const answer = await world().send({ method: "PUT", url: `${cart()}/promotion`, headers, body: "{}" });
    expect(refusalOf(answer)).toMatchObject({
      code: "unsupported_media_type",
      allowed: ["application/json"],
    });
  });
});
