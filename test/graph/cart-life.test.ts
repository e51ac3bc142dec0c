/** A frontend uses a cart over GraphQL from creation to end. The tests check every amount and every event. */
import { beforeAll, describe, expect, it } from "vitest";
import {
  askGraph,
  berlin,
  type CartMutation,
  changeCart,
  deliveryOf,
  eventsOf,
  linesOf,
  makeCart,
  makeCode,
  readCart,
  variantOf,
  withoutTrace,
} from "#test/operations/cart-calls.ts";
import { sweepCarts } from "#test/operations/cart-states.ts";
import { useWorld } from "#test/support/use-world.ts";

const of = (amountMinor: number): { amountMinor: number } => ({ amountMinor });

describe("a cart's life", () => {
  const world = useWorld();
  const change = (field: CartMutation, cartId: string, input: Record<string, unknown>) =>
    changeCart(world(), field, { cartId, input });
  /** Returns the event types of a version, each with the names of its previous values. */
  const publishedTypes = async (cartId: string, version: number): Promise<[string, string[]][]> =>
    (await eventsOf(world(), cartId))
      .filter((event) => event.version === version)
      .map(({ type, snapshot }) => [
        type,
        Object.keys((snapshot.data.previous as object | null) ?? {}).toSorted(),
      ]);
  beforeAll(async () => {
    await makeCode(world(), "TEN", { minimumSubtotalMinor: 10_000, currency: "EUR" });
  });

  it("takes lines, buyer, address, delivery and code, with correct prices at every step", async () => {
    const made = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    const { id } = made;
    expect(made).toMatchObject({
      version: 1,
      status: "ACTIVE",
      market: "DE",
      currency: "EUR",
      locale: "de",
      totalQuantity: 1,
      buyer: { reference: null, guest: true },
    });
    expect(await publishedTypes(id, 1)).toEqual([["cart.created", []]]);

    const added = await change("cartLinesAdd", id, {
      lines: await linesOf(world(), { "KIT-EMALJE-WHITE": 2, "KIT-KVERN": 1 }),
      expectedVersion: 1,
    });
    expect(added.data).toMatchObject({
      version: 2,
      lines: [
        { position: 0, sku: "KIT-KVERN", quantity: 2, subtotal: of(16_980) },
        { position: 1, sku: "KIT-EMALJE-WHITE", quantity: 2, subtotal: of(2580) },
      ],
      totalQuantity: 4,
      totals: { subtotal: of(19_560), shipping: null, tax: null, total: of(19_560), estimated: true },
      warnings: [],
    });
    expect(await publishedTypes(id, 2)).toEqual([
      ["cart.updated", ["lines", "promotion", "totalQuantity", "totals", "version"]],
    ]);
    const [grinder, mugs] = added.data.lines.map((line: { id: string }) => line.id);

    const updated = await change("cartLinesUpdate", id, { lines: [{ lineId: grinder, quantity: 1 }] });
    expect(updated.data).toMatchObject({ version: 3, totals: { total: of(11_070) }, totalQuantity: 3 });

    const buyer = await change("cartBuyerSet", id, { buyerReference: "buyer-1", email: "anna@example.com" });
    expect(buyer.data).toMatchObject({
      version: 4,
      buyer: { reference: "buyer-1", guest: false, emailHint: "a•••@e•••.com" },
    });
    expect(await publishedTypes(id, 4)).toEqual([["cart.updated", ["version"]]]);

    const address = await change("cartAddressSet", id, { address: berlin });
    expect(address.data).toMatchObject({ cartVersion: 5 });
    expect(await publishedTypes(id, 5)).toEqual([
      [
        "cart.address_set",
        ["address", "addressTokenExpiresAt", "delivery", "lines", "promotion", "totals", "version"],
      ],
    ]);

    const delivery = await change("cartDeliveryOptionSelect", id, {
      optionId: await deliveryOf(world(), "express"),
    });
    expect(delivery.data).toMatchObject({
      version: 6,
      totals: { shipping: of(1290), total: of(12_360), estimated: false },
    });
    expect(await publishedTypes(id, 6)).toEqual([
      ["cart.updated", ["delivery", "promotion", "totals", "version"]],
    ]);

    expect((await change("cartPromotionApply", id, { code: "TEN" })).data).toMatchObject({
      cartVersion: 7,
      state: "APPLIED",
    });
    expect((await readCart(world(), id)).data).toMatchObject({
      totals: { discount: of(1107), total: of(11_253) },
    });

    const removed = await change("cartLinesRemove", id, { lineIds: [mugs] });
    // 84.90 is below the minimum of the code, so the code is suspended until the minimum is met again.
    expect(removed.data).toMatchObject({
      version: 8,
      promotion: {
        state: "SUSPENDED",
        suspendedReason: "MINIMUM_SUBTOTAL_NOT_MET",
        discount: of(0),
        allocations: [],
        promotion: { code: "TEN" },
      },
      totals: { subtotal: of(8490), discount: of(0), total: of(9780) },
      warnings: [{ code: "PROMOTION_SUSPENDED", lineId: null, data: { reason: "minimum_subtotal_not_met" } }],
    });
    expect((await publishedTypes(id, 8)).map(([type]) => type)).toEqual([
      "cart.promotion_suspended",
      "cart.updated",
    ]);

    const restored = await change("cartLinesUpdate", id, { lines: [{ lineId: grinder, quantity: 2 }] });
    expect(restored.data).toMatchObject({
      version: 9,
      promotion: { state: "APPLIED", discount: of(1698) },
      // Standard delivery is free from 150.00; express delivery never is.
      delivery: { options: [{ price: of(0) }, { price: of(1290) }, { price: of(0) }] },
      totals: { subtotal: of(16_980), discount: of(1698), total: of(16_572) },
      warnings: [],
    });
    expect((await publishedTypes(id, 9)).map(([type]) => type)).toEqual([
      "cart.promotion_restored",
      "cart.updated",
    ]);

    const revoked = await change("cartRevoke", id, { expectedVersion: 9, reason: "SECURITY", note: "seen" });
    expect(revoked.data).toMatchObject({
      version: 10,
      status: "REVOKED",
      revocation: { reason: "SECURITY", note: "seen" },
      address: null,
      delivery: null,
    });
    expect((await publishedTypes(id, 10)).map(([type]) => type)).toEqual(["cart.revoked"]);
    expect(await eventsOf(world(), id)).toHaveLength(12);
  });

  it("publishes full and thin events with the cart, its previous values and the actor", async () => {
    const { id } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    await change("cartLinesAdd", id, { lines: await linesOf(world(), { "KIT-KVERN": 1 }) });
    const [created, updated] = await eventsOf(world(), id);
    const shown = (await world().getWithKey(`/api/v1/open/storefront/carts/${id}`)).body.data;
    const envelope = {
      id: expect.stringMatching(/^evt_[0-9a-hjkmnp-tv-z]{26}$/),
      type: "cart.updated",
      schemaVersion: 1,
      apiVersion: "v1",
      timestamp: world().clock.now().toISOString(),
      mode: "test",
      merchantId: world().demo.merchants.first.id,
      subject: { type: "cart", id, version: 2 },
      cause: { operationId: null, actor: "buyer", requestId: expect.stringMatching(/^req_/) },
    };
    const { data: first } = created?.snapshot ?? {};
    const before = first?.object as Record<string, unknown>;
    expect(first?.previous).toBeNull();
    expect(updated?.snapshot).toEqual({
      ...envelope,
      data: {
        object: shown,
        previous: {
          version: 1,
          lines: before["lines"],
          totalQuantity: 1,
          totals: before["totals"],
          promotion: before["promotion"],
        },
        truncated: false,
      },
    });
    expect(updated?.thin).toEqual({
      ...envelope,
      data: { object: { id }, previous: null, truncated: false },
    });
  });

  it("records whether a storefront, staff or an integration made the change", async () => {
    const { id } = await makeCart(world());
    const [lines] = [await linesOf(world(), { "KIT-KVERN": 1 })];
    await changeCart(world(), "cartLinesAdd", { cartId: id, input: { lines }, token: "admin" });
    await world().send({
      method: "PUT",
      url: `/api/v1/open/storefront/carts/${id}/address`,
      headers: { authorization: `Bearer ${world().demo.keys.full}`, "idempotency-key": "who" },
      body: { address: berlin },
    });
    expect((await eventsOf(world(), id)).map(({ snapshot }) => snapshot["cause"])).toMatchObject([
      { actor: "buyer", operationId: null },
      { actor: "staff", operationId: null },
      { actor: "api_key", operationId: "setPublicCartAddress" },
    ]);
  });

  it("keeps its version and publishes nothing if a change has no effect", async () => {
    const { id, lines } = await makeCart(world(), {
      lines: { "KIT-KVERN": 2 },
      input: { buyerReference: "same" },
    });
    await change("cartAddressSet", id, { address: berlin });
    const optionId = await deliveryOf(world(), "standard");
    await change("cartDeliveryOptionSelect", id, { optionId });
    await change("cartPromotionApply", id, { code: "TEN" });
    const { addressTokenExpiresAt } = (await readCart(world(), id)).data;
    world().clock.advance(60_000);
    const same: readonly (readonly [CartMutation, Record<string, unknown>])[] = [
      ["cartLinesUpdate", { lines: [{ lineId: lines[0].id, quantity: 2 }] }],
      ["cartBuyerSet", { buyerReference: "same" }],
      ["cartMarketChange", { market: "DE" }],
      ["cartDeliveryOptionSelect", { optionId }],
      ["cartPromotionApply", { code: "ten", onExisting: "REJECT" }],
    ];
    for (const [field, input] of same) {
      const { error } = await withoutTrace(world(), () =>
        change(field, id, { ...input, expectedVersion: 4 }),
      );
      expect([field, error]).toEqual([field, undefined]);
    }
    // A change without effect does not extend the address.
    expect((await readCart(world(), id)).data).toMatchObject({ version: 4, addressTokenExpiresAt });
  });

  it("keeps its address for half an hour after each change, and for a day at most", async () => {
    const minuteMs = 60_000;
    const { id, lines } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    const setAt = world().clock.now().getTime();
    await change("cartAddressSet", id, { address: berlin });
    const lineId = lines[0].id;
    for (let step = 1; step <= 49; step += 1) {
      world().clock.advance(29 * minuteMs);
      const { data } = await change("cartLinesUpdate", id, { lines: [{ lineId, quantity: 1 + (step % 2) }] });
      const end = Math.min(world().clock.now().getTime() + 30 * minuteMs, setAt + 24 * 60 * minuteMs);
      expect(data.addressTokenExpiresAt).toBe(new Date(end).toISOString());
    }
    world().clock.at = new Date(setAt + 24 * 60 * minuteMs);
    expect((await readCart(world(), id)).data).toMatchObject({
      address: null,
      addressTokenExpiresAt: null,
      warnings: [{ code: "ADDRESS_EXPIRED" }],
    });
    // The next change writes the end, and the warning stays until a new address is set.
    const { data } = await change("cartLinesUpdate", id, { lines: [{ lineId, quantity: 3 }] });
    expect(data).toMatchObject({
      address: null,
      delivery: null,
      totals: { tax: null, shipping: null },
      warnings: [{ code: "ADDRESS_EXPIRED" }],
    });
    expect(
      (await change("cartLinesUpdate", id, { lines: [{ lineId, quantity: 4 }] })).data.warnings,
    ).toMatchObject([{ code: "ADDRESS_EXPIRED" }]);
    await change("cartAddressSet", id, { address: berlin });
    expect((await readCart(world(), id)).data).toMatchObject({ address: { city: "Berlin" }, warnings: [] });
  });

  it("is merged into another cart: adds lines, takes buyer and code, publishes events of both", async () => {
    const target = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    const source = await makeCart(world(), {
      lines: { "KIT-KVERN": 1, "KIT-EMALJE-WHITE": 3 },
      input: { buyerReference: "merging" },
    });
    await change("cartPromotionApply", source.id, { code: "TEN" });
    const { data } = await change("cartMerge", target.id, { sourceCartId: source.id, expectedVersion: 1 });
    expect(data).toMatchObject({
      version: 2,
      lines: [
        { id: target.lines[0].id, sku: "KIT-KVERN", quantity: 2 },
        { sku: "KIT-EMALJE-WHITE", quantity: 3 },
      ],
      promotion: { state: "APPLIED", promotion: { code: "TEN" } },
      totals: { subtotal: of(20_850), discount: of(2085) },
      buyer: { reference: "merging" },
      warnings: [],
    });
    expect((await readCart(world(), source.id)).data).toMatchObject({
      status: "MERGED",
      version: 3,
      mergedIntoCartId: target.id,
      lines: [{}, {}],
    });
    expect((await publishedTypes(target.id, 2)).map(([type]) => type)).toEqual([
      "cart.promotion_applied",
      "cart.updated",
    ]);
    expect((await publishedTypes(source.id, 3)).map(([type]) => type)).toEqual(["cart.merged"]);
  });

  it("keeps its own code in a merge, with a warning that names the dropped code", async () => {
    await makeCode(world(), "OTHER");
    const [target, source] = [
      await makeCart(world(), { lines: { "KIT-KVERN": 2 } }),
      await makeCart(world(), { lines: { "KIT-KVERN": 1 } }),
    ];
    await change("cartPromotionApply", target.id, { code: "TEN" });
    await change("cartPromotionApply", source.id, { code: "OTHER" });
    const { data } = await change("cartMerge", target.id, { sourceCartId: source.id });
    expect(data).toMatchObject({
      promotion: { promotion: { code: "TEN" } },
      warnings: [{ code: "PROMOTION_REMOVED", lineId: null, data: { code: "OTHER" } }],
    });
  });

  it("changes its market: new prices and texts, no address, only lines that are sold there", async () => {
    const { id, lines } = await makeCart(world(), { lines: { "KIT-KVERN": 1, "GFT-GIN": 1 } });
    await change("cartAddressSet", id, { address: berlin });
    const { data } = await change("cartMarketChange", id, { market: "US", expectedVersion: 2 });
    expect(data).toMatchObject({
      version: 3,
      market: "US",
      currency: "USD",
      locale: "de",
      lines: [{ id: lines[0].id, unitPrice: of(8990) }],
      totals: { subtotal: of(8990), taxIncluded: false },
      address: null,
    });
    expect(
      data.warnings.map(({ code, lineId, data: said }: Record<string, unknown>) => [code, lineId, said]),
    ).toEqual([
      ["ADDRESS_EXPIRED", null, {}],
      ["MARKET_CHANGED", null, { before: "DE", now: "US" }],
      ["CURRENCY_CHANGED", null, { before: "EUR", now: "USD" }],
      ["LINE_UNAVAILABLE", lines[1].id, { isRemoved: true, sku: "GFT-GIN" }],
    ]);
    expect((await publishedTypes(id, 3)).map(([type]) => type)).toEqual(["cart.updated"]);
  });

  it("suspends a code that does not apply in the new market, and restores it on return", async () => {
    const { id } = await makeCart(world(), { lines: { "KIT-KVERN": 2 } });
    await change("cartPromotionApply", id, { code: "TEN" });
    const abroad = await change("cartMarketChange", id, { market: "JP" });
    expect(abroad.data.promotion).toMatchObject({ state: "SUSPENDED", suspendedReason: "CURRENCY_MISMATCH" });
    const home = await change("cartMarketChange", id, { market: "DE" });
    expect(home.data.promotion).toMatchObject({ state: "APPLIED", discount: of(1698) });
    expect((await eventsOf(world(), id)).map(({ type, version }) => `${version} ${type}`)).toEqual([
      "1 cart.created",
      "2 cart.promotion_applied",
      "3 cart.promotion_suspended",
      "3 cart.updated",
      "4 cart.promotion_restored",
      "4 cart.updated",
    ]);
  });

  it("is expired by the sweep once, with an event of the system", async () => {
    const { id } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    world().clock.advance(30 * 86_400_000);
    expect(await sweepCarts(world())).toBeGreaterThan(0);
    expect(await sweepCarts(world())).toBe(0);
    const [, event, ...others] = await eventsOf(world(), id);
    expect(others).toEqual([]);
    expect(event?.snapshot).toMatchObject({
      type: "cart.expired",
      subject: { version: 2 },
      data: { object: { status: "expired", version: 2 }, previous: { version: 1 } },
      cause: { operationId: null, actor: "system", requestId: null },
    });
    // The cart was already expired by time, so the status is not among the previous values.
    expect(Object.keys(event?.snapshot.data.previous as object)).not.toContain("lines");
  });

  it("is loaded together with other carts in one statement", async () => {
    const made = await Promise.all([1, 2, 3].map(() => makeCart(world(), { lines: { "KIT-KVERN": 1 } })));
    const fields = made
      .map(({ id }, index) => `c${index}: cart(id: "${id}") { id lines { sku } promotion { state } }`)
      .join(" ");
    world().statements.length = 0;
    const { error } = await askGraph(world(), `{ ${fields} }`);
    expect(error).toBeUndefined();
    expect(world().statements.filter((text) => text.includes("from cart c"))).toHaveLength(1);
    expect(await variantOf(world(), "KIT-KVERN")).toMatch(/^var_/);
  });
});
