/** The words of carts. */
import type { CartStatus, RevocationReason, WarningCode } from "#commerce/carts/cart-aggregate.ts";
import type { RefusalReason } from "#commerce/promotions/promotion-rule.ts";
import { defineEnum } from "#graph/enums.ts";

export const CartStatusEnum = defineEnum<CartStatus>("CartStatus", {
  description: "Where a cart is in its life.",
  values: {
    active: "It can be changed.",
    locked: "Its checkout is under way: only that changes it.",
    completed: "It has become an order.",
    revoked: "It was revoked.",
    expired: "Nobody changed it for 30 days.",
    merged: "What was in it is in another cart.",
  },
});

export const WarningCodeEnum = defineEnum<WarningCode>("CartWarningCode", {
  description: "What became different about a cart without anybody asking.",
  values: {
    price_changed: "The price of a line is another than before: `data.before`, `data.now`.",
    quantity_reduced: "There is less than was wanted: `data.wanted`, `data.quantity`.",
    out_of_stock: "The line is sold out; it stays, and cannot be checked out.",
    line_unavailable: "The line is no longer sold here: `data.isRemoved` says whether it left the cart.",
    promotion_suspended: "The code does not apply at the moment: `data.reason`.",
    promotion_removed: "A code left the cart: `data.code`.",
    address_expired: "The address is gone and must be given again.",
    currency_changed: "Prices are in another currency: `data.before`, `data.now`.",
    market_changed: "Prices are those of another country: `data.before`, `data.now`.",
  },
});

export const RevocationReasonEnum = defineEnum<RevocationReason>("CartTransitionReason", {
  description: "Why a cart or its promotion is taken back.",
  values: {
    buyer_request: "The buyer asked for it.",
    merchant_request: "The merchant asked for it.",
    security: "It seemed to be misused.",
    duplicate: "There is another one.",
    test: "It was a test.",
    other: "Something else.",
  },
});

export const SuspendedReasonEnum = defineEnum<RefusalReason>("PromotionRefusalReason", {
  description: "Why a promotion does not apply to a cart.",
  values: {
    not_started: "It has not begun yet.",
    ended: "It has ended.",
    paused: "It is paused.",
    usage_limit_reached: "It was used as often as it may be.",
    customer_usage_limit_reached: "The buyer has used it as often as one may.",
    customer_not_eligible: "It is for other buyers.",
    sign_in_required: "It is for buyers who have signed in.",
    minimum_subtotal_not_met: "The cart is below its minimum amount.",
    minimum_quantity_not_met: "The cart has fewer items than it asks for.",
    no_entitled_lines: "Nothing in the cart is part of it.",
    market_not_eligible: "It is not for the cart's market.",
    currency_mismatch: "It is in another currency than the cart.",
    combination_disallowed: "It cannot be combined with one that the cart has.",
    superseded_by_better_deal: "The cart has a better deal already.",
  },
});

export const PromotionStateEnum = defineEnum<"none" | "applied" | "suspended">("PromotionStateStatus", {
  description: "What has become of a cart's code.",
  values: {
    none: "The cart has no code.",
    applied: "The code applies.",
    suspended: "The code is there, but does not apply at the moment; it comes back by itself when it does.",
  },
});

export const DiscountSourceEnum = defineEnum<"code" | "automatic">("DiscountSource", {
  description: "Where a discount comes from.",
  values: { code: "From the cart's code.", automatic: "From a promotion that applies by itself." },
});

export const DiscountTargetEnum = defineEnum<"line" | "shipping">("DiscountTarget", {
  description: "What a discount takes from.",
  values: { line: "From a line.", shipping: "From the shipping." },
});

export const CheckoutStatusEnum = defineEnum<"open" | "processing" | "completed">("CartCheckoutStatus", {
  description: "Where a cart's checkout is.",
  values: { open: "The buyer is at it.", processing: "The payment is under way.", completed: "There is an order." },
});

export const AddressLevelEnum = defineEnum<"strict" | "basic">("AddressValidation", {
  description: "How thoroughly an address is checked.",
  values: {
    strict: "All that its country asks for: required fields, postal code, region, phone, e-mail.",
    basic: "Country, lengths and forbidden content; a checkout may refuse such an address.",
  },
});

export const ServiceabilityEnum = defineEnum<"deliverable" | "partially_deliverable" | "no_delivery_options">("ServiceabilityStatus", {
  description: "Whether an address can be delivered to.",
  values: {
    deliverable: "Everything in the cart can be.",
    partially_deliverable: "Some lines cannot be: they are sold out or no longer sold.",
    no_delivery_options: "The merchant offers no way to.",
  },
});

export const OnExistingEnum = defineEnum<"replace" | "reject">("OnExistingPromotion", {
  description: "What to do with another code that the cart has.",
  values: { replace: "The new one takes its place.", reject: "The new one is refused (409 promotion_already_applied)." },
});
