/** Defines a promotion in the form in which carts use it: its discount and its conditions. */
import type { DiscountRule } from "#commerce/pricing/discounts.ts";

export const promotionKinds = ["percentage", "fixed_amount", "free_shipping", "buy_x_get_y", "gift"] as const;
export type PromotionKind = (typeof promotionKinds)[number];

export const promotionStatuses = ["draft", "active", "paused", "ended"] as const;
export type PromotionStatus = (typeof promotionStatuses)[number];

/** The codes of the reasons why a promotion does not apply to a cart. Clients of the API rely on these codes. */
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

/**
 * A promotion with all data that decides whether the promotion applies to the cart of one buyer, and which
 * discount it gives.
 */
export interface PromotionRule {
  readonly id: string;
  readonly trigger: "code" | "automatic";
  readonly status: PromotionStatus;
  readonly discount: DiscountRule;
  /** Currency of the discount amount and of the minimum subtotal; null if the promotion has neither. */
  readonly currency: string | null;
  readonly minimumSubtotalMinor: number | null;
  /** Minimum number of units in the cart to which the promotion applies; null if there is no minimum. */
  readonly minimumQuantity: number | null;
  /** Ids of the markets in which the promotion is valid; empty if it is valid in all markets. */
  readonly marketIds: readonly string[];
  readonly requiresSignIn: boolean;
  readonly isForSomeBuyers: boolean;
  /**
   * True if the promotion is open to all buyers, or if the cart's buyer is one of the buyers to whom it is
   * limited. Anonymous buyers can only use promotions that are open to all buyers.
   */
  readonly isForThisBuyer: boolean;
  readonly startsAt: Date | null;
  readonly endsAt: Date | null;
  readonly usageLimit: number | null;
  readonly perBuyerLimit: number | null;
  readonly used: number;
  readonly usedByBuyer: number;
  readonly priority: number;
  /** True if the promotion does not combine with automatic promotions. */
  readonly isExclusive: boolean;
  /**
   * The promotion code in the cart, with its usage limit and its number of uses; null for an automatic
   * promotion.
   */
  readonly code: { readonly id: string; readonly usageLimit: number | null; readonly used: number } | null;
}
