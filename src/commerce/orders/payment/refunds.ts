/**
 * Refunds. `createRefund`: the merchant gives money back for units that were sent, for shipping, or as
 * goodwill, and the buyer then owes that much less. `queueRefund`: finds the payment that has the money,
 * inserts the refund and asks the provider for it; cancellations and returns use it too. Units that are not
 * sent yet are canceled instead, and units that come back are a return.
 */
import { sql } from "kysely";
import { faultAt, type Faults, requireNoFaults, textFaults } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { queuePaymentOperation } from "#commerce/payments/payment-operations.ts";
import { createId } from "#foundation/ids.ts";
import { money } from "#foundation/money.ts";
import {
  changeLocked,
  lockOrder,
  type OrderOutcome,
  type OrderTarget,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import {
  amountFaults,
  type AmountInput,
  chosenFaults,
  noteMax,
  refuseOrder,
  requireChoosable,
  requireCurrency,
  requireKnownLines,
  requireNoDispute,
} from "#commerce/orders/order-checks.ts";
import {
  refundableMinor,
  refundableOfPayment,
  shippingLeftMinor,
  unitsValueMinor,
} from "#commerce/orders/order-value.ts";
import type {
  LineQuantity,
  OrderAggregate,
  OrderLine,
  OrderRefund,
} from "#commerce/orders/order-aggregate.ts";
import { needsFulfillment, wantedOf } from "#commerce/orders/order-statuses.ts";

export const refundReasons = [
  "requested_by_customer",
  "damaged",
  "not_received",
  "wrong_item",
  "price_adjustment",
  "duplicate",
  "fraudulent",
  "other",
] as const;
export type RefundReason = (typeof refundReasons)[number];

export const refundsMax = 200;

export interface RefundCreateInput extends OrderTarget {
  readonly lines?: readonly LineQuantity[] | null | undefined;
  /** All that is left of it. */
  readonly shipping?: boolean | null | undefined;
  /** Beside lines and shipping. */
  readonly amount?: AmountInput | null | undefined;
  readonly reason: RefundReason;
  readonly note?: string | null | undefined;
}

export interface CreatedRefund {
  readonly order: OrderAggregate;
  readonly refundId: string;
}

export async function createRefund(
  transaction: Transaction,
  context: OrderCommandContext,
  input: RefundCreateInput,
): Promise<CreatedRefund> {
  requireNoFaults(inputFaults(input));
  const order = await lockOrder(transaction, context, input.orderId);
  const worth = worthOf(order, input);
  let refundId = "";
  const work = async (): Promise<OrderOutcome> => {
    const { amountMinor, lines, shippingMinor, reducedMinor } = worth;
    refundId = await queueRefund(transaction, context, {
      order,
      amountMinor,
      reason: input.reason,
      note: input.note ?? null,
      lines,
      shippingMinor,
    });
    await markRefunded(transaction, order.id, lines);
    return {
      reducedMinor,
      shippingReducedMinor: shippingMinor,
      happenings: [{ type: "refund.created", id: refundId }],
    };
  };
  return {
    order: await changeLocked(transaction, context, { order, expectedVersion: input.expectedVersion, work }),
    refundId,
  };
}

function inputFaults({ lines, shipping, amount, note }: RefundCreateInput): Faults {
  const isAnything = (lines ?? amount ?? null) !== null || shipping === true;
  return [
    ...chosenFaults(lines),
    ...amountFaults(amount),
    ...textFaults("/note", note, { max: noteMax, lines: "many" }),
    ...(isAnything
      ? []
      : [faultAt("/amount", "required", "Lines, the shipping or an amount must be given.")]),
  ];
}

interface Worth {
  readonly amountMinor: number;
  readonly lines: OrderRefund["lines"];
  readonly shippingMinor: number;
  readonly reducedMinor: number;
}

function worthOf(order: OrderAggregate, { lines: chosen, shipping, amount }: RefundCreateInput): Worth {
  requireCurrency(order, amount);
  requireKnownLines(order, chosen ?? []);
  requireNoDispute(order);
  requireFewRefunds(order);
  const lines = valued(order, chosen ?? []);
  const shippingMinor = shipping === true ? shippingToRefund(order) : 0;
  const partsMinor = lines.reduce((sum, line) => sum + line.amountMinor, shippingMinor);
  const goodwillMinor = amount?.amountMinor ?? 0;
  const amountMinor = partsMinor + goodwillMinor;
  if (amountMinor > refundableMinor(order)) throw refuseAmount(order);
  if (amountMinor === 0)
    throw refuseOrder("invalid_state", order, {
      reason: "nothing_to_refund",
      message: "It was free: there is nothing to refund.",
    });
  const reducedMinor = partsMinor + Math.max(0, goodwillMinor - overpaidMinor(order));
  return {
    amountMinor,
    lines,
    shippingMinor,
    reducedMinor: Math.min(reducedMinor, order.totalMinor - order.reducedMinor),
  };
}

/**
 * Those that follow from cancellations and returns are not refused for their number: they are bounded by the
 * order's units.
 */
function requireFewRefunds(order: OrderAggregate): void {
  if (order.refunds.length < refundsMax) return;
  const message = `An order has ${refundsMax} refunds at most.`;
  throw refuseOrder("invalid_state", order, {
    reason: "too_many_refunds",
    message,
    data: { max: refundsMax },
  });
}

/**
 * Kept, though nobody owes it any more (a refund has failed): giving that back takes nothing off what is
 * owed.
 */
function overpaidMinor(order: OrderAggregate): number {
  return Math.max(0, refundableMinor(order) - (order.totalMinor - order.reducedMinor));
}

function valued(order: OrderAggregate, chosen: readonly LineQuantity[]): OrderRefund["lines"] {
  requireChoosable(order, {
    lines: chosen,
    choosable: order.lines.map((line) => ({
      lineId: line.id,
      quantity: refundableUnits(order, line),
      reasons: [],
    })),
    reason: "quantity_not_refundable",
    message: "Only units that were sent, and have not come back or been refunded, can be refunded.",
  });
  const quantities = new Map(chosen.map(({ lineId, quantity }) => [lineId, quantity]));
  return order.lines.flatMap((line) => {
    const quantity = quantities.get(line.id);
    return quantity === undefined
      ? []
      : [{ lineId: line.id, quantity, amountMinor: unitsValueMinor(line, quantity) }];
  });
}

/**
 * Sent, and neither on its way back nor settled already. Units that came back for a refund count as refunded
 * as well.
 */
function refundableUnits({ status }: OrderAggregate, line: OrderLine): number {
  const sent = needsFulfillment(line) ? line.shipped : status === "completed" ? wantedOf(line) : 0;
  return Math.max(0, sent - line.returnRequested - Math.max(line.refunded, line.returned));
}

function shippingToRefund(order: OrderAggregate): number {
  const leftMinor = shippingLeftMinor(order);
  if (leftMinor > 0) return leftMinor;
  throw refuseOrder("invalid_state", order, {
    reason: "shipping_not_refundable",
    message: "No shipping is left to be refunded.",
  });
}

async function markRefunded(
  transaction: Transaction,
  orderId: string,
  lines: OrderRefund["lines"],
): Promise<void> {
  await sql`
    update order_line l set refunded = l.refunded + u.quantity, reduced_minor = l.reduced_minor + u.amount_minor
    from unnest(${lines.map(({ lineId }) => lineId)}::text[], ${lines.map(({ quantity }) => quantity)}::integer[],
      ${lines.map(({ amountMinor }) => amountMinor)}::bigint[]) as u(id, quantity, amount_minor)
    where l.id = u.id and l.order_id = ${orderId}`.execute(transaction);
}

interface RefundToQueue {
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
export async function queueRefund(
  transaction: Transaction,
  context: OrderCommandContext,
  refund: RefundToQueue,
): Promise<string> {
  const { order, amountMinor, reason, note = null, lines = [], shippingMinor = 0, returnId = null } = refund;
  requireNoDispute(order);
  const payment = order.payments.find((candidate) => refundableOfPayment(candidate) >= amountMinor);
  if (payment === undefined) throw refuseAmount(order);
  const { merchantId, now, events } = context;
  const operationId = await queuePaymentOperation(transaction, {
    merchantId,
    paymentId: payment.id,
    kind: "refund",
    amountMinor,
    now,
    events,
  });
  const id = createId("refund", now.getTime());
  await sql`
    insert into refund (id, merchant_id, payment_id, order_id, return_id, operation_id, amount_minor, currency, reason, note, lines, shipping_minor,
      created_at, updated_at)
    values (${id}, ${merchantId}, ${payment.id}, ${order.id}, ${returnId}, ${operationId}, ${amountMinor}, ${order.currency}, ${reason}, ${note},
      ${JSON.stringify(lines)}::jsonb, ${shippingMinor}, ${now}::timestamptz, ${now}::timestamptz)`.execute(
    transaction,
  );
  return id;
}

function refuseAmount(order: OrderAggregate): Error {
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
  return {
    lines: lines.map((line) => ({ ...line, amountMinor: take(line.amountMinor) })),
    shippingMinor: take(shippingMinor),
  };
}
