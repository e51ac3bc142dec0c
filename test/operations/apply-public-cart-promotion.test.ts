/**
 * applyPublicCartPromotion: a code is applied, replaces another code, or is refused with the reason. The
 * number of guesses is limited.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { expectError } from "#test/support/expect-error.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";
import {
  berlin,
  callCart,
  changeCart,
  deliveryOf,
  eur,
  eventsOf,
  expectConflict,
  makeCart,
  makeCode,
  makePromotion,
  movePromotion,
  type PromotionInput,
  readCart,
  variantOf,
  withoutTrace,
  workOf,
} from "./cart-calls.ts";
import { type BodyFault, describeBodyFaults, describeCommonRefusals } from "./cart-refusals.ts";

describe.each(["pglite", "postgres"] as const)("applyPublicCartPromotion on %s", (engine) => {
  const world = useWorld(engine);
  let contract: Contract;
  let tenId: string;
  beforeAll(async () => {
    contract = await readContract(world());
    tenId = await makeCode(world(), "Ten-Off");
    await makeCode(world(), "FIVE", { kind: "FIXED_AMOUNT", amountMinor: 500, currency: "EUR" });
    await makeCode(world(), "MINIMUM", { minimumSubtotalMinor: 10_000, currency: "EUR" });
  });

  const apply = (cartId: string, body: unknown): Promise<Answer> =>
    callCart(world(), "applyPublicCartPromotion", { cartId, body });
  const grinder = async (): Promise<string> => (await makeCart(world(), { lines: { "KIT-KVERN": 1 } })).id;
  const typesOf = async (cartId: string): Promise<string[]> =>
    (await eventsOf(world(), cartId)).map(({ type, version }) => `${version} ${type}`);

  it("returns the discount per line and the cart's new totals", async () => {
    const { id: cartId, lines } = await makeCart(world(), {
      lines: { "KIT-KVERN": 1, "KIT-EMALJE-WHITE": 3 },
    });
    const answer = await apply(cartId, { code: "ten-off", expectedVersion: 1 });
    expect(answer.status).toBe(200);
    expect(contract.faultsOf("applyPublicCartPromotion", 200, answer.body)).toEqual([]);
    const allocation = (index: number, amountMinor: number) => ({
      target: "line",
      lineId: lines[index].id,
      promotionId: tenId,
      amount: eur(amountMinor),
    });
    expect(answer.body).toEqual({
      data: {
        cartId,
        cartVersion: 2,
        state: "applied",
        suspendedReason: null,
        promotion: {
          id: tenId,
          code: "Ten-Off",
          title: "A deal",
          kind: "percentage",
          value: { basisPoints: 1000, amount: null },
          startsAt: null,
          endsAt: null,
          combinesWithAutomatic: true,
        },
        automatic: [],
        discount: eur(1236),
        allocations: [allocation(0, 849), allocation(1, 387)],
        replaced: null,
        totals: {
          subtotal: eur(12_360),
          discount: eur(1236),
          shipping: null,
          tax: null,
          taxIncluded: true,
          total: eur(11_124),
          estimated: true,
        },
      },
    });
    expect(answer.headers).toMatchObject({
      "idempotent-replayed": "false",
      "cache-control": "no-store",
      "x-api-stability": "candidate",
    });
    expect(await typesOf(cartId)).toEqual(["1 cart.created", "2 cart.promotion_applied"]);
  });

  it("applies every kind of promotion", async () => {
    const kinds: readonly (readonly [
      code: string,
      input: PromotionInput,
      discountMinor: number,
      value: unknown,
    ])[] = [
      [
        "K-FIXED",
        { kind: "FIXED_AMOUNT", amountMinor: 750, currency: "EUR" },
        750,
        { basisPoints: null, amount: eur(750) },
      ],
      ["K-SHIP", { kind: "FREE_SHIPPING" }, 490, { basisPoints: null, amount: null }],
      [
        "K-BUY",
        { kind: "BUY_X_GET_Y", buyQuantity: 2, getQuantity: 1, basisPoints: 5000 },
        645,
        { basisPoints: 5000, amount: null },
      ],
      ["K-GIFT", { kind: "GIFT", getQuantity: 1 }, 1290, { basisPoints: null, amount: null }],
    ];
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-EMALJE-WHITE": 3 } });
    await changeCart(world(), "cartAddressSet", { cartId, input: { address: berlin } });
    await changeCart(world(), "cartDeliveryOptionSelect", {
      cartId,
      input: { optionId: await deliveryOf(world(), "standard") },
    });
    for (const [code, input, discountMinor, value] of kinds) {
      await makeCode(world(), code, input);
      const { status, body } = await apply(cartId, { code });
      expect({ status, faults: contract.faultsOf("applyPublicCartPromotion", 200, body) }).toEqual({
        status: 200,
        faults: [],
      });
      expect(body.data).toMatchObject({
        state: "applied",
        discount: eur(discountMinor),
        promotion: { code, kind: String(input["kind"]).toLowerCase(), value },
        totals: {
          subtotal: eur(3870),
          shipping: eur(490),
          discount: eur(discountMinor),
          total: eur(4360 - discountMinor),
        },
      });
    }
  });

  it("applies a free-shipping code before the cart has shipping costs", async () => {
    await makeCode(world(), "LATER", { kind: "FREE_SHIPPING" });
    const { body } = await apply(await grinder(), { code: "LATER" });
    expect(body.data).toMatchObject({
      state: "applied",
      discount: eur(0),
      allocations: [],
      totals: { shipping: null, total: eur(8490) },
    });
  });

  it.each([" ten-off ", "TEN-OFF", "ｔｅｎ-ｏｆｆ", "tEn-OfF"])(
    "ignores case, width and surrounding spaces of a code: %j",
    async (code) => {
      expect((await apply(await grinder(), { code })).body.data?.promotion.code).toBe("Ten-Off");
    },
  );

  it('changes nothing if the code is already applied, whatever "onExisting" says', async () => {
    const cartId = await grinder();
    const first = (await apply(cartId, { code: "ten-off" })).body.data;
    const before = await cartRows(cartId);
    for (const body of [
      { code: "TEN-OFF" },
      { code: "ten-off", onExisting: "reject" },
      { code: "ten-off", onExisting: "replace", expectedVersion: 2 },
    ]) {
      const again = await apply(cartId, body);
      expect([again.status, again.body.data]).toEqual([200, first]);
    }
    expect(await cartRows(cartId)).toEqual(before);
    expect(await typesOf(cartId)).toEqual(["1 cart.created", "2 cart.promotion_applied"]);
  });

  const cartRows = async (cartId: string): Promise<unknown> => ({
    cart: await world().database.db.selectFrom("cart").selectAll().where("id", "=", cartId).execute(),
    promotions: await world()
      .database.db.selectFrom("cartPromotion")
      .selectAll()
      .where("cartId", "=", cartId)
      .execute(),
  });

  it("replaces another code and returns the replaced code", async () => {
    const cartId = await grinder();
    await apply(cartId, { code: "ten-off" });
    const { body } = await apply(cartId, { code: "five", onExisting: "replace" });
    expect(body.data).toMatchObject({
      cartVersion: 3,
      discount: eur(500),
      promotion: { code: "FIVE" },
      replaced: { code: "Ten-Off" },
    });
    expect((await readCart(world(), cartId)).data.promotion).toMatchObject({
      state: "APPLIED",
      promotion: { code: "FIVE" },
    });
    expect(await typesOf(cartId)).toEqual([
      "1 cart.created",
      "2 cart.promotion_applied",
      "3 cart.promotion_applied",
    ]);
  });

  it('keeps the other code with "reject", and if the new code is refused', async () => {
    const cartId = await grinder();
    await apply(cartId, { code: "ten-off" });
    const rejected = await withoutTrace(world(), () => apply(cartId, { code: "five", onExisting: "reject" }));
    expectConflict(rejected, { code: "promotion_already_applied", id: cartId, status: "active", version: 2 });
    expect(contract.faultsOf("applyPublicCartPromotion", 409, rejected.body)).toEqual([]);
    const refused = await withoutTrace(world(), () => apply(cartId, { code: "minimum" }));
    expect(refused.status).toBe(409);
    expect((await withoutTrace(world(), () => apply(cartId, { code: "nobody-knows" }))).status).toBe(404);
    expect((await readCart(world(), cartId)).data).toMatchObject({
      version: 2,
      promotion: { state: "APPLIED", promotion: { code: "Ten-Off" } },
    });
  });

  it("returns the amount that is missing to a minimum subtotal", async () => {
    const cartId = await grinder();
    const answer = await withoutTrace(world(), () => apply(cartId, { code: "minimum" }));
    const data = { requiredAmount: eur(10_000), missingAmount: eur(1510) };
    expectConflict(answer, {
      code: "promotion_not_applicable",
      id: cartId,
      status: "active",
      version: 1,
      reason: "minimum_subtotal_not_met",
      data,
    });
    expect(answer.body.error.details).toEqual([
      {
        in: "body",
        field: "/code",
        code: "minimum_subtotal_not_met",
        message: expect.stringMatching(/\S\.$/),
        allowed: null,
      },
    ]);
    expect(contract.faultsOf("applyPublicCartPromotion", 409, answer.body)).toEqual([]);
  });

  const refusals: readonly (readonly [
    reason: string,
    input: PromotionInput,
    data: Readonly<Record<string, unknown>>,
  ])[] = [
    ["not_started", { startsAt: "2999-01-01T00:00:00Z" }, {}],
    ["market_not_eligible", { marketIds: "us" }, {}],
    ["currency_mismatch", { kind: "FIXED_AMOUNT", amountMinor: 1, currency: "USD" }, {}],
    ["sign_in_required", { requiresSignIn: true }, {}],
    ["no_entitled_lines", { entitledProductIds: "other" }, {}],
    ["minimum_quantity_not_met", { minimumQuantity: 5 }, { requiredQuantity: 5, missingQuantity: 4 }],
    ["paused", {}, {}],
    ["ended", {}, {}],
    ["usage_limit_reached", { usageLimit: 1 }, {}],
    ["customer_not_eligible", { buyerReferences: ["someone"] }, {}],
  ];

  it.each(refusals)("refuses with the reason %s", async (reason, restriction, data) => {
    const input = { ...restriction };
    const { db } = world().database;
    if (input["marketIds"] !== undefined)
      input["marketIds"] = [
        (
          await db
            .selectFrom("market")
            .select("id")
            .where("handle", "=", "us")
            .where("merchantId", "=", world().demo.merchants.first.id)
            .executeTakeFirstOrThrow()
        ).id,
      ];
    if (input["entitledProductIds"] !== undefined)
      input["entitledProductIds"] = [
        (
          await db
            .selectFrom("variant")
            .select("productId")
            .where("sku", "=", "HOM-BIVOKS")
            .executeTakeFirstOrThrow()
        ).productId,
      ];
    const code = `R-${reason.replaceAll("_", "-")}`;
    const promotionId = await makeCode(world(), code, input);
    if (reason === "paused") await movePromotion(world(), "promotionPause", promotionId);
    if (reason === "ended") await movePromotion(world(), "promotionEnd", promotionId);
    if (reason === "usage_limit_reached")
      await db.updateTable("promotion").set({ used: 1 }).where("id", "=", promotionId).execute();
    const buyer = reason === "customer_not_eligible" ? { input: { buyerReference: "another" } } : {};
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 }, ...buyer });
    const answer = await withoutTrace(world(), () => apply(cartId, { code }));
    expectConflict(answer, {
      code: "promotion_not_applicable",
      id: cartId,
      status: "active",
      version: 1,
      reason,
      data,
    });
    expect(answer.body.error.details).toMatchObject([{ in: "body", field: "/code", code: reason }]);
  });

  it("combines a code with automatic promotions, or applies only the better one", async () => {
    const automaticId = await makePromotion(world(), {
      basisPoints: 2000,
      kind: "PERCENTAGE",
      entitledProductIds: [await productOf("HOM-KURV-SMALL")],
    });
    const { id: cartId } = await makeCart(world(), { lines: { "HOM-KURV-SMALL": 1 } });
    // 44.90: 20 % off is 8.98; then 10 % of 35.92.
    const together = (await apply(cartId, { code: "ten-off" })).body.data;
    expect(together).toMatchObject({
      discount: eur(359),
      automatic: [{ id: automaticId, discount: eur(898) }],
      totals: { discount: eur(1257) },
    });
    await makeCode(world(), "ALONE-SMALL", { isExclusive: true });
    const worse = await withoutTrace(world(), () => apply(cartId, { code: "alone-small" }));
    expectConflict(worse, {
      code: "promotion_not_applicable",
      id: cartId,
      status: "active",
      version: 2,
      reason: "superseded_by_better_deal",
    });
    await makeCode(world(), "ALONE-LARGE", { kind: "PERCENTAGE", basisPoints: 3000, isExclusive: true });
    expect((await apply(cartId, { code: "alone-large" })).body.data).toMatchObject({
      discount: eur(1347),
      automatic: [],
      promotion: { combinesWithAutomatic: false },
    });
    await movePromotion(world(), "promotionEnd", automaticId);
    const exclusiveId = await makePromotion(world(), {
      isExclusive: true,
      entitledProductIds: [await productOf("HOM-BAD-WHITE")],
    });
    const { id: second } = await makeCart(world(), { lines: { "HOM-BAD-WHITE": 1 } });
    const barred = await withoutTrace(world(), () => apply(second, { code: "ten-off" }));
    expectConflict(barred, {
      code: "promotion_not_applicable",
      id: second,
      status: "active",
      version: 1,
      reason: "combination_disallowed",
    });
    await movePromotion(world(), "promotionEnd", exclusiveId);
  });

  const productOf = async (sku: string): Promise<string> => {
    const variantId = await variantOf(world(), sku);
    return (
      await world()
        .database.db.selectFrom("variant")
        .select("productId")
        .where("id", "=", variantId)
        .executeTakeFirstOrThrow()
    ).productId;
  };

  it("answers another merchant's code like an unknown code", async () => {
    const code = world().demo.promotionCodes.otherMerchant;
    const unknown = {
      status: 404,
      code: "promotion_code_not_found",
      details: [{ in: "body", field: "/code", code: "unknown" }],
    } as const;
    const cartId = await grinder();
    expectError(await withoutTrace(world(), () => apply(cartId, { code: "nobody-knows" })), unknown);
    const foreign = await withoutTrace(world(), () => apply(cartId, { code }));
    expectError(foreign, unknown);
    expect(contract.faultsOf("applyPublicCartPromotion", 404, foreign.body)).toEqual([]);
    const statements = async (typed: string): Promise<number> =>
      (await workOf(world(), () => apply(cartId, { code: typed }))).length;
    expect(await statements("nobody-knows")).toBe(await statements(code));
  });

  it("refuses a code for an empty cart", async () => {
    const { id: cartId } = await makeCart(world());
    const answer = await withoutTrace(world(), () => apply(cartId, { code: "ten-off" }));
    expectConflict(answer, { code: "cart_empty", id: cartId, status: "active", version: 1 });
  });

  it("checks the version before the code", async () => {
    const cartId = await grinder();
    const answer = await withoutTrace(world(), () =>
      apply(cartId, { code: "nobody-knows", expectedVersion: 7 }),
    );
    expectConflict(answer, { code: "cart_version_conflict", id: cartId, status: "active", version: 1 });
  });

  describeCommonRefusals("applyPublicCartPromotion", { world, body: { code: "ten-off" } });

  const faults: readonly BodyFault[] = [
    ["no code", {}, "missing_field", ["/code required"]],
    ["null for a code", { code: null }, "invalid_field", ["/code wrong_type"]],
    ["a number for a code", { code: 10 }, "invalid_field", ["/code wrong_type"]],
    ["an empty code", { code: "" }, "invalid_field", ["/code too_short"]],
    ["a blank code", { code: "  " }, "invalid_field", ["/code pattern_mismatch"]],
    ["65 characters", { code: "x".repeat(65) }, "invalid_field", ["/code pattern_mismatch"]],
    [
      "more than any spelling of 64 characters has",
      { code: "x".repeat(257) },
      "invalid_field",
      ["/code too_long"],
    ],
    ["a space in a code", { code: "ten off" }, "invalid_field", ["/code pattern_mismatch"]],
    ["a code that begins with a hyphen", { code: "-ten" }, "invalid_field", ["/code pattern_mismatch"]],
    ["a control character", { code: "ten\u0001" }, "invalid_field", ["/code control_character"]],
    [
      "an unknown onExisting",
      { code: "ten-off", onExisting: "both" },
      "invalid_field",
      ["/onExisting not_allowed"],
    ],
    [
      "onExisting as GraphQL spells it",
      { code: "ten-off", onExisting: "REPLACE" },
      "invalid_field",
      ["/onExisting not_allowed"],
    ],
    [
      "expectedVersion 0",
      { code: "ten-off", expectedVersion: 0 },
      "invalid_field",
      ["/expectedVersion too_small"],
    ],
    [
      "expectedVersion as text",
      { code: "ten-off", expectedVersion: "1" },
      "invalid_field",
      ["/expectedVersion wrong_type"],
    ],
    [
      "several faults",
      { expectedVersion: "1", onExisting: 1 },
      "missing_field",
      ["/code required", "/expectedVersion wrong_type", "/onExisting wrong_type"],
    ],
  ];
  describeBodyFaults("applyPublicCartPromotion", { world, faults });
});
