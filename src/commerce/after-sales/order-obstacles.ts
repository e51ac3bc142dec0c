/** What stands against anything being asked for after the sale: what the order is like, what was sold, and what the merchant's rules say. */
import type { ReturnRules } from "#commerce/markets/policy-rules.ts";
import { isOver, type Window } from "#commerce/orders/order-terms.ts";
import type { OrderAggregate, OrderLine } from "#commerce/orders/order-aggregate.ts";
import { noUnitsReason, returnableUnits } from "./line-units.ts";
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

export function ruleObstacles({ order, facts, line, isFault }: Asked, rules: ReturnRules): AfterSalesReason[] {
  const { excludedCountries, excludedCategoryIds } = rules;
  const waived = { blocking: !isFault };
  const [disabled, limited] = [selfServiceObstacles(rules), limitObstacles(rules, { facts, isFault })];
  return [
    ...disabled,
    ...(excludedCountries.includes(order.country) ? [obstacle("region_not_supported", waived)] : []),
    ...(line.categoryIds.some((id) => excludedCategoryIds.includes(id)) ? [obstacle("category_excluded", waived)] : []),
    ...limited,
  ];
}

/** What of the merchant's rules holds for what never came as well: where nothing comes back, it does not matter from where, or what it was. */
export function askingObstacles(asked: Pick<Asked, "facts" | "isFault">, rules: ReturnRules): AfterSalesReason[] {
  return [...selfServiceObstacles(rules), ...limitObstacles(rules, asked)];
}

function selfServiceObstacles({ mode }: ReturnRules): AfterSalesReason[] {
  return mode === "immediate" ? [] : [obstacle("self_service_disabled", { blocking: mode === "none" })];
}

function limitObstacles({ returnsPerBuyerMax: limit }: ReturnRules, { facts, isFault }: Pick<Asked, "facts" | "isFault">): AfterSalesReason[] {
  if (limit === null || facts.returnsOfBuyer < limit) return [];
  return [obstacle("buyer_limit_reached", { blocking: !isFault, data: { limit, returns: facts.returnsOfBuyer } })];
}

/** The time for it; for a fault the longer one, in which the merchant decides. */
export function timeObstacles({ facts, windows, isFault }: Asked, window: Window): { readonly window: Window; readonly reasons: AfterSalesReason[] } {
  if (!isOver(window, facts.now)) return { window, reasons: [] };
  const isExtended = isFault && !isOver(windows.faults, facts.now);
  const reasons = [obstacle("return_window_elapsed", { blocking: !isExtended, data: { endsAt: window.endsAt } })];
  return { window: isExtended ? windows.faults : window, reasons };
}
