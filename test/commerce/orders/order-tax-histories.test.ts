/**
 * Random orders with several tax classes, through random cancellations, refunds and price reductions: the
 * money and the taxes of an order are conserved to the last minor unit. TAX_HISTORIES sets the number of
 * orders, PROPERTY_SEED tries others.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { computeOrderTaxLines, type OrderTaxLine } from "#commerce/orders/order-tax-lines.ts";
import { computeOutstandingAmountMinor, getUncanceledQuantity } from "#commerce/orders/order-statuses.ts";
import type { OrderAggregate, OrderLine } from "#commerce/orders/order-aggregate.ts";
import {
  calculateCanceledUnitsValue,
  computeValueOfOrderLineUnitsMinor,
  computeRemainingShippingPriceMinor,
} from "#commerce/orders/order-value.ts";
import { priceCart, type PriceCartInput } from "#commerce/pricing/price-cart.ts";
import { smallTaxedCart } from "#test/commerce/pricing/random-carts.ts";
import { propertySeed } from "#test/support/properties.ts";

const histories = Number(process.env["TAX_HISTORIES"] ?? 2000);

/** An order with the fields that its money depends on, and with one captured payment. */
type MoneyOrder = Pick<
  OrderAggregate,
  | "lines"
  | "taxIncluded"
  | "totalMinor"
  | "taxMinor"
  | "reducedMinor"
  | "shippingMinor"
  | "shippingDiscountMinor"
  | "shippingTaxes"
  | "shippingReducedMinor"
  | "payments"
  | "refunds"
  | "fulfillments"
>;

function placeOrder(input: PriceCartInput): MoneyOrder {
  const cart = priceCart(input);
  const lines = cart.lines.map((line, position) => {
    const given = input.lines[position];
    return {
      ...line,
      variantId: `var_${position}`,
      requiresShipping: given?.requiresShipping ?? true,
      ordered: given?.quantity ?? 1,
      reducedMinor: 0,
      canceled: 0,
      allocated: 0,
      shipped: 0,
      refunded: 0,
    } as unknown as OrderLine;
  });
  return {
    ...cart,
    lines,
    taxIncluded: input.taxIncluded,
    reducedMinor: 0,
    shippingReducedMinor: 0,
    payments: [paymentOf(cart.totalMinor, 0)],
    refunds: [],
    fulfillments: [],
  };
}

const paymentOf = (capturedMinor: number, refundedMinor: number): OrderAggregate["payments"][number] =>
  ({ capturedMinor, refundedMinor, amountMinor: capturedMinor, voidedMinor: 0, pending: [] }) as never;

/** A step of an order's history. `share` is the part of the possible units or amount, from 0 to 1000. */
const step = fc.record({
  kind: fc.constantFrom("cancel", "refund", "shipping", "goodwill", "fee"),
  line: fc.nat(5),
  share: fc.integer({ min: 1, max: 1000 }),
});
type HistoryStep = typeof step extends fc.Arbitrary<infer One> ? One : never;

const partOf = (whole: number, share: number): number => Math.ceil((whole * share) / 1000);

/** Reduces a line, as cancellations (`canceled`) and refunds (`refunded`) store it. */
function withReducedLine(
  order: MoneyOrder,
  lineId: string,
  change: { readonly canceled?: number; readonly refunded?: number; readonly amountMinor: number },
): MoneyOrder["lines"] {
  return order.lines.map((line) =>
    line.id === lineId
      ? Object.assign({}, line, {
          canceled: line.canceled + (change.canceled ?? 0),
          refunded: line.refunded + (change.refunded ?? 0),
          reducedMinor: line.reducedMinor + change.amountMinor,
        })
      : line,
  );
}

/** Applies a step with the functions that the commands use, and refunds what the buyer has paid too much. */
function takeStep(order: MoneyOrder, { kind, line: index, share }: HistoryStep): MoneyOrder {
  const line = order.lines[index % Math.max(1, order.lines.length)];
  const leftMinor = order.totalMinor - order.reducedMinor;
  if (kind === "goodwill")
    return settle({ ...order, reducedMinor: order.reducedMinor + partOf(leftMinor, share) });
  if (kind === "shipping") {
    const amountMinor = computeRemainingShippingPriceMinor(order);
    return settle({
      ...order,
      shippingReducedMinor: order.shippingReducedMinor + Math.min(amountMinor, leftMinor),
      reducedMinor: order.reducedMinor + Math.min(amountMinor, leftMinor),
    });
  }
  if (line === undefined) return order;
  const quantity = partOf(getUncanceledQuantity(line) - line.refunded, share);
  if (quantity === 0) return order;
  if (kind === "cancel") {
    const value = calculateCanceledUnitsValue(order, [{ lineId: line.id, quantity }]);
    const [units] = value.lines;
    return settle({
      ...order,
      lines: withReducedLine(order, line.id, { canceled: quantity, amountMinor: units?.amountMinor ?? 0 }),
      reducedMinor: order.reducedMinor + value.reducedMinor,
      shippingReducedMinor: order.shippingReducedMinor + Math.min(value.shippingMinor, value.reducedMinor),
    });
  }
  // A return with a fee refunds only a part of the value of the units.
  const worthMinor = Math.min(leftMinor, computeValueOfOrderLineUnitsMinor(line, quantity));
  const amountMinor = kind === "fee" ? partOf(worthMinor, 900) : worthMinor;
  return settle({
    ...order,
    lines: withReducedLine(order, line.id, { refunded: quantity, amountMinor }),
    reducedMinor: order.reducedMinor + amountMinor,
  });
}

const settle = (order: MoneyOrder): MoneyOrder => ({
  ...order,
  payments: [paymentOf(order.totalMinor, order.reducedMinor)],
});

const sum = (lines: readonly OrderTaxLine[], amountOf: (line: OrderTaxLine) => number): number =>
  lines.reduce((total, line) => total + amountOf(line), 0);

/** Checks the taxes of an order after a step; `before` are the tax lines before the step. */
function expectConserved(order: MoneyOrder, before: readonly OrderTaxLine[]): readonly OrderTaxLine[] {
  const { totalMinor, reducedMinor } = order;
  const [payment] = order.payments;
  expect(
    (payment?.capturedMinor ?? 0) - (payment?.refundedMinor ?? 0) + computeOutstandingAmountMinor(order),
  ).toBe(totalMinor - reducedMinor);
  const lines = computeOrderTaxLines(order);
  // The taxes of the placed order never change.
  const asPlaced = before.map((line, index) =>
    Object.assign({}, line, { reducedTaxMinor: lines[index]?.reducedTaxMinor }),
  );
  expect(lines).toEqual(asPlaced);
  expect(sum(lines, ({ taxMinor }) => taxMinor)).toBe(order.taxMinor);
  expect(sum(lines, ({ taxableMinor, taxMinor }) => taxableMinor + taxMinor)).toBe(totalMinor);
  for (const [index, { taxMinor, reducedTaxMinor }] of lines.entries()) {
    expect(reducedTaxMinor).toBeGreaterThanOrEqual(before[index]?.reducedTaxMinor ?? 0);
    expect(reducedTaxMinor).toBeLessThanOrEqual(taxMinor);
    if (reducedMinor === 0) expect(reducedTaxMinor).toBe(0);
    if (reducedMinor === totalMinor && totalMinor > 0) expect(reducedTaxMinor).toBe(taxMinor);
  }
  return lines;
}

it(
  "orders with several tax classes conserve money and taxes in any history of cancellations and refunds",
  () => {
    fc.assert(
      fc.property(smallTaxedCart, fc.array(step, { maxLength: 12 }), (input, history) => {
        let order = placeOrder(input);
        const placed = computeOrderTaxLines(order);
        let lines = expectConserved(order, placed);
        let givenBackMinor = 0;
        for (const taken of history) {
          order = takeStep(order, taken);
          const next = expectConserved(order, lines);
          givenBackMinor +=
            sum(next, ({ reducedTaxMinor }) => reducedTaxMinor) -
            sum(lines, ({ reducedTaxMinor }) => reducedTaxMinor);
          lines = next;
        }
        // A refund of everything that is left gives back every tax that is left.
        const whole = settle({ ...order, reducedMinor: order.totalMinor });
        const ended = expectConserved(whole, lines);
        givenBackMinor +=
          sum(ended, ({ reducedTaxMinor }) => reducedTaxMinor) -
          sum(lines, ({ reducedTaxMinor }) => reducedTaxMinor);
        if (order.totalMinor > 0) expect(givenBackMinor).toBe(order.taxMinor);
      }),
      { numRuns: histories, seed: propertySeed, endOnFailure: histories > 10_000 },
    );
  },
  60_000 + histories * 10,
);

it("an order gives back the tax of a whole line exactly, whatever happens to the other lines before", () => {
  fc.assert(
    fc.property(smallTaxedCart, fc.nat(5), (input, index) => {
      const order = placeOrder({ ...input, shippingMinor: null });
      const line = order.lines[index % Math.max(1, order.lines.length)];
      if (line === undefined) return;
      const after = takeStep(order, { kind: "refund", line: order.lines.indexOf(line), share: 1000 });
      const own = computeOrderTaxLines(after).find(({ lineIds }) => lineIds.includes(line.id));
      expect(own?.reducedTaxMinor).toBe(line.totalMinor === 0 ? 0 : line.taxMinor);
    }),
    { numRuns: 500 },
  );
});
