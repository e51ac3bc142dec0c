/**
 * What became different about a cart's lines without anybody asking: told at the next change, by code, with
 * the figures.
 */
import { describe, expect, it } from "vitest";
import {
  berlin,
  changeCart,
  linesOf,
  makeCart,
  readCart,
  tryCart,
  variantOf,
  withoutTrace,
} from "#test/operations/cart-calls.ts";
import { useWorld } from "#test/support/use-world.ts";

describe.each(["pglite", "postgres"] as const)("cart warnings on %s", (engine) => {
  const world = useWorld(engine);
  const db = () => world().database.db;
  const setStock = async (sku: string, onHand: number, backorderLimit = 0): Promise<void> => {
    await db()
      .updateTable("stockLevel")
      .set({ onHand, backorderLimit })
      .where("variantId", "=", await variantOf(world(), sku))
      .execute();
  };
  const setPrice = async (sku: string, amountMinor: number): Promise<void> => {
    await db()
      .updateTable("price")
      .set({ amountMinor })
      .where("variantId", "=", await variantOf(world(), sku))
      .where("validUntil", "is", null)
      .execute();
  };
  const setStatus = async (sku: string, status: "published" | "draft"): Promise<void> => {
    const products = db().selectFrom("variant").select("productId").where("sku", "=", sku);
    await db().updateTable("product").set({ status }).where("id", "in", products).execute();
  };
  /** Any change that is one. */
  const touch = async (cartId: string, quantity: number) => {
    const lines = await linesOf(world(), { "HOM-MONE": quantity });
    return changeCart(world(), "cartLinesAdd", { cartId, input: { lines } });
  };

  it("price_changed: the price is today's at the next change, not before", async () => {
    const { id, lines } = await makeCart(world(), { lines: { "KIT-BRETT-SMALL": 2 } });
    await setPrice("KIT-BRETT-SMALL", 6000);
    expect((await readCart(world(), id)).data).toMatchObject({
      version: 1,
      totals: { total: { amountMinor: 11_800 } },
      warnings: [],
    });
    const { data } = await touch(id, 1);
    const eur = (amountMinor: number) => ({ amountMinor, currency: "EUR", exponent: 2 });
    expect(data).toMatchObject({
      lines: [{ unitPrice: { amountMinor: 6000 }, subtotal: { amountMinor: 12_000 } }, {}],
      warnings: [{ code: "PRICE_CHANGED", lineId: lines[0].id, data: { before: eur(5900), now: eur(6000) } }],
    });
    expect((await touch(id, 1)).data.warnings).toEqual([]);
    await setPrice("KIT-BRETT-SMALL", 5900);
  });

  it("quantity_reduced: never more than there is, or than may be bought at once", async () => {
    await setStock("HOM-BIVOKS", 3);
    const { id, lines, warnings } = await makeCart(world(), { lines: { "HOM-BIVOKS": 5, "CMP-GAS230": 7 } });
    expect(lines).toMatchObject([
      { quantity: 3, availableQuantity: 3, availability: "LOW_STOCK" },
      { quantity: 6 },
    ]);
    expect(warnings).toEqual([
      { code: "QUANTITY_REDUCED", lineId: lines[0].id, data: { wanted: 5, quantity: 3 } },
      { code: "QUANTITY_REDUCED", lineId: lines[1].id, data: { wanted: 7, quantity: 6 } },
    ]);
    const { data } = await changeCart(world(), "cartLinesUpdate", {
      cartId: id,
      input: { lines: [{ lineId: lines[0].id, quantity: 4 }] },
    });
    // Nothing came of it: the cart is what it was. But who asked is told, and who reads later is not told
    // anew.
    expect(data).toMatchObject({ version: 1, lines: [{ quantity: 3 }, { quantity: 6 }] });
    const reduced = (wanted: number) => ({
      code: "QUANTITY_REDUCED",
      lineId: lines[0].id,
      data: { wanted, quantity: 3 },
    });
    expect(data.warnings).toContainEqual(reduced(4));
    expect((await readCart(world(), id)).data.warnings).toContainEqual(reduced(5));
    await setStock("HOM-BIVOKS", 1, 1);
    expect((await touch(id, 1)).data).toMatchObject({
      lines: [{ quantity: 2 }, { quantity: 6 }, {}],
      warnings: [{ code: "QUANTITY_REDUCED", lineId: lines[0].id, data: { wanted: 3, quantity: 2 } }],
    });
    await setStock("HOM-BIVOKS", 50);
  });

  it("out_of_stock: what is in the cart stays at its quantity, and what is sold out cannot be put in", async () => {
    const { id, lines } = await makeCart(world(), { lines: { "HOM-BIVOKS": 2 } });
    await setStock("HOM-BIVOKS", 0);
    expect((await readCart(world(), id)).data).toMatchObject({
      lines: [{ availability: "OUT_OF_STOCK", availableQuantity: 0 }],
      warnings: [],
    });
    expect((await touch(id, 1)).data).toMatchObject({
      lines: [{ quantity: 2 }, {}],
      warnings: [{ code: "OUT_OF_STOCK", lineId: lines[0].id, data: {} }],
    });
    const variantId = await variantOf(world(), "HOM-BIVOKS");
    const added = await withoutTrace(world(), () =>
      changeCart(world(), "cartLinesAdd", { cartId: id, input: { lines: [{ variantId, quantity: 1 }] } }),
    );
    expect(added.error).toMatchObject({
      code: "invalid_state",
      conflict: { resource: "variant", id: variantId, currentStatus: "out_of_stock", reason: "out_of_stock" },
    });
    expect(
      (await withoutTrace(world(), () => tryCart(world(), { lines: { "HOM-BIVOKS": 1 } }))).error.code,
    ).toBe("invalid_state");
    await setStock("HOM-BIVOKS", 50);
    expect((await touch(id, 1)).data.warnings).toEqual([]);
  });

  it("line_unavailable: a product that is no longer published stays at its last price, and cannot be delivered", async () => {
    const { id, lines } = await makeCart(world(), { lines: { "HOM-BIVOKS": 2 } });
    await setStatus("HOM-BIVOKS", "draft");
    expect((await readCart(world(), id)).data.lines).toMatchObject([
      { availability: "DISCONTINUED", availableQuantity: 0 },
    ]);
    const { data } = await touch(id, 1);
    expect(data).toMatchObject({
      lines: [{ sku: "HOM-BIVOKS", quantity: 2, unitPrice: { amountMinor: 2490 } }, {}],
      warnings: [
        { code: "LINE_UNAVAILABLE", lineId: lines[0].id, data: { isRemoved: false, sku: "HOM-BIVOKS" } },
      ],
    });
    const set = await world().send({
      method: "PUT",
      url: `/api/v1/open/storefront/carts/${id}/address`,
      headers: { authorization: `Bearer ${world().demo.keys.full}`, "idempotency-key": crypto.randomUUID() },
      body: { address: berlin },
    });
    expect(set.body.data.serviceability).toEqual({
      status: "partially_deliverable",
      undeliverableLineIds: [lines[0].id],
    });
    await setStatus("HOM-BIVOKS", "published");
    expect((await touch(id, 1)).data.warnings).toEqual([]);
  });

  it("line_unavailable: what has no price in the market any more stays too; abroad it goes", async () => {
    const { id, lines } = await makeCart(world(), { lines: { "GFT-GIN": 1 } });
    const variantId = await variantOf(world(), "GFT-GIN");
    await db()
      .updateTable("price")
      .set({ validUntil: world().clock.now() })
      .where("variantId", "=", variantId)
      .execute();
    expect((await touch(id, 1)).data).toMatchObject({
      lines: [{ sku: "GFT-GIN" }, {}],
      warnings: [{ code: "LINE_UNAVAILABLE", data: { isRemoved: false, sku: "GFT-GIN" } }],
    });
    const abroad = await changeCart(world(), "cartMarketChange", { cartId: id, input: { market: "US" } });
    expect(abroad.data.lines).toHaveLength(1);
    expect(abroad.data.warnings).toContainEqual({
      code: "LINE_UNAVAILABLE",
      lineId: lines[0].id,
      data: { isRemoved: true, sku: "GFT-GIN" },
    });
    await db().updateTable("price").set({ validUntil: null }).where("variantId", "=", variantId).execute();
  });

  it("line_unavailable: a variant that was deleted can still be seen and taken out", async () => {
    const { id, lines } = await makeCart(world(), { lines: { "KIT-BRETT-LARGE": 1 } });
    await db()
      .updateTable("variant")
      .set({ discontinued: true })
      .where("sku", "=", "KIT-BRETT-LARGE")
      .execute();
    expect((await touch(id, 1)).data.warnings).toMatchObject([
      { code: "LINE_UNAVAILABLE", lineId: lines[0].id },
    ]);
    const { data } = await changeCart(world(), "cartLinesRemove", {
      cartId: id,
      input: { lineIds: [lines[0].id] },
    });
    expect(data).toMatchObject({ lines: [{ sku: "HOM-MONE", position: 0 }], warnings: [] });
  });
});
