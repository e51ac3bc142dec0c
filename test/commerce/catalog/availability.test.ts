/** The availability that buyers see for a variant; a product has the availability of its best variant. */
import { expect, it } from "vitest";
import {
  computeStockAvailability,
  findBestStockAvailability,
  type VariantStock,
} from "#commerce/catalog/availability.ts";

const now = new Date("2026-06-01T00:00:00Z");
const later = new Date("2026-06-01T00:00:00.001Z");
const stock: VariantStock = {
  onHand: 10,
  reserved: 0,
  backorderLimit: 0,
  lowStockThreshold: 5,
  discontinued: false,
  availableFrom: null,
};

it.each([
  ["in_stock", {}],
  ["in_stock", { onHand: 6 }],
  ["low_stock", { onHand: 5 }],
  ["low_stock", { reserved: 9 }],
  ["in_stock", { onHand: 1, lowStockThreshold: 0 }],
  ["out_of_stock", { reserved: 10 }],
  ["backorder", { reserved: 10, backorderLimit: 1 }],
  ["backorder", { reserved: 11, backorderLimit: 2 }],
  ["out_of_stock", { reserved: 11, backorderLimit: 1 }],
  ["preorder", { availableFrom: later }],
  ["preorder", { onHand: 0, backorderLimit: 1, availableFrom: later }],
  ["out_of_stock", { onHand: 0, availableFrom: later }],
  ["in_stock", { availableFrom: now }],
  ["discontinued", { discontinued: true }],
] satisfies [string, Partial<VariantStock>][])("a variant is %s with this stock: %o", (expected, change) => {
  expect(computeStockAvailability({ ...stock, ...change }, now)).toBe(expected);
});

it("the availability of a product is that of its best variant", () => {
  expect(findBestStockAvailability(["discontinued", "backorder", "out_of_stock", "low_stock"])).toBe(
    "low_stock",
  );
  expect(findBestStockAvailability(["preorder", "backorder"])).toBe("backorder");
  expect(findBestStockAvailability([])).toBe("out_of_stock");
});
