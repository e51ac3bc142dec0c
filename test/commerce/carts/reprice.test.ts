/**
 * Repricing a cart with the current catalog is a pure function, exact to the cent, and warns about every
 * difference.
 */
import { describe, expect, it } from "vitest";
import type { StoredCartLine } from "#commerce/carts/cart-aggregate.ts";
import { type UnpricedCartDraft, toUnpricedCartDraft } from "#commerce/carts/cart-draft.ts";
import type {
  CurrentCartPricingData,
  CartPricingMarket,
  CartPricingVariant,
} from "#commerce/carts/pricing-data.ts";
import { repriceCart, type CartRepriceResult } from "#commerce/carts/reprice.ts";
import { storedCart } from "./stored-cart.ts";

const now = new Date("2026-06-01T12:00:00.000Z");
const before = storedCart({ promotions: [] });
const [line] = before.lines;

const variant: CartPricingVariant = {
  id: "var_1",
  productId: "prd_1",
  isPublished: true,
  sku: "CUP",
  priceMinor: 1000,
  compareAtMinor: null,
  onHand: 10,
  reserved: 0,
  backorderLimit: 0,
  lowStockThreshold: 0,
  availableFrom: null,
  discontinued: false,
  maxOrderQuantity: null,
  requiresShipping: true,
  restrictions: [],
  taxClass: "standard",
  options: { colour: "blue", size: "m" },
  choices: [
    { code: "size", choices: [{ code: "m", labels: { en: "Medium" } }] },
    { code: "colour", choices: [{ code: "blue", labels: { en: "Blue", de: "Blau" } }] },
  ],
  translations: [
    { locale: "de", slug: "tasse", title: "Tasse" },
    { locale: "en", slug: "cup", title: "Cup" },
  ],
  image: { url: "/cup.svg", alts: { de: "Eine Tasse" }, width: 8, height: 6 },
  categoryIds: [],
};

const vat = { taxClass: "standard", name: "VAT" };
const market: CartPricingMarket = {
  id: "mkt_eu",
  currency: "EUR",
  taxIncluded: false,
  taxRounding: "line",
  defaultLocale: "de",
  countries: ["DE", "AT"],
  taxes: [
    { ...vat, country: "DE", regionCode: null, basisPoints: 1900, appliesToShipping: true },
    { ...vat, country: "DE", regionCode: "DE-BE", basisPoints: 700, appliesToShipping: false },
    { ...vat, country: "AT", regionCode: null, basisPoints: 2000, appliesToShipping: true },
  ],
  deliveries: [
    {
      id: "dlm_1",
      names: { en: "Post", de: "Post" },
      carrier: null,
      pickup: false,
      priceMinor: 500,
      freeFromMinor: 3000,
      minDays: 1,
      maxDays: 2,
      taxRule: "own_class",
      taxClass: "standard",
    },
  ],
};

interface Change {
  readonly draft?: Partial<UnpricedCartDraft>;
  readonly variant?: Partial<CartPricingVariant> | null;
  readonly market?: Partial<CartPricingMarket>;
  readonly at?: Date;
}

function repriced({
  draft = {},
  variant: changed = {},
  market: there = {},
  at = now,
}: Change = {}): CartRepriceResult["next"] {
  const offer: CurrentCartPricingData = {
    merchantLocale: "en",
    market: { ...market, ...there },
    variants: new Map(changed === null ? [] : [[variant.id, { ...variant, ...changed }]]),
    automatic: [],
    code: undefined,
    promotions: new Map(),
  };
  return repriceCart({ draft: { ...toUnpricedCartDraft(before), ...draft }, before, offer, now: at }).next;
}

const warningsOf = (next: CartRepriceResult["next"]): unknown[] =>
  next.warnings.map(({ code, data }) => [code, data]);
const wanting = (quantity: number): Partial<UnpricedCartDraft> => ({
  lines: [{ id: "cln_1", variantId: "var_1", quantity, before: line as StoredCartLine }],
});

describe("a cart that is priced again", () => {
  it("adds up its lines, delivery and tax", () => {
    const next = repriced();
    // 2 × 10.00 + 5.00, and 19 % of both.
    expect(next.priced).toMatchObject({
      subtotalMinor: 2000,
      shippingMinor: 500,
      taxMinor: 475,
      totalMinor: 2975,
      discountMinor: 0,
    });
    expect(next.lines).toMatchObject([
      {
        id: "cln_1",
        position: 0,
        taxMinor: 380,
        totalMinor: 2380,
        display: { title: "Cup", variantTitle: "Medium / Blue" },
      },
    ]);
    expect(next.warnings).toEqual([]);
  });

  it("uses the tax rate of the region, else of the country, else no tax", () => {
    const taxAt = (countryCode: string, regionCode: string | null): number | null => {
      const { address } = before;
      if (address === null) throw new Error("The cart has an address.");
      return repriced({
        draft: { address: { ...address, masked: { ...address.masked, countryCode, regionCode } } },
      }).priced.taxMinor;
    };
    expect([taxAt("DE", "DE-BE"), taxAt("DE", "DE-BY"), taxAt("AT", null)]).toEqual([140, 475, 500]);
    expect(repriced({ market: { taxes: [] } }).priced.taxMinor).toBe(0);
  });

  it(
    "has no tax and no shipping price without an address, and with an address that is outside " +
      "of the market or expired",
    () => {
      const unknown = { shippingMinor: null, taxMinor: null, totalMinor: 2000 };
      expect(repriced({ draft: { address: null } }).priced).toMatchObject(unknown);
      const abroad = repriced({ market: { countries: ["FR"] } });
      expect([abroad.address, warningsOf(abroad)]).toEqual([null, [["address_expired", {}]]]);
      expect(repriced({ at: new Date("2026-06-01T12:29:59.999Z") }).address?.expiresAt).toBe(
        "2026-06-01T12:59:59.999Z",
      );
      const late = repriced({ at: new Date("2026-06-01T12:30:00.000Z") });
      expect(late).toMatchObject({
        address: null,
        deliveryOptions: null,
        deliveryMethodId: null,
        priced: unknown,
        warnings: [{ code: "address_expired" }],
      });
    },
  );

  it("has free delivery from the limit on, compared before discounts", () => {
    expect(repriced({ draft: wanting(2) }).priced.shippingMinor).toBe(500);
    expect(repriced({ draft: wanting(3) }).priced.shippingMinor).toBe(0);
  });

  it("loses a delivery option that is no longer offered", () => {
    expect(repriced({ market: { deliveries: [] } })).toMatchObject({
      deliveryMethodId: null,
      deliveryOptions: [],
      priced: { shippingMinor: null },
    });
  });

  it("has no delivery options if no line requires shipping", () => {
    expect(repriced({ variant: { requiresShipping: false } })).toMatchObject({
      deliveryOptions: [],
      priced: { shippingMinor: 0, taxMinor: 380 },
    });
  });

  it.each([
    [
      "price_changed",
      { priceMinor: 1100 },
      2,
      [
        [
          "price_changed",
          {
            before: { amountMinor: 1000, currency: "EUR", exponent: 2 },
            now: { amountMinor: 1100, currency: "EUR", exponent: 2 },
          },
        ],
      ],
    ],
    [
      "quantity_reduced by the stock",
      { onHand: 3, reserved: 2 },
      1,
      [["quantity_reduced", { wanted: 2, quantity: 1 }]],
    ],
    [
      "quantity_reduced by the most that is sold at once",
      { maxOrderQuantity: 1 },
      1,
      [["quantity_reduced", { wanted: 2, quantity: 1 }]],
    ],
    ["nothing while there is a backorder", { onHand: 0, backorderLimit: 2 }, 2, []],
    ["out_of_stock", { onHand: 1, reserved: 1 }, 2, [["out_of_stock", {}]]],
    [
      "line_unavailable without a price",
      { priceMinor: null },
      2,
      [["line_unavailable", { isRemoved: false, sku: "CUP" }]],
    ],
    [
      "line_unavailable when discontinued",
      { discontinued: true },
      2,
      [["line_unavailable", { isRemoved: false, sku: "CUP" }]],
    ],
    [
      "line_unavailable when not published",
      { isPublished: false },
      2,
      [["line_unavailable", { isRemoved: false, sku: "CUP" }]],
    ],
    ["line_unavailable when deleted", null, 2, [["line_unavailable", { isRemoved: false, sku: "CUP" }]]],
  ] as const)("warns: %s", (_name, changed, quantity, warnings) => {
    const next = repriced({ variant: changed });
    expect(next.lines.map((stored) => stored.quantity)).toEqual([quantity]);
    expect(warningsOf(next)).toEqual(warnings);
  });

  it("gets the prices of another market without warnings, and loses lines not sold there", () => {
    const there = { id: "mkt_us", currency: "USD", countries: ["US"] };
    const moved = repriced({
      draft: { country: "US", address: null },
      market: there,
      variant: { priceMinor: 1300 },
    });
    expect(warningsOf(moved)).toEqual([
      ["market_changed", { before: "DE", now: "US" }],
      ["currency_changed", { before: "EUR", now: "USD" }],
    ]);
    const empty = repriced({
      draft: { country: "US", address: null },
      market: there,
      variant: { priceMinor: null },
    });
    expect([empty.lines, warningsOf(empty).at(-1)]).toEqual([
      [],
      ["line_unavailable", { isRemoved: true, sku: "CUP" }],
    ]);
  });

  it("has texts in the cart's locale, else the market's, else the merchant's", () => {
    const titleIn = (locale: string, translations = variant.translations) =>
      repriced({ draft: { locale }, variant: { translations } }).lines[0]?.display.title;
    expect([titleIn("en"), titleIn("en-GB"), titleIn("de-AT"), titleIn("fr")]).toEqual([
      "Cup",
      "Cup",
      "Tasse",
      "Tasse",
    ]);
    expect(titleIn("fr", [{ locale: "ja", slug: "kappu", title: "カップ" }])).toBe("カップ");
  });

  it("gives the same result twice", () => {
    expect(repriced()).toEqual(repriced());
  });
});
