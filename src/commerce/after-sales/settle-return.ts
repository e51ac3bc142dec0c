/**
 * Giving back what a return is worth: the buyer owes that much less, and of what was paid too much then, the
 * provider gives back. What was promised when the return was asked for is what is paid, or more where it is
 * worth more by now, as the last of several that bring the whole order back; where less was accepted, what
 * that is worth. An authorization that nothing is owed of any more is let go. Credit is the merchant's own
 * books' affair: the money of the order stays where it is, and the return tells how much it is.
 */
import { refundableMinor } from "#commerce/orders/order-value.ts";
import type { OrderOutcome, OrderCommandContext } from "#commerce/orders/change-order.ts";
import type { OrderEvent } from "#commerce/orders/order-events.ts";
import type { LineQuantity, OrderAggregate, OrderReturn } from "#commerce/orders/order-aggregate.ts";
import { wantedOf } from "#commerce/orders/order-statuses.ts";
import { coverRefund, queueRefund } from "#commerce/orders/payment/refunds.ts";
import { requireNoDispute } from "#commerce/orders/order-checks.ts";
import { voidIfNothingOwed } from "#commerce/orders/payment/order-payment.ts";
import type { Transaction } from "#database/transaction.ts";
import { isWithdrawalOfUnsentUnits } from "./obstacles.ts";
import { isUndeliveredRefund, isMerchantFault, type ReturnReason } from "./reasons.ts";
import { incrementOrderLines } from "./return-rows.ts";
import { calculateReturnValue } from "./return-rules.ts";

export interface ReturnToSettle {
  readonly order: OrderAggregate;
  readonly found: Pick<OrderReturn, "id" | "kind" | "reason" | "method" | "settlement" | "refundMinor"> & {
    readonly lines: readonly LineQuantity[];
  };
  /** The units that money is given back for, by the return's lines. */
  readonly units: readonly LineQuantity[];
}

type SettledLine = LineQuantity & { readonly amountMinor: number };

export interface ReturnSettlement {
  readonly lines: readonly SettledLine[];
  readonly shippingMinor: number;
  /** By how much the buyer owes less. */
  readonly reducedMinor: number;
  /** Of it, what was paid already. */
  readonly refundMinor: number;
}

/** Pure. Never more than the buyer still owed for it: something may have been forgiven since it was asked for. */
export function calculateReturnSettlement({ order, found, units }: ReturnToSettle): ReturnSettlement {
  const { kind, reason, method, lines: asked, refundMinor: promisedMinor } = found;
  const before = orderBeforeInspection({ order, found, units });
  const lines = units
    .map(({ lineId, quantity }) => ({
      lineId,
      quantity: Math.min(quantity, unrefundedUnits(before, lineId)),
    }))
    .filter(({ quantity }) => quantity > 0);
  const terms = {
    kind,
    isFault: isMerchantFault(reason as ReturnReason),
    isLost: isUndeliveredRefund(found),
    method: method ?? ("keep_item" as const),
  };
  const value = calculateReturnValue(before, { ...terms, lines });
  const isWhole = asked.every(({ lineId, quantity }) =>
    lines.some((line) => line.lineId === lineId && line.quantity === quantity),
  );
  const netMinor = isWhole
    ? Math.max(promisedMinor, value.refundMinor)
    : Math.min(promisedMinor, value.refundMinor);
  const covered = coverRefund(Math.min(netMinor, order.totalMinor - order.reducedMinor), {
    lines: distributeWithinLines(order, { lines: value.lines, wantedMinor: netMinor - value.shippingMinor }),
    shippingMinor: value.shippingMinor,
  });
  const reducedMinor = covered.lines.reduce(
    (sum, { amountMinor }) => sum + amountMinor,
    covered.shippingMinor,
  );
  const owedMinor = order.totalMinor - order.reducedMinor - reducedMinor;
  return {
    ...covered,
    reducedMinor,
    refundMinor: Math.min(reducedMinor, Math.max(0, refundableMinor(order) - owedMinor)),
  };
}

/** As if it had not been inspected yet: its value is asked for as it was when it was promised. */
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
  return line === undefined ? 0 : wantedOf(line) - line.refunded;
}

/**
 * A line gives what it still has. A promise may be a few minor units more than its units are worth by now,
 * because units are rounded in the order in which they go: those come from where there is room.
 */
function distributeWithinLines(
  { lines: all }: OrderAggregate,
  { lines, wantedMinor }: { readonly lines: readonly SettledLine[]; readonly wantedMinor: number },
): SettledLine[] {
  let missing = wantedMinor - lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  return lines.map((settled) => {
    const line = all.find(({ id }) => id === settled.lineId);
    const roomMinor = line === undefined ? 0 : line.totalMinor - line.reducedMinor;
    const amountMinor = Math.min(roomMinor, settled.amountMinor + Math.max(0, missing));
    missing -= Math.max(0, amountMinor - settled.amountMinor);
    return { ...settled, amountMinor };
  });
}

/** Money that has to go back is not with a bank that decides about it. */
export function requireRefundNotDisputed(settled: ReturnToSettle): void {
  const isCredit = settled.found.settlement === "store_credit";
  if (!isCredit && calculateReturnSettlement(settled).refundMinor > 0) requireNoDispute(settled.order);
}

/** Writes it down, on the return as well; the return itself is closed by who calls. */
export async function settleReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  settled: ReturnToSettle,
): Promise<OrderOutcome> {
  const { found } = settled;
  const settlement = calculateReturnSettlement(settled);
  const isCredit = found.settlement === "store_credit";
  await incrementOrderLines(
    transaction,
    settlement.lines.map(({ lineId, quantity, amountMinor }) => ({
      lineId,
      refunded: quantity,
      reducedMinor: isCredit ? 0 : amountMinor,
    })),
  );
  await transaction
    .updateTable("orderReturn")
    .set({ refundMinor: settlement.reducedMinor })
    .where("id", "=", found.id)
    .execute();
  if (isCredit) return { happenings: [] };
  const patch = { reducedMinor: settlement.reducedMinor, shippingReducedMinor: settlement.shippingMinor };
  const happenings = await queueReturnRefund(transaction, context, { ...settled, settlement });
  const { reducedMinor, refundMinor } = settlement;
  await voidIfNothingOwed(transaction, context, { order: settled.order, reducedMinor, refundMinor });
  return { ...patch, happenings };
}

async function queueReturnRefund(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, found, settlement }: ReturnToSettle & { readonly settlement: ReturnSettlement },
): Promise<OrderEvent[]> {
  const { refundMinor: amountMinor } = settlement;
  if (amountMinor === 0) return [];
  const covered = coverRefund(amountMinor, settlement);
  const id = await queueRefund(transaction, context, {
    order,
    amountMinor,
    reason: "order_returned",
    returnId: found.id,
    ...covered,
  });
  return [{ type: "refund.created", id }];
}
