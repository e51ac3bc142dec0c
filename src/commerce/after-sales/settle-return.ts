/**
 * Settles a return: reduces the amount that the buyer owes, and refunds the amount that the buyer has paid
 * too much through the payment provider. Usually the refund is the amount that was promised when the return
 * was requested. The refund is higher than promised if the units are worth more now, and lower if the
 * merchant accepted fewer units. Authorizations that are no longer needed are voided.
 */
import { computeRefundableOrderAmountMinor } from "#commerce/orders/order-value.ts";
import type { OrderColumnUpdateAndEvents, OrderCommandContext } from "#commerce/orders/change-order.ts";
import type { OrderEvent } from "#commerce/orders/order-events.ts";
import type {
  OrderLineIdAndQuantity,
  OrderAggregate,
  OrderReturn,
} from "#commerce/orders/order-aggregate.ts";
import { getUncanceledQuantity } from "#commerce/orders/order-statuses.ts";
import { allocateRefundToLinesAndShipping, queueRefund } from "#commerce/orders/payment/refunds.ts";
import { requireNoDisputedPayment } from "#commerce/orders/order-checks.ts";
import { voidAuthorizationsIfNothingOwed } from "#commerce/orders/payment/order-payment.ts";
import type { Transaction } from "#database/transaction.ts";
import { isWithdrawalOfUnsentUnits } from "./obstacles.ts";
import { isRefundRequestForUndeliveredUnits, isMerchantFaultReason } from "./reasons.ts";
import { incrementOrderLineReturnsAndRefunds } from "./return-rows.ts";
import { calculateReturnedUnitsValue } from "./return-rules.ts";

export interface ReturnToSettle {
  readonly order: OrderAggregate;
  readonly found: Pick<OrderReturn, "id" | "kind" | "reason" | "method" | "refundMinor"> & {
    readonly lines: readonly OrderLineIdAndQuantity[];
  };
  /** The returned units to refund, by order line. */
  readonly units: readonly OrderLineIdAndQuantity[];
}

type SettledLine = OrderLineIdAndQuantity & { readonly amountMinor: number };

/** The amounts that the settlement of a return produces, in minor units of the order's currency. */
export interface ReturnSettlement {
  readonly lines: readonly SettledLine[];
  readonly shippingMinor: number;
  /** Amount by which the settlement of the return reduces what the buyer owes, in minor units. */
  readonly reducedMinor: number;
  /**
   * The part of the amount `reducedMinor` that the buyer has already paid and that is therefore refunded, in
   * minor units.
   */
  readonly refundMinor: number;
}

/**
 * Calculates by which amount a return reduces what the buyer owes, and which amount is refunded. Pure. The
 * reduction is at most the order's total less earlier reductions, because the merchant may have reduced the
 * total since the request.
 */
export function calculateReturnSettlement({ order, found, units }: ReturnToSettle): ReturnSettlement {
  const { kind, reason, method, lines: returnedLines, refundMinor: promisedMinor } = found;
  const before = orderBeforeInspection({ order, found, units });
  const lines = units
    .map(({ lineId, quantity }) => ({
      lineId,
      quantity: Math.min(quantity, unrefundedUnits(before, lineId)),
    }))
    .filter(({ quantity }) => quantity > 0);
  const terms = {
    kind,
    isFault: isMerchantFaultReason(reason),
    isLost: isRefundRequestForUndeliveredUnits(found),
    method: method ?? ("keep_item" as const),
  };
  const value = calculateReturnedUnitsValue(before, { ...terms, lines });
  const isWhole = returnedLines.every(({ lineId, quantity }) =>
    lines.some((line) => line.lineId === lineId && line.quantity === quantity),
  );
  const netMinor = isWhole
    ? Math.max(promisedMinor, value.refundMinor)
    : Math.min(promisedMinor, value.refundMinor);
  const covered = allocateRefundToLinesAndShipping(
    Math.min(netMinor, order.totalMinor - order.reducedMinor),
    {
      lines: distributeWithinLines(order, {
        lines: value.lines,
        wantedMinor: netMinor - value.shippingMinor,
      }),
      shippingMinor: value.shippingMinor,
    },
  );
  const reducedMinor = covered.lines.reduce(
    (sum, { amountMinor }) => sum + amountMinor,
    covered.shippingMinor,
  );
  const owedMinor = order.totalMinor - order.reducedMinor - reducedMinor;
  return {
    ...covered,
    reducedMinor,
    refundMinor: Math.min(reducedMinor, Math.max(0, computeRefundableOrderAmountMinor(order) - owedMinor)),
  };
}

/**
 * Returns the order with the unit counts from before the inspection of the returned goods. The value of the
 * return is then calculated from the same counts as the refund that was promised on request.
 */
function orderBeforeInspection({ order, found, units }: ReturnToSettle): OrderAggregate {
  const returns = order.returns.filter(({ id }) => id !== found.id);
  if (found.kind === "refund_only" || isWithdrawalOfUnsentUnits(found)) return { ...order, returns };
  const counted = new Map(units.map(({ lineId, quantity }) => [lineId, quantity]));
  return {
    ...order,
    returns,
    lines: order.lines.map((line) => ({ ...line, returned: line.returned - (counted.get(line.id) ?? 0) })),
  };
}

function unrefundedUnits({ lines }: OrderAggregate, lineId: string): number {
  const line = lines.find(({ id }) => id === lineId);
  return line === undefined ? 0 : getUncanceledQuantity(line) - line.refunded;
}

/**
 * Limits the settled amount of each order line: the reductions of a line never exceed the total of the line.
 * Because of rounding, the promised refund can be a few minor units higher than the sum of these amounts. The
 * missing minor units are added to lines that are below their limit.
 */
function distributeWithinLines(
  { lines: all }: OrderAggregate,
  { lines, wantedMinor }: { readonly lines: readonly SettledLine[]; readonly wantedMinor: number },
): SettledLine[] {
  let missing = wantedMinor - lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  return lines.map((settled) => {
    const line = all.find(({ id }) => id === settled.lineId);
    const remainingMinor = line === undefined ? 0 : line.totalMinor - line.reducedMinor;
    const amountMinor = Math.min(remainingMinor, settled.amountMinor + Math.max(0, missing));
    missing -= Math.max(0, amountMinor - settled.amountMinor);
    return { ...settled, amountMinor };
  });
}

/** Throws if the return would be settled by a refund while a payment of the order is disputed. */
export function requireRefundNotDisputed(settled: ReturnToSettle): void {
  if (calculateReturnSettlement(settled).refundMinor > 0) requireNoDisputedPayment(settled.order);
}

/**
 * Settles a return and records the amounts in the order's lines and in the return. The caller sets the status
 * of the return.
 */
export async function settleReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  settled: ReturnToSettle,
): Promise<OrderColumnUpdateAndEvents> {
  const { found } = settled;
  const settlement = calculateReturnSettlement(settled);
  await incrementOrderLineReturnsAndRefunds(
    transaction,
    settlement.lines.map(({ lineId, quantity, amountMinor }) => ({
      lineId,
      refunded: quantity,
      reducedMinor: amountMinor,
    })),
  );
  await transaction
    .updateTable("orderReturn")
    .set({ refundMinor: settlement.reducedMinor })
    .where("id", "=", found.id)
    .execute();
  const patch = { reducedMinor: settlement.reducedMinor, shippingReducedMinor: settlement.shippingMinor };
  const events = await queueReturnRefund(transaction, context, { ...settled, settlement });
  const { reducedMinor, refundMinor } = settlement;
  await voidAuthorizationsIfNothingOwed(transaction, context, {
    order: settled.order,
    reducedMinor,
    refundMinor,
  });
  return { ...patch, events };
}

async function queueReturnRefund(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, found, settlement }: ReturnToSettle & { readonly settlement: ReturnSettlement },
): Promise<OrderEvent[]> {
  const { refundMinor: amountMinor } = settlement;
  if (amountMinor === 0) return [];
  const covered = allocateRefundToLinesAndShipping(amountMinor, settlement);
  const id = await queueRefund(transaction, context, {
    order,
    amountMinor,
    reason: "order_returned",
    returnId: found.id,
    ...covered,
  });
  return [{ type: "refund.created", id }];
}
