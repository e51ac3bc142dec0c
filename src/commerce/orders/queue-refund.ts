/**
 * Gives money back: finds the payment that has it, writes the refund down and asks the provider for it. What the order makes of it (events, what is
 * still owed) is the caller's, who holds the order.
 */
import { sql } from "kysely";
import { queueOperation } from "#commerce/payments/payment-operations.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { money } from "#foundation/money.ts";
import { refundableMinor } from "./order-value.ts";
import type { OrderTenant } from "./change-order.ts";
import { refuseOrder, requireNoDispute } from "./order-checks.ts";
import type { OrderAggregate, OrderPayment, OrderRefund } from "./order-aggregate.ts";

export interface RefundToQueue {
  /** As it is in this transaction; a second refund of the same transaction must know of the first. */
  readonly order: OrderAggregate;
  readonly amountMinor: number;
  readonly reason: string;
  readonly note?: string | null;
  /** What it is for; their amounts and the shipping are never more than the refund. */
  readonly lines?: OrderRefund["lines"];
  readonly shippingMinor?: number;
  readonly returnId?: string | null;
}

/** The refund's id. Refused while a payment is disputed, and for more than there is. */
export async function queueRefund(transaction: Transaction, tenant: OrderTenant, refund: RefundToQueue): Promise<string> {
  const { order, amountMinor, reason, note = null, lines = [], shippingMinor = 0, returnId = null } = refund;
  requireNoDispute(order);
  const payment = order.payments.find((candidate) => refundableOf(candidate) >= amountMinor);
  if (payment === undefined) throw refuseAmount(order);
  const { merchantId, now, events } = tenant;
  const operationId = await queueOperation(transaction, { merchantId, paymentId: payment.id, kind: "refund", amountMinor, now, events });
  const id = createId("refund", now.getTime());
  await sql`
    insert into refund (id, merchant_id, payment_id, order_id, return_id, operation_id, amount_minor, currency, reason, note, lines, shipping_minor,
      created_at, updated_at)
    values (${id}, ${merchantId}, ${payment.id}, ${order.id}, ${returnId}, ${operationId}, ${amountMinor}, ${order.currency}, ${reason}, ${note},
      ${JSON.stringify(lines)}::jsonb, ${shippingMinor}, ${now}::timestamptz, ${now}::timestamptz)`.execute(transaction);
  return id;
}

/** Captured by it, and neither given back nor about to be. */
function refundableOf({ capturedMinor, refundedMinor, pending }: OrderPayment): number {
  return pending.reduce((left, { kind, amountMinor }) => (kind === "refund" ? left - amountMinor : left), capturedMinor - refundedMinor);
}

export function refuseAmount(order: OrderAggregate): Error {
  return refuseOrder("invalid_state", order, {
    reason: "refund_exceeds_captured",
    message: "That is more than is left of what was captured.",
    data: { refundable: money(Math.max(0, refundableMinor(order)), order.currency) },
  });
}

/** What a refund is made of: as much of each part as there is money for, in their order, the shipping last. */
export function coverRefund(
  amountMinor: number,
  { lines, shippingMinor }: { readonly lines: OrderRefund["lines"]; readonly shippingMinor: number },
): { readonly lines: OrderRefund["lines"]; readonly shippingMinor: number } {
  let left = amountMinor;
  const take = (wantedMinor: number): number => {
    const taken = Math.min(left, wantedMinor);
    left -= taken;
    return taken;
  };
  return { lines: lines.map((line) => ({ ...line, amountMinor: take(line.amountMinor) })), shippingMinor: take(shippingMinor) };
}
