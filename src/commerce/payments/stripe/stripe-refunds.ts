/**
 * Makes and reads refunds at Stripe. A refund can stay pending for days, and can fail even after it had
 * succeeded.
 */
import type Stripe from "stripe";
import type { CaptureVoidOrRefundResult } from "#commerce/payments/provider.ts";
import { toStripeAmount } from "./stripe-amounts.ts";
import { getStripeRefusalCode, normalizeStripeErrorCode } from "./stripe-errors.ts";
import { operationMetadataName, paymentMetadataName } from "./stripe-page.ts";
import type { StripePaymentRequest } from "./stripe-payment-state.ts";

/**
 * Makes a refund, or reads the present state of the refund if an earlier attempt has made it. Finds the
 * refund by the id of its payment operation. An idempotency key would not be enough: Stripe repeats its first
 * answer for some days and then forgets the key.
 */
export async function refundStripePayment({
  client,
  intentId,
  request: { amountMinor, currency, idempotencyKey, reference },
}: StripePaymentRequest): Promise<CaptureVoidOrRefundResult> {
  const made = await findRefund(client, { intentId, operationId: idempotencyKey });
  if (made !== undefined) return toRefundResult(made);
  try {
    return toRefundResult(
      await client.refunds.create(
        {
          payment_intent: intentId,
          amount: toStripeAmount(amountMinor, currency),
          metadata: { [operationMetadataName]: idempotencyKey, [paymentMetadataName]: reference },
        },
        { idempotencyKey },
      ),
    );
  } catch (error) {
    const code = getStripeRefusalCode(error);
    if (code === undefined) throw error;
    return { outcome: "declined", code };
  }
}

/** Maximum number of objects in one page of a list from Stripe's API. */
const pageSize = 100;

const listRefunds = (client: Stripe, intentId: string): AsyncIterable<Stripe.Refund> =>
  client.refunds.list({ payment_intent: intentId, limit: pageSize });

async function findRefund(
  client: Stripe,
  { intentId, operationId }: { readonly intentId: string; readonly operationId: string },
): Promise<Stripe.Refund | undefined> {
  for await (const refund of listRefunds(client, intentId))
    if (refund.metadata?.[operationMetadataName] === operationId) return refund;
  return undefined;
}

/**
 * Returns the sum of a payment's refunds in Stripe's minor units, without failed and canceled refunds. The
 * charge's `amount_refunded` is not used, because Stripe does not document when it subtracts such refunds.
 */
export async function sumStripeRefunds(client: Stripe, intentId: string): Promise<number> {
  let sum = 0;
  for await (const { status, amount } of listRefunds(client, intentId))
    if (!isFailedOrCanceledRefundStatus(status)) sum += amount;
  return sum;
}

export const isFailedOrCanceledRefundStatus = (status: string | null): boolean =>
  status === "failed" || status === "canceled";

function toRefundResult({ status, failure_reason: reason }: Stripe.Refund): CaptureVoidOrRefundResult {
  if (status === "succeeded") return { outcome: "succeeded" };
  return isFailedOrCanceledRefundStatus(status)
    ? {
        outcome: "declined",
        code: reason === undefined ? `refund_${status}` : normalizeStripeErrorCode(reason),
      }
    : { outcome: "pending" };
}
