/**
 * What a buyer may send back, or have the money for without sending it back, and on which terms. Each for one
 * kind of reason: the merchant's fault, or not.
 */
import type { ReturnMethod, ReturnRules } from "#commerce/markets/policy-rules.ts";
import { isOver, policyOf } from "#commerce/orders/order-terms.ts";
import type { ReturnKind } from "#commerce/orders/order-states.ts";
import { money } from "#foundation/money.ts";
import {
  undeliveredRefundPolicyObstacles,
  orderStateObstacles,
  productRestrictionObstacles,
  checkReturnableUnits,
  returnPolicyObstacles,
  windowObstacles,
  countUndeliveredUnits,
  type ReturnableUnits,
  countWithdrawableUnsentUnits,
} from "./obstacles.ts";
import {
  type AfterSalesOption,
  type AfterSalesOptionContext,
  type AfterSalesLineContext,
  type AfterSalesFee,
  type AfterSalesOptionTerms,
  toAfterSalesOption,
} from "./after-sales-option.ts";
import {
  type AfterSalesReason,
  isMerchantFault,
  afterSalesObstacle,
  returnReasonsByKind,
  type ReturnReason,
} from "./reasons.ts";
import { calculateReturnValue, type ReturnValueInput } from "./return-rules.ts";

export function returnRefundOption(asked: AfterSalesOptionContext): AfterSalesOption {
  const { id: policyId, rules } = policyOf(asked.order, "return");
  const units = returnableUnitsOf(asked);
  const { window, reasons } = windowObstacles(asked, asked.windows.returns);
  const rest = [...productRestrictionObstacles(asked), ...returnPolicyObstacles(asked, rules), ...reasons];
  return toAfterSalesOption({
    kind: "return_refund",
    ...addReasonsIfAvailable(units, rest),
    codes: reasonCodesOf("return_refund", asked),
    window,
    policyId,
    terms: (quantity) =>
      refundTerms(asked, {
        kind: "return_refund",
        quantity,
        methods: goodsReturnMethods(rules),
        hasStoreCredit: rules.storeCredit,
      }),
  });
}

export function exchangeOption(asked: AfterSalesOptionContext): AfterSalesOption {
  const { id: policyId, rules } = policyOf(asked.order, "return");
  const { window, reasons } = windowObstacles(asked, asked.windows.exchanges ?? asked.windows.returns);
  const rest = [
    ...productRestrictionObstacles(asked),
    ...returnPolicyObstacles(asked, rules),
    ...reasons,
    ...exchangeObstacles(asked),
  ];
  return toAfterSalesOption({
    kind: "exchange",
    ...addReasonsIfAvailable(returnableUnitsOf(asked), rest),
    codes: reasonCodesOf("exchange", asked),
    window,
    policyId,
    terms: () => ({
      methods: goodsReturnMethods(rules),
      fees: [freeReturnShippingFee(asked)],
      estimatedRefund: null,
      settlement: ["replacement"],
      evidenceRequired: evidenceOf(rules),
    }),
  });
}

/** For what a buyer keeps: no more than the merchant would rather lose than have back. */
export function keepItemRefundOption(asked: AfterSalesOptionContext): AfterSalesOption {
  const { id: policyId, rules } = policyOf(asked.order, "return");
  const { window, reasons } = windowObstacles(asked, asked.windows.returns);
  const units = returnableUnitsOf(asked);
  const { refundMinor } = valueOf(asked, {
    kind: "refund_only",
    quantity: units.quantity,
    method: "keep_item",
    isLost: false,
  });
  const isCheap = rules.keepItemMinor !== null && refundMinor <= rules.keepItemMinor;
  const rest = [
    ...productRestrictionObstacles(asked),
    ...returnPolicyObstacles(asked, rules).filter(({ code }) => isCheap || code !== "self_service_disabled"),
    ...reasons,
    ...(isCheap
      ? []
      : [
          afterSalesObstacle("self_service_disabled", {
            data: { keepItemUpTo: keepItemLimit(asked, rules) },
          }),
        ]),
  ];
  return toAfterSalesOption({
    kind: "refund_only",
    ...addReasonsIfAvailable(units, rest),
    codes: reasonCodesOf("refund_only", asked).filter((code) => code !== "not_received"),
    window,
    policyId,
    terms: (quantity) =>
      refundTerms(asked, {
        kind: "refund_only",
        quantity,
        methods: ["keep_item"],
        hasStoreCredit: rules.storeCredit,
      }),
  });
}

/** For what was sent and never came. */
export function undeliveredRefundOption(asked: AfterSalesLineContext): AfterSalesOption {
  const { order, line, facts, windows } = asked;
  const { id: policyId, rules } = policyOf(order, "return");
  const { startsAt } = windows.loss;
  const isBegun = startsAt !== null && Date.parse(startsAt) <= facts.now.getTime();
  const missing = countUndeliveredUnits(order, line);
  const none =
    missing > 0
      ? []
      : [line.shipped > 0 ? afterSalesObstacle("quantity_exhausted") : afterSalesObstacle("not_fulfilled")];
  const early =
    missing === 0 || isBegun ? [] : [afterSalesObstacle("return_window_not_started", { data: { startsAt } })];
  const rest = [...undeliveredRefundPolicyObstacles({ facts, isFault: true }, rules), ...early];
  return toAfterSalesOption({
    kind: "refund_only",
    ...addReasonsIfAvailable(
      { quantity: missing, reasons: [...orderStateObstacles(order, { isRight: false }), ...none] },
      rest,
    ),
    codes: ["not_received"],
    window: windows.loss,
    policyId,
    terms: (quantity) => ({
      ...refundTerms(
        { ...asked, isFault: true },
        { kind: "refund_only", quantity, methods: ["keep_item"], hasStoreCredit: false, isLost: true },
      ),
      evidenceRequired: [],
    }),
  });
}

/** A right that needs no reason, and no leave of the merchant but for what the law leaves out. */
export function withdrawalOption(asked: AfterSalesOptionContext): AfterSalesOption {
  const { order, line, facts, windows } = asked;
  const { id: policyId, rules } = policyOf(order, "withdrawal");
  const unsent = countWithdrawableUnsentUnits(order, line);
  const { quantity, reasons } =
    unsent > 0 ? { quantity: unsent, reasons: [] } : checkReturnableUnits(order, line);
  const { endsAt } = windows.withdrawal;
  const isElapsed = isOver(windows.withdrawal, facts.now);
  const rest = [
    ...withdrawalExceptions(asked),
    ...(isElapsed ? [afterSalesObstacle("return_window_elapsed", { data: { endsAt } })] : []),
  ];
  const none = rules.windowDays > 0 ? [] : [afterSalesObstacle("region_not_supported")];
  const methods: readonly ReturnMethod[] =
    unsent > 0 ? ["keep_item"] : goodsReturnMethods(policyOf(order, "return").rules);
  return toAfterSalesOption({
    kind: "withdrawal",
    ...addReasonsIfAvailable(
      { quantity, reasons: [...none, ...orderStateObstacles(order, { isRight: true }), ...reasons] },
      rest,
    ),
    codes: reasonCodesOf("withdrawal", asked),
    window: windows.withdrawal,
    policyId,
    terms: (units) => ({
      ...refundTerms(asked, { kind: "withdrawal", quantity: units, methods, hasStoreCredit: false }),
      evidenceRequired: [],
    }),
  });
}

/**
 * Directive 2011/83/EU, article 16; whether a seal or a gift card is untouched only the merchant can see, and
 * what was not given out yet nobody has used.
 */
function withdrawalExceptions({ order, line }: AfterSalesOptionContext): AfterSalesReason[] {
  const has = (restriction: string): boolean => line.restrictions.includes(restriction);
  const isGivenOut = countWithdrawableUnsentUnits(order, line) === 0;
  return [
    ...(has("custom_made") ? [afterSalesObstacle("custom_made")] : []),
    ...(has("perishable") ? [afterSalesObstacle("perishable")] : []),
    ...(has("digital") && isGivenOut ? [afterSalesObstacle("digital_content_used")] : []),
    ...(has("hygiene_sealed") ? [afterSalesObstacle("hygiene_unsealed", { blocking: false })] : []),
    ...(has("gift_card") && isGivenOut ? [afterSalesObstacle("gift_card", { blocking: false })] : []),
  ];
}

function exchangeObstacles({ order, facts, line, windows }: AfterSalesOptionContext): AfterSalesReason[] {
  if (windows.exchanges === null) return [afterSalesObstacle("exchange_not_offered")];
  return exchangeableVariantIds({ order, facts, line }).length > 0
    ? []
    : [afterSalesObstacle("exchange_out_of_stock")];
}

/** What a line may be exchanged for. */
export function exchangeableVariantIds({
  facts,
  line,
}: Pick<AfterSalesOptionContext, "order" | "facts" | "line">): string[] {
  return (facts.siblingsInStock.get(line.productId) ?? []).filter(
    (variantId) => variantId !== line.variantId,
  );
}

function returnableUnitsOf({ order, line }: AfterSalesOptionContext): ReturnableUnits {
  const { quantity, reasons } = checkReturnableUnits(order, line);
  return { quantity, reasons: [...orderStateObstacles(order, { isRight: false }), ...reasons] };
}

/** Where there is nothing to ask for, nothing else matters. */
function addReasonsIfAvailable(
  { quantity, reasons }: ReturnableUnits,
  rest: readonly AfterSalesReason[],
): ReturnableUnits {
  return { quantity, reasons: reasons.some(({ blocking }) => blocking) ? reasons : [...reasons, ...rest] };
}

function reasonCodesOf(kind: ReturnKind, { isFault }: AfterSalesOptionContext): ReturnReason[] {
  return returnReasonsByKind[kind].filter((code) => isMerchantFault(code) === isFault);
}

export function goodsReturnMethods({ methods }: ReturnRules): ReturnMethod[] {
  const sending = methods.filter((method) => method !== "keep_item");
  return sending.length === 0 ? ["mail"] : sending;
}

interface RefundOptionTermsInput {
  readonly kind: ReturnKind;
  readonly quantity: number;
  readonly methods: readonly ReturnMethod[];
  readonly hasStoreCredit: boolean;
  readonly isLost?: boolean;
}

function refundTerms(
  asked: AfterSalesOptionContext,
  { kind, quantity, methods, hasStoreCredit, isLost = false }: RefundOptionTermsInput,
): AfterSalesOptionTerms {
  const { order } = asked;
  const value = valueOf(asked, { kind, quantity, method: methods[0] ?? "mail", isLost });
  return {
    methods,
    fees: methods.includes("keep_item") ? [] : feesOf(asked, value),
    estimatedRefund: money(value.refundMinor, order.currency),
    settlement: hasStoreCredit ? ["original_payment", "store_credit"] : ["original_payment"],
    evidenceRequired: evidenceOf(policyOf(order, "return").rules),
  };
}

function valueOf(
  { order, line, isFault }: AfterSalesOptionContext,
  {
    quantity,
    ...asked
  }: Pick<ReturnValueInput, "kind" | "method" | "isLost"> & { readonly quantity: number },
): ReturnType<typeof calculateReturnValue> {
  return calculateReturnValue(order, { ...asked, isFault, lines: [{ lineId: line.id, quantity }] });
}

function feesOf(
  asked: AfterSalesOptionContext,
  { restockingMinor, postageMinor }: ReturnType<typeof calculateReturnValue>,
): AfterSalesFee[] {
  const { order } = asked;
  const { restockingBasisPoints } = policyOf(order, "return").rules;
  const amount = (minor: number): AfterSalesFee["amount"] => money(minor, order.currency);
  return [
    ...(restockingMinor > 0
      ? [
          {
            code: "restocking" as const,
            amount: amount(restockingMinor),
            basisPoints: restockingBasisPoints,
            payer: "buyer" as const,
          },
        ]
      : []),
    postageMinor > 0
      ? { code: "return_shipping", amount: amount(postageMinor), basisPoints: null, payer: "buyer" }
      : freeReturnShippingFee(asked),
  ];
}

export function freeReturnShippingFee({ order }: Pick<AfterSalesOptionContext, "order">): AfterSalesFee {
  return { code: "return_shipping", amount: money(0, order.currency), basisPoints: null, payer: "merchant" };
}

const evidenceOf = ({ photoRequired }: ReturnRules): AfterSalesOptionTerms["evidenceRequired"] =>
  photoRequired ? ["photo"] : [];

function keepItemLimit(
  { order }: AfterSalesOptionContext,
  { keepItemMinor }: ReturnRules,
): AfterSalesFee["amount"] {
  return keepItemMinor === null ? null : money(keepItemMinor, order.currency);
}
