/**
 * Changes every field of a cart. A field that is missing in the comparison would make its change count as no
 * change.
 */
import { describe, expect, it } from "vitest";
import { type CartAggregate, cartColumns } from "#commerce/carts/cart-aggregate.ts";
import { createCartComparisonKey, toUnpricedCartDraft } from "#commerce/carts/cart-draft.ts";
import { storedCart } from "./stored-cart.ts";

const cart = storedCart();
const stateOf = (changed: CartAggregate): string =>
  createCartComparisonKey({ ...changed, buyerEmailId: changed.buyerEmail?.id ?? null });

/** Fields that the comparison leaves out, with the reason of each. */
const notCompared = new Set([
  // The database, the clock or a change of the status sets these.
  "id",
  "status",
  "version",
  "session",
  "orderId",
  "mergedIntoCartId",
  "revocation",
  "createdAt",
  "updatedAt",
  "expiresAt",
  "endedAt",
  // These belong to the merchant and to the market.
  "merchant",
  "countries",
  // Warnings alone are no change; the discount on the shipping is part of the discount.
  "warnings",
  "shippingDiscountMinor",
]);
const notComparedOfLine = new Set([
  "position",
  "productId",
  "subtotalMinor",
  "totalMinor",
  "requiresShipping",
  "restrictions",
  "stock",
]);
const notComparedOfPromotion = new Set([
  "trigger",
  "allocations",
  // These are read from the promotion itself.
  "code",
  "titles",
  "kind",
  "basisPoints",
  "amountMinor",
  "currency",
  "startsAt",
  "endsAt",
  "isExclusive",
]);

/**
 * Another value of any field: an object and a list get another element, so that an id, a text or an amount in
 * it is different.
 */
function otherThan(value: unknown): unknown {
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (Array.isArray(value)) return value.length === 0 ? [{ id: "other" }] : value.map(otherThan);
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, otherThan(field)]));
  return `other than ${String(value)}`;
}

const withOther = <Value extends object>(value: Value, field: string): Value => ({
  ...value,
  [field]: otherThan(value[field as keyof Value]),
});
const onlyOf = <Item>([item]: readonly Item[]): Item => {
  if (item === undefined) throw new Error("The stored cart has one line and one promotion.");
  return item;
};
const line = onlyOf(cart.lines);
const promotion = onlyOf(cart.promotions);

const changedFields = Object.keys(cart).map((field) => {
  // A buyer without an e-mail gets one.
  const changed =
    field === "buyerEmail" ? { ...cart, buyerEmail: { id: "psd_2", hint: "a" } } : withOther(cart, field);
  return { field, isCompared: !notCompared.has(field), changed };
});
const changedLines = Object.keys(line).map((field) => ({
  field: `lines.${field}`,
  isCompared: !notComparedOfLine.has(field),
  changed: { ...cart, lines: [withOther(line, field)] },
}));
const changedPromotions = Object.keys(promotion).map((field) => ({
  field: `promotions.${field}`,
  isCompared: !notComparedOfPromotion.has(field),
  changed: { ...cart, promotions: [withOther(promotion, field)] },
}));

describe("the comparable state of a cart", () => {
  it.each([...changedFields, ...changedLines, ...changedPromotions])(
    "has $field: $isCompared",
    ({ isCompared, changed }) => {
      expect(stateOf(changed) !== stateOf(cart)).toBe(isCompared);
    },
  );

  it("does not depend on the order in which the database returns the keys of jsonb", () => {
    const display = Object.fromEntries(
      Object.entries(line.display).toReversed(),
    ) as unknown as typeof line.display;
    const deliveryOptions = (cart.deliveryOptions ?? []).map(
      (option) => Object.fromEntries(Object.entries(option).toReversed()) as unknown as typeof option,
    );
    expect(stateOf({ ...cart, lines: [{ ...line, display }], deliveryOptions })).toBe(stateOf(cart));
  });
});

describe("the draft of a stored cart", () => {
  it("has every column that callers choose", () => {
    const draft = toUnpricedCartDraft(cart);
    const carried = cartColumns.filter((name) => name in draft && name !== "warnings");
    expect(carried).toEqual([
      "marketId",
      "country",
      "locale",
      "buyerReference",
      "buyerSessionId",
      "deliveryMethodId",
    ]);
    expect(Object.fromEntries(carried.map((name) => [name, draft[name as keyof typeof draft]]))).toEqual(
      Object.fromEntries(carried.map((name) => [name, cart[name]])),
    );
  });
});
