/** Why a buyer returns something. */
import type { ReturnReason } from "#commerce/after-sales/reasons.ts";
import { defineEnum } from "#graph/enums.ts";

export const ReturnReasonEnum = defineEnum<ReturnReason>("ReturnReason", {
  description: "Why a buyer asks. What is the merchant's fault costs the buyer nothing, and has the time of the legal guarantee.",
  values: {
    size_too_small: "It is too small.",
    size_too_large: "It is too large.",
    color: "Its colour is not the one expected.",
    style: "It does not please.",
    unwanted: "It is not wanted any more.",
    not_as_described: "It is not what was described; the merchant's fault.",
    wrong_item: "It is not what was ordered; the merchant's fault.",
    missing_item: "Something was missing; the merchant's fault.",
    defective: "It does not work; the merchant's fault.",
    damaged_in_transit: "It was damaged on its way; the merchant's fault.",
    arrived_late: "It came too late.",
    not_received: "It never came; the merchant's fault.",
    better_price: "It is cheaper elsewhere.",
    ordered_by_mistake: "It was ordered by mistake.",
    other: "Something else.",
  },
});
