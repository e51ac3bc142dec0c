/**
 * Evaluates the after-sales options to return units, exchange units, withdraw from the purchase, or get a
 * refund without a return. Each function evaluates an option for one group of return reasons: either reasons
 * that are the merchant's fault, or all other reasons. Callers that need both groups call the function
 * twice.
 */
import type { ReturnMethod } from "#commerce/markets/policy-rules.ts";
import { isTimeWindowOver, getOrderPolicy } from "#commerce/orders/order-terms.ts";
import type { ReturnKind } from "#commerce/orders/order-states.ts";
import { getUncanceledQuantity } from "#commerce/orders/order-statuses.ts";
import {
  findUndeliveredUnitsRefundObstacles,
  prependOrderStateObstacles,
  findProductRestrictionObstacles,
  countReturnableUnitsOfLine,
  findReturnPolicyObstacles,
  findReturnWindowObstacles,
  countShippedUndeliveredUnits,
  type ReturnableQuantityWithObstacles,
  countWithdrawableUnsentIntangibleUnits,
} from "./obstacles.ts";
import {
  type AfterSalesOption,
  type AfterSalesOptionEvaluationInput,
  type LineAfterSalesEvaluationInput,
  buildAfterSalesOption,
} from "./after-sales-option.ts";
import {
  type AfterSalesObstacle,
  isMerchantFaultReason,
  createAfterSalesObstacle,
  returnReasonsByKind,
  type ReturnReason,
} from "./reasons.ts";
import {
  createZeroReturnShippingFee,
  getReturnMethodsOfPolicy,
  getMaxRefundWithoutReturn,
  computeAfterSalesRefundTerms,
  getRequiredReturnEvidence,
  calculateValueOfSingleLineReturn,
} from "./refund-terms.ts";

/** Returns the after-sales option to send delivered units back for a refund. */
export function evaluateRefundOnReturnOption(context: AfterSalesOptionEvaluationInput): AfterSalesOption {
  const { id: policyId, rules } = getOrderPolicy(context.order, "return");
  const units = returnableUnitsOf(context);
  const { window, reasons } = findReturnWindowObstacles(context, context.windows.returns);
  const rest = [
    ...findProductRestrictionObstacles(context),
    ...findReturnPolicyObstacles(context, rules),
    ...reasons,
  ];
  return buildAfterSalesOption({
    kind: "return_refund",
    ...addReasonsIfAvailable(units, rest),
    codes: reasonCodesOf("return_refund", context),
    window,
    policyId,
    terms: (quantity) =>
      computeAfterSalesRefundTerms(context, {
        kind: "return_refund",
        quantity,
        methods: getReturnMethodsOfPolicy(rules),
      }),
  });
}

/**
 * Returns the after-sales option to exchange delivered units for another variant of the same product and
 * price.
 */
export function evaluateExchangeOption(context: AfterSalesOptionEvaluationInput): AfterSalesOption {
  const { id: policyId, rules } = getOrderPolicy(context.order, "return");
  const { window, reasons } = findReturnWindowObstacles(
    context,
    context.windows.exchanges ?? context.windows.returns,
  );
  const rest = [
    ...findProductRestrictionObstacles(context),
    ...findReturnPolicyObstacles(context, rules),
    ...reasons,
    ...exchangeObstacles(context),
  ];
  return buildAfterSalesOption({
    kind: "exchange",
    ...addReasonsIfAvailable(returnableUnitsOf(context), rest),
    codes: reasonCodesOf("exchange", context),
    window,
    policyId,
    terms: () => ({
      methods: getReturnMethodsOfPolicy(rules),
      fees: [createZeroReturnShippingFee(context)],
      estimatedRefund: null,
      settlement: ["replacement"],
      evidenceRequired: getRequiredReturnEvidence(rules),
    }),
  });
}

/**
 * Returns the after-sales option to get a refund and keep the goods. The option is denied if the return
 * policy has no `keepItemMinor` or the refund is higher than `keepItemMinor`.
 */
export function evaluateRefundWithoutReturnOption(
  context: AfterSalesOptionEvaluationInput,
): AfterSalesOption {
  const { id: policyId, rules } = getOrderPolicy(context.order, "return");
  const { window, reasons } = findReturnWindowObstacles(context, context.windows.returns);
  const units = returnableUnitsOf(context);
  const { refundMinor } = calculateValueOfSingleLineReturn(context, {
    kind: "refund_only",
    quantity: units.quantity,
    method: "keep_item",
    isLost: false,
  });
  const isCheap = rules.keepItemMinor !== null && refundMinor <= rules.keepItemMinor;
  const rest = [
    ...findProductRestrictionObstacles(context),
    ...findReturnPolicyObstacles(context, rules).filter(
      ({ code }) => isCheap || code !== "self_service_disabled",
    ),
    ...reasons,
    ...(isCheap
      ? []
      : [
          createAfterSalesObstacle("self_service_disabled", {
            data: { keepItemUpTo: getMaxRefundWithoutReturn(context, rules) },
          }),
        ]),
  ];
  return buildAfterSalesOption({
    kind: "refund_only",
    ...addReasonsIfAvailable(units, rest),
    codes: reasonCodesOf("refund_only", context).filter((code) => code !== "not_received"),
    window,
    policyId,
    terms: (quantity) =>
      computeAfterSalesRefundTerms(context, {
        kind: "refund_only",
        quantity,
        methods: ["keep_item"],
      }),
  });
}

/** Returns the after-sales option to get a refund for units that were sent and never delivered. */
export function evaluateUndeliveredUnitsRefundOption(
  context: LineAfterSalesEvaluationInput,
): AfterSalesOption {
  const { order, line, facts, windows } = context;
  const { id: policyId, rules } = getOrderPolicy(order, "return");
  const { startsAt } = windows.loss;
  const isBegun = startsAt !== null && Date.parse(startsAt) <= facts.now.getTime();
  const missing = countShippedUndeliveredUnits(order, line);
  const none =
    missing > 0
      ? []
      : [
          line.shipped > 0 || getUncanceledQuantity(line) === 0
            ? createAfterSalesObstacle("quantity_exhausted")
            : createAfterSalesObstacle("not_fulfilled"),
        ];
  const early =
    missing === 0 || isBegun
      ? []
      : [createAfterSalesObstacle("return_window_not_started", { data: { startsAt } })];
  const rest = [...findUndeliveredUnitsRefundObstacles({ facts, isFault: true }, rules), ...early];
  return buildAfterSalesOption({
    kind: "refund_only",
    ...addReasonsIfAvailable(
      { quantity: missing, reasons: prependOrderStateObstacles(order, { isRight: false, reasons: none }) },
      rest,
    ),
    codes: ["not_received"],
    window: windows.loss,
    policyId,
    terms: (quantity) => ({
      ...computeAfterSalesRefundTerms(
        { ...context, isFault: true },
        { kind: "refund_only", quantity, methods: ["keep_item"], isLost: true },
      ),
      evidenceRequired: [],
    }),
  });
}

/**
 * Returns the after-sales option to use the statutory right of withdrawal. The buyer needs neither a reason
 * nor the merchant's consent, except in the cases that the law excludes.
 */
export function evaluateWithdrawalOption(context: AfterSalesOptionEvaluationInput): AfterSalesOption {
  const { order, line, facts, windows } = context;
  const { id: policyId, rules } = getOrderPolicy(order, "withdrawal");
  const unsent = countWithdrawableUnsentIntangibleUnits(order, line);
  const { quantity, reasons } =
    unsent > 0 ? { quantity: unsent, reasons: [] } : countReturnableUnitsOfLine(order, line);
  const { endsAt } = windows.withdrawal;
  const isElapsed = isTimeWindowOver(windows.withdrawal, facts.now);
  const rest = [
    ...withdrawalExceptions(context),
    ...(isElapsed ? [createAfterSalesObstacle("return_window_elapsed", { data: { endsAt } })] : []),
  ];
  const none = rules.windowDays > 0 ? [] : [createAfterSalesObstacle("region_not_supported")];
  const methods: readonly ReturnMethod[] =
    unsent > 0 ? ["keep_item"] : getReturnMethodsOfPolicy(getOrderPolicy(order, "return").rules);
  return buildAfterSalesOption({
    kind: "withdrawal",
    ...addReasonsIfAvailable(
      {
        quantity,
        reasons: prependOrderStateObstacles(order, { isRight: true, reasons: [...none, ...reasons] }),
      },
      rest,
    ),
    codes: reasonCodesOf("withdrawal", context),
    window: windows.withdrawal,
    policyId,
    terms: (units) => ({
      ...computeAfterSalesRefundTerms(context, {
        kind: "withdrawal",
        quantity: units,
        methods,
      }),
      evidenceRequired: [],
    }),
  });
}

/**
 * Returns the exceptions from the right of withdrawal (Directive 2011/83/EU, article 16). A broken seal or a
 * used gift card does not block the withdrawal, because the merchant checks the goods after the return.
 * Digital content and gift cards that the merchant has not provided yet are no exceptions, because they
 * cannot have been used.
 */
function withdrawalExceptions({ order, line }: AfterSalesOptionEvaluationInput): AfterSalesObstacle[] {
  const has = (restriction: string): boolean => line.restrictions.includes(restriction);
  const isGivenOut = countWithdrawableUnsentIntangibleUnits(order, line) === 0;
  return [
    ...(has("custom_made") ? [createAfterSalesObstacle("custom_made")] : []),
    ...(has("perishable") ? [createAfterSalesObstacle("perishable")] : []),
    ...(has("digital") && isGivenOut ? [createAfterSalesObstacle("digital_content_used")] : []),
    ...(has("hygiene_sealed") ? [createAfterSalesObstacle("hygiene_unsealed", { blocking: false })] : []),
    ...(has("gift_card") && isGivenOut ? [createAfterSalesObstacle("gift_card", { blocking: false })] : []),
  ];
}

function exchangeObstacles({
  order,
  facts,
  line,
  windows,
}: AfterSalesOptionEvaluationInput): AfterSalesObstacle[] {
  if (windows.exchanges === null) return [createAfterSalesObstacle("exchange_not_offered")];
  return findExchangeableVariantIds({ order, facts, line }).length > 0
    ? []
    : [createAfterSalesObstacle("exchange_out_of_stock")];
}

/**
 * Returns the variants for which an order line can be exchanged: the other variants of the product that are
 * in stock.
 */
export function findExchangeableVariantIds({
  facts,
  line,
}: Pick<AfterSalesOptionEvaluationInput, "order" | "facts" | "line">): string[] {
  return (facts.siblingsInStock.get(line.productId) ?? []).filter(
    (variantId) => variantId !== line.variantId,
  );
}

function returnableUnitsOf({
  order,
  line,
}: AfterSalesOptionEvaluationInput): ReturnableQuantityWithObstacles {
  const { quantity, reasons } = countReturnableUnitsOfLine(order, line);
  return { quantity, reasons: prependOrderStateObstacles(order, { isRight: false, reasons }) };
}

/** Adds reasons against an after-sales option. Adds nothing if an earlier reason already denies the option. */
function addReasonsIfAvailable(
  { quantity, reasons }: ReturnableQuantityWithObstacles,
  rest: readonly AfterSalesObstacle[],
): ReturnableQuantityWithObstacles {
  return { quantity, reasons: reasons.some(({ blocking }) => blocking) ? reasons : [...reasons, ...rest] };
}

function reasonCodesOf(kind: ReturnKind, { isFault }: AfterSalesOptionEvaluationInput): ReturnReason[] {
  return returnReasonsByKind[kind].filter((code) => isMerchantFaultReason(code) === isFault);
}
