/**
 * Finds what a buyer can do instead of canceling an order: return units, withdraw from the purchase or
 * contact the merchant. Also finds the times at which these alternatives change.
 */
import { type EligibilityDecision } from "#commerce/orders/eligibility-reason.ts";
import type { OrderAggregate, OrderLine } from "#commerce/orders/order-aggregate.ts";
import {
  calculateOrderLineArrival,
  isTimeWindowOver,
  getOrderPolicy,
  getTimeWindowBoundaries,
  type OrderTimeWindow,
  calculateTimeWindowFromArrival,
  calculateWithdrawalWindowFromPurchase,
  calculateWithdrawalWindow,
} from "#commerce/orders/order-terms.ts";
import { countUnsentIntangibleUnits } from "#commerce/orders/order-statuses.ts";

export type OrderCancellationAlternative = "return" | "withdrawal" | "contact_merchant";

interface CancellationAlternatives {
  readonly alternatives: OrderCancellationAlternative[];
  readonly changesAt: readonly number[];
}

/** Finds what the buyer can do instead of canceling, and the times at which these alternatives may change. */
export function findCancellationAlternatives(
  order: OrderAggregate,
  { decision, now }: { readonly decision: EligibilityDecision; readonly now: Date },
): CancellationAlternatives {
  const { canReturn, canWithdraw, changesAt } = afterSalesWindowsAt(order, now);
  const canContactMerchant =
    decision === "denied" && order.status !== "canceled" && order.merchant.status === "active";
  return {
    alternatives: [
      ...(canReturn ? (["return"] as const) : []),
      ...(canWithdraw ? (["withdrawal"] as const) : []),
      ...(canContactMerchant ? (["contact_merchant"] as const) : []),
    ],
    changesAt,
  };
}

/**
 * Whether the buyer of an order can probably return units or withdraw from the purchase. This estimate does
 * not consider which units were returned already; the GraphQL query `afterSalesEligibility` does, and also
 * gives the quantities and terms.
 */
interface AfterSalesWindows {
  readonly canReturn: boolean;
  readonly canWithdraw: boolean;
  /** Times, in milliseconds since 1970, at which the alternatives may change without a change of the order. */
  readonly changesAt: readonly number[];
}

function afterSalesWindowsAt(order: OrderAggregate, now: Date): AfterSalesWindows {
  if (order.status === "canceled" || order.paymentStatus === "refunded")
    return { canReturn: false, canWithdraw: false, changesAt: [] };
  const [returns, withdrawals] = [returnWindows(order), withdrawalWindows(order)];
  const isOpen = (window: OrderTimeWindow): boolean => !isTimeWindowOver(window, now);
  return {
    canReturn: returns.some(isOpen),
    canWithdraw: withdrawals.some(isOpen),
    changesAt: [...returns, ...withdrawals].flatMap(getTimeWindowBoundaries),
  };
}

const nonReturnable = ["no_returns", "final_sale", "custom_made", "perishable", "digital", "gift_card"];

/**
 * Returns the return windows of those order lines that have sent units and whose products the merchant's
 * return policy allows to be returned.
 */
function returnWindows(order: OrderAggregate): OrderTimeWindow[] {
  const { mode, windowDays, extendUntil, excludedCountries, excludedCategoryIds } = getOrderPolicy(
    order,
    "return",
  ).rules;
  if (mode === "none" || excludedCountries.includes(order.country)) return [];
  const counted = { ...(windowDays === null ? {} : { days: windowDays }), extendUntil };
  const isTaken = ({ categoryIds }: OrderLine): boolean =>
    !categoryIds.some((id) => excludedCategoryIds.includes(id));
  const lines = order.lines.filter(
    (line) => hasKeptUnits(line) && isTaken(line) && !hasRestriction(line, nonReturnable),
  );
  return lines.map((line) =>
    calculateTimeWindowFromArrival(order, calculateOrderLineArrival(order, line), counted),
  );
}

/**
 * Returns the withdrawal windows of an order (Directive 2011/83/EU, articles 9 and 16). Services and digital
 * products that the merchant has not provided yet have a separate window, which starts with the purchase.
 */
function withdrawalWindows(order: OrderAggregate): OrderTimeWindow[] {
  const { windowDays } = getOrderPolicy(order, "withdrawal").rules;
  if (windowDays === 0) return [];
  const lines = order.lines.filter((line) => !hasRestriction(line, ["custom_made", "perishable"]));
  const isSent = lines.some((line) => hasKeptUnits(line) && !hasRestriction(line, ["digital"]));
  const isPromised = lines.some((line) => countUnsentIntangibleUnits(line) > 0);
  return [
    ...(isSent ? [calculateWithdrawalWindow(order, windowDays)] : []),
    ...(isPromised ? [calculateWithdrawalWindowFromPurchase(order, windowDays)] : []),
  ];
}

const hasKeptUnits = ({ shipped, returned, returnRequested }: OrderLine): boolean =>
  shipped > returned + returnRequested;
const hasRestriction = ({ restrictions }: OrderLine, some: readonly string[]): boolean =>
  some.some((restriction) => restrictions.includes(restriction));
