/**
 * What units of an order are worth, and what canceling them means for stock, fulfillments and money, computed
 * before anything is written. Pure. Both the cancellation and the question whether it is possible use these
 * functions.
 */
import type { LineQuantity, OrderAggregate, OrderFulfillment, OrderLine } from "./order-aggregate.ts";
import { authorizedMinor, keptMinor, unreservedUnits, wantedOf } from "./order-statuses.ts";

export interface CanceledUnits extends LineQuantity {
  readonly variantId: string;
  /** Of them, not yet taken from the stock on hand; these go first. */
  readonly waiting: number;
  /** Of those that wait, those that nothing is reserved for. */
  readonly unreserved: number;
  readonly allocated: number;
  /** What the units were worth, discount and tax in it. */
  readonly amountMinor: number;
}

/** What stays of a fulfillment that has not left: no lines, and it is canceled. */
export interface FulfillmentCut {
  readonly fulfillmentId: string;
  readonly lines: readonly LineQuantity[];
}

export interface CancellationValue {
  readonly lines: readonly CanceledUnits[];
  /** The shipping, once nothing is left that is shipped. */
  readonly shippingMinor: number;
  /** By how much the buyer owes less; never more than was owed. */
  readonly reducedMinor: number;
  /** To be given back, of what was captured. */
  readonly refundMinor: number;
  /** Nothing that was ordered is left, so the order as a whole is canceled. */
  readonly isWhole: boolean;
  readonly cuts: readonly FulfillmentCut[];
}

type Valued = Pick<
  OrderAggregate,
  "lines" | "totalMinor" | "reducedMinor" | "shippingReducedMinor" | "payments" | "refunds" | "fulfillments"
>;

/** Of units that are there and not sent; `lines` name no line twice. */
export function cancellationValue(order: Valued, lines: readonly LineQuantity[]): CancellationValue {
  const quantities = new Map(lines.map(({ lineId, quantity }) => [lineId, quantity]));
  const units = order.lines.flatMap((line) => {
    const quantity = quantities.get(line.id) ?? 0;
    return quantity === 0 ? [] : [unitsOf(order, { line, quantity })];
  });
  const left = order.lines.map((line) => ({
    ...line,
    canceled: line.canceled + (quantities.get(line.id) ?? 0),
  }));
  const isAnyShipped = left.some((line) => line.requiresShipping && wantedOf(line) > 0);
  const shippingMinor = isAnyShipped || units.length === 0 ? 0 : shippingLeftMinor(order);
  const amountMinor = units.reduce((sum, unit) => sum + unit.amountMinor, shippingMinor);
  const reducedMinor = Math.min(amountMinor, order.totalMinor - order.reducedMinor);
  return {
    lines: units,
    shippingMinor,
    reducedMinor,
    refundMinor: refundAfter(order, reducedMinor),
    isWhole: left.every((line) => wantedOf(line) === 0),
    cuts: cutsOf(order.fulfillments, left),
  };
}

/** What stock of a line goes: what waits for it first, so that what is packed already is given up last. */
function unitsOf(
  order: Valued,
  { line, quantity }: { readonly line: OrderLine; readonly quantity: number },
): CanceledUnits {
  const waiting = Math.min(quantity, wantedOf(line) - line.allocated);
  return {
    lineId: line.id,
    variantId: line.variantId,
    quantity,
    waiting,
    unreserved: Math.min(waiting, unreservedUnits(order, line.id)),
    allocated: quantity - waiting,
    amountMinor: unitsValueMinor(line, quantity),
  };
}

/**
 * The next units of a line that its buyer no longer pays for; what was given back for others beyond their
 * worth is no longer there.
 */
export function unitsValueMinor(
  { totalMinor, reducedMinor, ordered, canceled, refunded }: OrderLine,
  quantity: number,
): number {
  return Math.min(
    totalMinor - reducedMinor,
    unitShare({ amountMinor: totalMinor, ordered, gone: canceled + refunded, quantity }),
  );
}

/** Of the order's shipping, what the buyer still owes or has paid for. */
export function shippingLeftMinor({
  totalMinor,
  shippingReducedMinor,
  lines,
}: Pick<Valued, "totalMinor" | "shippingReducedMinor" | "lines">): number {
  return totalMinor - lines.reduce((sum, line) => sum + line.totalMinor, 0) - shippingReducedMinor;
}

/** Captured, and neither given back nor about to be. */
export function refundableMinor(order: Pick<Valued, "payments" | "refunds">): number {
  return keptMinor(order) - pendingRefundsMinor(order);
}

function pendingRefundsMinor({ refunds }: Pick<Valued, "refunds">): number {
  return refunds.reduce(
    (sum, { status, amountMinor }) => (status === "pending" ? sum + amountMinor : sum),
    0,
  );
}

function refundAfter(order: Valued, reducedMinor: number): number {
  return Math.max(0, refundableMinor(order) - (order.totalMinor - order.reducedMinor - reducedMinor));
}

/** Captured by one payment, and neither given back nor about to be. */
export function refundableOfPayment({
  capturedMinor,
  refundedMinor,
  pending,
}: OrderAggregate["payments"][number]): number {
  return pending.reduce(
    (left, { kind, amountMinor }) => (kind === "refund" ? left - amountMinor : left),
    capturedMinor - refundedMinor,
  );
}

/** Authorized, and neither captured nor let go, nor about to be. */
export function uncapturedMinor(payment: OrderAggregate["payments"][number]): number {
  const isAsked = payment.pending.reduce(
    (sum, { kind, amountMinor }) => (kind === "capture" || kind === "void" ? sum + amountMinor : sum),
    0,
  );
  return Math.max(0, authorizedMinor(payment) - isAsked);
}

/** The nearer a fulfillment is to leaving, the longer it keeps its units. */
const keepers: readonly OrderFulfillment["status"][] = ["ready_for_pickup", "packing", "pending"];

/** What an exchange sends is nothing that was ordered. */
function cutsOf(fulfillments: readonly OrderFulfillment[], lines: readonly OrderLine[]): FulfillmentCut[] {
  const room = new Map(lines.map((line) => [line.id, wantedOf(line) - line.shipped]));
  const open = keepers.flatMap((status) =>
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

/** Units of a line whose worth `unitShare` computes. */
interface Portion {
  readonly amountMinor: number;
  readonly ordered: number;
  /** Units that went before. */
  readonly gone: number;
  readonly quantity: number;
}

/**
 * The line's amount is cut at each unit by rounding down what all units up to it are worth together, so that
 * the shares of all its units, in whatever portions they go, add up to the line exactly.
 */
export function unitShare({ amountMinor, ordered, gone, quantity }: Portion): number {
  const upTo = (units: number): bigint => (BigInt(amountMinor) * BigInt(units)) / BigInt(ordered);
  return Number(upTo(gone + quantity) - upTo(gone));
}
