/**
 * Cancels an order or some of its units, at once or as a request that the merchant approves or declines. The
 * command and the eligibility query decide by the same function. One transaction releases the stock of the
 * canceled units and removes the units from fulfillments. The same transaction reduces what the buyer owes,
 * and refunds what the buyer has paid too much.
 */
import {
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  requireNoInputFieldErrors,
  getTextFieldErrors,
} from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import type { Failure } from "#foundation/failure.ts";
import { type CancellationEligibility, evaluateCancellationEligibility } from "./eligibility.ts";
import {
  buyerCancellationReasons,
  type CancellationReason,
  type CancellationObstacle,
  createCancellationObstacle,
} from "./reasons.ts";
import { findLinesThatShareCanceledPromotion } from "./obstacles.ts";
import {
  applyChangeToLockedOrder,
  lockOrder,
  type OrderColumnUpdateAndEvents,
  type OrderIdAndExpectedVersion,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import {
  findOrderLineSelectionFaults,
  noteLengthMax,
  createOrderConflictFailure,
  requireOrderLineSelectionWithinLimits,
  requireKnownOrderLines,
} from "#commerce/orders/order-checks.ts";
import type {
  CancellationRequest,
  OrderLineIdAndQuantity,
  OrderAggregate,
  OrderLine,
} from "#commerce/orders/order-aggregate.ts";
import type { OrderActor } from "#commerce/orders/order-states.ts";
import { cancelOrderUnits } from "./cancel-units.ts";

export interface CancelOrderInput extends OrderIdAndExpectedVersion {
  /** The units to cancel. By default: all units that can be canceled. */
  readonly lines?: readonly OrderLineIdAndQuantity[] | null | undefined;
  readonly reason: CancellationReason;
  readonly note?: string | null | undefined;
}

/**
 * Cancels units of an order at once, or creates a cancellation request if the buyer needs the merchant's
 * approval.
 */
export async function cancelOrder(
  transaction: Transaction,
  context: OrderCommandContext,
  input: CancelOrderInput,
): Promise<OrderAggregate> {
  requireNoInputFieldErrors(findCancellationInputFaults(input, context.actor));
  const order = await lockOrder(transaction, context, input.orderId);
  const decided = decideOrderCancellation(order, input, context);
  const { reason, expectedVersion, note = null } = input;
  return applyChangeToLockedOrder(transaction, context, {
    order,
    expectedVersion,
    work: () =>
      decided.isRequest
        ? Promise.resolve(toRequest({ lines: decided.lines, reason, note }, context))
        : cancelOrderUnits(transaction, context, {
            order,
            lines: decided.lines,
            reason,
            note,
            actor: context.actor,
          }),
  });
}

/** Returns the faults in the input of a cancellation that can be found without reading the order. */
export function findCancellationInputFaults(
  { lines, note, reason }: Pick<CancelOrderInput, "lines" | "note" | "reason">,
  actor: OrderActor,
): InputFieldErrors {
  const isOfBuyer = buyerCancellationReasons.some((code) => code === reason);
  return [
    ...findOrderLineSelectionFaults(lines),
    ...getTextFieldErrors("/note", note, { max: noteLengthMax, lines: "many" }),
    ...(actor === "buyer" && !isOfBuyer
      ? [
          {
            ...createRequestBodyErrorDetail("/reason", "not_allowed", "A buyer cannot give this reason."),
            allowed: buyerCancellationReasons,
          },
        ]
      : []),
  ];
}

export interface ImmediateOrRequestedCancellation {
  readonly lines: readonly OrderLineIdAndQuantity[];
  /**
   * True if the cancellation is a request that the merchant must approve; false if units are canceled at
   * once.
   */
  readonly isRequest: boolean;
}

/**
 * Decides whether units are canceled at once or by a request to the merchant. If neither is possible, throws
 * a failure with the same reasons that the eligibility query returns. Pure.
 */
export function decideOrderCancellation(
  order: OrderAggregate,
  { lines: chosen }: Pick<CancelOrderInput, "lines">,
  { now, actor }: Pick<OrderCommandContext, "now" | "actor">,
): ImmediateOrRequestedCancellation {
  requireKnownOrderLines(order, chosen ?? []);
  const eligibility = evaluateCancellationEligibility(order, now, actor);
  const lines = chosen ?? cancelableLines(eligibility, actor);
  requireCancelableUnits(order, { lines, eligibility });
  const requested = eligibility.lines.filter(({ lineId }) => lines.some((line) => line.lineId === lineId));
  const isRequest = actor === "buyer" && requested.some(({ decision }) => decision === "request_required");
  if (actor === "buyer" && !isRequest) requireWholeSets(order, lines);
  return { lines, isRequest };
}

/**
 * Throws if a buyer would cancel only a part of the lines that a promotion like "buy X, get Y" connects. Such
 * lines can only be canceled together.
 */
function requireWholeSets(order: OrderAggregate, lines: readonly OrderLineIdAndQuantity[]): void {
  const lineIds = findLinesThatShareCanceledPromotion(order, lines);
  if (lineIds === undefined) return;
  const reasons = [createCancellationObstacle("line_not_separable", { data: { lineIds } })];
  const message = "A promotion joins the chosen units with other units: they can only be canceled together.";
  throw createOrderConflictFailure("invalid_state", order, {
    reason: "line_not_separable",
    message,
    data: { reasons },
  });
}

/**
 * Returns the lines to cancel if the caller names no lines: all lines that can be canceled. For a buyer,
 * lines that need the merchant's approval are included only if no line can be canceled at once.
 */
function cancelableLines(
  { lines, decision }: CancellationEligibility,
  actor: OrderActor,
): OrderLineIdAndQuantity[] {
  return lines
    .filter((line) => line.cancelableQuantity > 0 && (actor !== "buyer" || line.decision === decision))
    .map(({ lineId, cancelableQuantity }) => ({ lineId, quantity: cancelableQuantity }));
}

const refusal = { reason: "not_cancelable", message: "The chosen units can no longer be canceled." };

/**
 * Throws if a line cannot be canceled, or not in the chosen quantity. The failure contains the same reasons
 * that the eligibility query returns.
 */
export function requireCancelableUnits(
  order: OrderAggregate,
  {
    lines,
    eligibility,
  }: { readonly lines: readonly OrderLineIdAndQuantity[]; readonly eligibility: CancellationEligibility },
): void {
  if (eligibility.decision === "denied" || lines.length === 0) throw refuseCancellation(order, eligibility);
  const stored = new Map(order.lines.map((line) => [line.id, line]));
  const selectable = eligibility.lines.map(({ lineId, decision, cancelableQuantity, reasons }) => ({
    lineId,
    quantity: decision === "denied" ? 0 : cancelableQuantity,
    reasons: decision === "denied" ? reasons : goneUnitsReasons(stored.get(lineId)),
  }));
  requireOrderLineSelectionWithinLimits(order, { lines, selectable, ...refusal });
}

/**
 * Returns the reason why shipped or canceled units of an order line can no longer be canceled; an empty list
 * if the line has no such units.
 */
function goneUnitsReasons(line: OrderLine | undefined): CancellationObstacle[] {
  if (line === undefined || line.shipped + line.canceled === 0) return [];
  if (line.shipped === 0) return [createCancellationObstacle("line_already_canceled")];
  return [
    createCancellationObstacle(
      line.delivered < line.shipped ? "fulfillment_shipped" : "fulfillment_delivered",
    ),
  ];
}

function refuseCancellation(order: OrderAggregate, { reasons }: CancellationEligibility): Failure {
  return createOrderConflictFailure("invalid_state", order, {
    ...refusal,
    reason: reasons[0]?.code ?? refusal.reason,
    data: { reasons },
  });
}

function toRequest(
  request: {
    readonly lines: readonly OrderLineIdAndQuantity[];
    readonly reason: CancellationReason;
    readonly note: string | null;
  },
  { actor, now }: OrderCommandContext,
): OrderColumnUpdateAndEvents {
  return {
    cancellationRequest: { ...request, actor, at: now.toISOString() },
    events: [{ type: "order.cancellation_requested" }],
  };
}

/**
 * Approves a cancellation request. The order records the actor who requested the cancellation, not the actor
 * who approved it.
 */
export async function approveCancellationRequest(
  transaction: Transaction,
  context: OrderCommandContext,
  target: OrderIdAndExpectedVersion,
): Promise<OrderAggregate> {
  const order = await lockOrder(transaction, context, target.orderId);
  const { lines, reason, note, actor } = requestOf(order);
  // Computes the eligibility as if the cancellation request that is now approved did not exist, because an
  // open cancellation request blocks further cancellations.
  requireCancelableUnits(order, {
    lines,
    eligibility: evaluateCancellationEligibility(
      { ...order, cancellationRequest: null },
      context.now,
      context.actor,
    ),
  });
  return applyChangeToLockedOrder(transaction, context, {
    order,
    expectedVersion: target.expectedVersion,
    work: () => cancelOrderUnits(transaction, context, { order, lines, reason, note, actor }),
  });
}

export async function declineCancellationRequest(
  transaction: Transaction,
  context: OrderCommandContext,
  target: OrderIdAndExpectedVersion,
): Promise<OrderAggregate> {
  const order = await lockOrder(transaction, context, target.orderId);
  requestOf(order);
  return applyChangeToLockedOrder(transaction, context, {
    order,
    expectedVersion: target.expectedVersion,
    work: () =>
      Promise.resolve({ cancellationRequest: null, events: [{ type: "order.cancellation_declined" }] }),
  });
}

function requestOf(order: OrderAggregate): CancellationRequest {
  if (order.cancellationRequest !== null) return order.cancellationRequest;
  throw createOrderConflictFailure("invalid_state", order, {
    reason: "cancellation_not_requested",
    message: "The order has no open cancellation request.",
  });
}
