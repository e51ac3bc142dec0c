/** An amount that somebody names: it must be one, and in the order's currency. */
import { faultAt, type Faults, integerFaults, requireNoFaults } from "#foundation/faults.ts";
import { amountMinorMax } from "#foundation/money.ts";
import type { OrderAggregate } from "./order-aggregate.ts";

export interface AmountInput {
  readonly amountMinor: number;
  readonly currency: string;
}

/** Absent, it breaks nothing. */
export function amountFaults(amount: AmountInput | null | undefined): Faults {
  return integerFaults("/amount/amountMinor", amount?.amountMinor, { min: 1, max: amountMinorMax });
}

export function requireCurrency({ currency }: OrderAggregate, amount: AmountInput | null | undefined): void {
  if (amount === null || amount === undefined || amount.currency === currency) return;
  requireNoFaults([faultAt("/amount/currency", "currency_mismatch", "It must be the order's currency.")]);
}
