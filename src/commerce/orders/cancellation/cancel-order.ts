/**
 * Cancels an order, or some of it, at once or as a request that the merchant approves or declines. Decided by
 * the same function that answers whether it is possible. Canceled units give their stock back, leave their
 * fulfillments and are no longer owed; what was paid for them goes back, in one transaction.
 */
import { sql } from "kysely";
import { faultAt, type Faults, requireNoFaults, textFaults } from "#foundation/faults.ts";
import { releaseOrderStock } from "#commerce/inventory/order-stock.ts";
import { restorePromotionUses } from "#commerce/promotions/promotion-uses.ts";
import type { Transaction } from "#database/transaction.ts";
import type { Failure } from "#foundation/failure.ts";
import {
  type CanceledUnits,
  type CancellationValue,
  cancellationValue,
  type FulfillmentCut,
} from "#commerce/orders/order-value.ts";
import { type CancellationEligibility, cancellationEligibility } from "./eligibility.ts";
import {
  buyerCancellationReasons,
  type CancellationReason,
  type CancellationReasonView,
  obstacle,
} from "./reasons.ts";
import { tornSet } from "./obstacles.ts";
import {
  changeLocked,
  lockOrder,
  type OrderOutcome,
  type OrderTarget,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import type { OrderEvent } from "#commerce/orders/order-events.ts";
import {
  chosenFaults,
  noteMax,
  refuseOrder,
  requireChoosable,
  requireKnownLines,
} from "#commerce/orders/order-checks.ts";
import type {
  CancellationRequest,
  LineQuantity,
  OrderAggregate,
  OrderLine,
} from "#commerce/orders/order-aggregate.ts";
import type { OrderActor } from "#commerce/orders/order-states.ts";
import { coverRefund, queueRefund } from "#commerce/orders/payment/refunds.ts";
import { dropUnreserved } from "#commerce/orders/fulfillment/fulfillment-stock.ts";
import { voidIfNothingOwed } from "#commerce/orders/payment/order-payment.ts";

export interface OrderCancelInput extends OrderTarget {
  /** Left out: all that can be canceled. */
  readonly lines?: readonly LineQuantity[] | null | undefined;
  readonly reason: CancellationReason;
  readonly note?: string | null | undefined;
}

/** At once, or as a request to the merchant where the buyer may no more than ask. */
export async function cancelOrder(
  transaction: Transaction,
  context: OrderCommandContext,
  input: OrderCancelInput,
): Promise<OrderAggregate> {
  requireNoFaults(cancellationFaults(input, context.actor));
  const order = await lockOrder(transaction, context, input.orderId);
  const decided = decideCancellation(order, input, context);
  const { reason, expectedVersion, note = null } = input;
  return changeLocked(transaction, context, {
    order,
    expectedVersion,
    work: () =>
      decided.isRequest
        ? Promise.resolve(asRequest({ lines: decided.lines, reason, note }, context))
        : cancelUnits(transaction, context, {
            order,
            lines: decided.lines,
            reason,
            note,
            actor: context.actor,
          }),
  });
}

/** What can be told without the order. */
export function cancellationFaults(
  { lines, note, reason }: Pick<OrderCancelInput, "lines" | "note" | "reason">,
  actor: OrderActor,
): Faults {
  const isOfBuyer = buyerCancellationReasons.some((code) => code === reason);
  return [
    ...chosenFaults(lines),
    ...textFaults("/note", note, { max: noteMax, lines: "many" }),
    ...(actor === "buyer" && !isOfBuyer
      ? [
          {
            ...faultAt("/reason", "not_allowed", "A buyer cannot give this reason."),
            allowed: buyerCancellationReasons,
          },
        ]
      : []),
  ];
}

export interface DecidedCancellation {
  readonly lines: readonly LineQuantity[];
  /** The merchant must agree to it first. */
  readonly isRequest: boolean;
}

/**
 * Pure: what is asked for is done at once or becomes a request; what cannot be done at all is refused, with
 * the reasons that the question gives.
 */
export function decideCancellation(
  order: OrderAggregate,
  { lines: chosen }: Pick<OrderCancelInput, "lines">,
  { now, actor }: Pick<OrderCommandContext, "now" | "actor">,
): DecidedCancellation {
  requireKnownLines(order, chosen ?? []);
  const eligibility = cancellationEligibility(order, now, actor);
  const lines = chosen ?? allOf(eligibility, actor);
  requireCancelable(order, { lines, eligibility });
  const asked = eligibility.lines.filter(({ lineId }) => lines.some((line) => line.lineId === lineId));
  const isRequest = actor === "buyer" && asked.some(({ decision }) => decision === "request_required");
  if (actor === "buyer" && !isRequest) requireWholeSets(order, lines);
  return { lines, isRequest };
}

/** What a promotion joined goes together; to take it apart the merchant must be asked. */
function requireWholeSets(order: OrderAggregate, lines: readonly LineQuantity[]): void {
  const lineIds = tornSet(order, lines);
  if (lineIds === undefined) return;
  const reasons = [obstacle("line_not_separable", { data: { lineIds } })];
  const message = "A promotion joins what was chosen to other units: they can only be canceled together.";
  throw refuseOrder("invalid_state", order, { reason: "line_not_separable", message, data: { reasons } });
}

/** A buyer cancels at once what may be canceled at once, and asks only where nothing can be. */
function allOf({ lines, decision }: CancellationEligibility, actor: OrderActor): LineQuantity[] {
  return lines
    .filter((line) => line.cancelableQuantity > 0 && (actor !== "buyer" || line.decision === decision))
    .map(({ lineId, cancelableQuantity }) => ({ lineId, quantity: cancelableQuantity }));
}

const refusal = { reason: "not_cancelable", message: "This can no longer be canceled." };

/** Refused with the reasons that the question for it gives. */
export function requireCancelable(
  order: OrderAggregate,
  {
    lines,
    eligibility,
  }: { readonly lines: readonly LineQuantity[]; readonly eligibility: CancellationEligibility },
): void {
  if (eligibility.decision === "denied" || lines.length === 0) throw refuseCancellation(order, eligibility);
  const stored = new Map(order.lines.map((line) => [line.id, line]));
  const choosable = eligibility.lines.map(({ lineId, decision, cancelableQuantity, reasons }) => ({
    lineId,
    quantity: decision === "denied" ? 0 : cancelableQuantity,
    reasons: decision === "denied" ? reasons : gone(stored.get(lineId)),
  }));
  requireChoosable(order, { lines, choosable, ...refusal });
}

/** Why there are fewer units of a line to cancel than were ordered. */
function gone(line: OrderLine | undefined): CancellationReasonView[] {
  if (line === undefined || line.shipped + line.canceled === 0) return [];
  if (line.shipped === 0) return [obstacle("line_already_canceled")];
  return [obstacle(line.delivered < line.shipped ? "fulfillment_shipped" : "fulfillment_delivered")];
}

function refuseCancellation(order: OrderAggregate, { reasons }: CancellationEligibility): Failure {
  return refuseOrder("invalid_state", order, {
    ...refusal,
    reason: reasons[0]?.code ?? refusal.reason,
    data: { reasons },
  });
}

function asRequest(
  request: { readonly lines: readonly LineQuantity[]; readonly reason: string; readonly note: string | null },
  { actor, now }: OrderCommandContext,
): OrderOutcome {
  return {
    cancellationRequest: { ...request, actor, at: now.toISOString() },
    happenings: [{ type: "order.cancellation_requested" }],
  };
}

export interface UnitsToCancel {
  readonly order: OrderAggregate;
  readonly lines: readonly LineQuantity[];
  readonly reason: string;
  readonly note: string | null;
  /** In whose name. */
  readonly actor: OrderActor;
  /** The return that it settles. */
  readonly returnId?: string;
}

/** Writes a cancellation that is decided. Promotions are locked before stock. */
export async function cancelUnits(
  transaction: Transaction,
  context: OrderCommandContext,
  cancellation: UnitsToCancel,
): Promise<OrderOutcome> {
  const { order, lines, reason, note, actor } = cancellation;
  const value = cancellationValue(order, lines);
  if (value.isWhole) await restorePromotionUses(transaction, { orderId: order.id, now: context.now });
  const stock = value.lines.map(({ variantId, waiting, unreserved, allocated }) => ({
    variantId,
    waiting: waiting - unreserved,
    allocated,
  }));
  await releaseOrderStock(transaction, context, stock, order.number);
  const unreserved = value.lines.map((units) => ({ lineId: units.lineId, quantity: units.unreserved }));
  await dropUnreserved(transaction, { order, returnId: null, lines: unreserved });
  await takeUnits(transaction, order.id, value.lines);
  const happenings: OrderEvent[] = [
    { type: value.isWhole ? "order.canceled" : "order.partially_canceled" },
    ...(await cutFulfillments(transaction, context, { order, cuts: value.cuts })),
    ...(await moveMoney(transaction, context, { cancellation, value })),
  ];
  const { reducedMinor, shippingMinor: shippingReducedMinor } = value;
  const ended: Partial<OrderOutcome> = {
    status: "canceled",
    holdReason: null,
    cancellation: { reason, note, actor },
  };
  return {
    cancellationRequest: null,
    reducedMinor,
    shippingReducedMinor,
    happenings,
    ...(value.isWhole ? ended : {}),
  };
}

async function takeUnits(
  transaction: Transaction,
  orderId: string,
  units: readonly CanceledUnits[],
): Promise<void> {
  await sql`
    update order_line l set canceled = l.canceled + u.quantity, allocated = l.allocated - u.allocated, reduced_minor = l.reduced_minor + u.amount_minor
    from unnest(${units.map(({ lineId }) => lineId)}::text[], ${units.map(({ quantity }) => quantity)}::integer[],
      ${units.map(({ allocated }) => allocated)}::integer[], ${units.map(({ amountMinor }) => amountMinor)}::bigint[])
      as u(id, quantity, allocated, amount_minor)
    where l.id = u.id and l.order_id = ${orderId}`.execute(transaction);
}

/** A fulfillment that keeps nothing is canceled, and still tells what it was to send. */
async function cutFulfillments(
  transaction: Transaction,
  { now }: OrderCommandContext,
  { order, cuts }: { readonly order: OrderAggregate; readonly cuts: readonly FulfillmentCut[] },
): Promise<OrderEvent[]> {
  const happenings: OrderEvent[] = [];
  for (const { fulfillmentId, lines } of cuts) {
    const isCanceled = lines.length === 0;
    if (!isCanceled) await keepLines(transaction, fulfillmentId, lines);
    await transaction
      .updateTable("fulfillment")
      .set((fulfillment) => ({
        version: fulfillment("version", "+", 1),
        updatedAt: now,
        ...(isCanceled ? { status: "canceled" as const } : {}),
      }))
      .where("id", "=", fulfillmentId)
      .execute();
    const previous = { status: order.fulfillments.find(({ id }) => id === fulfillmentId)?.status };
    if (isCanceled) happenings.push({ type: "fulfillment.canceled", id: fulfillmentId, previous });
  }
  return happenings;
}

async function keepLines(
  transaction: Transaction,
  fulfillmentId: string,
  lines: readonly LineQuantity[],
): Promise<void> {
  const ids = lines.map(({ lineId }) => lineId);
  await transaction
    .deleteFrom("fulfillmentLine")
    .where("fulfillmentId", "=", fulfillmentId)
    .where("orderLineId", "not in", ids)
    .execute();
  await sql`
    update fulfillment_line f set quantity = k.quantity from unnest(${ids}::text[], ${lines.map(({ quantity }) => quantity)}::integer[]) as k(id, quantity)
    where f.fulfillment_id = ${fulfillmentId} and f.order_line_id = k.id`.execute(transaction);
}

/** Authorizations are let go once nothing is owed; what was captured too much goes back. */
async function moveMoney(
  transaction: Transaction,
  context: OrderCommandContext,
  { cancellation, value }: { readonly cancellation: UnitsToCancel; readonly value: CancellationValue },
): Promise<OrderEvent[]> {
  const { order, note, returnId = null } = cancellation;
  const { reducedMinor, refundMinor } = value;
  await voidIfNothingOwed(transaction, context, { order, reducedMinor, refundMinor });
  if (value.refundMinor === 0) return [];
  const covered = coverRefund(value.refundMinor, {
    lines: value.lines.map(({ lineId, quantity, amountMinor }) => ({ lineId, quantity, amountMinor })),
    shippingMinor: value.shippingMinor,
  });
  const refund = {
    order,
    amountMinor: value.refundMinor,
    reason: "order_canceled",
    note,
    returnId,
    ...covered,
  };
  const id = await queueRefund(transaction, context, refund);
  return [{ type: "refund.created", id }];
}

/** In the name of who asked for it. */
export async function approveCancellation(
  transaction: Transaction,
  context: OrderCommandContext,
  target: OrderTarget,
): Promise<OrderAggregate> {
  const order = await lockOrder(transaction, context, target.orderId);
  const { lines, reason, note, actor } = requestOf(order);
  // The request itself is what keeps others from asking; without it the order is judged as it stands.
  requireCancelable(order, {
    lines,
    eligibility: cancellationEligibility({ ...order, cancellationRequest: null }, context.now, context.actor),
  });
  return changeLocked(transaction, context, {
    order,
    expectedVersion: target.expectedVersion,
    work: () => cancelUnits(transaction, context, { order, lines, reason, note, actor }),
  });
}

export async function declineCancellation(
  transaction: Transaction,
  context: OrderCommandContext,
  target: OrderTarget,
): Promise<OrderAggregate> {
  const order = await lockOrder(transaction, context, target.orderId);
  requestOf(order);
  return changeLocked(transaction, context, {
    order,
    expectedVersion: target.expectedVersion,
    work: () =>
      Promise.resolve({ cancellationRequest: null, happenings: [{ type: "order.cancellation_declined" }] }),
  });
}

function requestOf(order: OrderAggregate): CancellationRequest {
  if (order.cancellationRequest !== null) return order.cancellationRequest;
  throw refuseOrder("invalid_state", order, {
    reason: "cancellation_not_requested",
    message: "Nobody has asked to cancel the order.",
  });
}
