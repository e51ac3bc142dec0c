/**
 * What a buyer may do about what can no longer be canceled: send it back, or withdraw from it. Only as a hint where to ask; how much, and on which
 * terms, the after-sales tell.
 */
import { arrivalOf, isOver, policyOf, turnsOf, type Window, windowFrom, withdrawalFromPlacing, withdrawalWindow } from "./order-terms.ts";
import type { OrderAggregate, OrderLine } from "./order-aggregate.ts";
import { wantedOf } from "./order-statuses.ts";

export interface AfterSaleWays {
  readonly canReturn: boolean;
  readonly canWithdraw: boolean;
  /** The instants (milliseconds) at which time alone may change that. */
  readonly turns: readonly number[];
}

export function afterSaleWays(order: OrderAggregate, now: Date): AfterSaleWays {
  if (order.status === "canceled" || order.paymentStatus === "refunded") return { canReturn: false, canWithdraw: false, turns: [] };
  const [returns, withdrawals] = [returnWindows(order), withdrawalWindows(order)];
  const isOpen = (window: Window): boolean => !isOver(window, now);
  return { canReturn: returns.some(isOpen), canWithdraw: withdrawals.some(isOpen), turns: [...returns, ...withdrawals].flatMap(turnsOf) };
}

const neverTakenBack = ["no_returns", "final_sale", "custom_made", "perishable", "digital", "gift_card"];

/** Of what was sent and is taken back as the merchant's rules stand. */
function returnWindows(order: OrderAggregate): Window[] {
  const { mode, windowDays, extendUntil, excludedCountries, excludedCategoryIds } = policyOf(order, "return").rules;
  if (mode === "none" || excludedCountries.includes(order.country)) return [];
  const counted = { ...(windowDays === null ? {} : { days: windowDays }), extendUntil };
  const isTaken = ({ categoryIds }: OrderLine): boolean => !categoryIds.some((id) => excludedCategoryIds.includes(id));
  const lines = order.lines.filter((line) => isKept(line) && isTaken(line) && !isAny(line, neverTakenBack));
  return lines.map((line) => windowFrom(order, arrivalOf(order, line), counted));
}

/** Directive 2011/83/EU, articles 9 and 16; what nobody has sent yet is withdrawn from as well where it is none that is carried. */
function withdrawalWindows(order: OrderAggregate): Window[] {
  const { windowDays } = policyOf(order, "withdrawal").rules;
  if (windowDays === 0) return [];
  const lines = order.lines.filter((line) => !isAny(line, ["custom_made", "perishable"]));
  const isSent = lines.some((line) => isKept(line) && !isAny(line, ["digital"]));
  const isPromised = lines.some((line) => unsentIntangibles(line) > 0);
  return [...(isSent ? [withdrawalWindow(order, windowDays)] : []), ...(isPromised ? [withdrawalFromPlacing(order, windowDays)] : [])];
}

const isKept = ({ shipped, returned, returnRequested }: OrderLine): boolean => shipped > returned + returnRequested;
const isAny = ({ restrictions }: OrderLine, some: readonly string[]): boolean => some.some((restriction) => restrictions.includes(restriction));

/** Services, and digital things that nobody has given out yet: ordered, not sent, and not paid back. */
export function unsentIntangibles(line: OrderLine): number {
  if (line.requiresShipping) return 0;
  return Math.max(0, wantedOf(line) - line.shipped - Math.max(0, line.refunded - line.shipped));
}
