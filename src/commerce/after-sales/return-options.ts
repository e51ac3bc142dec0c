/**
 * What a buyer may send back, or have the money for without sending it back, and on which terms. Each for one
 * kind of reason: the merchant's fault, or not.
 */
import type { ReturnMethod, ReturnRules } from "#commerce/markets/policy-rules.ts";
import { isOver, policyOf } from "#commerce/orders/order-terms.ts";
import type { ReturnKind } from "#commerce/orders/order-states.ts";
import { money } from "#foundation/money.ts";
import {
  askingObstacles,
  orderObstacles,
  restrictionObstacles,
  returnable,
  ruleObstacles,
  timeObstacles,
  undeliveredUnits,
  type Units,
  withdrawableUnsent,
} from "./obstacles.ts";
import {
  type AfterSalesOption,
  type Asked,
  type AskedOfLine,
  type OptionFee,
  type OptionTerms,
  toOption,
} from "./option.ts";
import {
  type AfterSalesReason,
  isMerchantFault,
  obstacle,
  reasonsByKind,
  type ReturnReason,
} from "./reasons.ts";
import { returnValue, type ValuedReturn } from "./return-rules.ts";

export function returnRefund(asked: Asked): AfterSalesOption {
  const { id: policyId, rules } = policyOf(asked.order, "return");
  const units = unitsOf(asked);
  const { window, reasons } = timeObstacles(asked, asked.windows.returns);
  const rest = [...restrictionObstacles(asked), ...ruleObstacles(asked, rules), ...reasons];
  return toOption({
    kind: "return_refund",
    ...withRest(units, rest),
    codes: codesOf("return_refund", asked),
    window,
    policyId,
    terms: (quantity) =>
      refundTerms(asked, {
        kind: "return_refund",
        quantity,
        methods: sendingMethods(rules),
        hasStoreCredit: rules.storeCredit,
      }),
  });
}

export function exchange(asked: Asked): AfterSalesOption {
  const { id: policyId, rules } = policyOf(asked.order, "return");
  const { window, reasons } = timeObstacles(asked, asked.windows.exchanges ?? asked.windows.returns);
  const rest = [
    ...restrictionObstacles(asked),
    ...ruleObstacles(asked, rules),
    ...reasons,
    ...exchangeObstacles(asked),
  ];
  return toOption({
    kind: "exchange",
    ...withRest(unitsOf(asked), rest),
    codes: codesOf("exchange", asked),
    window,
    policyId,
    terms: () => ({
      methods: sendingMethods(rules),
      fees: [merchantsPostage(asked)],
      estimatedRefund: null,
      settlement: ["replacement"],
      evidenceRequired: evidenceOf(rules),
    }),
  });
}

/** For what a buyer keeps: no more than the merchant would rather lose than have back. */
export function keepItem(asked: Asked): AfterSalesOption {
  const { id: policyId, rules } = policyOf(asked.order, "return");
  const { window, reasons } = timeObstacles(asked, asked.windows.returns);
  const units = unitsOf(asked);
  const { refundMinor } = valueOf(asked, {
    kind: "refund_only",
    quantity: units.quantity,
    method: "keep_item",
    isLost: false,
  });
  const isCheap = rules.keepItemMinor !== null && refundMinor <= rules.keepItemMinor;
  const rest = [
    ...restrictionObstacles(asked),
    ...ruleObstacles(asked, rules).filter(({ code }) => isCheap || code !== "self_service_disabled"),
    ...reasons,
    ...(isCheap ? [] : [obstacle("self_service_disabled", { data: { keepItemUpTo: upTo(asked, rules) } })]),
  ];
  return toOption({
    kind: "refund_only",
    ...withRest(units, rest),
    codes: codesOf("refund_only", asked).filter((code) => code !== "not_received"),
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
export function notReceived(asked: AskedOfLine): AfterSalesOption {
  const { order, line, facts, windows } = asked;
  const { id: policyId, rules } = policyOf(order, "return");
  const { startsAt } = windows.loss;
  const isBegun = startsAt !== null && Date.parse(startsAt) <= facts.now.getTime();
  const missing = undeliveredUnits(order, line);
  const none =
    missing > 0 ? [] : [line.shipped > 0 ? obstacle("quantity_exhausted") : obstacle("not_fulfilled")];
  const early =
    missing === 0 || isBegun ? [] : [obstacle("return_window_not_started", { data: { startsAt } })];
  const rest = [...askingObstacles({ facts, isFault: true }, rules), ...early];
  return toOption({
    kind: "refund_only",
    ...withRest(
      { quantity: missing, reasons: [...orderObstacles(order, { isRight: false }), ...none] },
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
export function withdrawal(asked: Asked): AfterSalesOption {
  const { order, line, facts, windows } = asked;
  const { id: policyId, rules } = policyOf(order, "withdrawal");
  const unsent = withdrawableUnsent(order, line);
  const { quantity, reasons } = unsent > 0 ? { quantity: unsent, reasons: [] } : returnable(order, line);
  const { endsAt } = windows.withdrawal;
  const isElapsed = isOver(windows.withdrawal, facts.now);
  const rest = [
    ...withdrawalExceptions(asked),
    ...(isElapsed ? [obstacle("return_window_elapsed", { data: { endsAt } })] : []),
  ];
  const none = rules.windowDays > 0 ? [] : [obstacle("region_not_supported")];
  const methods: readonly ReturnMethod[] =
    unsent > 0 ? ["keep_item"] : sendingMethods(policyOf(order, "return").rules);
  return toOption({
    kind: "withdrawal",
    ...withRest(
      { quantity, reasons: [...none, ...orderObstacles(order, { isRight: true }), ...reasons] },
      rest,
    ),
    codes: codesOf("withdrawal", asked),
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
function withdrawalExceptions({ order, line }: Asked): AfterSalesReason[] {
  const has = (restriction: string): boolean => line.restrictions.includes(restriction);
  const isGivenOut = withdrawableUnsent(order, line) === 0;
  return [
    ...(has("custom_made") ? [obstacle("custom_made")] : []),
    ...(has("perishable") ? [obstacle("perishable")] : []),
    ...(has("digital") && isGivenOut ? [obstacle("digital_content_used")] : []),
    ...(has("hygiene_sealed") ? [obstacle("hygiene_unsealed", { blocking: false })] : []),
    ...(has("gift_card") && isGivenOut ? [obstacle("gift_card", { blocking: false })] : []),
  ];
}

function exchangeObstacles({ order, facts, line, windows }: Asked): AfterSalesReason[] {
  if (windows.exchanges === null) return [obstacle("exchange_not_offered")];
  return exchangeVariants({ order, facts, line }).length > 0 ? [] : [obstacle("exchange_out_of_stock")];
}

/** What a line may be exchanged for. */
export function exchangeVariants({ facts, line }: Pick<Asked, "order" | "facts" | "line">): string[] {
  return (facts.siblingsInStock.get(line.productId) ?? []).filter(
    (variantId) => variantId !== line.variantId,
  );
}

function unitsOf({ order, line }: Asked): Units {
  const { quantity, reasons } = returnable(order, line);
  return { quantity, reasons: [...orderObstacles(order, { isRight: false }), ...reasons] };
}

/** Where there is nothing to ask for, nothing else matters. */
function withRest({ quantity, reasons }: Units, rest: readonly AfterSalesReason[]): Units {
  return { quantity, reasons: reasons.some(({ blocking }) => blocking) ? reasons : [...reasons, ...rest] };
}

function codesOf(kind: ReturnKind, { isFault }: Asked): ReturnReason[] {
  return reasonsByKind[kind].filter((code) => isMerchantFault(code) === isFault);
}

export function sendingMethods({ methods }: ReturnRules): ReturnMethod[] {
  const sending = methods.filter((method) => method !== "keep_item");
  return sending.length === 0 ? ["mail"] : sending;
}

interface RefundOffer {
  readonly kind: ReturnKind;
  readonly quantity: number;
  readonly methods: readonly ReturnMethod[];
  readonly hasStoreCredit: boolean;
  readonly isLost?: boolean;
}

function refundTerms(
  asked: Asked,
  { kind, quantity, methods, hasStoreCredit, isLost = false }: RefundOffer,
): OptionTerms {
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
  { order, line, isFault }: Asked,
  { quantity, ...asked }: Pick<ValuedReturn, "kind" | "method" | "isLost"> & { readonly quantity: number },
): ReturnType<typeof returnValue> {
  return returnValue(order, { ...asked, isFault, lines: [{ lineId: line.id, quantity }] });
}

function feesOf(
  asked: Asked,
  { restockingMinor, postageMinor }: ReturnType<typeof returnValue>,
): OptionFee[] {
  const { order } = asked;
  const { restockingBasisPoints } = policyOf(order, "return").rules;
  const amount = (minor: number): OptionFee["amount"] => money(minor, order.currency);
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
      : merchantsPostage(asked),
  ];
}

export function merchantsPostage({ order }: Pick<Asked, "order">): OptionFee {
  return { code: "return_shipping", amount: money(0, order.currency), basisPoints: null, payer: "merchant" };
}

const evidenceOf = ({ photoRequired }: ReturnRules): OptionTerms["evidenceRequired"] =>
  photoRequired ? ["photo"] : [];

function upTo({ order }: Asked, { keepItemMinor }: ReturnRules): OptionFee["amount"] {
  return keepItemMinor === null ? null : money(keepItemMinor, order.currency);
}
