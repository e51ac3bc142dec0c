/** Loading promotions for carts: complete, with the buyer's uses, and only those of the merchant. */
import { sql } from "kysely";
import { beforeAll, expect, it } from "vitest";
import {
  loadCurrentCartPricingData,
  type LoadCurrentCartPricingDataOptions,
} from "#commerce/carts/load-offer.ts";
import type { CurrentCartPricingData } from "#commerce/carts/pricing-data.ts";
import { activatePromotion } from "#commerce/promotions/promotion-status.ts";
import { normalizePromotionCode } from "#commerce/promotions/choose-promotions.ts";
import type { PromotionRule } from "#commerce/promotions/promotion-rule.ts";
import {
  type PromotionRuleJson,
  promotionRuleJsonSql,
  toPromotionRule,
} from "#commerce/promotions/read-promotions.ts";
import { generatePromotionCodes } from "#commerce/promotions/generate-codes.ts";
import type { CreatePromotionInput } from "#commerce/promotions/change-promotion.ts";
import { runInTransaction } from "#database/transaction.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import { createWorld, makeProduct, startOfWorld, type World } from "#test/commerce/writes-world.ts";
import { makePromotion, makeSession, taking } from "./promotions-world.ts";

describeOnBoth("promotions as carts read them", (open) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(open);
  });

  const activate = async (input: Partial<CreatePromotionInput>, context = world.context) => {
    const promotionId = await makePromotion(world, input, context);
    await world.run(activatePromotion, { promotionId }, context);
    return promotionId;
  };
  const offerTo = (
    buyerReference: string | null,
    code: LoadCurrentCartPricingDataOptions["code"] = null,
  ): Promise<CurrentCartPricingData> => {
    const { merchantId, now } = world.context;
    const wanted = {
      merchantId,
      marketId: world.europe,
      variantIds: [],
      taxCountry: "DE",
      hasAddress: true,
      buyerReference,
      code,
      heldBySessionId: null,
      now,
    };
    return runInTransaction(world.db, (transaction) => loadCurrentCartPricingData(transaction, wanted));
  };
  const byCode = async (
    normalized: string,
    buyer: string | null = null,
  ): Promise<PromotionRule | undefined> => (await offerTo(buyer, { normalized })).code;
  const byId = async (id: string, buyer: string | null = null): Promise<PromotionRule | undefined> =>
    (await offerTo(buyer, { id })).code;

  it("automatic: loads active promotions of the market by priority, with the buyer's uses", async () => {
    const low = await activate({ priority: -5 });
    const high = await activate({ priority: 5, marketIds: [world.america, world.europe] });
    await activate({ priority: 9, marketIds: [world.america] });
    await makePromotion(world, { priority: 9 });
    await activate({ priority: 9, trigger: "code" });
    await activate({ priority: 9 }, world.other);
    await world.run(taking, {
      sessionId: await makeSession(world),
      buyerReference: "anna",
      promotions: [{ promotionId: low, promotionCodeId: null }],
    });
    const read = async (buyer: string | null) =>
      (await offerTo(buyer)).automatic.map(({ id, used, usedByBuyer, code }) => ({
        id,
        used,
        usedByBuyer,
        code,
      }));
    expect(await read("anna")).toEqual([
      { id: high, used: 0, usedByBuyer: 0, code: null },
      { id: low, used: 1, usedByBuyer: 1, code: null },
    ]);
    expect((await read("berta")).map(({ usedByBuyer }) => usedByBuyer)).toEqual([0, 0]);
    expect((await read(null)).map(({ usedByBuyer }) => usedByBuyer)).toEqual([0, 0]);
  });

  it("by code: finds a promotion by its code in any case, whatever its status, with all fields", async () => {
    const product = await makeProduct(world);
    const promotionId = await makePromotion(world, {
      trigger: "code",
      kind: "buy_x_get_y",
      basisPoints: 5000,
      buyQuantity: 2,
      getQuantity: 1,
      currency: "EUR",
      minimumSubtotalMinor: Number.MAX_SAFE_INTEGER,
      minimumQuantity: 3,
      entitledProductIds: [product],
      marketIds: [world.europe],
      requiresSignIn: true,
      buyerReferences: ["anna"],
      startsAt: startOfWorld,
      endsAt: new Date("2026-12-31T22:59:59.999Z"),
      usageLimit: 10,
      perBuyerLimit: 2,
      priority: 7,
      isExclusive: true,
    });
    const { codes } = await world.run(generatePromotionCodes, {
      promotionId,
      codes: ["Größe-20"],
      usageLimit: 4,
    });
    const [code] = codes;
    const rule = {
      id: promotionId,
      trigger: "code",
      status: "draft",
      discount: {
        id: promotionId,
        kind: "buy_x_get_y",
        basisPoints: 5000,
        buyQuantity: 2,
        getQuantity: 1,
        entitled: { productIds: [product], categoryIds: [] },
        buy: { productIds: [], categoryIds: [] },
      },
      currency: "EUR",
      minimumSubtotalMinor: Number.MAX_SAFE_INTEGER,
      minimumQuantity: 3,
      marketIds: [world.europe],
      requiresSignIn: true,
      isForSomeBuyers: true,
      isForThisBuyer: false,
      startsAt: startOfWorld,
      endsAt: new Date("2026-12-31T22:59:59.999Z"),
      usageLimit: 10,
      perBuyerLimit: 2,
      used: 0,
      usedByBuyer: 0,
      priority: 7,
      isExclusive: true,
      code: { id: code?.id, usageLimit: 4, used: 0, code: "Größe-20" },
    };
    expect(await byCode(normalizePromotionCode(" GRÖSSE-20 ") ?? "")).toEqual(rule);
    expect(await byId(code?.id ?? "", "anna")).toEqual({ ...rule, isForThisBuyer: true });
    const promotions = [{ promotionId, promotionCodeId: code?.id ?? "" }];
    await world.run(taking, { sessionId: await makeSession(world), buyerReference: "anna", promotions });
    const used = { ...rule, used: 1, code: { ...rule.code, used: 1 } };
    expect(await byId(code?.id ?? "", "anna")).toEqual({ ...used, isForThisBuyer: true, usedByBuyer: 1 });
    expect(await byId(code?.id ?? "", "berta")).toEqual(used);
  });

  it("by code: finds no unknown code and no code of another merchant", async () => {
    const promotionId = await activate({ trigger: "code" }, world.other);
    const { codes } = await world.run(
      generatePromotionCodes,
      { promotionId, codes: ["THEIRS"] },
      world.other,
    );
    expect(await byCode("theirs")).toBeUndefined();
    expect(await byCode("nobodys")).toBeUndefined();
    expect(await byId(codes[0]?.id ?? "")).toBeUndefined();
  });

  it("applies to the listed buyers, or to all buyers, also if the buyer is unknown", async () => {
    const id = await activate({ buyerReferences: ["anna", "berta"], priority: 1000 });
    const everybodys = await activate({ priority: 999 });
    const read = async (buyer: string | null) =>
      (await offerTo(buyer)).automatic
        .filter((rule) => rule.id === id || rule.id === everybodys)
        .map(({ isForSomeBuyers, isForThisBuyer }) => [isForSomeBuyers, isForThisBuyer]);
    const everybody = [false, true];
    expect(await read("berta")).toEqual([[true, true], everybody]);
    expect(await read("carla")).toEqual([[true, false], everybody]);
    expect(await read(null)).toEqual([[true, false], everybody]);
  });

  const kinds: [Partial<CreatePromotionInput>, object][] = [
    [
      { kind: "percentage", basisPoints: 1 },
      { kind: "percentage", basisPoints: 1 },
    ],
    [
      { kind: "fixed_amount", basisPoints: null, amountMinor: 5, currency: "EUR" },
      { kind: "fixed_amount", amountMinor: 5 },
    ],
    [{ kind: "free_shipping", basisPoints: null }, { kind: "free_shipping" }],
    [
      { kind: "gift", basisPoints: null, getQuantity: 2 },
      { kind: "gift", getQuantity: 2 },
    ],
  ];

  it.each(kinds)("have the fields of their kind: %o", async (input, discount) => {
    const id = await makePromotion(world, input);
    const { rows } = await sql<{
      promotion: PromotionRuleJson;
    }>`select ${promotionRuleJsonSql(null)} as promotion from promotion p where p.id = ${id}`.execute(
      world.db,
    );
    const [row] = rows;
    if (row === undefined) throw new Error("The promotion is not there.");
    expect(row.promotion.titles).toEqual({ de: "Zehn Prozent", "en-US": "Ten percent" });
    expect(toPromotionRule(row.promotion, { usedByBuyer: 0, code: null }).discount).toEqual({
      id,
      entitled: { productIds: [], categoryIds: [] },
      ...discount,
    });
  });
});
