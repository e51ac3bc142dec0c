/**
 * Events about stock: a variant runs out, runs low or is back in stock. A transaction publishes at most one
 * event per variant, and none if no threshold is crossed.
 */
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { drive, openCheckout, ordersOf, submitted } from "#test/commerce/payments/checkouts.ts";
import { makeCart, variantOf } from "#test/operations/cart-calls.ts";
import { cancelSession, makeSession, sweepSessions, trySession } from "#test/operations/checkout-calls.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { brief, type Change, createChange, createEventReader, type PublishedEvent } from "./event-calls.ts";
import { call as callOrder } from "./order-money-calls.ts";

const sku = "TOLD-STOCK";

describe.each(["postgres"] as const)("events of stock on %s", (engine) => {
  const world = useWorld(engine);
  let change: Change;
  let readEvents: () => Promise<PublishedEvent[]>;
  let variantId: string;
  beforeAll(async () => {
    change = createChange(world());
    readEvents = createEventReader(world());
    await importCount(10);
    variantId = await variantOf(world(), sku);
    await readEvents();
  });

  const importCount = (onHand: number) =>
    change(
      "productsImport",
      "ProductsImportInput",
      {
        items: [
          {
            status: "PUBLISHED",
            translations: [{ locale: "en", slug: "told-stock", title: "Told stock" }],
            variants: [{ sku, options: [], onHand, prices: [{ marketHandle: "de", amountMinor: 1500 }] }],
          },
        ],
      },
      "results { status }",
    );
  const listen = async (): Promise<PublishedEvent[]> =>
    (await readEvents()).filter(({ subject }) => subject.type === "variant");
  const types = async (): Promise<string[]> => (await listen()).map(({ type }) => type);
  const adjust = (delta: number) =>
    change(
      "stockAdjust",
      "StockAdjustInput",
      { variantId, delta, reason: "CORRECTION" },
      "stock { available }",
    );
  /** Writes the stock by SQL, without an event. */
  const setStock = async (onHand: number): Promise<void> => {
    await sql`update stock_level set on_hand = ${onHand}, backorder_limit = 0, low_stock_threshold = 5
      where variant_id = ${variantId}`.execute(world().database.db);
  };
  const hold = async (quantity: number): Promise<string> => {
    world().clock.advance(1);
    return (await makeSession(world(), { lines: { [sku]: quantity } })).id;
  };
  const cancel = (sessionId: string) => {
    world().clock.advance(1);
    return cancelSession(world(), { sessionId });
  };

  it("are published for each crossed threshold, with the figures before and after", async () => {
    for (const delta of [-3, -2, -1, -4, 1, 9]) await adjust(delta);
    const events = await listen();
    expect(brief(events)).toEqual([
      ["variant.low_stock", 4],
      ["variant.out_of_stock", 6],
      ["variant.back_in_stock", 7],
    ]);
    expect(events[1]).toMatchObject({
      subject: { type: "variant", id: variantId },
      data: {
        object: {
          id: variantId,
          version: 6,
          sku,
          availability: "out_of_stock",
          stock: { onHand: 0, reserved: 0, available: 0 },
        },
        truncated: false,
      },
      cause: { actor: "staff" },
      installationId: null,
    });
    expect(events.map(({ data }) => data.previous)).toEqual([
      {
        version: 3,
        availability: "in_stock",
        stock: { onHand: 7, reserved: 0, available: 7, backorderLimit: 0, lowStockThreshold: 5 },
      },
      {
        version: 5,
        availability: "low_stock",
        stock: { onHand: 4, reserved: 0, available: 4, backorderLimit: 0, lowStockThreshold: 5 },
      },
      {
        version: 6,
        availability: "out_of_stock",
        stock: { onHand: 0, reserved: 0, available: 0, backorderLimit: 0, lowStockThreshold: 5 },
      },
    ]);
    expect(Object.keys(events[0]?.data.object.stock)).toEqual(Object.keys(events[0]?.data.previous.stock));
  });

  it("are not published for refused changes", async () => {
    expect((await adjust(-100)).error.code).toBe("invalid_state");
    const { id: cartId } = await makeCart(world(), { lines: { [sku]: 8 } });
    await setStock(7);
    expect((await trySession(world(), { cartId })).error?.code).toBeDefined();
    expect(await types()).toEqual([]);
  });

  it("are published when a threshold is changed", async () => {
    await setStock(7);
    const upsert = async (input: Record<string, unknown>) => {
      const { body } = await world().graphql(`{ variant(id: "${variantId}") { productId } }`);
      return change(
        "variantUpsert",
        "VariantUpsertInput",
        { productId: body.data.variant.productId, sku, options: [], ...input },
        "id",
      );
    };
    await upsert({ lowStockThreshold: 20 });
    await upsert({ lowStockThreshold: 5 });
    expect(await types()).toEqual(["variant.low_stock"]);
    await adjust(-7);
    await upsert({ backorderLimit: 3 });
    await upsert({ backorderLimit: 0 });
    const events = await listen();
    expect(events.map(({ type }) => type)).toEqual([
      "variant.out_of_stock",
      "variant.back_in_stock",
      "variant.out_of_stock",
    ]);
    expect(events[1]?.data).toMatchObject({
      object: { availability: "backorder" },
      previous: { availability: "out_of_stock", stock: { backorderLimit: 0 } },
    });
    const versions = events.map(({ subject }) => subject.version);
    expect(versions).toEqual(versions.toSorted((one, other) => one - other));
    expect(new Set(versions).size).toBe(3);
  });

  it("are published when checkouts hold and release stock, by mutation and by time", async () => {
    await setStock(7);
    const some = await hold(2);
    expect(await types()).toEqual(["variant.low_stock"]);
    const rest = await hold(5);
    const [out] = await listen();
    expect(out).toMatchObject({
      type: "variant.out_of_stock",
      data: {
        object: { stock: { onHand: 7, reserved: 7, available: 0 } },
        previous: { stock: { reserved: 2, available: 5 } },
      },
    });
    await cancel(rest);
    expect(await types()).toEqual(["variant.back_in_stock"]);
    await cancel(some);
    expect(await types()).toEqual([]);
    await hold(7);
    world().clock.advance(61 * 60_000);
    await sweepSessions(world());
    const events = await listen();
    expect(events.map(({ type }) => type)).toEqual(["variant.out_of_stock", "variant.back_in_stock"]);
    expect(events[1]?.cause).toMatchObject({ actor: "system" });
  });

  it("are not published if one transaction releases an expired hold and holds again", async () => {
    await setStock(3);
    await hold(3);
    expect(await types()).toEqual(["variant.out_of_stock"]);
    world().clock.advance(61 * 60_000);
    const next = await hold(3);
    expect(await types()).toEqual([]);
    await cancel(next);
    expect(await types()).toEqual(["variant.back_in_stock"]);
    await sweepSessions(world());
    expect(await types()).toEqual([]);
  });

  it("are published once for units that are held, ordered and canceled", async () => {
    await setStock(2);
    world().clock.advance(1);
    const checkout = await openCheckout(world(), { lines: { [sku]: 2 } });
    expect(await types()).toEqual(["variant.out_of_stock"]);
    await submitted(world(), checkout, "tok_success");
    await drive(world());
    expect(await types()).toEqual([]);
    const [order] = await ordersOf(world(), checkout);
    world().clock.advance(1);
    await callOrder(world(), "orderCancel", { id: order?.id ?? "", input: { reason: "OUT_OF_STOCK" } });
    const events = await listen();
    expect(events.map(({ type }) => type)).toEqual(["variant.back_in_stock"]);
    expect(events[0]?.data.object.stock).toMatchObject({ onHand: 2, reserved: 0, available: 2 });
  });

  it("are published for stock changed by an import, not for new variants of the import", async () => {
    await setStock(9);
    await importCount(0);
    await importCount(0);
    await importCount(9);
    expect(await types()).toEqual(["variant.out_of_stock", "variant.back_in_stock"]);
  });

  it("cost no statements if no threshold is crossed", async () => {
    await setStock(9);
    const quiet = await statementsOf(world(), () => adjust(-1));
    const crossing = await statementsOf(world(), () => adjust(-8));
    expect(await types()).toEqual(["variant.out_of_stock"]);
    expect(quiet.filter((text) => /merchant" where "id"|insert into "event"/.test(text))).toEqual([]);
    // Two statements load the variant's product and the product. The event is written together with the other
    // rows. The merchant's mode is loaded once per process.
    const isMode = (text: string): boolean => /select "mode" from "merchant"/.test(text);
    expect(crossing.filter((text) => !isMode(text)).length - quiet.length).toBe(2);
  });
});
