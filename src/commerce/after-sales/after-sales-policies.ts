/** The policies of an order that its after-sales options depend on, as shown to the buyer. */
import { getOrderPolicy, type WindowStartEvent } from "#commerce/orders/order-terms.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";

/** A policy of the order (return, warranty or withdrawal) that after-sales options depend on. */
export interface AfterSalesPolicy {
  readonly id: string;
  readonly type: "return" | "warranty" | "withdrawal";
  readonly clock: WindowStartEvent;
  /** Length of the policy's window in days; null if the window has no end or is counted in months. */
  readonly windowDays: number | null;
  readonly summary: string;
  readonly url: string | null;
}

/** Returns the order's return, withdrawal and warranty policies. */
export function getAfterSalesPolicies(order: OrderAggregate): AfterSalesPolicy[] {
  const [returns, withdrawals, warranty] = [
    getOrderPolicy(order, "return"),
    getOrderPolicy(order, "withdrawal"),
    getOrderPolicy(order, "warranty"),
  ];
  return [
    toAfterSalesPolicy(returns, { type: "return", clock: "delivered", windowDays: returns.rules.windowDays }),
    toAfterSalesPolicy(withdrawals, {
      type: "withdrawal",
      clock: "delivered",
      windowDays: withdrawals.rules.windowDays,
    }),
    toAfterSalesPolicy(warranty, {
      type: "warranty",
      clock: "warranty_start",
      windowDays: warranty.rules.months === 0 ? 0 : null,
    }),
  ];
}

function toAfterSalesPolicy(
  { id, summary, url }: Pick<AfterSalesPolicy, "id" | "summary" | "url">,
  { type, clock, windowDays }: Pick<AfterSalesPolicy, "type" | "clock" | "windowDays">,
): AfterSalesPolicy {
  return { id, type, clock, windowDays, summary, url };
}
