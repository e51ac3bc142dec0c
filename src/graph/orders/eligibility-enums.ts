/**
 * The GraphQL enums for the cancellation and after-sales eligibility of an order, and the language argument
 * of the eligibility fields.
 */
import type { AfterSalesObstacleCode, ReturnReason } from "#commerce/after-sales/reasons.ts";
import { englishTexts } from "#commerce/eligibility-texts/english-texts.ts";
import type { OrderCancellationAlternative } from "#commerce/orders/cancellation/alternatives.ts";
import type {
  OrderCancellationConsequence,
  CancellationEligibility,
  EstimatedCancellationRefund,
} from "#commerce/orders/cancellation/eligibility.ts";
import type { CancellationObstacleCode } from "#commerce/orders/cancellation/reasons.ts";
import type { TimeWindowStartEvent } from "#commerce/orders/order-terms.ts";
import type { EligibilityDecision } from "#commerce/orders/eligibility-reason.ts";
import { defineGraphqlEnum } from "#graph/builder.ts";

/** The argument `languages` of the fields that answer with an order's eligibility. */
export const answerLanguagesArgument = {
  type: ["LocaleCode"] satisfies ["LocaleCode"],
  description:
    "The preferred languages of the answer's texts, best first; by default the languages in the " +
    "Accept-Language header.",
};

/**
 * Returns the English text of each obstacle (a reason against a cancellation or return) as the description of
 * its enum value. If the merchant can still approve some requests with the obstacle, the description has a
 * second text for them.
 */
function describeObstacles<Texts extends Readonly<Record<string, string>>>(
  texts: Texts,
  textsToApprove: Readonly<Record<string, string>>,
): Texts & Readonly<Record<string, string>> {
  const both = Object.entries(textsToApprove).map(([code, text]) => [
    code,
    `${texts[code]} If \`blocking\` is false: ${text}`,
  ]);
  return { ...texts, ...Object.fromEntries(both) };
}

export const EligibilityDecisionEnum = defineGraphqlEnum<EligibilityDecision>("EligibilityDecision", {
  description: "Whether the buyer can make a request about an order, for example cancel or return units.",
  values: {
    allowed: "The request is approved at once.",
    request_required: "The buyer can make the request, and the merchant decides about it.",
    denied: "The service refuses the request.",
  },
});

export const CancellationActionEnum = defineGraphqlEnum<"cancel">("EligibilityAction", {
  description: "An action of a buyer on an order, of which the service says whether the action is possible.",
  values: { cancel: "The buyer cancels units of an order before they are shipped." },
});

export const CancellationScopeEnum = defineGraphqlEnum<CancellationEligibility["scope"]>(
  "CancellationScope",
  {
    description: "How much of an order can be canceled.",
    values: {
      order: "The whole order can be canceled.",
      lines: "Some lines or units of the order can be canceled.",
      none: "No unit of the order can be canceled.",
    },
  },
);

export const CancellationObstacleEnum = defineGraphqlEnum<CancellationObstacleCode>(
  "CancellationReasonCode",
  {
    description: "Why units cannot be canceled, or only with the merchant's approval.",
    values: describeObstacles(
      englishTexts.cancellationObstacles,
      englishTexts.cancellationObstaclesToApprove,
    ),
  },
);

export const AfterSalesObstacleEnum = defineGraphqlEnum<AfterSalesObstacleCode>("AfterSalesReasonCode", {
  description: "Why an after-sales request is not possible, or only with the merchant's approval.",
  values: describeObstacles(englishTexts.afterSalesObstacles, englishTexts.afterSalesObstaclesToApprove),
});

export const CancellationActorEnum = defineGraphqlEnum<"buyer" | "merchant">("CancellationReasonActor", {
  description: "The party that can choose a reason for a cancellation.",
  values: { buyer: "Buyers can choose the reason.", merchant: "The merchant's staff can choose the reason." },
});

export const CancellationClockEnum = defineGraphqlEnum<"placed" | "packing_started">("CancellationClock", {
  description: "What ends the time in which a buyer can cancel an order without the merchant's approval.",
  values: {
    placed: "The time ends a number of minutes after the order was placed, as the cancellation policy says.",
    packing_started: "The time ends when the packing of the order starts.",
  },
});

export const CancellationMethodEnum = defineGraphqlEnum<EstimatedCancellationRefund["method"]>(
  "CancellationRefundMethod",
  {
    description: "How the money of a cancellation is returned.",
    values: {
      void: "The authorization is voided; the amount was not captured.",
      refund: "The captured amount is refunded.",
      none: "No authorization is voided and no amount is refunded.",
    },
  },
);

export const PromotionEffectEnum = defineGraphqlEnum<EstimatedCancellationRefund["promotionEffect"]>(
  "CancellationPromotionEffect",
  {
    description: "How a cancellation changes the order's discounts.",
    values: {
      kept: "The discounts stay unchanged.",
      recalculated: "The discounts of the canceled units are removed; the discounts of all other units stay.",
      removed: "All discounts of the order are removed.",
    },
  },
);

export const ConsequenceEnum = defineGraphqlEnum<OrderCancellationConsequence>("CancellationConsequence", {
  description: "A consequence of a cancellation.",
  values: {
    stock_released: "The stock that is reserved for the canceled units is released.",
    promotion_use_restored: "The order's promotions count as not used, so that the buyer can use them again.",
    order_canceled: "The whole order is canceled.",
    minimum_order_not_met_after_cancel:
      "The remaining units no longer reach the minimum that one of the order's promotions requires. The " +
      "order keeps the promotion nevertheless.",
  },
});

export const AlternativeEnum = defineGraphqlEnum<OrderCancellationAlternative>("CancellationAlternative", {
  description: "What a buyer can do instead of canceling.",
  values: {
    return: "The buyer can return units after their delivery.",
    withdrawal: "The buyer can withdraw from the purchase under consumer law.",
    contact_merchant: "The buyer can contact the merchant.",
  },
});

export const FeeCodeEnum = defineGraphqlEnum<"restocking" | "return_shipping">("EligibilityFeeCode", {
  description: "The purpose of a fee for returned or canceled units.",
  values: {
    restocking: "The fee is for restocking the returned units.",
    return_shipping: "The fee is for shipping the returned units back to the merchant.",
  },
});

export const FeePayerEnum = defineGraphqlEnum<"buyer" | "merchant">("EligibilityFeePayer", {
  description: "Who pays the fee of an after-sales option.",
  values: {
    buyer: "The buyer pays the fee, which is deducted from the refund.",
    merchant: "The merchant pays the fee.",
  },
});

export const WindowClockEnum = defineGraphqlEnum<TimeWindowStartEvent>("EligibilityClock", {
  description: "The event at which the time window of an after-sales option or policy starts.",
  values: {
    delivered: "The time window starts with the delivery.",
    shipped_plus_transit:
      "The time window starts seven days after the shipment, because no delivery was reported.",
    placed: "The time window starts when the order is placed.",
    warranty_start: "The time window starts with the warranty.",
  },
});

export const ReturnReasonEnum = defineGraphqlEnum<ReturnReason>("ReturnReason", {
  description:
    "The reason of a buyer's after-sales request. If the reason is the merchant's fault, the request costs " +
    "the buyer nothing and is possible as long as the statutory guarantee lasts.",
  values: {
    size_too_small: "The size of the product is too small for the buyer.",
    size_too_large: "The size of the product is too large for the buyer.",
    color: "The colour differs from the expectation.",
    style: "The buyer does not like the style.",
    unwanted: "The buyer no longer wants the product.",
    not_as_described: "The product differs from its description; the merchant's fault.",
    wrong_item: "A wrong product was delivered; the merchant's fault.",
    missing_item: "A part of the delivery was missing; the merchant's fault.",
    defective: "The product is defective; the merchant's fault.",
    damaged_in_transit: "The product was damaged in transit; the merchant's fault.",
    arrived_late: "The product arrived too late.",
    not_received: "The product did not arrive; the merchant's fault.",
    better_price: "The buyer found a better price elsewhere.",
    ordered_by_mistake: "The buyer ordered by mistake.",
    other: "A reason that no other value of this enum names.",
  },
});
