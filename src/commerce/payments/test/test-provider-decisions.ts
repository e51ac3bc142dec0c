/** Decides whether the test provider accepts a capture, a void or a refund of a payment. */
import type { Selectable } from "kysely";
import type { TestProviderPaymentTable } from "#database/tables.ts";
import type { PaymentProviderRequest } from "#commerce/payments/provider.ts";

/** The row of a payment in the test provider's table of payments. */
export type TestProviderPaymentRow = Selectable<TestProviderPaymentTable>;

/**
 * The decision of the test provider about a capture, void or refund: the new values of the stored payment if
 * the request is accepted, or a failure code if it is declined.
 */
export type TestPaymentProviderDecision =
  | Partial<Pick<TestProviderPaymentRow, "status" | "capturedMinor" | "voidedMinor" | "refundedMinor">>
  | string;

export function decideTestProviderCapture(
  payment: TestProviderPaymentRow,
  { amountMinor }: PaymentProviderRequest,
): TestPaymentProviderDecision {
  if (payment.status !== "authorized") return "payment_not_authorized";
  if (amountMinor > payment.amountMinor - payment.capturedMinor - payment.voidedMinor)
    return "amount_exceeds_authorized";
  return { capturedMinor: payment.capturedMinor + amountMinor };
}

export function decideTestProviderRefund(
  payment: TestProviderPaymentRow,
  { amountMinor }: PaymentProviderRequest,
): TestPaymentProviderDecision {
  if (amountMinor > payment.capturedMinor - payment.refundedMinor) return "amount_exceeds_captured";
  return { refundedMinor: payment.refundedMinor + amountMinor };
}

export function decideTestProviderVoid(
  payment: TestProviderPaymentRow,
  { amountMinor }: PaymentProviderRequest,
): TestPaymentProviderDecision {
  if (payment.status !== "authorized") return "payment_not_authorized";
  if (amountMinor > payment.amountMinor - payment.capturedMinor - payment.voidedMinor)
    return "amount_exceeds_authorized";
  const voidedMinor = payment.voidedMinor + amountMinor;
  return { voidedMinor, status: voidedMinor === payment.amountMinor ? "voided" : "authorized" };
}
