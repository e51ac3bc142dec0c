/** The policies of an order on which its after-sales options depend, as shown to the buyer. */
import { getOrderPolicy, type TimeWindowStartEvent } from "#commerce/orders/order-terms.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";

/** A policy of an order on which its after-sales options depend: on returns, warranty or withdrawal. */
export interface AfterSalesPolicy {
  readonly id: string;
  readonly type: "return" | "warranty" | "withdrawal";
  readonly clock: TimeWindowStartEvent;
  /** Length of the policy's time window in days; null if the window has no end or is counted in months. */
  readonly windowDays: number | null;
  readonly summary: string;
  readonly url: string | null;
}

/** Returns the order's policies on returns, withdrawals and warranty. */
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
