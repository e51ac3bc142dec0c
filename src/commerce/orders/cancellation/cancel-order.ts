/**
 * Cancels an order, or some of it, at once or as a request that the merchant approves or declines. Decided by
 * the same function that answers whether it is possible. Canceled units give their stock back, leave their
 * fulfillments and are no longer owed; what was paid for them goes back, in one transaction.
 */
import { faultAt, type Faults, requireNoFaults, textFaults } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import type { Failure } from "#foundation/failure.ts";
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
import { cancelUnits } from "./cancel-units.ts";

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
