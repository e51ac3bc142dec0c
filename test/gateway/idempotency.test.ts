/**
 * The Idempotency-Key header of REST: its form, which requests are replayed or run again, and which checks
 * come before it.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { answerRetentionMs } from "#database/idempotency.ts";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import { openCart, openShop, type Shop } from "#soak/shop.ts";
import { expectError } from "#test/support/expect-error.ts";
import { unknownKey } from "#test/support/keys.ts";
import { portOf, request, sendRaw } from "#test/support/raw-http.ts";
import { useWorld } from "#test/support/use-world.ts";
import { type Answer, createWorld, type World } from "#test/support/world.ts";

const world = useWorld("postgres", { environment: { PORT: "0" } });
const address = {
  recipientName: "Anna Beispiel",
  line1: "Musterweg 1",
  postalCode: "10115",
  city: "Berlin",
  countryCode: "DE",
};
let shop: Shop;

beforeAll(async () => {
  shop = await openShop(world().send, world().demo);
  await world().app.listen();
});

const pathOf = (cartId: string, part: "address" | "promotion"): string =>
  `/api/v1/open/storefront/carts/${cartId}/${part}`;

interface Sent {
  readonly key?: string | null;
  readonly apiKey?: keyof DemoJsonFileContent["keys"];
  readonly method?: "PUT" | "DELETE";
  readonly headers?: Record<string, string>;
}

/** Sends a request. A text body is sent unchanged. */
async function send(
  url: string,
  body: unknown,
  { key = randomUUID(), apiKey = "full", method = "PUT", headers = {} }: Sent = {},
): Promise<Answer> {
  const keyHeader = key === null ? {} : { "idempotency-key": key };
  return world().send({
    method,
    url,
    headers: { authorization: `Bearer ${world().demo.keys[apiKey]}`, ...keyHeader, ...headers },
    body,
  });
}
const openedCart = async (): Promise<string> => (await openCart(world().send, shop)).id;
const versionOf = async (cartId: string): Promise<number> =>
  (
    await world()
      .database.db.selectFrom("cart")
      .select("version")
      .where("id", "=", cartId)
      .executeTakeFirstOrThrow()
  ).version;
const countRecords = async (): Promise<number> =>
  (await world().database.db.selectFrom("idempotencyRecord").select("ownerId").execute()).length;

/** Expects a replay: the same answer, except for headers that belong to each request. */
function expectReplay(again: Answer, first: Answer): void {
  expect({ status: again.status, text: again.text, type: again.headers["content-type"] }).toEqual({
    status: 200,
    text: first.text,
    type: first.headers["content-type"],
  });
  expect([first.headers["idempotent-replayed"], again.headers["idempotent-replayed"]]).toEqual([
    "false",
    "true",
  ]);
  expect(again.headers["x-request-id"]).toMatch(/^req_/);
  expect(again.headers["x-request-id"]).not.toBe(first.headers["x-request-id"]);
}

describe("the Idempotency-Key header", () => {
  it("is required for every change", async () => {
    const cartId = await openedCart();
    expectError(await send(pathOf(cartId, "address"), { address }, { key: null }), {
      status: 400,
      code: "idempotency_key_required",
      details: [{ in: "header", field: "Idempotency-Key", code: "required" }],
    });
    expect(await versionOf(cartId)).toBe(1);
  });

  it.each([
    ["empty", ""],
    ["empty in quotes", '""'],
    ["too long", "k".repeat(256)],
    ["too long in quotes", `"${"k".repeat(256)}"`],
    ["with a space", "a b"],
    ["with a comma", "a,b"],
    ["with a semicolon", "a;b"],
    ["with a parameter after the quotes", '"a";b=1'],
    ["with a backslash", "a\\b"],
    ["with a quote that is not closed", '"abc'],
    ["with a quote that was not opened", 'abc"'],
    ["of a quote alone", '"'],
    ["with a quote in quotes", '"a"b"'],
    ["with a tab", "a\tb"],
    ["with a letter beyond ASCII", "schlüssel"],
  ])("is refused %s", async (_name, key) => {
    const cartId = await openedCart();
    const answer = await send(pathOf(cartId, "address"), { address }, { key });
    const message =
      'Idempotency-Key must have 1 to 255 printable ASCII characters, without space, ", \\, comma and ' +
      "semicolon.";
    expectError(answer, {
      status: 400,
      code: "idempotency_key_invalid",
      details: [{ in: "header", field: "Idempotency-Key", code: "pattern_mismatch", message }],
    });
    expect(await versionOf(cartId)).toBe(1);
  });

  it.each([
    ["different ones", ["Idempotency-Key: a", "Idempotency-Key: b"]],
    ["the same one, in another case", ["Idempotency-Key: a", "IDEMPOTENCY-KEY: a"]],
  ])("is refused on two lines with %s", async (_name, lines) => {
    const cartId = await openedCart();
    const body = JSON.stringify({ address });
    const head = [
      `PUT ${pathOf(cartId, "address")} HTTP/1.1`,
      "Host: api.test",
      `Authorization: Bearer ${world().demo.keys.full}`,
    ];
    const bytes =
      request(...head, "Content-Type: application/json", `Content-Length: ${body.length}`, ...lines) + body;
    expectError(await sendRaw(portOf(world()), bytes), {
      status: 400,
      code: "idempotency_key_invalid",
      details: [
        {
          in: "header",
          field: "Idempotency-Key",
          code: "duplicate",
          message: "Idempotency-Key must be sent only once.",
        },
      ],
      baseUrl: world().app.publicUrl,
    });
    expect(await versionOf(cartId)).toBe(1);
  });

  it.each([
    ["of one character", "k"],
    ["of 255 characters", "k".repeat(255)],
    [
      "of every allowed character",
      Array.from({ length: 94 }, (_, index) => String.fromCodePoint(33 + index))
        .join("")
        .replaceAll(/["\\,;]/g, ""),
    ],
  ])("is accepted %s", async (_name, key) => {
    const cartId = await openedCart();
    expect((await send(pathOf(cartId, "address"), { address }, { key })).status).toBe(200);
  });

  it("is the same key with and without quotes; the header's name is case-insensitive", async () => {
    const cartId = await openedCart();
    const key = randomUUID();
    const first = await send(pathOf(cartId, "address"), { address }, { key: `"${key}"` });
    expectReplay(await send(pathOf(cartId, "address"), { address }, { key }), first);
    expectReplay(
      await send(pathOf(cartId, "address"), { address }, { key: null, headers: { "IDEMPOTENCY-KEY": key } }),
      first,
    );
    expect(await versionOf(cartId)).toBe(2);
  });

  it("is case-sensitive", async () => {
    const cartId = await openedCart();
    const key = `k-${randomUUID()}`;
    await send(pathOf(cartId, "address"), { address }, { key });
    expect(
      (await send(pathOf(cartId, "address"), { address }, { key: key.toUpperCase() })).headers[
        "idempotent-replayed"
      ],
    ).toBe("false");
    expect(await versionOf(cartId)).toBe(3);
  });

  it("is ignored by reads", async () => {
    const cartId = await openedCart();
    const kept = await countRecords();
    for (const key of ["a b", "a"]) {
      const answer = await world().get(`/api/v1/open/storefront/carts/${cartId}`, {
        authorization: `Bearer ${world().demo.keys.full}`,
        "idempotency-key": key,
      });
      expect({ status: answer.status, replayed: answer.headers["idempotent-replayed"] }).toEqual({
        status: 200,
        replayed: undefined,
      });
    }
    expect(await countRecords()).toBe(kept);
  });
});

describe("a retry", () => {
  it("gets the stored answer and changes nothing", async () => {
    const cartId = await openedCart();
    const key = randomUUID();
    const first = await send(pathOf(cartId, "promotion"), { code: shop.codes[0] }, { key });
    for (let times = 0; times < 3; times += 1)
      expectReplay(await send(pathOf(cartId, "promotion"), { code: shop.codes[0] }, { key }), first);
    expect(first.headers).toMatchObject({
      "cache-control": "no-store",
      "content-type": "application/json; charset=utf-8",
      "x-api-stability": "candidate",
    });
    expect(await versionOf(cartId)).toBe(2);
  });

  it("gets the stored answer even if the cart has changed and the request would now be refused", async () => {
    const cartId = await openedCart();
    const key = randomUUID();
    const body = { code: shop.codes[0], expectedVersion: 1 };
    const first = await send(pathOf(cartId, "promotion"), body, { key });
    await send(pathOf(cartId, "promotion"), { code: shop.codes[1] });
    expectReplay(await send(pathOf(cartId, "promotion"), body, { key }), first);
    expect(await versionOf(cartId)).toBe(3);
  });

  it.each([
    ["another order", '{"expectedVersion":1,"code":"CODE"}'],
    ["white space", '\n{ "code" :\t"CODE" , "expectedVersion" : 1 }\r\n'],
    ["another spelling of the number", '{"code":"CODE","expectedVersion":1.0}'],
    ["an exponent", '{"code":"CODE","expectedVersion":10e-1}'],
    ["escapes", '{"\\u0063ode":"CODE","expectedVersion":1}'],
  ])("may spell the same body differently: %s", async (_name, text) => {
    const cartId = await openedCart();
    const key = randomUUID();
    const first = await send(
      pathOf(cartId, "promotion"),
      { code: shop.codes[0], expectedVersion: 1 },
      { key },
    );
    expectReplay(
      await send(pathOf(cartId, "promotion"), text.replace("CODE", shop.codes[0] ?? ""), { key }),
      first,
    );
    expect(await versionOf(cartId)).toBe(2);
  });

  it("with another API key of the installation gets the stored answer", async () => {
    const cartId = await openedCart();
    const key = randomUUID();
    const first = await send(pathOf(cartId, "address"), { address }, { key });
    expectReplay(await send(pathOf(cartId, "address"), { address }, { key, apiKey: "checkoutQuote" }), first);
    expect(await versionOf(cartId)).toBe(2);
  });

  it("after seven days runs again", async () => {
    const cartId = await openedCart();
    const sent = { key: randomUUID() };
    const first = await send(pathOf(cartId, "address"), { address }, sent);
    world().clock.advance(answerRetentionMs - 1);
    expectReplay(await send(pathOf(cartId, "address"), { address }, sent), first);
    world().clock.advance(1);
    const later = await send(pathOf(cartId, "address"), { address }, sent);
    expect([later.status, later.headers["idempotent-replayed"], later.body.data.cartVersion]).toEqual([
      200,
      "false",
      3,
    ]);
  });

  it("without the required scope is refused instead of replayed", async () => {
    const cartId = await openedCart();
    const key = randomUUID();
    await send(pathOf(cartId, "address"), { address }, { key });
    const lost = await send(pathOf(cartId, "address"), { address }, { key, apiKey: "catalogRead" });
    expect([lost.status, lost.body.error.code, lost.headers["idempotent-replayed"]]).toEqual([
      403,
      "scope_missing",
      undefined,
    ]);
    for (const apiKey of ["revoked", "expired"] as const) {
      expect((await send(pathOf(cartId, "address"), { address }, { key, apiKey })).status).toBe(401);
    }
    expect(await versionOf(cartId)).toBe(2);
  });
});

describe("an Idempotency-Key that another request has used", () => {
  const other = { ...address, line2: "2nd floor" };
  it.each([
    ["another body", { body: { address: other } }],
    ["a field with its default value", { body: { address, validation: "strict" } }],
    ["another cart", { isElsewhere: true }],
    ["another operation", { part: "promotion", body: { expectedVersion: 2 }, method: "DELETE" }],
  ] as const)("is refused with %s, and nothing changes", async (_name, change) => {
    const {
      body,
      part,
      method,
      isElsewhere,
    }: { body?: unknown; part?: "promotion"; method?: "DELETE"; isElsewhere?: true } = change;
    const cartId = await openedCart();
    const key = randomUUID();
    const first = await send(pathOf(cartId, "address"), { address }, { key });
    const target = isElsewhere === true ? await openedCart() : cartId;
    const refused = await send(pathOf(target, part ?? "address"), body ?? { address }, {
      key,
      method: method ?? "PUT",
    });
    expectError(refused, { status: 409, code: "idempotency_key_reused" });
    expect([await versionOf(cartId), await versionOf(target)]).toEqual([2, isElsewhere === true ? 1 : 2]);
    expectReplay(await send(pathOf(cartId, "address"), { address }, { key }), first);
  });

  it("may be used by another installation", async () => {
    const cartId = await openedCart();
    const key = randomUUID();
    const first = await send(pathOf(cartId, "address"), { address }, { key });
    const theirs = await send(pathOf(cartId, "address"), { address }, { key, apiKey: "otherMerchant" });
    expectError(theirs, { status: 404, code: "cart_not_found" });
    expectReplay(await send(pathOf(cartId, "address"), { address }, { key }), first);
  });
});

describe("a refused request", () => {
  it.each([
    ["400", { address: { ...address, postalCode: "1" } }, "address_invalid"],
    ["400 for an unknown field", { address, unknown: 1 }, "unknown_field"],
    ["409", { address, expectedVersion: 9 }, "cart_version_conflict"],
  ])("with %s stores nothing: its key can be used for another request", async (_name, body, code) => {
    const cartId = await openedCart();
    const key = randomUUID();
    const kept = await countRecords();
    for (let times = 0; times < 2; times += 1) {
      const refused = await send(pathOf(cartId, "address"), body, { key });
      expect([refused.body.error.code, refused.headers["idempotent-replayed"]]).toEqual([code, undefined]);
    }
    expect([await versionOf(cartId), await countRecords()]).toEqual([1, kept]);
    const done = await send(pathOf(cartId, "address"), { address }, { key });
    expect([done.status, done.headers["idempotent-replayed"]]).toEqual([200, "false"]);
    expect(await countRecords()).toBe(kept + 1);
  });

  it("with 404 stores nothing: the same request succeeds once the cart exists", async () => {
    const key = randomUUID();
    const cartId = await openedCart();
    const gone = await send(pathOf("cart_00000000000000000000000000", "address"), { address }, { key });
    expectError(gone, { status: 404, code: "cart_not_found" });
    expect((await send(pathOf(cartId, "address"), { address }, { key })).headers["idempotent-replayed"]).toBe(
      "false",
    );
  });

  it("with 409 succeeds unchanged once the conflict is gone", async () => {
    const cartId = await openedCart();
    const key = randomUUID();
    const remove = (): Promise<Answer> =>
      send(pathOf(cartId, "promotion"), { expectedVersion: 2 }, { key, method: "DELETE" });
    expect((await remove()).body.error.code).toBe("cart_version_conflict");
    await send(pathOf(cartId, "promotion"), { code: shop.codes[0] });
    const done = await remove();
    expect([done.status, done.headers["idempotent-replayed"], await versionOf(cartId)]).toEqual([
      200,
      "false",
      3,
    ]);
  });
});

describe("the order of the checks", () => {
  it.each([
    ["the API key", { headers: { authorization: `Bearer ${unknownKey()}` } }, 401, "api_key_invalid"],
    ["the scope", { apiKey: "catalogRead" }, 403, "scope_missing"],
  ] as const)(
    "checks first %s, before the Idempotency-Key and the body",
    async (_name, sent, status, code) => {
      const answer = await send(pathOf("cart_x", "address"), "{ broken", { ...sent, key: "a b" });
      expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    },
  );

  it.each([
    ["broken JSON", "{ broken"],
    ["an unknown field", '{"x":1}'],
    ["no body", undefined],
  ])("checks the Idempotency-Key before a body with %s", async (_name, body) => {
    const answers = [
      await send(pathOf("cart_x", "address"), body, { key: "a b" }),
      await send(pathOf("cart_x", "address"), body, { key: null }),
    ];
    expect(answers.map((answer) => answer.body.error.code)).toEqual([
      "idempotency_key_invalid",
      "idempotency_key_required",
    ]);
  });

  it("checks the rate limit first, and counts replays and refused keys", async () => {
    await using limited: World = await createWorld("postgres", { environment: { RATE_LIMIT_SCALE: "0.05" } });
    const put = (key: string): Promise<Answer> =>
      limited.send({
        method: "PUT",
        url: pathOf("cart_00000000000000000000000000", "address"),
        headers: { authorization: `Bearer ${limited.demo.keys.full}`, "idempotency-key": key },
        body: { address },
      });
    const statuses = [];
    for (const key of ["a", "a b", "a", "a b", "a", "a", "a", "a b"]) statuses.push((await put(key)).status);
    expect(statuses).toEqual([404, 400, 404, 400, 404, 404, 429, 429]);
  });
});
