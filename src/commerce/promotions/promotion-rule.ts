/** A promotion as carts evaluate it: its discount and its conditions. */
import type { DiscountRule } from "#commerce/pricing/discounts.ts";

export const promotionKinds = ["percentage", "fixed_amount", "free_shipping", "buy_x_get_y", "gift"] as const;
export type PromotionKind = (typeof promotionKinds)[number];

export const promotionStatuses = ["draft", "active", "paused", "ended"] as const;
export type PromotionStatus = (typeof promotionStatuses)[number];

/** Codes for why a promotion does not apply to a cart; part of the API's contract. */
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

/** A promotion with everything that decides whether and how it applies to one buyer's cart. */
export interface PromotionRule {
  readonly id: string;
  readonly trigger: "code" | "automatic";
  readonly status: PromotionStatus;
  readonly discount: DiscountRule;
  /**
   * Currency of the discount amount and the minimum subtotal; null if the promotion has neither of these
   * amounts.
   */
  readonly currency: string | null;
  readonly minimumSubtotalMinor: number | null;
  /** Minimum number of entitled units in the cart; null if there is no minimum. */
  readonly minimumQuantity: number | null;
  /** Ids of the markets in which the promotion applies; empty if it applies in all markets. */
  readonly marketIds: readonly string[];
  readonly requiresSignIn: boolean;
  readonly isForSomeBuyers: boolean;
  /**
   * True if the cart's buyer is one of the buyers to whom the promotion is limited, or if the promotion is
   * open to all buyers. Anonymous buyers can only use promotions that are open to all.
   */
  readonly isForThisBuyer: boolean;
  readonly startsAt: Date | null;
  readonly endsAt: Date | null;
  readonly usageLimit: number | null;
  readonly perBuyerLimit: number | null;
  readonly used: number;
  readonly usedByBuyer: number;
  readonly priority: number;
  /**
   * An exclusive automatic promotion applies alone. An exclusive code does not combine with automatic
   * promotions.
   */
  readonly isExclusive: boolean;
  /**
   * The promotion code in the cart, with its limit and number of uses; null if no code added the promotion to
   * the cart.
   */
  readonly code: { readonly id: string; readonly usageLimit: number | null; readonly used: number } | null;
}
