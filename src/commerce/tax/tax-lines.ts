/** Adds up the taxes of a cart or an order by rate: one tax line for each rate. Pure. */
import type { AppliedTaxRate, ShippingTax } from "#commerce/pricing/tax-amounts.ts";

/** The tax that a cart or order owes by one tax rate; amounts in minor units. */
export interface TaxLine {
  /** Code of the tax class of the rate; null if the rate was not recorded. */
  readonly taxClass: string | null;
  readonly name: string | null;
  /** Tax rate in basis points; null if the rate was not recorded, because an earlier release placed the order. */
  readonly basisPoints: number | null;
  /** The taxed amount, after discounts and without the tax. */
  readonly taxableMinor: number;
  readonly taxMinor: number;
  /** Ids of the lines that are taxed by the rate, in the order of the lines. */
  readonly lineIds: readonly string[];
}

/** A taxed part of a cart or an order: a line, or a part of the shipping price; amounts in minor units. */
export interface TaxedLineOrShippingPart {
  /** Id of the cart line or order line; null if the tax is for the shipping price. */
  readonly lineId: string | null;
  /** The tax rate of the part; null if the rate was not recorded. */
  readonly taxRate: AppliedTaxRate | null;
  /** The price of the part after discounts, with the tax if prices include tax. */
  readonly amountMinor: number;
  readonly taxMinor: number;
}

/** The fields of carts and orders from which their tax lines are computed. */
export interface TaxedCartOrOrder {
  readonly taxIncluded: boolean;
  readonly shippingMinor: number | null;
  readonly shippingDiscountMinor: number;
  readonly shippingTaxes: readonly ShippingTax[] | null;
  readonly taxMinor: number | null;
  readonly lines: readonly {
    readonly id: string;
    readonly subtotalMinor: number;
    readonly discountMinor: number;
    readonly taxRate: AppliedTaxRate | null;
    readonly taxMinor: number | null;
  }[];
}

/** Returns the tax lines of a cart or an order, the highest rate first; empty if its taxes are not known. */
export function listCartOrOrderTaxLines(sale: TaxedCartOrOrder): readonly TaxLine[] {
  if (sale.taxMinor === null) return [];
  const parts = [...sale.lines.map(toTaxedLine), ...listTaxedShippingParts(sale)];
  return groupTaxedPartsByRate(parts).map(({ taxRate, parts: own }) => toTaxLine(taxRate, own, sale));
}

export function toTaxLine(
  taxRate: AppliedTaxRate | null,
  parts: readonly TaxedLineOrShippingPart[],
  { taxIncluded }: Pick<TaxedCartOrOrder, "taxIncluded">,
): TaxLine {
  const amountMinor = sumOf(parts, (part) => part.amountMinor);
  const taxMinor = sumOf(parts, (part) => part.taxMinor);
  return {
    taxClass: taxRate?.taxClass ?? null,
    name: taxRate?.name ?? null,
    basisPoints: taxRate?.basisPoints ?? null,
    taxableMinor: taxIncluded ? amountMinor - taxMinor : amountMinor,
    taxMinor,
    lineIds: parts.flatMap(({ lineId }) => lineId ?? []),
  };
}

export const toTaxedLine = ({
  id,
  taxRate,
  subtotalMinor,
  discountMinor,
  taxMinor,
}: TaxedCartOrOrder["lines"][number]): TaxedLineOrShippingPart => ({
  lineId: id,
  taxRate,
  amountMinor: subtotalMinor - discountMinor,
  taxMinor: taxMinor ?? 0,
});

/** Returns the taxed parts of the shipping price; a single part without a rate if none were recorded. */
export function listTaxedShippingParts(sale: TaxedCartOrOrder): readonly TaxedLineOrShippingPart[] {
  const { shippingTaxes, shippingMinor, shippingDiscountMinor, taxMinor, lines } = sale;
  if (shippingTaxes !== null)
    return shippingTaxes.map((part) => ({
      lineId: null,
      taxRate: { taxClass: part.taxClass, name: part.name, basisPoints: part.basisPoints },
      amountMinor: part.amountMinor,
      taxMinor: part.taxMinor,
    }));
  const amountMinor = (shippingMinor ?? 0) - shippingDiscountMinor;
  const shippingTaxMinor = (taxMinor ?? 0) - sumOf(lines, (line) => line.taxMinor ?? 0);
  return amountMinor === 0 && shippingTaxMinor === 0
    ? []
    : [{ lineId: null, taxRate: null, amountMinor, taxMinor: shippingTaxMinor }];
}

/** Groups taxed parts by their rate, the highest rate first and parts without a recorded rate last. */
export function groupTaxedPartsByRate<Part extends Pick<TaxedLineOrShippingPart, "taxRate">>(
  parts: readonly Part[],
): readonly { readonly taxRate: AppliedTaxRate | null; readonly parts: readonly Part[] }[] {
  const groups = Map.groupBy(parts, ({ taxRate }) =>
    taxRate === null ? "" : JSON.stringify([taxRate.taxClass, taxRate.name, taxRate.basisPoints]),
  );
  return [...groups]
    .map(([key, own]) => ({ key, taxRate: own[0]?.taxRate ?? null, parts: own }))
    .toSorted(
      (a, b) => (b.taxRate?.basisPoints ?? -1) - (a.taxRate?.basisPoints ?? -1) || (a.key < b.key ? -1 : 1),
    );
}

const sumOf = <Item>(items: readonly Item[], amountOf: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + amountOf(item), 0);
