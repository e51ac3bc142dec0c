/**
 * Reasons against a request after the sale: the state of the order, the units of a line that are left, what
 * was sold, what the merchant's rules say, and the time.
 */
import type { ReturnRules } from "#commerce/markets/policy-rules.ts";
import { isOver, type Window } from "#commerce/orders/order-terms.ts";
import type { OrderAggregate, OrderLine, OrderReturn } from "#commerce/orders/order-aggregate.ts";
import { isOpenReturn, unsentIntangibles, wantedOf } from "#commerce/orders/order-statuses.ts";
import type { AfterSalesOptionContext } from "./after-sales-option.ts";
import { type AfterSalesReason, afterSalesObstacle } from "./reasons.ts";

/** So many cases an order has at most, whatever became of them: it must not grow without end. */
export const returnsPerOrderMax = 100;

/** What a buyer has a right to waits for the merchant where a merchant's own offer ends. */
export function orderStateObstacles(
  { status, paymentStatus, payments, returns }: OrderAggregate,
  { isRight }: { readonly isRight: boolean },
): AfterSalesReason[] {
  if (status === "canceled") return [afterSalesObstacle("order_canceled")];
  const waits = { blocking: !isRight };
  const full = { limit: returnsPerOrderMax, returns: returns.length };
  return [
    ...(returns.length >= returnsPerOrderMax
      ? [afterSalesObstacle("buyer_limit_reached", { data: full })]
      : []),
    ...(paymentStatus === "refunded" ? [afterSalesObstacle("order_refunded")] : []),
    ...(payments.some(({ disputedAt }) => disputedAt !== null)
      ? [afterSalesObstacle("payment_disputed", waits)]
      : []),
    ...(status === "on_hold" ? [afterSalesObstacle("order_on_hold", waits)] : []),
  ];
}

export interface ReturnableUnits {
  readonly quantity: number;
  readonly reasons: readonly AfterSalesReason[];
}

/** The units that came, or why there are none. */
export function checkReturnableUnits(order: OrderAggregate, line: OrderLine): ReturnableUnits {
  const quantity = countReturnableUnits(order, line);
  return { quantity, reasons: quantity > 0 ? [] : [explainNoReturnableUnits(order, line)] };
}

const finalSaleRestrictions = ["no_returns", "final_sale"];

/** A fault is the merchant's whatever was agreed on, but for what cannot be looked at any more. */
export function productRestrictionObstacles({ line, isFault }: AfterSalesOptionContext): AfterSalesReason[] {
  const has = (restriction: string): boolean => line.restrictions.includes(restriction);
  const waived = { blocking: !isFault };
  return [
    ...(finalSaleRestrictions.some(has) ? [afterSalesObstacle("final_sale", waived)] : []),
    ...(has("custom_made") ? [afterSalesObstacle("custom_made", waived)] : []),
    ...(has("perishable") ? [afterSalesObstacle("perishable", waived)] : []),
    ...(has("hygiene_sealed") ? [afterSalesObstacle("hygiene_unsealed", { blocking: false })] : []),
    ...(has("digital") ? [afterSalesObstacle("digital_content_used")] : []),
    ...(has("gift_card") ? [afterSalesObstacle("gift_card")] : []),
  ];
}

export function returnPolicyObstacles(
  { order, facts, line, isFault }: AfterSalesOptionContext,
  rules: ReturnRules,
): AfterSalesReason[] {
  const { excludedCountries, excludedCategoryIds } = rules;
  const waived = { blocking: !isFault };
  const [disabled, limited] = [selfServiceObstacles(rules), limitObstacles(rules, { facts, isFault })];
  return [
    ...disabled,
    ...(excludedCountries.includes(order.country)
      ? [afterSalesObstacle("region_not_supported", waived)]
      : []),
    ...(line.categoryIds.some((id) => excludedCategoryIds.includes(id))
      ? [afterSalesObstacle("category_excluded", waived)]
      : []),
    ...limited,
  ];
}

/**
 * What of the merchant's rules holds for what never came as well: where nothing comes back, it does not
 * matter from where, or what it was.
 */
export function undeliveredRefundPolicyObstacles(
  asked: Pick<AfterSalesOptionContext, "facts" | "isFault">,
  rules: ReturnRules,
): AfterSalesReason[] {
  return [...selfServiceObstacles(rules), ...limitObstacles(rules, asked)];
}

function selfServiceObstacles({ mode }: ReturnRules): AfterSalesReason[] {
  return mode === "immediate"
    ? []
    : [afterSalesObstacle("self_service_disabled", { blocking: mode === "none" })];
}

function limitObstacles(
  { returnsPerBuyerMax: limit }: ReturnRules,
  { facts, isFault }: Pick<AfterSalesOptionContext, "facts" | "isFault">,
): AfterSalesReason[] {
  if (limit === null || facts.returnsOfBuyer < limit) return [];
  return [
    afterSalesObstacle("buyer_limit_reached", {
      blocking: !isFault,
      data: { limit, returns: facts.returnsOfBuyer },
    }),
  ];
}

/** The time for it; for a fault the longer one, in which the merchant decides. */
export function windowObstacles(
  { facts, windows, isFault }: AfterSalesOptionContext,
  window: Window,
): { readonly window: Window; readonly reasons: AfterSalesReason[] } {
  if (!isOver(window, facts.now)) return { window, reasons: [] };
  const isExtended = isFault && !isOver(windows.faults, facts.now);
  const reasons = [
    afterSalesObstacle("return_window_elapsed", { blocking: !isExtended, data: { endsAt: window.endsAt } }),
  ];
  return { window: isExtended ? windows.faults : window, reasons };
}

type Returns = Pick<OrderAggregate, "returns">;

/** In the buyer's hands and paid for: neither returned nor about to be, nor given back the money for. */
export function countReturnableUnits(order: Returns, line: OrderLine): number {
  const { delivered, returnRequested, returned } = line;
  return Math.max(
    0,
    Math.min(
      delivered - returnRequested - returned,
      wantedOf(line) - returnRequested - countSettledUnits(order, line),
    ),
  );
}

/** Given the money for, or something else, or about to be. */
function countSettledUnits(order: Returns, line: OrderLine): number {
  return Math.max(
    line.returned,
    line.refunded +
      countAcceptedUnits(order, line, isExchanged) +
      countAcceptedUnits(order, line, isAwaitingRefund),
  );
}

/** Of them, those that no money is kept for: what was exchanged is paid for as before. */
export function countRefundedOrDueUnits(order: Returns, line: OrderLine): number {
  return countSettledUnits(order, line) - countAcceptedUnits(order, line, isExchanged);
}

/** What nobody sends, or has sent yet, and nobody has asked for to be taken off. */
export function countWithdrawableUnsentUnits({ returns }: Returns, line: OrderLine): number {
  const asked = returns.filter((found) => found.status === "requested" && isWithdrawalOfUnsentUnits(found));
  return Math.max(0, unsentIntangibles(line) - countRequestedUnits(asked, line));
}

/** Withdrawn from before anything was sent: nothing comes back, so it is settled with its approval. */
export const isWithdrawalOfUnsentUnits = ({ kind, method }: Pick<OrderReturn, "kind" | "method">): boolean =>
  kind === "withdrawal" && method === "keep_item";

/** Sent and not arrived, and not told to be lost before. */
export function countUndeliveredUnits({ returns }: Pick<OrderAggregate, "returns">, line: OrderLine): number {
  const told = countRequestedUnits(
    returns.filter(
      ({ reason, status }) => reason === "not_received" && status !== "declined" && status !== "canceled",
    ),
    line,
  );
  return Math.max(0, Math.min(line.shipped - line.delivered - told, wantedOf(line) - line.refunded));
}

export function explainNoReturnableUnits(
  order: Pick<OrderAggregate, "returns">,
  line: OrderLine,
): AfterSalesReason {
  const { shipped, delivered, returned, returnRequested } = line;
  if (wantedOf(line) === 0) return afterSalesObstacle("quantity_exhausted");
  if (shipped === 0) return afterSalesObstacle("not_fulfilled");
  if (delivered === 0) return afterSalesObstacle("not_delivered_yet");
  if (returnRequested > 0)
    return afterSalesObstacle("return_in_progress", { data: { returnIds: openReturnIds(order, line) } });
  return afterSalesObstacle(returned >= delivered ? "already_returned" : "quantity_exhausted");
}

function openReturnIds({ returns }: Pick<OrderAggregate, "returns">, line: OrderLine): string[] {
  return returns
    .filter((found) => isOpenReturn(found) && countRequestedUnits([found], line) > 0)
    .map(({ id }) => id);
}

/** Came back, and something else went out for them: no money did. */
const isExchanged = ({ kind, status }: OrderReturn): boolean =>
  kind === "exchange" && (status === "inspected" || status === "closed");

/** Came back and was accepted; the money for them has not gone back yet. */
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
