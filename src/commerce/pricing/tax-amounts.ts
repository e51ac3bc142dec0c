/**
 * Calculates the taxes of a cart: the tax of each line, and of each part of the shipping price. Pure. The
 * rates come from a tax provider. The calculation is the same for every provider, so the taxes of lines and
 * shipping always add up to the tax of the cart.
 */
import { allocateTotalByWeight, multiplyAndDivideRoundingHalfEven, sumMinorUnits } from "./discounts.ts";

/** The tax rate by which an amount is taxed. */
export interface AppliedTaxRate {
  /** Code of the tax class to which the rate belongs. */
  readonly taxClass: string;
  /** Name of the tax, for example `VAT`; null if no tax applies. */
  readonly name: string | null;
  /** Tax rate in basis points (hundredths of a percent): 1900 means 19 %. */
  readonly basisPoints: number;
}

/** A tax rate at the address of a cart. */
export interface TaxRateAtAddress extends AppliedTaxRate {
  readonly appliesToShipping: boolean;
}

/** A part of the shipping price after discounts, with its rate and its tax; amounts in minor units. */
export interface ShippingTax extends AppliedTaxRate {
  readonly amountMinor: number;
  readonly taxMinor: number;
}

export type TaxRounding = "line" | "order";

/** The taxes that apply to a cart at its address. */
export interface CartTaxRatesAndRules {
  /**
   * `line`: the tax of each line is rounded to whole minor units. `order`: the taxes of all lines with the
   * same rate are added up, and their sum is rounded. The rounded sum is then divided among the lines.
   */
  readonly rounding: TaxRounding;
  /** The rate of each tax class of the cart's lines and of its delivery method, by the code of the class. */
  readonly rates: Readonly<Record<string, TaxRateAtAddress>>;
  readonly shipping: {
    /**
     * `own_class`: the shipping price is taxed by the rate of `taxClass`. `goods`: the shipping price is
     * divided among the tax classes of the lines that require shipping, in proportion to their amounts after
     * discounts. If these amounts are all 0, `taxClass` decides.
     */
    readonly rule: "own_class" | "goods";
    readonly taxClass: string;
  };
}

export interface TaxableLine {
  readonly taxClass: string;
  /** Price of the line after discounts, in minor units. */
  readonly amountMinor: number;
  readonly requiresShipping: boolean;
}

export interface TaxableCart {
  readonly taxIncluded: boolean;
  readonly lines: readonly TaxableLine[];
  /** Shipping price after discounts, in minor units; 0 if it is not known yet. */
  readonly shippingMinor: number;
}

export interface CartTaxes {
  /** The tax rate and the tax of each cart line, in the order of the lines. */
  readonly lines: readonly { readonly taxRate: AppliedTaxRate; readonly taxMinor: number }[];
  readonly shipping: readonly ShippingTax[];
}

export function calculateCartTaxes(terms: CartTaxRatesAndRules, cart: TaxableCart): CartTaxes {
  const shipping = divideShipping(terms, cart);
  const parts = [
    ...cart.lines.map(({ taxClass, amountMinor }) => ({
      taxRate: toAppliedRate(rateOf(terms, taxClass)),
      amountMinor,
    })),
    ...shipping,
  ];
  const taxes = terms.rounding === "line" ? roundEach(parts, cart) : roundByRate(parts, cart);
  return {
    lines: parts
      .slice(0, cart.lines.length)
      .map(({ taxRate }, position) => ({ taxRate, taxMinor: taxes[position] ?? 0 })),
    shipping: shipping.map(({ taxRate: { taxClass, name, basisPoints }, amountMinor }, index) => ({
      taxClass,
      name,
      basisPoints,
      amountMinor,
      taxMinor: taxes[cart.lines.length + index] ?? 0,
    })),
  };
}

function rateOf({ rates }: CartTaxRatesAndRules, taxClass: string): TaxRateAtAddress {
  const rate = rates[taxClass];
  if (rate === undefined) throw new Error(`The tax terms have no rate of the class ${taxClass}.`);
  return rate;
}

const toAppliedRate = ({ taxClass, name, basisPoints }: AppliedTaxRate): AppliedTaxRate => ({
  taxClass,
  name,
  basisPoints,
});

interface TaxablePart {
  readonly taxRate: AppliedTaxRate;
  readonly amountMinor: number;
}

/**
 * Divides the shipping price among tax classes. The classes are sorted by code, so that the result does not
 * depend on the order of the lines. A rate that does not apply to shipping leaves its part untaxed.
 */
function divideShipping(
  terms: CartTaxRatesAndRules,
  { lines, shippingMinor }: TaxableCart,
): readonly TaxablePart[] {
  if (shippingMinor === 0) return [];
  const { rule, taxClass } = terms.shipping;
  const byClass = Map.groupBy(
    rule === "goods" ? lines.filter(({ requiresShipping }) => requiresShipping) : [],
    (line) => line.taxClass,
  );
  const goods = [...byClass]
    .map(([code, own]) => ({ code, amountMinor: sumMinorUnits(own.map((line) => line.amountMinor)) }))
    .filter(({ amountMinor }) => amountMinor > 0)
    .toSorted((a, b) => (a.code < b.code ? -1 : 1));
  const weighed = goods.length === 0 ? [{ code: taxClass, amountMinor: 1 }] : goods;
  const amounts = allocateTotalByWeight(
    shippingMinor,
    weighed.map(({ amountMinor }) => amountMinor),
  );
  return weighed.map(({ code }, index) => {
    const rate = rateOf(terms, code);
    return {
      taxRate: rate.appliesToShipping
        ? toAppliedRate(rate)
        : { taxClass: rate.taxClass, name: null, basisPoints: 0 },
      amountMinor: amounts[index] ?? 0,
    };
  });
}

type PriceMode = Pick<TaxableCart, "taxIncluded">;

const roundEach = (parts: readonly TaxablePart[], { taxIncluded }: PriceMode): readonly number[] =>
  parts.map(({ taxRate, amountMinor }) => taxOn(amountMinor, taxRate.basisPoints, taxIncluded));

/**
 * Rounds the tax of all parts with the same percentage together, even if they belong to different tax
 * classes. Divides the rounded tax among the parts in proportion to their amounts. The tax of a part differs
 * from its exact tax by less than one minor unit.
 */
function roundByRate(parts: readonly TaxablePart[], { taxIncluded }: PriceMode): readonly number[] {
  const taxes = parts.map(() => 0);
  const groups = Map.groupBy(parts.keys(), (index) => parts[index]?.taxRate.basisPoints ?? 0);
  for (const [basisPoints, indexes] of groups) {
    const amounts = indexes.map((index) => parts[index]?.amountMinor ?? 0);
    const taxMinor = taxOn(sumMinorUnits(amounts), basisPoints, taxIncluded);
    const shares = allocateTotalByWeight(taxMinor, amounts);
    for (const [place, index] of indexes.entries()) taxes[index] = shares[place] ?? 0;
  }
  return taxes;
}

/**
 * Returns the tax on an amount: the tax that the amount contains if prices include tax, otherwise the tax to
 * add.
 */
function taxOn(amountMinor: number, basisPoints: number, isIncluded: boolean): number {
  return multiplyAndDivideRoundingHalfEven(
    amountMinor,
    basisPoints,
    isIncluded ? 10_000 + basisPoints : 10_000,
  );
}
