/**
 * Warnings about lines that changed without the caller's action (price, stock, availability). The next change
 * of the cart returns them by code, with figures.
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

describe.each(["postgres"] as const)("cart warnings on %s", (engine) => {
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
  /** Makes a change that has an effect. */
  const touch = async (cartId: string, quantity: number) => {
    const lines = await linesOf(world(), { "HOM-MONE": quantity });
    return changeCart(world(), "cartLinesAdd", { cartId, input: { lines } });
  };

  it("price_changed: the next change of the cart applies the current price, a read does not", async () => {
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

  it("quantity_reduced: the quantity is limited to the stock and to the order maximum", async () => {
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
    // The change has no effect: the cart stays the same. Only the caller of this change gets the warning,
    // later readers do not.
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
      // The other line's warning is still there: no caller has said to have read it.
      warnings: [
        { code: "QUANTITY_REDUCED", lineId: lines[1].id, data: { wanted: 7, quantity: 6 } },
        { code: "QUANTITY_REDUCED", lineId: lines[0].id, data: { wanted: 3, quantity: 2 } },
      ],
    });
    await setStock("HOM-BIVOKS", 50);
  });

  it("quantity_reduced stays until a caller has read the cart, or changes or removes the line", async () => {
    await setStock("HOM-BIVOKS", 3);
    const reduced = (lineId: string) => ({
      code: "QUANTITY_REDUCED",
      lineId,
      data: { wanted: 5, quantity: 3 },
    });
    const make = () => makeCart(world(), { lines: { "HOM-BIVOKS": 5 } });
    const read = await make();
    const [line] = read.lines;
    await setStock("HOM-BIVOKS", 50);
    const touched = await touch(read.id, 1);
    expect(touched.data.warnings).toEqual([reduced(line.id)]);
    expect((await readCart(world(), read.id)).data.warnings).toEqual([reduced(line.id)]);
    const { data } = await changeCart(world(), "cartLinesAdd", {
      cartId: read.id,
      input: {
        lines: await linesOf(world(), { "HOM-MONE": 1 }),
        expectedVersion: touched.data.version,
      },
    });
    expect(data.warnings).toEqual([]);

    await setStock("HOM-BIVOKS", 3);
    const changed = await make();
    await setStock("HOM-BIVOKS", 50);
    const lineId = changed.lines[0].id;
    const update = { cartId: changed.id, input: { lines: [{ lineId, quantity: 4 }] } };
    expect((await changeCart(world(), "cartLinesUpdate", update)).data).toMatchObject({
      lines: [{ quantity: 4 }],
      warnings: [],
    });
  });

  it("quantity_reduced is carried over by a merge, with all units that were wanted", async () => {
    await setStock("HOM-BIVOKS", 3);
    const make = () => makeCart(world(), { lines: { "HOM-BIVOKS": 5 } });
    const [source, other] = [await make(), await make()];
    await setStock("HOM-BIVOKS", 50);
    const merge = async (cartId: string, sourceCartId: string, expectedVersion?: number) =>
      (await changeCart(world(), "cartMerge", { cartId, input: { sourceCartId, expectedVersion } })).data;
    const { id: target } = await makeCart(world(), { lines: { "HOM-MONE": 1 } });
    const merged = await merge(target, source.id);
    const lineId = merged.lines[1].id;
    const reduced = (wanted: number, quantity: number) => ({
      code: "QUANTITY_REDUCED",
      lineId,
      data: { wanted, quantity },
    });
    expect(merged.warnings).toEqual([reduced(5, 3)]);
    // Neither cart's warning was read, so the units that are missing in both are reported.
    expect((await merge(target, other.id)).warnings).toEqual([reduced(10, 6)]);
    await setStock("HOM-BIVOKS", 3);
    const third = await make();
    await setStock("HOM-BIVOKS", 50);
    const { version } = (await readCart(world(), target)).data;
    expect((await merge(target, third.id, version)).warnings).toEqual([reduced(11, 9)]);
  });

  it("a checkout begins although an earlier reduction was not read, and the warning stays", async () => {
    await setStock("KIT-BRETT-SMALL", 3);
    const { id, lines } = await makeCart(world(), { lines: { "KIT-BRETT-SMALL": 5 } });
    const { body } = await world().graphql(
      `mutation { hostedCheckoutSessionCreate(idempotencyKey: "${crypto.randomUUID()}", input: { cartId: "${id}",
        successUrl: "https://shop.example/thanks", cancelUrl: "https://shop.example/cart" }) { status } }`,
      { token: "storefront" },
    );
    expect(body).toMatchObject({ data: { hostedCheckoutSessionCreate: { status: "OPEN" } } });
    const { data } = await readCart(world(), id);
    await setStock("KIT-BRETT-SMALL", 50);
    expect(data.warnings).toMatchObject([{ code: "QUANTITY_REDUCED", lineId: lines[0].id }]);
    // The checkout holds the units itself.
    expect(data.lines).toMatchObject([{ quantity: 3, availability: "LOW_STOCK", availableQuantity: 3 }]);
  });

  it("out_of_stock: a line in the cart keeps its quantity, a new sold-out line is refused", async () => {
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

  it("line_unavailable: an unpublished product keeps its last price and is undeliverable", async () => {
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

  it("line_unavailable: a line without a price stays, and a market change removes it", async () => {
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

  it("line_unavailable: a discontinued variant can be read and removed", async () => {
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
