/** The policies of an order that its after-sales are decided by, as they are shown. */
import { policyOf, type WindowClock } from "#commerce/orders/order-terms.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";

export interface AfterSalesPolicy {
  readonly id: string;
  readonly type: "return" | "warranty" | "withdrawal";
  readonly clock: WindowClock;
  /** Null: it has no end, or is counted in months. */
  readonly windowDays: number | null;
  readonly summary: string;
  readonly url: string | null;
}

export function afterSalesPolicies(order: OrderAggregate): AfterSalesPolicy[] {
  const [returns, withdrawal, warranty] = [policyOf(order, "return"), policyOf(order, "withdrawal"), policyOf(order, "warranty")];
  return [
    show(returns, { type: "return", clock: "delivered", windowDays: returns.rules.windowDays }),
    show(withdrawal, { type: "withdrawal", clock: "delivered", windowDays: withdrawal.rules.windowDays }),
    show(warranty, { type: "warranty", clock: "warranty_start", windowDays: warranty.rules.months === 0 ? 0 : null }),
  ];
}

function show(
  { id, summary, url }: Pick<AfterSalesPolicy, "id" | "summary" | "url">,
  { type, clock, windowDays }: Pick<AfterSalesPolicy, "type" | "clock" | "windowDays">,
): AfterSalesPolicy {
  return { id, type, clock, windowDays, summary, url };
}
