/**
 * Computes the taxes of an order by rate, and how much of each tax the buyer no longer owes after
 * cancellations, returns and refunds. Pure.
 */
import { multiplyAndDivideRoundingHalfEven } from "#commerce/pricing/discounts.ts";
import {
  groupTaxedPartsByRate,
  listTaxedShippingParts,
  type TaxedLineOrShippingPart,
  type TaxedCartOrOrder,
  type TaxLine,
  toTaxedLine,
  toTaxLine,
} from "#commerce/tax/tax-lines.ts";
import type { OrderAggregate, OrderLine } from "./order-aggregate.ts";
import { computeRemainingShippingPriceMinor } from "./order-value.ts";

export interface OrderTaxLine extends TaxLine {
  /** The part of `taxMinor` that the buyer no longer owes, in minor units. */
  readonly reducedTaxMinor: number;
}

export type TaxedOrder = Pick<OrderAggregate, "totalMinor" | "reducedMinor" | "shippingReducedMinor"> &
  Omit<TaxedCartOrOrder, "lines"> & {
    readonly lines: readonly Pick<
      OrderLine,
      "id" | "subtotalMinor" | "discountMinor" | "taxRate" | "taxMinor" | "totalMinor" | "reducedMinor"
    >[];
  };

/**
 * Returns the tax lines of an order, the highest rate first. A reduction of a line or of the shipping price
 * reduces its tax in proportion. A reduction that belongs to no line, for example a refund as goodwill,
 * reduces all remaining taxes in proportion. If the whole order is reduced, all of its taxes are reduced.
 */
export function computeOrderTaxLines(order: TaxedOrder): readonly OrderTaxLine[] {
  if (order.taxMinor === null) return [];
  const parts = [...order.lines.map(toReducibleLine), ...listReducibleShippingParts(order)];
  const leftMinor = order.totalMinor - order.reducedMinor;
  const leftOfPartsMinor =
    order.lines.reduce((sum, line) => sum + line.totalMinor - line.reducedMinor, 0) +
    computeRemainingShippingPriceMinor(order);
  const remainingTaxOf = ({ taxMinor, totalMinor, reducedMinor }: ReduciblePart): number =>
    scale(scale(taxMinor, totalMinor - reducedMinor, totalMinor), leftMinor, leftOfPartsMinor);
  return groupTaxedPartsByRate(parts).map(({ taxRate, parts: own }) => {
    const line = toTaxLine(taxRate, own, order);
    const remainingMinor = own.reduce((sum, part) => sum + remainingTaxOf(part), 0);
    return Object.assign(line, { reducedTaxMinor: line.taxMinor - remainingMinor });
  });
}

/** Returns the tax lines as the column `sales_order.tax_lines` stores them for reports: without line ids. */
export const toStoredTaxLines = (order: TaxedOrder): readonly Omit<OrderTaxLine, "lineIds">[] =>
  computeOrderTaxLines(order).map(({ lineIds: _ids, ...line }) => line);

/**
 * A taxed part of an order: a line, or a part of the shipping price. Contains its total, and the amount of
 * the total that the buyer no longer owes.
 */
interface ReduciblePart extends TaxedLineOrShippingPart {
  readonly totalMinor: number;
  readonly reducedMinor: number;
}

const toReducibleLine = (line: TaxedOrder["lines"][number]): ReduciblePart => ({
  ...toTaxedLine(line),
  totalMinor: line.totalMinor,
  reducedMinor: line.reducedMinor,
});

/**
 * Returns the shipping price divided into one part for each tax rate. A reduction of the shipping price
 * reduces all parts in the same proportion.
 */
function listReducibleShippingParts(order: TaxedOrder): readonly ReduciblePart[] {
  const reducedMinor = order.shippingReducedMinor;
  const totalMinor = computeRemainingShippingPriceMinor(order) + reducedMinor;
  return listTaxedShippingParts(order).map((part) => Object.assign({ totalMinor, reducedMinor }, part));
}

/**
 * Reduces a tax in the proportion in which its amount was reduced, from `wholeMinor` to `leftMinor`, and
 * rounds it. Returns the whole tax if the amount was not reduced, and 0 if nothing of the amount is left.
 */
function scale(taxMinor: number, leftMinor: number, wholeMinor: number): number {
  if (leftMinor >= wholeMinor) return taxMinor;
  return leftMinor <= 0 ? 0 : multiplyAndDivideRoundingHalfEven(taxMinor, leftMinor, wholeMinor);
}
