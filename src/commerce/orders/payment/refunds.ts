/**
 * Makes refunds. `createRefund` lets a merchant refund sent units, shipping, or an amount as goodwill; the
 * cost of the order is reduced by the same amount. Units that were not sent must be canceled instead, and
 * units that the buyer sends back need a return. `queueRefund` chooses a payment with enough captured money,
 * inserts the refund and queues the request to the payment provider; cancellations and returns use this
 * function too.
 */
import { sql } from "kysely";
import {
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  requireNoInputFieldErrors,
  getTextFieldErrors,
} from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { queuePaymentOperation } from "#commerce/payments/payment-operations.ts";
import { createId } from "#foundation/ids.ts";
import { createMoney } from "#foundation/money.ts";
import {
  applyChangeToLockedOrder,
  lockOrder,
  type OrderColumnUpdateAndEvents,
  type OrderIdAndExpectedVersion,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import {
  findMoneyAmountFaults,
  type MoneyAmountInput,
  findOrderLineSelectionFaults,
  noteLengthMax,
  createOrderConflictFailure,
  requireOrderLineSelectionWithinLimits,
  requireAmountInOrderCurrency,
  requireKnownOrderLines,
  requireNoDisputedPayment,
} from "#commerce/orders/order-checks.ts";
import {
  computeOverpaidAmountMinor,
  computeRefundableOrderAmountMinor,
  computeRefundablePaymentAmountMinor,
  computeRemainingShippingPriceMinor,
  computeValueOfOrderLineUnitsMinor,
} from "#commerce/orders/order-value.ts";
import type {
  OrderLineIdAndQuantity,
  OrderAggregate,
  OrderLine,
  OrderRefund,
} from "#commerce/orders/order-aggregate.ts";
import type { RefundReason } from "#commerce/orders/order-states.ts";
import { isFulfillmentNeededForLine, getUncanceledQuantity } from "#commerce/orders/order-statuses.ts";

export const refundsPerOrderMax = 200;

export interface CreateRefundInput extends OrderIdAndExpectedVersion {
  readonly lines?: readonly OrderLineIdAndQuantity[] | null | undefined;
  /** True to refund the shipping price of the order, as far as it was not refunded before. */
  readonly shipping?: boolean | null | undefined;
  /** An amount to refund as goodwill, in addition to the amounts for lines and shipping. */
  readonly amount?: MoneyAmountInput | null | undefined;
  readonly reason: RefundReason;
  readonly note?: string | null | undefined;
}

export interface CreatedRefundWithOrder {
  readonly order: OrderAggregate;
  readonly refundId: string;
}

export async function createRefund(
  transaction: Transaction,
  context: OrderCommandContext,
  input: CreateRefundInput,
): Promise<CreatedRefundWithOrder> {
  requireNoInputFieldErrors(inputFaults(input));
  const order = await lockOrder(transaction, context, input.orderId);
  const worth = composeRefund(order, input);
  let refundId = "";
  const work = async (): Promise<OrderColumnUpdateAndEvents> => {
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
      events: [{ type: "refund.created", id: refundId }],
    };
  };
  return {
    order: await applyChangeToLockedOrder(transaction, context, {
      order,
      expectedVersion: input.expectedVersion,
      work,
    }),
    refundId,
  };
}

function inputFaults({ lines, shipping, amount, note }: CreateRefundInput): InputFieldErrors {
  const hasParts = (lines ?? amount ?? null) !== null || shipping === true;
  return [
    ...findOrderLineSelectionFaults(lines),
    ...findMoneyAmountFaults(amount),
    ...getTextFieldErrors("/note", note, { max: noteLengthMax, lines: "many" }),
    ...(hasParts
      ? []
      : [createRequestBodyErrorDetail("/amount", "required", "Lines, shipping or an amount must be given.")]),
  ];
}

interface RefundComposition {
  readonly amountMinor: number;
  readonly lines: OrderRefund["lines"];
  readonly shippingMinor: number;
  readonly reducedMinor: number;
}

function composeRefund(
  order: OrderAggregate,
  { lines: chosen, shipping, amount }: CreateRefundInput,
): RefundComposition {
  requireAmountInOrderCurrency(order, amount);
  requireKnownOrderLines(order, chosen ?? []);
  requireNoDisputedPayment(order);
  requireFewRefunds(order);
  const lines = toRefundLines(order, chosen ?? []);
  const shippingMinor = shipping === true ? shippingToRefund(order) : 0;
  const partsMinor = lines.reduce((sum, line) => sum + line.amountMinor, shippingMinor);
  const goodwillMinor = amount?.amountMinor ?? 0;
  const amountMinor = partsMinor + goodwillMinor;
  if (amountMinor > computeRefundableOrderAmountMinor(order)) throw amountFailure(order);
  if (amountMinor === 0)
    throw createOrderConflictFailure("invalid_state", order, {
      reason: "nothing_to_refund",
      message: "The chosen units and shipping cost nothing, so there is nothing to refund.",
    });
  const reducedMinor = partsMinor + Math.max(0, goodwillMinor - computeOverpaidAmountMinor(order));
  return {
    amountMinor,
    lines,
    shippingMinor,
    reducedMinor: Math.min(reducedMinor, order.totalMinor - order.reducedMinor),
  };
}

/**
 * Throws if the order already has the maximum number of refunds. The maximum does not apply to cancellations
 * and returns: each of them refunds units of the order, so their number is limited anyway.
 */
function requireFewRefunds(order: OrderAggregate): void {
  if (order.refunds.length < refundsPerOrderMax) return;
  const message = `An order has ${refundsPerOrderMax} refunds at most.`;
  throw createOrderConflictFailure("invalid_state", order, {
    reason: "too_many_refunds",
    message,
    data: { max: refundsPerOrderMax },
  });
}

function toRefundLines(
  order: OrderAggregate,
  chosen: readonly OrderLineIdAndQuantity[],
): OrderRefund["lines"] {
  requireOrderLineSelectionWithinLimits(order, {
    lines: chosen,
    selectable: order.lines.map((line) => ({
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
      : [{ lineId: line.id, quantity, amountMinor: computeValueOfOrderLineUnitsMinor(line, quantity) }];
  });
}

/**
 * Counts the sent units of an order line that are neither refunded nor in an open return. Units that were
 * returned for a refund are counted as refunded.
 */
function refundableUnits({ status }: OrderAggregate, line: OrderLine): number {
  const sent = isFulfillmentNeededForLine(line)
    ? line.shipped
    : status === "completed"
      ? getUncanceledQuantity(line)
      : 0;
  return Math.max(0, sent - line.returnRequested - Math.max(line.refunded, line.returned));
}

function shippingToRefund(order: OrderAggregate): number {
  const leftMinor = computeRemainingShippingPriceMinor(order);
  if (leftMinor > 0) return leftMinor;
  throw createOrderConflictFailure("invalid_state", order, {
    reason: "shipping_not_refundable",
    message: "The order has no shipping left to refund.",
  });
}

async function markRefunded(
  transaction: Transaction,
  orderId: string,
  lines: OrderRefund["lines"],
): Promise<void> {
  await sql`
    update order_line l set refunded = l.refunded + u.quantity, reduced_minor = l.reduced_minor +
    u.amount_minor
    from unnest(${lines.map(({ lineId }) => lineId)}::text[],
    ${lines.map(({ quantity }) => quantity)}::integer[],
      ${lines.map(({ amountMinor }) => amountMinor)}::bigint[]) as u(id, quantity, amount_minor)
    where l.id = u.id and l.order_id = ${orderId}`.execute(transaction);
}

interface RefundToQueue {
  /**
   * The order as it was read in this transaction. If the transaction has already queued a refund, the order
   * must have been read after that.
   */
  readonly order: OrderAggregate;
  readonly amountMinor: number;
  readonly reason: string;
  readonly note?: string | null;
  /**
   * The units that are refunded, with their amounts. These amounts and `shippingMinor` together are at most
   * the amount of the refund.
   */
  readonly lines?: OrderRefund["lines"];
  readonly shippingMinor?: number;
  readonly returnId?: string | null;
}

/**
 * Queues a refund and returns its id. Throws if a payment is disputed, or if the amount is higher than the
 * refundable amount.
 */
export async function queueRefund(
  transaction: Transaction,
  context: OrderCommandContext,
  refund: RefundToQueue,
): Promise<string> {
  const { order, amountMinor, reason, note = null, lines = [], shippingMinor = 0, returnId = null } = refund;
  requireNoDisputedPayment(order);
  const payment = order.payments.find(
    (candidate) => computeRefundablePaymentAmountMinor(candidate) >= amountMinor,
  );
  if (payment === undefined) throw amountFailure(order);
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
    insert into refund (id, merchant_id, payment_id, order_id, return_id, operation_id, amount_minor,
    currency, reason, note, lines, shipping_minor,
      created_at, updated_at)
    values (${id}, ${merchantId}, ${payment.id}, ${order.id}, ${returnId}, ${operationId}, ${amountMinor},
    ${order.currency}, ${reason}, ${note},
      ${JSON.stringify(lines)}::jsonb, ${shippingMinor}, ${now}::timestamptz, ${now}::timestamptz)`.execute(
    transaction,
  );
  return id;
}

function amountFailure(order: OrderAggregate): Error {
  return createOrderConflictFailure("invalid_state", order, {
    reason: "refund_exceeds_captured",
    message: "The amount exceeds the captured amount that is left.",
    data: { refundable: createMoney(Math.max(0, computeRefundableOrderAmountMinor(order)), order.currency) },
  });
}

/**
 * Distributes the refunded amount over the lines in their order and then over the shipping, until the amount
 * is used up.
 */
export function allocateRefundToLinesAndShipping(
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
