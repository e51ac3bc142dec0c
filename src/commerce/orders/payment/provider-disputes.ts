/**
 * Records disputes that the payment provider reports. The recorded status only changes from open to won or
 * lost. A delayed answer of the provider can therefore not reopen a closed dispute.
 */
import type { PaymentProviderDispute } from "#commerce/payments/provider-events.ts";
import type { Transaction } from "#database/transaction.ts";
import { lockOrder, type OrderCommandContext } from "#commerce/orders/change-order.ts";
import type { OrderAggregate, OrderPayment } from "#commerce/orders/order-aggregate.ts";
import { computeRefundablePaymentAmountMinor } from "#commerce/orders/order-value.ts";
import { savePaymentDisputeEnd, openPaymentDispute } from "./disputes.ts";

export interface ProviderDisputeOfPayment {
  readonly connectionId: string;
  readonly orderId: string;
  readonly paymentId: string;
  readonly dispute: PaymentProviderDispute;
}

/**
 * Records the opening or the end of a dispute. Returns true if the end must still be recorded, in another
 * transaction, because a transaction saves an order only once.
 */
export async function recordDisputeOpeningOrEnd(
  transaction: Transaction,
  context: OrderCommandContext,
  { connectionId, orderId, paymentId, dispute }: ProviderDisputeOfPayment,
): Promise<boolean> {
  const { id, status } = dispute;
  if (status === "ignored") return false;
  const order = await lockOrder(transaction, context, orderId);
  const payment = order.payments.find((candidate) => candidate.id === paymentId);
  if (payment === undefined) throw new Error(`Order ${orderId} has no payment ${paymentId}.`);
  const recorded = await transaction
    .selectFrom("paymentDispute")
    .select("status")
    .where("connectionId", "=", connectionId)
    .where("id", "=", id)
    .executeTakeFirst();
  const step = { connectionId, order, payment, dispute };
  if (recorded === undefined) {
    await openDispute(transaction, context, step);
    return status === "lost";
  }
  if (recorded.status === "open" && status !== "open")
    await closeDispute(transaction, context, { ...step, outcome: status });
  return false;
}

interface DisputeStep {
  readonly connectionId: string;
  readonly order: OrderAggregate;
  readonly payment: OrderPayment;
  readonly dispute: PaymentProviderDispute;
}

/**
 * Records a new dispute and marks its payment as disputed. The payment stays unchanged if the dispute is
 * already won, if the payment is already disputed, or if no captured amount is left.
 */
async function openDispute(
  transaction: Transaction,
  context: OrderCommandContext,
  { connectionId, payment, dispute }: DisputeStep,
): Promise<void> {
  const { id, status, amountMinor, reason } = dispute;
  const paymentId = payment.id;
  if (status !== "won" && payment.disputedAt === null && computeRefundablePaymentAmountMinor(payment) > 0)
    await openPaymentDispute(transaction, context, { paymentId, reason });
  await insertDispute(transaction, context, {
    connectionId,
    id,
    paymentId,
    status: status === "won" ? "won" : "open",
    amountMinor,
  });
}

/**
 * Records that a dispute was won or lost. A payment stays disputed while it has another open dispute. The
 * lost amount is saved in the order even if the payment is not marked as disputed any more.
 */
async function closeDispute(
  transaction: Transaction,
  context: OrderCommandContext,
  { connectionId, order, payment, dispute, outcome }: DisputeStep & { readonly outcome: "won" | "lost" },
): Promise<void> {
  const { id, amountMinor } = dispute;
  const lostMinor =
    outcome === "lost" ? Math.min(amountMinor, computeRefundablePaymentAmountMinor(payment)) : 0;
  const isDisputed = payment.disputedAt !== null;
  const staysDisputed = isDisputed && (await hasOtherOpenDispute(transaction, payment.id, id));
  if (lostMinor > 0 || (isDisputed && !staysDisputed))
    await savePaymentDisputeEnd(transaction, context, { order, payment, lostMinor, staysDisputed });
  await transaction
    .updateTable("paymentDispute")
    .set({
      status: outcome,
      amountMinor: outcome === "lost" ? lostMinor : amountMinor,
      updatedAt: context.now,
    })
    .where("connectionId", "=", connectionId)
    .where("id", "=", id)
    .execute();
}

async function hasOtherOpenDispute(
  transaction: Transaction,
  paymentId: string,
  disputeId: string,
): Promise<boolean> {
  const row = await transaction
    .selectFrom("paymentDispute")
    .select("id")
    .where("paymentId", "=", paymentId)
    .where("status", "=", "open")
    .where("id", "!=", disputeId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

async function insertDispute(
  transaction: Transaction,
  { now }: OrderCommandContext,
  dispute: {
    readonly connectionId: string;
    readonly id: string;
    readonly paymentId: string;
    readonly status: "open" | "won";
    readonly amountMinor: number;
  },
): Promise<void> {
  await transaction
    .insertInto("paymentDispute")
    .values({ ...dispute, createdAt: now, updatedAt: now })
    .execute();
}
