/**
 * Finds the obstacles to an after-sales request. Obstacles come from the order's state, the remaining units
 * of the order line, restrictions of the product, the merchant's return policy, and time limits.
 */
import type { ReturnRules } from "#commerce/markets/policy-rules.ts";
import { isTimeWindowOver, type OrderTimeWindow } from "#commerce/orders/order-terms.ts";
import type { OrderAggregate, OrderLine, OrderReturn } from "#commerce/orders/order-aggregate.ts";
import {
  isOpenReturn,
  countUnsentIntangibleUnits,
  getUncanceledQuantity,
} from "#commerce/orders/order-statuses.ts";
import type { AfterSalesOptionEvaluationInput } from "./after-sales-option.ts";
import { type AfterSalesObstacle, createAfterSalesObstacle } from "./reasons.ts";

/** Maximum number of returns of one order, in all statuses, so that the data of an order stays bounded. */
export const returnsPerOrderMax = 100;

interface OrderStateContext {
  /** True if the law gives the buyer the right to this request; false if only the merchant grants it. */
  readonly isRight: boolean;
  /** Obstacles that do not come from the order's state, for example from the merchant's return policy. */
  readonly reasons: readonly AfterSalesObstacle[];
}

/**
 * Returns the obstacles that come from the order's state, followed by the given other reasons. For a canceled
 * order, returns only "order canceled", because a reason about the order's units ("not sent yet") would
 * contradict the cancellation.
 */
export function prependOrderStateObstacles(
  order: OrderAggregate,
  { isRight, reasons }: OrderStateContext,
): AfterSalesObstacle[] {
  return order.status === "canceled"
    ? [createAfterSalesObstacle("order_canceled")]
    : [...findOrderStateObstacles(order, isRight), ...reasons];
}

/**
 * Returns the obstacles that come from the state of an order that is not canceled. A disputed payment or a
 * hold denies a request that is no statutory right. If the request is a statutory right (`isRight`), the
 * merchant decides it.
 */
function findOrderStateObstacles(
  { status, paymentStatus, payments, returns }: OrderAggregate,
  isRight: boolean,
): AfterSalesObstacle[] {
  const waits = { blocking: !isRight };
  const full = { limit: returnsPerOrderMax, returns: returns.length };
  return [
    ...(returns.length >= returnsPerOrderMax
      ? [createAfterSalesObstacle("buyer_limit_reached", { data: full })]
      : []),
    ...(paymentStatus === "refunded" ? [createAfterSalesObstacle("order_refunded")] : []),
    ...(payments.some(({ disputedAt }) => disputedAt !== null)
      ? [createAfterSalesObstacle("payment_disputed", waits)]
      : []),
    ...(status === "on_hold" ? [createAfterSalesObstacle("order_on_hold", waits)] : []),
  ];
}

/**
 * Number of units of an order line that an after-sales request may include. If the number is 0, `reasons`
 * says why.
 */
export interface ReturnableQuantityWithObstacles {
  readonly quantity: number;
  readonly reasons: readonly AfterSalesObstacle[];
}

/**
 * Counts the delivered units of an order line that can be returned. If no unit can be returned, also returns
 * the reason.
 */
export function countReturnableUnitsOfLine(
  order: OrderAggregate,
  line: OrderLine,
): ReturnableQuantityWithObstacles {
  const quantity = countReturnableUnits(order, line);
  return { quantity, reasons: quantity > 0 ? [] : [explainWhyNoUnitsAreReturnable(order, line)] };
}

const finalSaleRestrictions = ["no_returns", "final_sale"];

/**
 * Returns the obstacles that follow from restrictions of the product, for example "final sale". A restriction
 * denies the return, except for a hygiene seal, about which the merchant decides. If the merchant is at
 * fault, the merchant also decides about most other restrictions. Digital content and gift cards are always
 * denied, because the merchant cannot inspect them.
 */
export function findProductRestrictionObstacles({
  line,
  isFault,
}: AfterSalesOptionEvaluationInput): AfterSalesObstacle[] {
  const has = (restriction: string): boolean => line.restrictions.includes(restriction);
  const waived = { blocking: !isFault };
  return [
    ...(finalSaleRestrictions.some(has) ? [createAfterSalesObstacle("final_sale", waived)] : []),
    ...(has("custom_made") ? [createAfterSalesObstacle("custom_made", waived)] : []),
    ...(has("perishable") ? [createAfterSalesObstacle("perishable", waived)] : []),
    ...(has("hygiene_sealed") ? [createAfterSalesObstacle("hygiene_unsealed", { blocking: false })] : []),
    ...(has("digital") ? [createAfterSalesObstacle("digital_content_used")] : []),
    ...(has("gift_card") ? [createAfterSalesObstacle("gift_card")] : []),
  ];
}

/**
 * Returns the obstacles that come from the merchant's return policy. The policy can forbid return requests by
 * buyers, exclude a country or a category, or limit the number of a buyer's returns.
 */
export function findReturnPolicyObstacles(
  { order, facts, line, isFault }: AfterSalesOptionEvaluationInput,
  rules: ReturnRules,
): AfterSalesObstacle[] {
  const { excludedCountries, excludedCategoryIds } = rules;
  const waived = { blocking: !isFault };
  const [disabled, limited] = [selfServiceObstacles(rules), limitObstacles(rules, { facts, isFault })];
  return [
    ...disabled,
    ...(excludedCountries.includes(order.country)
      ? [createAfterSalesObstacle("region_not_supported", waived)]
      : []),
    ...(line.categoryIds.some((id) => excludedCategoryIds.includes(id))
      ? [createAfterSalesObstacle("category_excluded", waived)]
      : []),
    ...limited,
  ];
}

/**
 * Returns the obstacles that come from the merchant's return policy against a refund for undelivered units.
 * Excluded countries and categories do not matter, because the buyer sends no goods back.
 */
export function findUndeliveredUnitsRefundObstacles(
  context: Pick<AfterSalesOptionEvaluationInput, "facts" | "isFault">,
  rules: ReturnRules,
): AfterSalesObstacle[] {
  return [...selfServiceObstacles(rules), ...limitObstacles(rules, context)];
}

function selfServiceObstacles({ mode }: ReturnRules): AfterSalesObstacle[] {
  return mode === "immediate"
    ? []
    : [createAfterSalesObstacle("self_service_disabled", { blocking: mode === "none" })];
}

function limitObstacles(
  { returnsPerBuyerMax: limit }: ReturnRules,
  { facts, isFault }: Pick<AfterSalesOptionEvaluationInput, "facts" | "isFault">,
): AfterSalesObstacle[] {
  if (limit === null || facts.returnsOfBuyer < limit) return [];
  return [
    createAfterSalesObstacle("buyer_limit_reached", {
      blocking: !isFault,
      data: { limit, returns: facts.returnsOfBuyer },
    }),
  ];
}

/**
 * Checks the time window in which the buyer may request a return. If this window is over, returns a reason
 * that denies the return. Exception: if the merchant is at fault, the longer window `windows.faults` may
 * still be open. The merchant then decides, and the longer window is returned.
 */
export function findReturnWindowObstacles(
  { facts, windows, isFault }: AfterSalesOptionEvaluationInput,
  window: OrderTimeWindow,
): { readonly window: OrderTimeWindow; readonly reasons: AfterSalesObstacle[] } {
  if (!isTimeWindowOver(window, facts.now)) return { window, reasons: [] };
  const isExtended = isFault && !isTimeWindowOver(windows.faults, facts.now);
  const reasons = [
    createAfterSalesObstacle("return_window_elapsed", {
      blocking: !isExtended,
      data: { endsAt: window.endsAt },
    }),
  ];
  return { window: isExtended ? windows.faults : window, reasons };
}

type Returns = Pick<OrderAggregate, "returns">;

/**
 * Counts the delivered units of an order line that are not returned, not refunded and not part of an open
 * return.
 */
export function countReturnableUnits(order: Returns, line: OrderLine): number {
  const { delivered, returnRequested, returned } = line;
  return Math.max(
    0,
    Math.min(
      delivered - returnRequested - returned,
      getUncanceledQuantity(line) - returnRequested - countSettledUnits(order, line),
    ),
  );
}

/**
 * Counts the units of an order line that were refunded or exchanged, or that the merchant has accepted for a
 * refund.
 */
function countSettledUnits(order: Returns, line: OrderLine): number {
  return Math.max(
    line.returned,
    line.refunded +
      countAcceptedUnits(order, line, isExchanged) +
      countAcceptedUnits(order, line, isAwaitingRefund),
  );
}

/**
 * Counts the units of an order line that were refunded, or that the merchant has accepted for a refund.
 * Exchanged units are left out, because their price is not refunded.
 */
export function countUnitsRefundedOrAcceptedForRefund(order: Returns, line: OrderLine): number {
  return countSettledUnits(order, line) - countAcceptedUnits(order, line, isExchanged);
}

/**
 * Counts the units of services and digital products in an order line that the merchant has not provided yet.
 * Leaves out units for which the buyer has already requested a withdrawal.
 */
export function countWithdrawableUnsentIntangibleUnits({ returns }: Returns, line: OrderLine): number {
  const requestedReturns = returns.filter(
    (found) => found.status === "requested" && isWithdrawalOfUnsentUnits(found),
  );
  return Math.max(0, countUnsentIntangibleUnits(line) - countRequestedUnits(requestedReturns, line));
}

/**
 * Returns true if the return is a buyer's withdrawal from units that were never sent. The buyer sends no
 * goods back, so the merchant's approval completes the withdrawal.
 */
export const isWithdrawalOfUnsentUnits = ({ kind, method }: Pick<OrderReturn, "kind" | "method">): boolean =>
  kind === "withdrawal" && method === "keep_item";

/**
 * Counts the units of an order line that were sent and not delivered. Leaves out units that the buyer has
 * already reported as lost.
 */
export function countShippedUndeliveredUnits(
  { returns }: Pick<OrderAggregate, "returns">,
  line: OrderLine,
): number {
  const reportedLost = countRequestedUnits(
    returns.filter(
      ({ reason, status }) => reason === "not_received" && status !== "declined" && status !== "canceled",
    ),
    line,
  );
  return Math.max(
    0,
    Math.min(line.shipped - line.delivered - reportedLost, getUncanceledQuantity(line) - line.refunded),
  );
}

export function explainWhyNoUnitsAreReturnable(
  order: Pick<OrderAggregate, "returns">,
  line: OrderLine,
): AfterSalesObstacle {
  const { shipped, delivered, returned, returnRequested } = line;
  if (getUncanceledQuantity(line) === 0) return createAfterSalesObstacle("quantity_exhausted");
  if (shipped === 0) return createAfterSalesObstacle("not_fulfilled");
  if (delivered === 0) return createAfterSalesObstacle("not_delivered_yet");
  if (returnRequested > 0)
    return createAfterSalesObstacle("return_in_progress", {
      data: { returnIds: openReturnIds(order, line) },
    });
  return createAfterSalesObstacle(returned >= delivered ? "already_returned" : "quantity_exhausted");
}

function openReturnIds({ returns }: Pick<OrderAggregate, "returns">, line: OrderLine): string[] {
  return returns
    .filter((found) => isOpenReturn(found) && countRequestedUnits([found], line) > 0)
    .map(({ id }) => id);
}

/**
 * Returns true for an exchange whose returned goods the merchant has inspected. The accepted units of such a
 * return are exchanged and not refunded.
 */
const isExchanged = ({ kind, status }: OrderReturn): boolean =>
  kind === "exchange" && (status === "inspected" || status === "closed");

/** Returns true if the merchant has accepted the units of the return and not refunded them yet. */
const isAwaitingRefund = ({ kind, status }: OrderReturn): boolean =>
  (kind === "return_refund" || kind === "withdrawal") && status === "inspected";

function countAcceptedUnits(
  { returns }: Returns,
  { id }: OrderLine,
  isMeant: (found: OrderReturn) => boolean,
): number {
  const lines = returns.filter(isMeant).flatMap((found) => found.lines);
  return lines.reduce((sum, { lineId, accepted }) => (lineId === id ? sum + accepted : sum), 0);
}

function countRequestedUnits(returns: readonly OrderReturn[], { id }: OrderLine): number {
  return returns
    .flatMap(({ lines }) => lines)
    .reduce((sum, { lineId, quantity }) => (lineId === id ? sum + quantity : sum), 0);
}
