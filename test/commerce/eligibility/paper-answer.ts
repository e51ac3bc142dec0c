/**
 * Answers about the first line of in-memory orders, by default delivered on March 5th and asked about a day
 * later.
 */
import {
  evaluateAfterSalesEligibility,
  type AfterSalesEligibility,
} from "#commerce/after-sales/eligibility.ts";
import type {
  AfterSalesDataOutsideOrder,
  AfterSalesOption,
} from "#commerce/after-sales/after-sales-option.ts";
import type { ReturnKind } from "#commerce/orders/order-states.ts";
import { factsAt, paperOrder, type PaperOrder } from "./paper-order.ts";

export const at = "2026-03-05T09:00:00.000Z";
export const soon = "2026-03-06T09:00:00.000Z";
export const eur = (amountMinor: number): unknown => ({ amountMinor, currency: "EUR", exponent: 2 });

export const ask = (
  paper: PaperOrder,
  now = soon,
  facts: Partial<AfterSalesDataOutsideOrder> = {},
): AfterSalesEligibility => evaluateAfterSalesEligibility(paperOrder(paper), factsAt(now, facts));

export function optionOf({ lines }: AfterSalesEligibility, kind: ReturnKind): AfterSalesOption {
  const found = lines[0]?.options.find((option) => option.kind === kind);
  if (found === undefined) throw new Error(`There is no ${kind}.`);
  return found;
}

/**
 * Formats an option as decision, units and the codes of its reasons; codes in parentheses only need the
 * merchant's consent.
 */
export function shown({ decision, reasons, eligibleQuantity }: AfterSalesOption): string {
  const codes = reasons.map(({ code, blocking }) => (blocking ? code : `(${code})`));
  return [decision, eligibleQuantity, ...codes].join(" ");
}
