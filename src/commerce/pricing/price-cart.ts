/**
 * Calculates all amounts of a cart from its lines, shipping price, tax and promotions. Pure. Total = subtotal
 * − discount + shipping, plus tax if the prices do not include tax.
 */
import {
  type DiscountRule,
  type DiscountableLine,
  multiplyAndDivideRoundingHalfEven,
  multiplyMinorUnits,
  type RemainingCartAmounts,
  sumMinorUnits,
  type DiscountAmounts,
  applyDiscountRule,
} from "./discounts.ts";

export interface CartLineToPrice extends DiscountableLine {
  readonly id: string;
  readonly unitPriceMinor: number;
  readonly requiresShipping: boolean;
}

export interface PriceCartInput {
  readonly taxIncluded: boolean;
  /** Cart lines, sorted by position. */
  readonly lines: readonly CartLineToPrice[];
  /**
   * Shipping price in minor units; null if it is not known, because the cart has no address or no delivery
   * option.
   */
  readonly shippingMinor: number | null;
  /** Tax rate at the cart's address; null if the rate is not known, because the cart has no address. */
  readonly tax: { readonly basisPoints: number; readonly appliesToShipping: boolean } | null;
  /**
   * The discounts in the order in which they are deducted. Each discount is deducted from the amounts that
   * the earlier discounts left.
   */
  readonly discounts: readonly DiscountRule[];
}

export interface PricedCart {
  readonly subtotalMinor: number;
  /** Sum of the discounts on lines and shipping, in minor units. */
  readonly discountMinor: number;
  /** Shipping price before discounts, in minor units; null if the shipping price is not known yet. */
  readonly shippingMinor: number | null;
  readonly shippingDiscountMinor: number;
  readonly taxMinor: number | null;
  readonly totalMinor: number;
  readonly lines: readonly PricedCartLine[];
  /** The calculated amounts of each discount, in the order of `discounts` in the input. */
  readonly discounts: readonly PricedDiscount[];
}

export interface PricedCartLine {
  readonly id: string;
  readonly subtotalMinor: number;
  readonly discountMinor: number;
  readonly taxMinor: number | null;
  readonly totalMinor: number;
  readonly allocations: readonly { readonly promotionId: string; readonly amountMinor: number }[];
}

export interface PricedDiscount {
  readonly promotionId: string;
  readonly discountMinor: number;
  /**
   * The amounts that the discount deducts from each line; lines without a deduction are left out. The entry
   * with `lineId` null is the amount that is deducted from the shipping price.
   */
  readonly allocations: readonly { readonly lineId: string | null; readonly amountMinor: number }[];
}

export function priceCart(input: PriceCartInput): PricedCart {
  const subtotals = input.lines.map((line) => multiplyMinorUnits(line.unitPriceMinor, line.quantity));
  const subtotalMinor = sumMinorUnits(subtotals);
  const taken = applyDiscounts(input, subtotals);
  const lines = input.lines.map((line, position) =>
    pricedLine(input, { line, position, subtotalMinor: subtotals[position] ?? 0 }, taken),
  );
  const shippingDiscountMinor = sumMinorUnits(taken.map(({ shippingMinor }) => shippingMinor));
  const discountMinor = sumMinorUnits([...lines.map((line) => line.discountMinor), shippingDiscountMinor]);
  const shippingMinor = input.shippingMinor ?? 0;
  const taxMinor =
    input.tax &&
    sumMinorUnits([
      ...lines.map((line) => line.taxMinor ?? 0),
      shippingTaxOf(input, shippingMinor - shippingDiscountMinor),
    ]);
  return {
    subtotalMinor,
    discountMinor,
    shippingMinor: input.shippingMinor,
    shippingDiscountMinor,
    taxMinor,
    totalMinor: sumMinorUnits([
      subtotalMinor,
      -discountMinor,
      shippingMinor,
      input.taxIncluded ? 0 : (taxMinor ?? 0),
    ]),
    lines,
    discounts: input.discounts.map((rule, turn) => pricedDiscount(rule, input.lines, taken[turn])),
  };
}

function applyDiscounts(
  { lines, shippingMinor, discounts }: PriceCartInput,
  subtotals: readonly number[],
): DiscountAmounts[] {
  let open: RemainingCartAmounts = { lines, linesMinor: subtotals, shippingMinor: shippingMinor ?? 0 };
  return discounts.map((rule) => {
    const taken = applyDiscountRule(rule, open);
    open = {
      lines,
      linesMinor: open.linesMinor.map((leftMinor, position) => leftMinor - (taken.linesMinor[position] ?? 0)),
      shippingMinor: open.shippingMinor - taken.shippingMinor,
    };
    return taken;
  });
}

function pricedLine(
  input: PriceCartInput,
  {
    line,
    position,
    subtotalMinor,
  }: { readonly line: CartLineToPrice; readonly position: number; readonly subtotalMinor: number },
  taken: readonly DiscountAmounts[],
): PricedCartLine {
  const allocations = input.discounts
    .map(({ id }, turn) => ({ promotionId: id, amountMinor: taken[turn]?.linesMinor[position] ?? 0 }))
    .filter(({ amountMinor }) => amountMinor > 0);
  const discountMinor = sumMinorUnits(allocations.map(({ amountMinor }) => amountMinor));
  const taxMinor =
    input.tax && taxOn(subtotalMinor - discountMinor, input.tax.basisPoints, input.taxIncluded);
  const totalMinor = sumMinorUnits([subtotalMinor, -discountMinor, input.taxIncluded ? 0 : (taxMinor ?? 0)]);
  return { id: line.id, subtotalMinor, discountMinor, taxMinor, totalMinor, allocations };
}

function pricedDiscount(
  rule: DiscountRule,
  lines: readonly CartLineToPrice[],
  taken: DiscountAmounts | undefined,
): PricedDiscount {
  const allocations = [
    ...lines.map(({ id }, position) => ({ lineId: id, amountMinor: taken?.linesMinor[position] ?? 0 })),
    { lineId: null, amountMinor: taken?.shippingMinor ?? 0 },
  ].filter(({ amountMinor }) => amountMinor > 0);
  return {
    promotionId: rule.id,
    discountMinor: sumMinorUnits(allocations.map(({ amountMinor }) => amountMinor)),
    allocations,
  };
}

function shippingTaxOf({ tax, taxIncluded }: PriceCartInput, netShippingMinor: number): number {
  return tax?.appliesToShipping ? taxOn(netShippingMinor, tax.basisPoints, taxIncluded) : 0;
}

/**
 * Returns the tax on an amount: the tax that the amount contains if prices include tax, otherwise the tax to
 * add.
 */
function taxOn(netMinor: number, basisPoints: number, isIncluded: boolean): number {
  return multiplyAndDivideRoundingHalfEven(netMinor, basisPoints, isIncluded ? 10_000 + basisPoints : 10_000);
}
