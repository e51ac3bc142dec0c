/**
 * Lines that earned a promotion and the discounted lines are canceled together. The orders are bought through
 * a whole checkout, so they store their promotions.
 */
import { describe, expect, it } from "vitest";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { drive, openCheckout, submitted } from "#test/commerce/payments/checkouts.ts";
import { askGraph, makeCode, variantOf } from "#test/operations/cart-calls.ts";
import { readOrder } from "#test/support/orders.ts";
import { useWorld } from "#test/support/use-world.ts";
import { asBuyer, call, done, lineOf, refusal, refused } from "./order-money-calls.ts";
import { sent } from "./fulfillment-calls.ts";

const [mill, cup, moss] = ["KIT-KVERN", "KIT-EMALJE-WHITE", "KIT-EMALJE-MOSS"];
const world = useWorld();

async function productOf(sku: string): Promise<string> {
  const variantId = await variantOf(world(), sku);
  return (
    await world()
      .database.db.selectFrom("variant")
      .select("productId")
      .where("id", "=", variantId)
      .executeTakeFirstOrThrow()
  ).productId;
}

async function buy(code: string, lines: Readonly<Record<string, number>>): Promise<OrderAggregate> {
  const checkout = await openCheckout(world(), { lines, code, input: { buyerReference: asBuyer.buyer } });
  await submitted(world(), checkout, "tok_success");
  await drive(world());
  const { orderId } = await world()
    .database.db.selectFrom("hostedCheckoutSession")
    .select("orderId")
    .where("id", "=", checkout.id)
    .executeTakeFirstOrThrow();
  await sent(world(), "orderConfirm", { id: orderId ?? "" });
  return readOrder(world(), orderId ?? "");
}

const all = (order: OrderAggregate, ...skus: readonly string[]): { lineId: string; quantity: number }[] =>
  skus.map((sku) => ({ lineId: lineOf(order, sku).id, quantity: lineOf(order, sku).ordered }));
const cancel = { reason: "CHANGED_MIND" };

async function questionOf({ id }: OrderAggregate): Promise<{
  decision: string;
  consequences: readonly string[];
  lines: { decision: string }[];
}> {
  const query =
    "query ($id: ID!) { order(id: $id) { cancellationEligibility { decision scope consequences lines { " +
    "decision } } } }";
  return (await askGraph(world(), query, { id }, asBuyer)).data.cancellationEligibility;
}

describe("a line that earned a promotion", () => {
  it("of buy-X-get-Y is canceled with the free line by a buyer, or alone by the merchant", async () => {
    const [buyProductIds, entitledProductIds] = [[await productOf(mill)], [await productOf(cup)]];
    await makeCode(world(), "MILL-CUP", {
      kind: "BUY_X_GET_Y",
      basisPoints: 10_000,
      buyQuantity: 1,
      getQuantity: 1,
      buyProductIds,
      entitledProductIds,
    });
    const order = await buy("MILL-CUP", { [mill]: 1, [cup]: 1 });
    expect([lineOf(order, mill).discountMinor, lineOf(order, cup).totalMinor]).toEqual([0, 0]);
    for (const sku of [mill, cup])
      expect(
        await refused(world(), "orderCancel", {
          ...asBuyer,
          id: order.id,
          input: { ...cancel, lines: all(order, sku) },
        }),
      ).toEqual(refusal("line_not_separable"));
    expect(
      await done(world(), "orderCancel", {
        id: order.id,
        input: { reason: "OUT_OF_STOCK", lines: all(order, mill) },
      }),
    ).toMatchObject({
      status: "CONFIRMED",
    });
    const another = await buy("MILL-CUP", { [mill]: 1, [cup]: 1 });
    const input = { ...cancel, lines: all(another, mill, cup) };
    expect(await done(world(), "orderCancel", { ...asBuyer, id: another.id, input })).toMatchObject({
      status: "CANCELED",
    });
  });

  it("of a gift with a minimum is canceled with the gift, and other lines alone", async () => {
    const entitledProductIds = [await productOf(mill), await productOf(cup)];
    await makeCode(world(), "GIFT-CUP", {
      kind: "GIFT",
      getQuantity: 1,
      entitledProductIds,
      minimumQuantity: 2,
    });
    await makeCode(world(), "GIFT-ALONE", { kind: "GIFT", getQuantity: 1, entitledProductIds });
    const order = await buy("GIFT-CUP", { [mill]: 1, [cup]: 1, "GFT-CARD-25": 1 });
    expect(order.promotions[0]).toMatchObject({
      kind: "gift",
      minimum: { lineIds: [mill, cup].map((sku) => lineOf(order, sku).id), quantity: 2, subtotalMinor: null },
    });
    const { error } = await call(world(), "orderCancel", {
      ...asBuyer,
      id: order.id,
      input: { ...cancel, lines: all(order, mill) },
    });
    expect(error.conflict.reason).toBe("line_not_separable");
    await done(world(), "orderCancel", {
      ...asBuyer,
      id: order.id,
      input: { ...cancel, lines: all(order, "GFT-CARD-25") },
    });
    const given = await buy("GIFT-ALONE", { [mill]: 1, [cup]: 1 });
    await done(world(), "orderCancel", {
      ...asBuyer,
      id: given.id,
      input: { ...cancel, lines: all(given, mill) },
    });
    expect(lineOf(await readOrder(world(), given.id), mill).canceled).toBe(1);
  });
});

describe("a minimum subtotal or quantity", () => {
  it("that the rest no longer meets is a consequence, but keeps the discount", async () => {
    await makeCode(world(), "TEN-FROM-3", { minimumQuantity: 3 });
    const order = await buy("TEN-FROM-3", { [mill]: 1, [cup]: 2, [moss]: 1 });
    expect((await questionOf(order)).consequences).not.toContain("MINIMUM_ORDER_NOT_MET_AFTER_CANCEL");
    const { id } = await sent(world(), "fulfillmentCreate", {
      id: order.id,
      input: { lines: all(order, mill) },
    });
    await sent(world(), "fulfillmentPack", { id });
    expect(await questionOf(order)).toMatchObject({
      decision: "ALLOWED",
      scope: "LINES",
      consequences: ["STOCK_RELEASED", "MINIMUM_ORDER_NOT_MET_AFTER_CANCEL"],
    });
    await done(world(), "orderCancel", {
      ...asBuyer,
      id: order.id,
      input: { ...cancel, lines: all(order, cup) },
    });
    expect(lineOf(await readOrder(world(), order.id), mill)).toMatchObject({
      discountMinor: lineOf(order, mill).discountMinor,
    });
    // The minimum is already missed, so the next cancellation does not change that.
    expect((await questionOf(order)).consequences).toEqual(["STOCK_RELEASED"]);
  });
});
