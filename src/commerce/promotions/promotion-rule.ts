/** A promotion as the cart's rules see it: what it takes off, and on which conditions. */
import type { DiscountRule } from "#commerce/pricing/discounts.ts";

export const promotionKinds = ["percentage", "fixed_amount", "free_shipping", "buy_x_get_y", "gift"] as const;
export type PromotionKind = (typeof promotionKinds)[number];

export const promotionStatuses = ["draft", "active", "paused", "ended"] as const;
export type PromotionStatus = (typeof promotionStatuses)[number];

/** Why a promotion does not apply, in the contract's words. */
export const promotionRefusalReasons = [
  "not_started",
  "ended",
  "paused",
  "usage_limit_reached",
  "customer_usage_limit_reached",
  "customer_not_eligible",
  "sign_in_required",
  "minimum_subtotal_not_met",
  "minimum_quantity_not_met",
  "no_entitled_lines",
  "market_not_eligible",
  "currency_mismatch",
  "combination_disallowed",
  "superseded_by_better_deal",
] as const;
export type PromotionRefusalReason = (typeof promotionRefusalReasons)[number];

export interface PromotionRule {
  readonly id: string;
  readonly trigger: "code" | "automatic";
  readonly status: PromotionStatus;
  readonly discount: DiscountRule;
  /** Of the amount and of the minimum subtotal; null where there is neither. */
  readonly currency: string | null;
  readonly minimumSubtotalMinor: number | null;
  /** Of entitled units. */
  readonly minimumQuantity: number | null;
  /** Empty: every market. */
  readonly marketIds: readonly string[];
  readonly requiresSignIn: boolean;
  readonly isForSomeBuyers: boolean;
  /** Of a rule for all buyers it is true, also where nobody is known. */
  readonly isForThisBuyer: boolean;
  readonly startsAt: Date | null;
  readonly endsAt: Date | null;
  readonly usageLimit: number | null;
  readonly perBuyerLimit: number | null;
  readonly used: number;
  readonly usedByBuyer: number;
  readonly priority: number;
  /** Automatic: takes part alone. Code: does not stand beside automatic ones. */
  readonly isExclusive: boolean;
  /** The code's own limit, where it is one. */
  readonly code: { readonly id: string; readonly usageLimit: number | null; readonly used: number } | null;
}
