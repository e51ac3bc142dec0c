/**
 * Records disputes that the payment provider reports. The recorded status only moves from open to won or
 * lost, so that an old answer of the provider cannot open a closed dispute again.
 */
import type { ProviderDispute } from "#commerce/payments/provider-events.ts";
import type { Transaction } from "#database/transaction.ts";
import { lockOrder, type OrderCommandContext } from "#commerce/orders/change-order.ts";
import type { OrderAggregate, OrderPayment } from "#commerce/orders/order-aggregate.ts";
import { computeRefundablePaymentAmountMinor } from "#commerce/orders/order-value.ts";
import { endPaymentDispute, openPaymentDispute } from "./disputes.ts";

export interface DisputeOfPayment {
  readonly connectionId: string;
  readonly orderId: string;
  readonly paymentId: string;
  readonly dispute: ProviderDispute;
}

/**
 * Records one step of a dispute: its opening or its end. Returns true if another step follows, which needs a
 * transaction of its own, because a transaction saves an order only once.
 */
export async function recordDisputeStep(
  transaction: Transaction,
  context: OrderCommandContext,
  { connectionId, orderId, paymentId, dispute }: DisputeOfPayment,
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
  readonly dispute: ProviderDispute;
}

/**
 * Opens a dispute in the order. A dispute that was won before its first event arrived is only recorded, and
 * so is a dispute of a payment that is disputed already or has no captured amount left.
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
 * Closes a dispute. A payment stays disputed while another of its disputes is open. A lost dispute reaches
 * the order even if the payment is not disputed in the order any more.
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
    await endPaymentDispute(transaction, context, { order, payment, lostMinor, staysDisputed });
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
