/** The GraphQL enum types of carts, their addresses and their promotions. */
import { defineGraphqlEnum } from "#graph/builder.ts";
import type { CartStatus, CartRevocationReason, CartWarningCode } from "#commerce/carts/cart-aggregate.ts";
import type { PromotionRefusalReason } from "#commerce/promotions/promotion-rule.ts";

export const CartStatusEnum = defineGraphqlEnum<CartStatus>("CartStatus", {
  description: "Whether a cart can be changed, is locked by a checkout session, or has ended and how.",
  values: {
    active: "The cart can be changed.",
    locked: "A checkout session has locked the cart; only this session can change it.",
    completed: "An order was placed from the cart.",
    revoked: "A caller has ended the cart permanently.",
    expired: "The cart has ended, because it was not changed for 30 days.",
    merged: "The cart has ended, because its lines were added to another cart.",
  },
});

export const CartWarningCodeEnum = defineGraphqlEnum<CartWarningCode>("CartWarningCode", {
  description:
    "A change of a cart that no caller requested, for example a new price or a reduced quantity. Each value " +
    "names the fields of the warning's `data`.",
  values: {
    price_changed:
      "The unit price of a line has changed. `data.before` is the price before the change, " +
      "`data.now` the present price.",
    quantity_reduced:
      "The quantity of a line was reduced to the available stock. `data.wanted` is the requested quantity, " +
      "`data.quantity` the reduced quantity. The warning stays until the line is changed or removed, or " +
      "until a caller changes the cart with an `expectedVersion`, which shows that the caller has read the " +
      "warning.",
    out_of_stock:
      "The variant of the line is out of stock. The line stays in the cart, but the cart cannot be checked " +
      "out while it contains the line.",
    line_unavailable:
      "The variant of the line is no longer sold in the cart's market. `data.isRemoved` says " +
      "whether the line was removed, `data.sku` names the variant.",
    promotion_suspended:
      "The cart's promotion code does not apply at the moment. `data.reason` is the reason, a value of " +
      "`PromotionRefusalReason`.",
    promotion_removed: "A promotion code was removed from the cart. `data.code` is the code.",
    address_expired: "The address of the cart has expired and must be set again.",
    currency_changed:
      "The currency of the cart has changed. `data.before` is the previous currency code, " +
      "`data.now` the present one.",
    market_changed:
      "The country of the cart has changed. `data.before` is the previous country code, `data.now` " +
      "the present one.",
  },
});

export const CartRevocationReasonEnum = defineGraphqlEnum<CartRevocationReason>("CartTransitionReason", {
  description: "Reason for revoking a cart or removing its promotion code.",
  values: {
    buyer_request: "The buyer requested the revocation or removal.",
    merchant_request: "The merchant requested the revocation or removal.",
    security: "The cart or the promotion seemed to be misused.",
    duplicate: "The cart is a duplicate of another cart.",
    test: "The cart was created for a test.",
    other: "A reason that no other value of this enum names.",
  },
});

export const PromotionRefusalReasonEnum = defineGraphqlEnum<PromotionRefusalReason>(
  "PromotionRefusalReason",
  {
    description: "Reason why a promotion does not apply to a cart.",
    values: {
      not_started: "The promotion has not started yet.",
      ended: "The promotion has ended.",
      paused: "The merchant has paused the promotion.",
      usage_limit_reached: "The promotion or its code has reached its usage limit.",
      customer_usage_limit_reached: "The buyer has reached the promotion's usage limit per buyer.",
      customer_not_eligible: "The buyer is not eligible for the promotion.",
      sign_in_required:
        "The promotion requires that the buyer has signed in: the cart must have a buyer reference.",
      minimum_subtotal_not_met: "The cart's subtotal is below the promotion's minimum.",
      minimum_quantity_not_met: "The cart has fewer items than the promotion requires.",
      no_entitled_lines: "The promotion does not apply to any line of the cart.",
      market_not_eligible: "The promotion is not available in the cart's market.",
      currency_mismatch: "The promotion's currency differs from the cart's currency.",
      combination_disallowed: "The promotion cannot be combined with another promotion of the cart.",
      superseded_by_better_deal: "Another promotion of the cart gives a larger discount.",
    },
  },
);

export const PromotionStateEnum = defineGraphqlEnum<"none" | "applied" | "suspended">(
  "PromotionStateStatus",
  {
    description: "Whether a cart has a promotion code and whether the code applies.",
    values: {
      none: "The cart has no promotion code.",
      applied: "The promotion code applies to the cart.",
      suspended:
        "The cart has a promotion code that does not apply at the moment. The code applies again " +
        "automatically as soon as its conditions are met.",
    },
  },
);

export const DiscountSourceEnum = defineGraphqlEnum<"code" | "automatic">("DiscountSource", {
  description: "Whether a discount comes from a promotion code or from an automatic promotion.",
  values: {
    code: "The discount comes from the cart's promotion code.",
    automatic: "The discount comes from a promotion that applies automatically, without a code.",
  },
});

export const DiscountTargetEnum = defineGraphqlEnum<"line" | "shipping">("DiscountTarget", {
  description: "The price that a discount reduces: the price of a line or the shipping price.",
  values: {
    line: "The discount reduces the price of a cart line.",
    shipping: "The discount reduces the shipping price.",
  },
});

export const CartCheckoutStatusEnum = defineGraphqlEnum<"open" | "processing" | "completed">(
  "CartCheckoutStatus",
  {
    description: "Whether the checkout session of a cart is open, waits for its payment, or is completed.",
    values: {
      open: "The session is open: the buyer is checking out.",
      processing: "The session was submitted and its payment is being processed.",
      completed: "The session is completed: the order is placed.",
    },
  },
);

export const AddressValidationEnum = defineGraphqlEnum<"strict" | "basic">("AddressValidation", {
  description: "How strictly an address is checked.",
  values: {
    strict:
      "The service checks the country, the lengths of the fields and forbidden content, and also the " +
      "required fields, postal code, region, phone number and e-mail address by the rules of the country.",
    basic:
      "The service checks only the country, the lengths of the fields and forbidden content. A checkout " +
      "may refuse an address that was checked only in this way.",
  },
});

export const ServiceabilityStatusEnum = defineGraphqlEnum<
  "deliverable" | "partially_deliverable" | "no_delivery_options"
>("ServiceabilityStatus", {
  description: "Whether the lines of a cart can be delivered to its address.",
  values: {
    deliverable: "All lines of the cart can be delivered.",
    partially_deliverable: "Some lines cannot be delivered, because they are out of stock or no longer sold.",
    no_delivery_options: "The merchant has no delivery option for the address.",
  },
});

export const OnExistingPromotionEnum = defineGraphqlEnum<"replace" | "reject">("OnExistingPromotion", {
  description: "What happens to a new promotion code if the cart already has another promotion code.",
  values: {
    replace: "The new code replaces the present code.",
    reject: "The new code is refused (409 promotion_already_applied).",
  },
});
