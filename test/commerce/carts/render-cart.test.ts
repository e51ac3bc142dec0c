/** Rendering a stored cart: the status follows the clock, and the totals add up in every render context. */
import { describe, expect, it } from "vitest";
import type { CartAggregate, CartWarningCode } from "#commerce/carts/cart-aggregate.ts";
import { cartWarningCodes } from "#commerce/carts/cart-aggregate.ts";
import {
  type CartView,
  getPreviousValuesOfChangedCartFields,
  toCartView,
  toCartWarningView,
} from "#commerce/carts/render-cart.ts";
import { storedCart } from "./stored-cart.ts";

const publicUrl = "https://shop.test";
const noon = new Date("2026-06-01T12:00:00.000Z");
const show = (cart: CartAggregate, now = noon): CartView => toCartView(cart, { now, publicUrl });
const eur = (amountMinor: number) => ({ amountMinor, currency: "EUR", exponent: 2 });

/** total = subtotal − discount + shipping + the tax that prices do not include. */
function sumOf({ subtotal, discount, shipping, tax, taxIncluded }: CartView["totals"]): number {
  return (
    subtotal.amountMinor -
    discount.amountMinor +
    (shipping?.amountMinor ?? 0) +
    (taxIncluded ? 0 : (tax?.amountMinor ?? 0))
  );
}

describe("a cart", () => {
  it("is rendered with its totals, an available quantity up to 100, and URLs of this service", () => {
    const view = show(storedCart());
    expect(view.totals).toEqual({
      subtotal: eur(2000),
      discount: eur(350),
      shipping: eur(500),
      tax: eur(190),
      taxIncluded: false,
      total: eur(2340),
      estimated: false,
    });
    expect(sumOf(view.totals)).toBe(view.totals.total.amountMinor);
    expect(view.lines[0]).toMatchObject({
      availableQuantity: 100,
      availability: "in_stock",
      image: { url: "https://shop.test/media/cup.svg" },
    });
    expect(view.promotion).toMatchObject({
      state: "applied",
      discount: eur(350),
      promotion: { title: "Sparen", combinesWithAutomatic: true },
    });
  });

  it(
    "loses tax, shipping price and delivery options when its address expires, and not a " +
      "millisecond before",
    () => {
      const cart = storedCart();
      expect(show(cart, new Date("2026-06-01T12:29:59.999Z"))).toEqual(show(cart));
      const view = show(cart, new Date("2026-06-01T12:30:00.000Z"));
      expect(view).toMatchObject({
        version: 7,
        address: null,
        addressTokenExpiresAt: null,
        delivery: null,
        lines: [{ tax: null, discount: eur(200), total: eur(1800) }],
        totals: {
          subtotal: eur(2000),
          discount: eur(200),
          shipping: null,
          tax: null,
          total: eur(1800),
          estimated: true,
        },
        promotion: {
          discount: eur(200),
          allocations: [{ target: "line", lineId: "cln_1", amount: eur(200) }],
        },
        warnings: [{ code: "address_expired", lineId: null, data: {} }],
      });
      expect(sumOf(view.totals)).toBe(view.totals.total.amountMinor);
    },
  );

  it("keeps its address during a checkout", () => {
    const session = { id: "chs_1", status: "open", expiresAt: "2026-06-01T14:00:00.000Z" } as const;
    const cart = storedCart({ status: "locked", session });
    expect(show(cart, new Date("2026-06-01T13:59:59.999Z"))).toMatchObject({
      status: "locked",
      address: { city: "Berlin" },
      checkout: { sessionId: "chs_1", status: "open" },
    });
    expect(show(cart, new Date("2026-06-01T14:00:00.000Z"))).toMatchObject({
      status: "active",
      address: null,
      checkout: null,
    });
  });

  it.each([
    [null, "discontinued", 0],
    [{ onHand: 0, reserved: 0, backorderLimit: 0 }, "out_of_stock", 0],
    [{ onHand: 3, reserved: 5, backorderLimit: 0 }, "out_of_stock", 0],
    [{ onHand: 4, reserved: 0, backorderLimit: 0 }, "low_stock", 4],
    [{ onHand: 0, reserved: 2, backorderLimit: 10 }, "backorder", 8],
    [{ onHand: 50, reserved: 0, backorderLimit: 0, discontinued: true }, "discontinued", 0],
    [
      { onHand: 50, reserved: 0, backorderLimit: 0, availableFrom: "2026-06-02T00:00:00.000Z" },
      "preorder",
      50,
    ],
  ])(
    "shows a line with the stock %j as %s, with the available quantity %i",
    (stock, availability, availableQuantity) => {
      const [line] = storedCart().lines;
      if (line === undefined || line.stock === null) throw new Error("The cart has a line.");
      const view = show(
        storedCart({ lines: [{ ...line, stock: stock === null ? null : { ...line.stock, ...stock } }] }),
      );
      expect(view.lines[0]).toMatchObject({ availability, availableQuantity });
    },
  );

  it("reports the previous values of the changed fields only", () => {
    const before = storedCart();
    const light = { now: noon, publicUrl };
    expect(getPreviousValuesOfChangedCartFields({ before, after: before }, light)).toEqual({});
    const after = storedCart({ version: 8, locale: "de" });
    expect(getPreviousValuesOfChangedCartFields({ before, after }, light)).toEqual({
      version: 7,
      locale: "en",
    });
    // The change stores the status that the clock had already caused.
    const gone = storedCart({ expiresAt: noon.toISOString() });
    expect(
      getPreviousValuesOfChangedCartFields(
        { before: gone, after: { ...gone, status: "expired", version: 8 } },
        light,
      ),
    ).toEqual({
      version: 7,
      status: "active",
    });
  });

  it("has a message for each warning", () => {
    const messages = cartWarningCodes.map(
      (code: CartWarningCode) => toCartWarningView({ code, lineId: null, data: {} }).message,
    );
    expect(new Set(messages).size).toBe(9);
    for (const message of messages) expect(message).toMatch(/^[A-Z].+\.$/);
  });
});
