/** Calculates the terms of after-sales options: return methods, fees, refund and required evidence. */
import type { ReturnMethod, ReturnRules } from "#commerce/markets/policy-rules.ts";
import { getOrderPolicy } from "#commerce/orders/order-terms.ts";
import type { ReturnKind } from "#commerce/orders/order-states.ts";
import { createMoney, type Money } from "#foundation/money.ts";
import type {
  AfterSalesFee,
  AfterSalesOptionEvaluationInput,
  AfterSalesOptionTerms,
} from "./after-sales-option.ts";
import { calculateReturnedUnitsValue, type CalculateReturnedUnitsValueInput } from "./return-rules.ts";

/**
 * Returns the methods by which the return policy lets buyers send goods back; "mail" if the policy names
 * none.
 */
export function getReturnMethodsOfPolicy({ methods }: ReturnRules): ReturnMethod[] {
  const sending = methods.filter((method) => method !== "keep_item");
  return sending.length === 0 ? ["mail"] : sending;
}

interface RefundOptionTermsInput {
  readonly kind: ReturnKind;
  readonly quantity: number;
  readonly methods: readonly ReturnMethod[];
  readonly isLost?: boolean;
}

/** Returns the terms of an after-sales option that refunds units of one order line. */
export function computeAfterSalesRefundTerms(
  context: AfterSalesOptionEvaluationInput,
  { kind, quantity, methods, isLost = false }: RefundOptionTermsInput,
): AfterSalesOptionTerms {
  const { order } = context;
  const value = calculateValueOfSingleLineReturn(context, {
    kind,
    quantity,
    method: methods[0] ?? "mail",
    isLost,
  });
  return {
    methods,
    fees: methods.includes("keep_item") ? [] : feesOf(context, value),
    estimatedRefund: createMoney(value.refundMinor, order.currency),
    settlement: ["original_payment"],
    evidenceRequired: getRequiredReturnEvidence(getOrderPolicy(order, "return").rules),
  };
}

/**
 * Calculates the value of the returned units, and the fees that are deducted, for a return with a single
 * order line.
 */
export function calculateValueOfSingleLineReturn(
  { order, line, isFault }: AfterSalesOptionEvaluationInput,
  {
    quantity,
    ...context
  }: Pick<CalculateReturnedUnitsValueInput, "kind" | "method" | "isLost"> & { readonly quantity: number },
): ReturnType<typeof calculateReturnedUnitsValue> {
  return calculateReturnedUnitsValue(order, { ...context, isFault, lines: [{ lineId: line.id, quantity }] });
}

function feesOf(
  context: AfterSalesOptionEvaluationInput,
  { restockingMinor, postageMinor }: ReturnType<typeof calculateReturnedUnitsValue>,
): AfterSalesFee[] {
  const { order } = context;
  const { restockingBasisPoints } = getOrderPolicy(order, "return").rules;
  const amount = (minor: number): AfterSalesFee["amount"] => createMoney(minor, order.currency);
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
      : createZeroReturnShippingFee(context),
  ];
}

/** Creates the fee for a return whose shipping the merchant pays: a return shipping fee of amount 0. */
export function createZeroReturnShippingFee({
  order,
}: Pick<AfterSalesOptionEvaluationInput, "order">): AfterSalesFee {
  return {
    code: "return_shipping",
    amount: createMoney(0, order.currency),
    basisPoints: null,
    payer: "merchant",
  };
}

/** Returns the evidence (for example a photo) that the return policy requires. */
export const getRequiredReturnEvidence = ({
  photoRequired,
}: ReturnRules): AfterSalesOptionTerms["evidenceRequired"] => (photoRequired ? ["photo"] : []);

/**
 * Returns the highest refund for which the return policy lets the buyer keep the goods; null if the policy
 * never lets the buyer keep the goods.
 */
export function getMaxRefundWithoutReturn(
  { order }: AfterSalesOptionEvaluationInput,
  { keepItemMinor }: ReturnRules,
): Money | null {
  return keepItemMinor === null ? null : createMoney(keepItemMinor, order.currency);
}
