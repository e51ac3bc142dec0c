/**
 * Cancels an order or some of its units, at once or as a request that the merchant approves or declines. The
 * eligibility query and the command use the same decision function. One transaction releases the stock of
 * canceled units, removes them from fulfillments, reduces the amount owed and refunds paid amounts.
 */
import { createBodyFault, type Faults, requireNoFaults, findTextFaults } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import type { Failure } from "#foundation/failure.ts";
import { type CancellationEligibility, evaluateCancellationEligibility } from "./eligibility.ts";
import {
  buyerCancellationReasons,
  type CancellationReason,
  type CancellationObstacleReason,
  createCancellationObstacle,
} from "./reasons.ts";
import { findPartlyCanceledLineSet } from "./obstacles.ts";
import {
  changeLockedOrder,
  lockOrder,
  type OrderChangeOutcome,
  type OrderTarget,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import {
  findLineSelectionFaults,
  noteLengthMax,
  createOrderFailure,
  requireSelectableUnits,
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
  /** The units to cancel; all cancelable units if left out. */
  readonly lines?: readonly LineQuantity[] | null | undefined;
  readonly reason: CancellationReason;
  readonly note?: string | null | undefined;
}

/** Cancels at once, or creates a cancellation request if the buyer needs the merchant's approval. */
export async function cancelOrder(
  transaction: Transaction,
  context: OrderCommandContext,
  input: OrderCancelInput,
): Promise<OrderAggregate> {
  requireNoFaults(findCancellationFaults(input, context.actor));
  const order = await lockOrder(transaction, context, input.orderId);
  const decided = decideCancellation(order, input, context);
  const { reason, expectedVersion, note = null } = input;
  return changeLockedOrder(transaction, context, {
    order,
    expectedVersion,
    work: () =>
      decided.isRequest
        ? Promise.resolve(toRequest({ lines: decided.lines, reason, note }, context))
        : cancelUnits(transaction, context, {
            order,
            lines: decided.lines,
            reason,
            note,
            actor: context.actor,
          }),
  });
}

/** The faults of a cancellation's input that can be found without the order. */
export function findCancellationFaults(
  { lines, note, reason }: Pick<OrderCancelInput, "lines" | "note" | "reason">,
  actor: OrderActor,
): Faults {
  const isOfBuyer = buyerCancellationReasons.some((code) => code === reason);
  return [
    ...findLineSelectionFaults(lines),
    ...findTextFaults("/note", note, { max: noteLengthMax, lines: "many" }),
    ...(actor === "buyer" && !isOfBuyer
      ? [
          {
            ...createBodyFault("/reason", "not_allowed", "A buyer cannot give this reason."),
            allowed: buyerCancellationReasons,
          },
        ]
      : []),
  ];
}

export interface DecidedCancellation {
  readonly lines: readonly LineQuantity[];
  /** True if the cancellation needs the merchant's approval. */
  readonly isRequest: boolean;
}

/**
 * Decides whether units are canceled at once or by a request to the merchant. If neither is possible, throws
 * a failure with the reasons that the eligibility query returns. Pure.
 */
export function decideCancellation(
  order: OrderAggregate,
  { lines: chosen }: Pick<OrderCancelInput, "lines">,
  { now, actor }: Pick<OrderCommandContext, "now" | "actor">,
): DecidedCancellation {
  requireKnownLines(order, chosen ?? []);
  const eligibility = evaluateCancellationEligibility(order, now, actor);
  const lines = chosen ?? cancelableLines(eligibility, actor);
  requireCancelable(order, { lines, eligibility });
  const requested = eligibility.lines.filter(({ lineId }) => lines.some((line) => line.lineId === lineId));
  const isRequest = actor === "buyer" && requested.some(({ decision }) => decision === "request_required");
  if (actor === "buyer" && !isRequest) requireWholeSets(order, lines);
  return { lines, isRequest };
}

/**
 * Throws if a buyer would cancel only part of a set of lines that a promotion joins, for example "buy X, get
 * Y". Such lines can only be canceled together.
 */
function requireWholeSets(order: OrderAggregate, lines: readonly LineQuantity[]): void {
  const lineIds = findPartlyCanceledLineSet(order, lines);
  if (lineIds === undefined) return;
  const reasons = [createCancellationObstacle("line_not_separable", { data: { lineIds } })];
  const message = "A promotion joins the chosen units with other units: they can only be canceled together.";
  throw createOrderFailure("invalid_state", order, {
    reason: "line_not_separable",
    message,
    data: { reasons },
  });
}

/**
 * Returns the lines to cancel if the caller does not name any lines. For a buyer, lines that need approval
 * are included only if no line can be canceled at once.
 */
function cancelableLines({ lines, decision }: CancellationEligibility, actor: OrderActor): LineQuantity[] {
  return lines
    .filter((line) => line.cancelableQuantity > 0 && (actor !== "buyer" || line.decision === decision))
    .map(({ lineId, cancelableQuantity }) => ({ lineId, quantity: cancelableQuantity }));
}

const refusal = { reason: "not_cancelable", message: "The chosen units can no longer be canceled." };

/**
 * Throws if a line, or the chosen quantity of a line, cannot be canceled. The failure has the reasons that
 * the eligibility query returns.
 */
export function requireCancelable(
  order: OrderAggregate,
  {
    lines,
    eligibility,
  }: { readonly lines: readonly LineQuantity[]; readonly eligibility: CancellationEligibility },
): void {
  if (eligibility.decision === "denied" || lines.length === 0) throw refuseCancellation(order, eligibility);
  const stored = new Map(order.lines.map((line) => [line.id, line]));
  const selectable = eligibility.lines.map(({ lineId, decision, cancelableQuantity, reasons }) => ({
    lineId,
    quantity: decision === "denied" ? 0 : cancelableQuantity,
    reasons: decision === "denied" ? reasons : goneUnitsReasons(stored.get(lineId)),
  }));
  requireSelectableUnits(order, { lines, selectable, ...refusal });
}

/** The reasons why fewer units of a line can be canceled than were ordered. */
function goneUnitsReasons(line: OrderLine | undefined): CancellationObstacleReason[] {
  if (line === undefined || line.shipped + line.canceled === 0) return [];
  if (line.shipped === 0) return [createCancellationObstacle("line_already_canceled")];
  return [
    createCancellationObstacle(
      line.delivered < line.shipped ? "fulfillment_shipped" : "fulfillment_delivered",
    ),
  ];
}

function refuseCancellation(order: OrderAggregate, { reasons }: CancellationEligibility): Failure {
  return createOrderFailure("invalid_state", order, {
    ...refusal,
    reason: reasons[0]?.code ?? refusal.reason,
    data: { reasons },
  });
}

function toRequest(
  request: {
    readonly lines: readonly LineQuantity[];
    readonly reason: CancellationReason;
    readonly note: string | null;
  },
  { actor, now }: OrderCommandContext,
): OrderChangeOutcome {
  return {
    cancellationRequest: { ...request, actor, at: now.toISOString() },
    events: [{ type: "order.cancellation_requested" }],
  };
}

/**
 * Approves a cancellation request. The cancellation is recorded with the actor who made the request, not with
 * the actor who approves it.
 */
export async function approveCancellation(
  transaction: Transaction,
  context: OrderCommandContext,
  target: OrderTarget,
): Promise<OrderAggregate> {
  const order = await lockOrder(transaction, context, target.orderId);
  const { lines, reason, note, actor } = requestOf(order);
  // An open request blocks further cancellations, so the eligibility is computed as if this request did not
  // exist.
  requireCancelable(order, {
    lines,
    eligibility: evaluateCancellationEligibility(
      { ...order, cancellationRequest: null },
      context.now,
      context.actor,
    ),
  });
  return changeLockedOrder(transaction, context, {
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
  return changeLockedOrder(transaction, context, {
    order,
    expectedVersion: target.expectedVersion,
    work: () =>
      Promise.resolve({ cancellationRequest: null, events: [{ type: "order.cancellation_declined" }] }),
  });
}

function requestOf(order: OrderAggregate): CancellationRequest {
  if (order.cancellationRequest !== null) return order.cancellationRequest;
  throw createOrderFailure("invalid_state", order, {
    reason: "cancellation_not_requested",
    message: "The order has no open cancellation request.",
  });
}
