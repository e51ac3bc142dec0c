/**
 * Calculates all amounts of a cart from its lines, shipping price, tax and promotions. Pure. Total = subtotal
 * − discount + shipping, plus tax if the prices do not include tax.
 */
import {
  type DiscountRule,
  type DiscountableCartLine,
  multiplyMinorUnits,
  type CartAmountsAfterEarlierDiscounts,
  sumMinorUnits,
  type DiscountAmounts,
  applyDiscountRule,
} from "./discounts.ts";
import {
  type AppliedTaxRate,
  calculateCartTaxes,
  type CartTaxes,
  type CartTaxRatesAndRules,
  type ShippingTax,
} from "./tax-amounts.ts";

export interface CartLineToPrice extends DiscountableCartLine {
  readonly id: string;
  readonly unitPriceMinor: number;
  readonly requiresShipping: boolean;
  /** Code of the product's tax class. */
  readonly taxClass: string;
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
  /** The taxes at the cart's address; null if they are not known, because the cart has no address. */
  readonly tax: CartTaxRatesAndRules | null;
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
  /**
   * The parts of the shipping price after discounts, each with its rate and tax. Empty if the shipping price
   * is 0; null if the taxes are not known.
   */
  readonly shippingTaxes: readonly ShippingTax[] | null;
  readonly taxMinor: number | null;
  readonly totalMinor: number;
  readonly lines: readonly PricedCartLine[];
  /** The calculated amounts of each discount, in the order of `discounts` in the input. */
  readonly discounts: readonly DiscountWithAllocations[];
}

export interface PricedCartLine {
  readonly id: string;
  readonly subtotalMinor: number;
  readonly discountMinor: number;
  /** The rate by which the line is taxed; null if the taxes are not known. */
  readonly taxRate: AppliedTaxRate | null;
  readonly taxMinor: number | null;
  readonly totalMinor: number;
  readonly allocations: readonly { readonly promotionId: string; readonly amountMinor: number }[];
}

export interface DiscountWithAllocations {
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
  const shippingDiscountMinor = sumMinorUnits(taken.map(({ shippingMinor }) => shippingMinor));
  const discounted = input.lines.map((line, position) =>
    discountedLine(input, { line, position, subtotalMinor: subtotals[position] ?? 0 }, taken),
  );
  const shippingMinor = input.shippingMinor ?? 0;
  const taxes =
    input.tax &&
    calculateCartTaxes(input.tax, {
      taxIncluded: input.taxIncluded,
      lines: input.lines.map(({ taxClass, requiresShipping }, position) => ({
        taxClass,
        requiresShipping,
        amountMinor: netOf(discounted[position]),
      })),
      shippingMinor: shippingMinor - shippingDiscountMinor,
    });
  const lines = discounted.map((line, position) => taxedLine(input, line, taxes?.lines[position]));
  const discountMinor = sumMinorUnits([...lines.map((line) => line.discountMinor), shippingDiscountMinor]);
  const taxMinor = taxes && sumMinorUnits([...taxes.lines, ...taxes.shipping].map((taxed) => taxed.taxMinor));
  return {
    subtotalMinor,
    discountMinor,
    shippingMinor: input.shippingMinor,
    shippingDiscountMinor,
    shippingTaxes: taxes && taxes.shipping,
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
  let open: CartAmountsAfterEarlierDiscounts = {
    lines,
    linesMinor: subtotals,
    shippingMinor: shippingMinor ?? 0,
  };
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

type DiscountedLine = Pick<PricedCartLine, "id" | "subtotalMinor" | "discountMinor" | "allocations">;

function discountedLine(
  input: PriceCartInput,
  {
    line,
    position,
    subtotalMinor,
  }: { readonly line: CartLineToPrice; readonly position: number; readonly subtotalMinor: number },
  taken: readonly DiscountAmounts[],
): DiscountedLine {
  const allocations = input.discounts
    .map(({ id }, turn) => ({ promotionId: id, amountMinor: taken[turn]?.linesMinor[position] ?? 0 }))
    .filter(({ amountMinor }) => amountMinor > 0);
  const discountMinor = sumMinorUnits(allocations.map(({ amountMinor }) => amountMinor));
  return { id: line.id, subtotalMinor, discountMinor, allocations };
}

const netOf = (line: DiscountedLine | undefined): number =>
  line === undefined ? 0 : line.subtotalMinor - line.discountMinor;

function taxedLine(
  { taxIncluded }: PriceCartInput,
  { allocations, ...line }: DiscountedLine,
  taxed: CartTaxes["lines"][number] | undefined,
): PricedCartLine {
  const { taxRate, taxMinor } = taxed ?? { taxRate: null, taxMinor: null };
  const totalMinor = sumMinorUnits([netOf({ ...line, allocations }), taxIncluded ? 0 : (taxMinor ?? 0)]);
  return { ...line, taxRate, taxMinor, totalMinor, allocations };
}

function pricedDiscount(
  rule: DiscountRule,
  lines: readonly CartLineToPrice[],
  taken: DiscountAmounts | undefined,
): DiscountWithAllocations {
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
