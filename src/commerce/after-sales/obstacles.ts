/**
 * Reasons against a request after the sale: the state of the order, the units of a line that are left, what
 * was sold, what the merchant's rules say, and the time.
 */
import type { ReturnRules } from "#commerce/markets/policy-rules.ts";
import { isOver, type Window } from "#commerce/orders/order-terms.ts";
import type { OrderAggregate, OrderLine, OrderReturn } from "#commerce/orders/order-aggregate.ts";
import { isOpenReturn, unsentIntangibles, wantedOf } from "#commerce/orders/order-statuses.ts";
import type { Asked } from "./option.ts";
import { type AfterSalesReason, obstacle } from "./reasons.ts";

/** So many cases an order has at most, whatever became of them: it must not grow without end. */
export const returnsPerOrderMax = 100;

/** What a buyer has a right to waits for the merchant where a merchant's own offer ends. */
export function orderObstacles(
  { status, paymentStatus, payments, returns }: OrderAggregate,
  { isRight }: { readonly isRight: boolean },
): AfterSalesReason[] {
  if (status === "canceled") return [obstacle("order_canceled")];
  const waits = { blocking: !isRight };
  const full = { limit: returnsPerOrderMax, returns: returns.length };
  return [
    ...(returns.length >= returnsPerOrderMax ? [obstacle("buyer_limit_reached", { data: full })] : []),
    ...(paymentStatus === "refunded" ? [obstacle("order_refunded")] : []),
    ...(payments.some(({ disputedAt }) => disputedAt !== null) ? [obstacle("payment_disputed", waits)] : []),
    ...(status === "on_hold" ? [obstacle("order_on_hold", waits)] : []),
  ];
}

export interface Units {
  readonly quantity: number;
  readonly reasons: readonly AfterSalesReason[];
}

/** The units that came, or why there are none. */
export function returnable(order: OrderAggregate, line: OrderLine): Units {
  const quantity = returnableUnits(order, line);
  return { quantity, reasons: quantity > 0 ? [] : [noUnitsReason(order, line)] };
}

const soldForGood = ["no_returns", "final_sale"];

/** A fault is the merchant's whatever was agreed on, but for what cannot be looked at any more. */
export function restrictionObstacles({ line, isFault }: Asked): AfterSalesReason[] {
  const has = (restriction: string): boolean => line.restrictions.includes(restriction);
  const waived = { blocking: !isFault };
  return [
    ...(soldForGood.some(has) ? [obstacle("final_sale", waived)] : []),
    ...(has("custom_made") ? [obstacle("custom_made", waived)] : []),
    ...(has("perishable") ? [obstacle("perishable", waived)] : []),
    ...(has("hygiene_sealed") ? [obstacle("hygiene_unsealed", { blocking: false })] : []),
    ...(has("digital") ? [obstacle("digital_content_used")] : []),
    ...(has("gift_card") ? [obstacle("gift_card")] : []),
  ];
}

export function ruleObstacles(
  { order, facts, line, isFault }: Asked,
  rules: ReturnRules,
): AfterSalesReason[] {
  const { excludedCountries, excludedCategoryIds } = rules;
  const waived = { blocking: !isFault };
  const [disabled, limited] = [selfServiceObstacles(rules), limitObstacles(rules, { facts, isFault })];
  return [
    ...disabled,
    ...(excludedCountries.includes(order.country) ? [obstacle("region_not_supported", waived)] : []),
    ...(line.categoryIds.some((id) => excludedCategoryIds.includes(id))
      ? [obstacle("category_excluded", waived)]
      : []),
    ...limited,
  ];
}

/**
 * What of the merchant's rules holds for what never came as well: where nothing comes back, it does not
 * matter from where, or what it was.
 */
export function askingObstacles(
  asked: Pick<Asked, "facts" | "isFault">,
  rules: ReturnRules,
): AfterSalesReason[] {
  return [...selfServiceObstacles(rules), ...limitObstacles(rules, asked)];
}

function selfServiceObstacles({ mode }: ReturnRules): AfterSalesReason[] {
  return mode === "immediate" ? [] : [obstacle("self_service_disabled", { blocking: mode === "none" })];
}

function limitObstacles(
  { returnsPerBuyerMax: limit }: ReturnRules,
  { facts, isFault }: Pick<Asked, "facts" | "isFault">,
): AfterSalesReason[] {
  if (limit === null || facts.returnsOfBuyer < limit) return [];
  return [
    obstacle("buyer_limit_reached", { blocking: !isFault, data: { limit, returns: facts.returnsOfBuyer } }),
  ];
}

/** The time for it; for a fault the longer one, in which the merchant decides. */
export function timeObstacles(
  { facts, windows, isFault }: Asked,
  window: Window,
): { readonly window: Window; readonly reasons: AfterSalesReason[] } {
  if (!isOver(window, facts.now)) return { window, reasons: [] };
  const isExtended = isFault && !isOver(windows.faults, facts.now);
  const reasons = [
    obstacle("return_window_elapsed", { blocking: !isExtended, data: { endsAt: window.endsAt } }),
  ];
  return { window: isExtended ? windows.faults : window, reasons };
}

type Returns = Pick<OrderAggregate, "returns">;

/** In the buyer's hands and paid for: neither returned nor about to be, nor given back the money for. */
export function returnableUnits(order: Returns, line: OrderLine): number {
  const { delivered, returnRequested, returned } = line;
  return Math.max(
    0,
    Math.min(
      delivered - returnRequested - returned,
      wantedOf(line) - returnRequested - settledUnits(order, line),
    ),
  );
}

/** Given the money for, or something else, or about to be. */
function settledUnits(order: Returns, line: OrderLine): number {
  return Math.max(
    line.returned,
    line.refunded + acceptedUnits(order, line, isExchanged) + acceptedUnits(order, line, isUnpaid),
  );
}

/** Of them, those that no money is kept for: what was exchanged is paid for as before. */
export function paidBackUnits(order: Returns, line: OrderLine): number {
  return settledUnits(order, line) - acceptedUnits(order, line, isExchanged);
}

/** What nobody sends, or has sent yet, and nobody has asked for to be taken off. */
export function withdrawableUnsent({ returns }: Returns, line: OrderLine): number {
  const asked = returns.filter((found) => found.status === "requested" && isOfUnsent(found));
  return Math.max(0, unsentIntangibles(line) - unitsOf(asked, line));
}

/** Withdrawn from before anything was sent: nothing comes back, so it is settled with its approval. */
export const isOfUnsent = ({ kind, method }: Pick<OrderReturn, "kind" | "method">): boolean =>
  kind === "withdrawal" && method === "keep_item";

/** Sent and not arrived, and not told to be lost before. */
export function undeliveredUnits({ returns }: Pick<OrderAggregate, "returns">, line: OrderLine): number {
  const told = unitsOf(
    returns.filter(
      ({ reason, status }) => reason === "not_received" && status !== "declined" && status !== "canceled",
    ),
    line,
  );
  return Math.max(0, Math.min(line.shipped - line.delivered - told, wantedOf(line) - line.refunded));
}

export function noUnitsReason(order: Pick<OrderAggregate, "returns">, line: OrderLine): AfterSalesReason {
  const { shipped, delivered, returned, returnRequested } = line;
  if (wantedOf(line) === 0) return obstacle("quantity_exhausted");
  if (shipped === 0) return obstacle("not_fulfilled");
  if (delivered === 0) return obstacle("not_delivered_yet");
  if (returnRequested > 0)
    return obstacle("return_in_progress", { data: { returnIds: openReturnIds(order, line) } });
  return obstacle(returned >= delivered ? "already_returned" : "quantity_exhausted");
}

function openReturnIds({ returns }: Pick<OrderAggregate, "returns">, line: OrderLine): string[] {
  return returns.filter((found) => isOpenReturn(found) && unitsOf([found], line) > 0).map(({ id }) => id);
}

/** Came back, and something else went out for them: no money did. */
const isExchanged = ({ kind, status }: OrderReturn): boolean =>
  kind === "exchange" && (status === "inspected" || status === "closed");

/** Came back and was accepted; the money for them has not gone back yet. */
const isUnpaid = ({ kind, status }: OrderReturn): boolean =>
  (kind === "return_refund" || kind === "withdrawal") && status === "inspected";

function acceptedUnits(
  { returns }: Returns,
  { id }: OrderLine,
  isMeant: (found: OrderReturn) => boolean,
): number {
  const lines = returns.filter(isMeant).flatMap((found) => found.lines);
  return lines.reduce((sum, { lineId, accepted }) => (lineId === id ? sum + accepted : sum), 0);
}

function unitsOf(returns: readonly OrderReturn[], { id }: OrderLine): number {
  return returns
    .flatMap(({ lines }) => lines)
    .reduce((sum, { lineId, quantity }) => (lineId === id ? sum + quantity : sum), 0);
}
