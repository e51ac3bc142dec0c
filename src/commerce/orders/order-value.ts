/**
 * Computes the value of units of an order, and the effects of their cancellation on stock, fulfillments and
 * payments. Pure. The command that cancels orders and the cancellation eligibility both use these functions.
 */
import type {
  OrderLineIdAndQuantity,
  OrderAggregate,
  OrderFulfillment,
  OrderLine,
} from "./order-aggregate.ts";
import {
  computeRemainingAuthorizedAmountMinor,
  computeNetCapturedAmountMinor,
  countLostUnitsWithoutReservedStock,
  getUncanceledQuantity,
} from "./order-statuses.ts";

export interface CanceledOrderLineUnits extends OrderLineIdAndQuantity {
  readonly variantId: string;
  /**
   * Number of canceled units that were not packed, so that they are still in the stock on hand. A
   * cancellation takes unpacked units before packed units.
   */
  readonly waiting: number;
  /** Number of the `waiting` units for which no stock is reserved. */
  readonly unreserved: number;
  readonly allocated: number;
  /** Value of the canceled units, after discounts and with tax, in minor units. */
  readonly amountMinor: number;
}

/**
 * The lines that an unsent fulfillment still contains after a cancellation. If no lines are left, the
 * fulfillment is canceled.
 */
export interface FulfillmentAfterCancellation {
  readonly fulfillmentId: string;
  readonly lines: readonly OrderLineIdAndQuantity[];
}

export interface CanceledUnitsValue {
  readonly lines: readonly CanceledOrderLineUnits[];
  /**
   * The part of the shipping price that the buyer need no longer pay, in minor units; 0 if units that require
   * shipping are left.
   */
  readonly shippingMinor: number;
  /**
   * The amount by which the cancellation reduces the cost of the order, in minor units; at most the cost
   * before the cancellation.
   */
  readonly reducedMinor: number;
  /** The part of the captured amount that the cancellation refunds, in minor units. */
  readonly refundMinor: number;
  /** True if no ordered unit is left after the cancellation, so that the whole order is canceled. */
  readonly isWhole: boolean;
  readonly cuts: readonly FulfillmentAfterCancellation[];
}

type Valued = Pick<
  OrderAggregate,
  "lines" | "totalMinor" | "reducedMinor" | "shippingReducedMinor" | "payments" | "refunds" | "fulfillments"
>;

/**
 * Computes the value and the effects of canceling unsent units. `lines` must contain each order line at most
 * once.
 */
export function calculateCanceledUnitsValue(
  order: Valued,
  lines: readonly OrderLineIdAndQuantity[],
): CanceledUnitsValue {
  const quantities = new Map(lines.map(({ lineId, quantity }) => [lineId, quantity]));
  const units = order.lines.flatMap((line) => {
    const quantity = quantities.get(line.id) ?? 0;
    return quantity === 0 ? [] : [unitsOf(order, { line, quantity })];
  });
  const left = order.lines.map((line) => ({
    ...line,
    canceled: line.canceled + (quantities.get(line.id) ?? 0),
  }));
  const isAnyShipped = left.some((line) => line.requiresShipping && getUncanceledQuantity(line) > 0);
  const shippingMinor = isAnyShipped || units.length === 0 ? 0 : computeRemainingShippingPriceMinor(order);
  const amountMinor = units.reduce((sum, unit) => sum + unit.amountMinor, shippingMinor);
  const reducedMinor = Math.min(amountMinor, order.totalMinor - order.reducedMinor);
  return {
    lines: units,
    shippingMinor,
    reducedMinor,
    refundMinor: refundAfter(order, reducedMinor),
    isWhole: left.every((line) => getUncanceledQuantity(line) === 0),
    cuts: cutsOf(order.fulfillments, left),
  };
}

/**
 * Returns the stock that the cancellation of units of an order line releases. Units that are not packed are
 * canceled before packed units.
 */
function unitsOf(
  order: Valued,
  { line, quantity }: { readonly line: OrderLine; readonly quantity: number },
): CanceledOrderLineUnits {
  const waiting = Math.min(quantity, getUncanceledQuantity(line) - line.allocated);
  return {
    lineId: line.id,
    variantId: line.variantId,
    quantity,
    waiting,
    unreserved: Math.min(waiting, countLostUnitsWithoutReservedStock(order, line.id)),
    allocated: quantity - waiting,
    amountMinor: computeValueOfOrderLineUnitsMinor(line, quantity),
  };
}

/**
 * Computes the value of units of an order line that are canceled or refunded now. The value is at most the
 * part of the line's total that was not reduced before.
 */
export function computeValueOfOrderLineUnitsMinor(
  { totalMinor, reducedMinor, ordered, canceled, refunded }: OrderLine,
  quantity: number,
): number {
  return Math.min(
    totalMinor - reducedMinor,
    calculateLineAmountOfUnits({
      amountMinor: totalMinor,
      ordered,
      gone: canceled + refunded,
      quantity,
    }),
  );
}

/** Returns the order's shipping price minus the part that was canceled or refunded before. */
export function computeRemainingShippingPriceMinor({
  totalMinor,
  shippingReducedMinor,
  lines,
}: Pick<OrderAggregate, "totalMinor" | "shippingReducedMinor"> & {
  readonly lines: readonly Pick<OrderLine, "totalMinor">[];
}): number {
  return totalMinor - lines.reduce((sum, line) => sum + line.totalMinor, 0) - shippingReducedMinor;
}

/** Returns the captured amount of all payments of an order minus successful and pending refunds. */
export function computeRefundableOrderAmountMinor(order: Pick<Valued, "payments" | "refunds">): number {
  return computeNetCapturedAmountMinor(order) - pendingRefundsMinor(order);
}

function pendingRefundsMinor({ refunds }: Pick<Valued, "refunds">): number {
  return refunds.reduce(
    (sum, { status, amountMinor }) => (status === "pending" ? sum + amountMinor : sum),
    0,
  );
}

function refundAfter(order: Valued, reducedMinor: number): number {
  return Math.max(
    0,
    computeRefundableOrderAmountMinor(order) - (order.totalMinor - order.reducedMinor - reducedMinor),
  );
}

/**
 * Returns the captured amount that exceeds the cost of the order, for example after a failed refund.
 * Refunding this excess does not reduce the cost of the order.
 */
export function computeOverpaidAmountMinor(order: OrderAggregate): number {
  return refundAfter(order, 0);
}

/** Returns the captured amount of a payment minus its successful and pending refunds. */
export function computeRefundablePaymentAmountMinor({
  capturedMinor,
  refundedMinor,
  pending,
}: OrderAggregate["payments"][number]): number {
  return pending.reduce(
    (left, { kind, amountMinor }) => (kind === "refund" ? left - amountMinor : left),
    capturedMinor - refundedMinor,
  );
}

/** Returns the authorized amount of a payment minus its successful and pending captures and voids. */
export function computeUncapturedAmountMinor(payment: OrderAggregate["payments"][number]): number {
  const isAsked = payment.pending.reduce(
    (sum, { kind, amountMinor }) => (kind === "capture" || kind === "void" ? sum + amountMinor : sum),
    0,
  );
  return Math.max(0, computeRemainingAuthorizedAmountMinor(payment) - isAsked);
}

/**
 * The statuses of unsent fulfillments, the status closest to the handover first. A cancellation takes units
 * from `pending` fulfillments first, then from `packing` ones, and from `ready_for_pickup` ones last.
 */
const cutOrder: readonly OrderFulfillment["status"][] = ["ready_for_pickup", "packing", "pending"];

/**
 * Returns the unsent fulfillments from which a cancellation removes units, each with the lines that remain in
 * it. Leaves out fulfillments of returns, because they send the items of an exchange or replacement, not
 * ordered units.
 */
function cutsOf(
  fulfillments: readonly OrderFulfillment[],
  lines: readonly OrderLine[],
): FulfillmentAfterCancellation[] {
  const room = new Map(lines.map((line) => [line.id, getUncanceledQuantity(line) - line.shipped]));
  const open = cutOrder.flatMap((status) =>
    fulfillments.filter((fulfillment) => fulfillment.status === status && fulfillment.returnId === null),
  );
  return open.flatMap(({ id, lines: planned }) => {
    const kept = planned.flatMap(({ lineId, quantity }) => {
      const left = Math.min(quantity, room.get(lineId) ?? 0);
      room.set(lineId, (room.get(lineId) ?? 0) - left);
      return left === 0 ? [] : [{ lineId, quantity: left }];
    });
    const isWhole =
      kept.length === planned.length &&
      kept.every(({ quantity }, index) => quantity === planned[index]?.quantity);
    return isWhole ? [] : [{ fulfillmentId: id, lines: kept }];
  });
}

/**
 * Input of `calculateLineAmountOfUnits`: a number of units, with the amount and the number of ordered units
 * of their line.
 */
interface Portion {
  readonly amountMinor: number;
  readonly ordered: number;
  /** Number of units of the order line that were canceled or refunded before these `quantity` units. */
  readonly gone: number;
  readonly quantity: number;
}

/**
 * Returns the share of an order line's amount for `quantity` units, after `gone` units of the line were
 * settled. The amount of the first n units is always rounded down to whole minor units. The share is the
 * amount of the first `gone` + `quantity` units minus the amount of the first `gone` units. So the shares add
 * up to the amount of the line, however the units are divided.
 */
export function calculateLineAmountOfUnits({ amountMinor, ordered, gone, quantity }: Portion): number {
  const upTo = (units: number): bigint => (BigInt(amountMinor) * BigInt(units)) / BigInt(ordered);
  return Number(upTo(gone + quantity) - upTo(gone));
}
