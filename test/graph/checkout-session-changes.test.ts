/**
 * Changes of a checkout session by the buyer: they follow the rules of carts, raise the versions of session
 * and cart, and keep the cart locked.
 */
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import {
  askGraph,
  type GraphAnswer,
  berlin,
  callCart,
  changeCart,
  deliveryOf,
  eur,
  eventsOf,
  makeCart,
  makeCode,
  newYork,
  variantOf,
  withoutTrace,
} from "#test/operations/cart-calls.ts";
import {
  cancelSession,
  changeSession,
  holdsOf,
  makeReadySession,
  makeSession,
  readSession,
  type SessionMutation,
  sessionConflict,
  stockOf,
  sweepSessions,
  trySession,
} from "#test/operations/checkout-calls.ts";
import { manyConnections } from "#test/support/databases.ts";
import { useWorld } from "#test/support/use-world.ts";

const hourMs = 3_600_000;

describe.each(["postgres"] as const)("changes of a checkout session on %s", (engine) => {
  const world = useWorld(engine, { poolSize: manyConnections });
  beforeAll(async () => {
    await makeCode(world(), "SIX", { basisPoints: 600 });
    await makeCode(world(), "SEVEN", { basisPoints: 700 });
  });

  const change = (
    field: SessionMutation,
    sessionId: string,
    input: Readonly<Record<string, unknown>>,
  ): Promise<GraphAnswer> => changeSession(world(), field, { sessionId, input });
  const setAddress = (sessionId: string, input: object = { address: berlin }) =>
    change("hostedCheckoutSessionAddressSet", sessionId, { ...input });

  it("set an address, a delivery method and a code, each with new versions of session and cart", async () => {
    const { id, cartId } = await makeSession(world());
    const addressed = await setAddress(id, { address: berlin, expectedVersion: 1 });
    expect(addressed.data).toMatchObject({
      version: 2,
      cartVersion: 3,
      cartStatus: "LOCKED",
      amountTotal: eur(8490),
      cart: { address: { city: "Berlin" } },
    });
    const optionId = await deliveryOf(world(), "standard");
    const delivered = await change("hostedCheckoutSessionDeliveryOptionSelect", id, {
      optionId,
      expectedVersion: 2,
    });
    expect(delivered.data).toMatchObject({
      version: 3,
      cartVersion: 4,
      amountTotal: eur(8980),
      cart: { delivery: { selectedOptionId: optionId } },
    });
    const applied = await change("hostedCheckoutSessionPromotionApply", id, {
      code: "six",
      expectedVersion: 3,
    });
    expect(applied.data).toMatchObject({
      version: 4,
      cartVersion: 5,
      amountTotal: eur(8471),
      cart: { promotion: { promotion: { code: "SIX" } } },
    });
    const removed = await change("hostedCheckoutSessionPromotionRemove", id, { expectedVersion: 4 });
    expect(removed.data).toMatchObject({
      version: 5,
      cartVersion: 6,
      amountTotal: eur(8980),
      status: "OPEN",
      cartStatus: "LOCKED",
    });
    const { data } = (await callCart(world(), "getPublicCart", { cartId })).body;
    expect(data).toMatchObject({
      version: 6,
      status: "locked",
      checkout: { sessionId: id, status: "open" },
      totals: { total: eur(8980) },
    });
    expect((await eventsOf(world(), cartId)).map(({ type }) => type)).toEqual([
      "cart.created",
      "cart.locked",
      "cart.address_set",
      "cart.updated",
      "cart.promotion_applied",
      "cart.promotion_removed",
    ]);
  });

  it("set an e-mail, alone or with the address, as one change; the previous e-mail is erased", async () => {
    const { id, cartId } = await makeSession(world());
    const alone = await change("hostedCheckoutSessionContactSet", id, {
      email: "anna@example.com",
      expectedVersion: 1,
    });
    expect(alone.data).toMatchObject({
      version: 2,
      cartVersion: 3,
      cart: { buyer: { emailHint: "a•••@e•••.com" } },
    });
    const again = await change("hostedCheckoutSessionContactSet", id, { email: "anna@example.com" });
    expect(again.data).toMatchObject({ version: 2, cartVersion: 3 });
    const together = await setAddress(id, { address: berlin, contactEmail: "jan@other.test" });
    expect(together.data).toMatchObject({
      version: 3,
      cartVersion: 4,
      cart: { address: { city: "Berlin" }, buyer: { emailHint: "j•••@o•••.test" } },
    });
    expect((await setAddress(id, { address: berlin })).data).toMatchObject({
      cart: { buyer: { emailHint: "j•••@o•••.test" } },
    });
    const emails = await world()
      .database.db.selectFrom("personalData")
      .select((is) => is("erasedAt", "is not", null).as("isErased"))
      .where("cartId", "=", cartId)
      .where("kind", "=", "buyer_email")
      .execute();
    expect([emails.length, emails.filter(({ isErased }) => isErased).length]).toEqual([2, 1]);
    const { error } = await withoutTrace(world(), () =>
      change("hostedCheckoutSessionContactSet", id, { email: "nobody" }),
    );
    expect(error).toMatchObject({
      code: "invalid_field",
      details: [{ field: "/email", code: "pattern_mismatch" }],
    });
    const both = await withoutTrace(world(), () =>
      change("hostedCheckoutSessionAddressSet", id, { address: berlin, contactEmail: "nobody" }),
    );
    expect(both.error).toMatchObject({ details: [{ field: "/contactEmail" }] });
  });

  it("without effect raise no version and publish nothing", async () => {
    const session = await makeReadySession(world());
    await change("hostedCheckoutSessionPromotionApply", session.id, { code: "six" });
    const events = async () => (await eventsOf(world(), session.cartId)).length;
    const before = await events();
    const same = await change("hostedCheckoutSessionPromotionApply", session.id, { code: "SIX" });
    const optionId = await deliveryOf(world(), "standard");
    const again = await change("hostedCheckoutSessionDeliveryOptionSelect", session.id, { optionId });
    for (const { data } of [same, again])
      expect([data.version, data.cartVersion, data.cart.version]).toEqual([2, 5, 5]);
    expect(await events()).toBe(before);
  });

  it("are refused by the same rules as changes of carts", async () => {
    const { id } = await makeSession(world());
    const refusals: readonly [SessionMutation, object, unknown][] = [
      [
        "hostedCheckoutSessionAddressSet",
        { address: newYork },
        { code: "address_market_mismatch", conflict: { resource: "cart" } },
      ],
      [
        "hostedCheckoutSessionAddressSet",
        { address: { ...berlin, postalCode: "1" } },
        { code: "address_invalid" },
      ],
      [
        "hostedCheckoutSessionAddressSet",
        { address: berlin, saveForBuyer: true },
        { code: "invalid_field", details: [{ field: "/saveForBuyer" }] },
      ],
      [
        "hostedCheckoutSessionDeliveryOptionSelect",
        { optionId: "dlm_x" },
        { code: "invalid_state", conflict: { reason: "address_required" } },
      ],
      ["hostedCheckoutSessionPromotionApply", { code: "nobody-knows" }, { code: "promotion_code_not_found" }],
      [
        "hostedCheckoutSessionPromotionApply",
        { code: "!" },
        { code: "invalid_field", details: [{ field: "/code" }] },
      ],
      [
        "hostedCheckoutSessionPromotionRemove",
        {},
        { code: "promotion_not_present", conflict: { resource: "cart", currentStatus: "locked" } },
      ],
    ];
    for (const [field, input, expected] of refusals)
      expect((await withoutTrace(world(), () => change(field, id, { ...input }))).error).toMatchObject(
        expected as object,
      );
  });

  it("keep the old code if the new one is refused, and refuse a new code with REJECT", async () => {
    const { id, cartId } = await makeSession(world());
    await change("hostedCheckoutSessionPromotionApply", id, { code: "six" });
    const { error } = await withoutTrace(world(), () =>
      change("hostedCheckoutSessionPromotionApply", id, { code: "seven", onExisting: "REJECT" }),
    );
    expect(error.code).toBe("promotion_already_applied");
    expect((await callCart(world(), "getPublicCart", { cartId })).body.data.promotion.promotion.code).toBe(
      "SIX",
    );
    const { data } = await change("hostedCheckoutSessionPromotionApply", id, { code: "seven" });
    expect([data.version, data.amountTotal]).toEqual([3, eur(7896)]);
  });

  it("may choose another country of the market, which becomes the session's market", async () => {
    const { id } = await makeSession(world());
    const vienna = { ...berlin, postalCode: "1010", city: "Wien", countryCode: "AT" };
    expect((await setAddress(id, { address: vienna })).data).toMatchObject({
      market: "AT",
      cart: { market: "AT" },
    });
  });

  it("extend the address beyond its half hour, up to the end of the session", async () => {
    const { id, cartId } = await makeReadySession(world());
    world().clock.advance(40 * 60_000);
    const { data } = await change("hostedCheckoutSessionPromotionApply", id, { code: "six" });
    expect(data).toMatchObject({
      cart: { address: { city: "Berlin" }, warnings: [] },
      amountTotal: eur(8471),
    });
    world().clock.advance(31 * 60_000);
    const read = (await callCart(world(), "getPublicCart", { cartId })).body.data;
    expect(read).toMatchObject({ status: "active", address: null, warnings: [{ code: "address_expired" }] });
  });

  it("apply current prices, keep held stock, and release lines that are no longer sold", async () => {
    const { db } = world().database;
    const session = await makeSession(world(), { lines: { "KIT-KVERN": 2, "KIT-EMALJE-WHITE": 1 } });
    const sku = "KIT-EMALJE-WHITE";
    const held = async () =>
      (await holdsOf(world(), sku)).filter(({ sessionId }) => sessionId === session.id).length;
    const { reserved } = await stockOf(world(), sku);
    const publish = (status: string) =>
      sql`update product set status = ${status} where id = (select product_id from variant
        where sku = ${sku})`.execute(db);
    expect(await held()).toBe(1);
    await publish("draft");
    const without = await setAddress(session.id);
    expect(without.data.cart.warnings).toMatchObject([
      { code: "LINE_UNAVAILABLE", data: { isRemoved: false } },
    ]);
    expect([await held(), (await stockOf(world(), sku)).reserved]).toEqual([0, reserved - 1]);
    await publish("published");
    const again = await setAddress(session.id);
    expect([again.data.cart.warnings, await held(), (await stockOf(world(), sku)).reserved]).toEqual([
      [],
      1,
      reserved,
    ]);
  });

  it("do not count the session's own hold against the stock", async () => {
    const sku = "KIT-EMALJE-WHITE";
    const { reserved } = await stockOf(world(), sku);
    const variantId = await variantOf(world(), sku);
    await sql`update stock_level set on_hand = ${reserved + 2}, backorder_limit = 0
      where variant_id = ${variantId}`.execute(world().database.db);
    const { id } = await makeSession(world(), { lines: { [sku]: 2 } });
    const { data } = await setAddress(id);
    expect(data.cart).toMatchObject({ lines: [{ quantity: 2, availableQuantity: 2 }], warnings: [] });
    const other = await makeCart(world(), { lines: {} });
    const input = { lines: [{ variantId, quantity: 1 }] };
    expect((await changeCart(world(), "cartLinesAdd", { cartId: other.id, input })).error).toMatchObject({
      code: "invalid_state",
    });
  });

  const calls: readonly [SessionMutation, object][] = [
    ["hostedCheckoutSessionAddressSet", { address: berlin }],
    ["hostedCheckoutSessionDeliveryOptionSelect", { optionId: "dlm_x" }],
    ["hostedCheckoutSessionPromotionApply", { code: "six" }],
    ["hostedCheckoutSessionPromotionRemove", {}],
  ];
  const mark = (status: string, column: string) => async (id: string) => {
    const { db } = world().database;
    await sql`update hosted_checkout_session set status = ${status}, ${sql.ref(column)} = created_at
      where id = ${id}`.execute(db);
  };
  const states: readonly [string, string, number, (id: string) => Promise<unknown>][] = [
    ["processing", "processing", 1, mark("processing", "submitted_at")],
    ["completed", "completed", 1, mark("completed", "completed_at")],
    ["canceled", "canceled", 2, (sessionId) => cancelSession(world(), { sessionId })],
    ["expired by the clock", "expired", 1, () => Promise.resolve(world().clock.advance(hourMs))],
    [
      "expired, and written",
      "expired",
      2,
      async () => {
        world().clock.advance(hourMs);
        await sweepSessions(world());
      },
    ],
  ];

  it.each(states)(
    "are refused when it is %s, before its version is checked",
    async (_name, status, version, bring) => {
      const { id } = await makeSession(world());
      await bring(id);
      for (const [field, input] of calls) {
        const { error } = await withoutTrace(world(), () =>
          change(field, id, { ...input, expectedVersion: 99 }),
        );
        expect({ code: error.code, conflict: error.conflict }).toEqual({
          code: `checkout_session_${status}`,
          conflict: sessionConflict({ id, status, version }),
        });
      }
    },
  );

  it("are refused for an outdated version and for unknown sessions", async () => {
    const { id } = await makeSession(world());
    for (const [field, input] of calls) {
      const { error } = await withoutTrace(world(), () =>
        change(field, id, { ...input, expectedVersion: 2 }),
      );
      expect([error.code, error.conflict]).toEqual([
        "checkout_session_version_conflict",
        sessionConflict({ id, status: "open", version: 1 }),
      ]);
      for (const sessionId of ["chs_00000000000000000000000000", "1"])
        expect((await withoutTrace(world(), () => change(field, sessionId, { ...input }))).error.code).toBe(
          "checkout_session_not_found",
        );
    }
  });

  it("keep other changes of the cart refused", async () => {
    const { id, cartId } = await makeSession(world());
    await setAddress(id);
    const { error } = await withoutTrace(world(), () =>
      changeCart(world(), "cartPromotionApply", { cartId, input: { code: "six" } }),
    );
    expect(error.code).toBe("cart_locked");
  });

  it("by ten concurrent openings for a cart open one session, which the other answers name", async () => {
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    const before = await stockOf(world(), "KIT-KVERN");
    const answers = await Promise.all(Array.from({ length: 10 }, () => trySession(world(), { cartId })));
    const [opened, ...more] = answers.flatMap(({ data }) => (data === null ? [] : [data.id as string]));
    expect([opened, more]).toEqual([expect.any(String), []]);
    const refused = answers.flatMap(({ error }) =>
      error === undefined ? [] : [[error.code, error.conflict.data]],
    );
    expect(refused).toEqual(Array.from({ length: 9 }, () => ["cart_locked", { sessionId: opened }]));
    expect(await stockOf(world(), "KIT-KVERN")).toEqual({ ...before, reserved: before.reserved + 1 });
  });

  it("that are concurrent run one after the other, each with its own versions", async () => {
    const { id } = await makeSession(world());
    const codes = Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? "six" : "seven"));
    const answers = await Promise.all(
      codes.map((code) => change("hostedCheckoutSessionPromotionApply", id, { code })),
    );
    expect(answers.every(({ error }) => error === undefined)).toBe(true);
    const { data } = await readSession(world(), id);
    expect(data.cartVersion).toBe(data.version + 1);
    expect(data.amountTotal.amountMinor).toBe(data.cart.totals.total.amountMinor);
  });

  it("happen once for an idempotency key", async () => {
    const { id } = await makeSession(world());
    const query = `mutation ($id: ID!) { hostedCheckoutSessionPromotionApply(sessionId: $id, idempotencyKey:
      "k-${engine}", input: { code: "six" }) { version } }`;
    const [first, second] = [await askGraph(world(), query, { id }), await askGraph(world(), query, { id })];
    expect([first.data, second.data]).toEqual([{ version: 2 }, { version: 2 }]);
  });
});
