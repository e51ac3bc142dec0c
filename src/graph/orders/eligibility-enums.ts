/** The words of both questions about an order: may it be canceled, may it be returned. */
import { type AfterSalesObstacle, afterSalesObstacleMessages } from "#commerce/after-sales/reasons.ts";
import type {
  CancellationAlternative,
  CancellationConsequence,
  CancellationEligibility,
  CancellationRefund,
} from "#commerce/orders/cancellation/eligibility.ts";
import { type CancellationObstacle, cancellationObstacles } from "#commerce/orders/cancellation/reasons.ts";
import type { WindowClock } from "#commerce/orders/order-terms.ts";
import type { Decision } from "#commerce/orders/eligibility-reason.ts";
import { defineEnum } from "#graph/builder.ts";

export const EligibilityDecisionEnum = defineEnum<Decision>("EligibilityDecision", {
  description: "Whether something may be done.",
  values: {
    allowed: "It is done at once.",
    request_required: "It can be asked for, and the merchant decides.",
    denied: "It cannot be done.",
  },
});

export const CancellationActionEnum = defineEnum<"cancel">("EligibilityAction", {
  description: "What the answer is about.",
  values: { cancel: "Canceling before it is sent." },
});

export const CancellationScopeEnum = defineEnum<CancellationEligibility["scope"]>("CancellationScope", {
  description: "How much of an order can be canceled.",
  values: { order: "All of it: the order is canceled.", lines: "Some of it.", none: "Nothing." },
});

export const CancellationObstacleEnum = defineEnum<CancellationObstacle>("CancellationReasonCode", {
  description: "Why something cannot be canceled, or not without the merchant.",
  values: cancellationObstacles,
});

export const AfterSalesObstacleEnum = defineEnum<AfterSalesObstacle>("AfterSalesReasonCode", {
  description: "Why something cannot be asked for after the sale, or not without the merchant.",
  values: afterSalesObstacleMessages,
});

export const CancellationActorEnum = defineEnum<"buyer" | "merchant">("CancellationReasonActor", {
  description: "Who may give a reason.",
  values: { buyer: "The buyer.", merchant: "The merchant." },
});

export const CancellationClockEnum = defineEnum<"placed" | "packing_started">("CancellationClock", {
  description: "What ends the time to cancel.",
  values: {
    placed: "So many minutes after the order was placed.",
    packing_started: "The beginning of the packing.",
  },
});

export const CancellationMethodEnum = defineEnum<CancellationRefund["method"]>("CancellationRefundMethod", {
  description: "How the buyer is relieved of what is canceled.",
  values: {
    void: "It was only authorized, and will not be taken.",
    refund: "It was taken, and is given back.",
    none: "There is nothing to give back.",
  },
});

export const PromotionEffectEnum = defineEnum<CancellationRefund["promotionEffect"]>(
  "CancellationPromotionEffect",
  {
    description: "What becomes of the order's discounts.",
    values: {
      kept: "They stay as they are.",
      recalculated: "Those of what is canceled go with it, the others stay.",
      removed: "None is left.",
    },
  },
);

export const ConsequenceEnum = defineEnum<CancellationConsequence>("CancellationConsequence", {
  description: "What follows from a cancellation.",
  values: {
    stock_released: "What was kept back for it can be sold again.",
    promotion_use_restored: "The promotions count as not used.",
    order_canceled: "The order as a whole is canceled.",
    minimum_order_not_met_after_cancel:
      "What is left is less than one of its promotions asked for; the promotion stays all the same.",
  },
});

export const AlternativeEnum = defineEnum<CancellationAlternative>("CancellationAlternative", {
  description: "What a buyer can do instead.",
  values: {
    return: "Return what was sent.",
    withdrawal: "Withdraw from the purchase.",
    contact_merchant: "Speak with the merchant.",
  },
});

export const FeeCodeEnum = defineEnum<"restocking" | "return_shipping">("EligibilityFeeCode", {
  description: "What a fee is for.",
  values: { restocking: "Taking it back into stock.", return_shipping: "The way back." },
});

export const FeePayerEnum = defineEnum<"buyer" | "merchant">("EligibilityFeePayer", {
  description: "Who bears a fee.",
  values: { buyer: "The buyer: it is taken off the refund.", merchant: "The merchant." },
});

export const WindowClockEnum = defineEnum<WindowClock>("EligibilityClock", {
  description: "What a time counts from.",
  values: {
    delivered: "The delivery.",
    shipped_plus_transit: "When it was sent, and seven days for its way: nobody has reported its delivery.",
    placed: "The placing of the order.",
    warranty_start: "The beginning of the warranty.",
  },
});
