/**
 * The steps of a return before the inspection of its goods: approve, decline, track, receive, cancel. If a
 * step ends the return, the requested units of the order lines are released. Approving a withdrawal from
 * units that were never sent cancels the units and refunds their payment at once.
 */
import type { ExpectedVersionInput } from "#commerce/carts/cart-status.ts";
import { type InputFieldErrors, requireNoInputFieldErrors, getTextFieldErrors } from "#foundation/faults.ts";
import {
  type OrderAndIdOfChangedPart,
  lockAndChangeOrderOfPart,
  findOrderIdOfOrderPart,
  type OrderColumnUpdateAndEvents,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import type { OrderEvent } from "#commerce/orders/order-events.ts";
import type {
  OrderLineIdAndQuantity,
  OrderAggregate,
  OrderReturn,
} from "#commerce/orders/order-aggregate.ts";
import type { Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import { countUnsentIntangibleUnits } from "#commerce/orders/order-statuses.ts";
import { cancelOrderUnits } from "#commerce/orders/cancellation/cancel-units.ts";
import {
  cancelReplacementFulfillment,
  createReplacementFulfillment,
  isReplacementSent,
  isExchangeOrReplacementReturn,
} from "./replacement-fulfillments.ts";
import { type CountedReturnLine, findReturnedUnitCountFaults } from "./return-line-counts.ts";
import { isWithdrawalOfUnsentUnits } from "./obstacles.ts";
import {
  updateReturnLineUnitCounts,
  isReturnWithUnitsToSendBack,
  incrementOrderLineReturnsAndRefunds,
  updateReturnStatus,
} from "./return-rows.ts";
import {
  createReturnConflictFailure,
  requireExpectedReturnVersion,
  getStatusAfterReturnStep,
  type ReturnStepName,
} from "./return-rules.ts";
import { requireRefundNotDisputed, type ReturnToSettle, settleReturn } from "./settle-return.ts";

/** The return that a command changes, and the version of the return that the caller expects. */
export interface ReturnIdAndExpectedVersion extends ExpectedVersionInput {
  readonly returnId: string;
}

/** A return together with its order. The order is locked in the current transaction. */
export interface ReturnWithLockedOrder {
  readonly order: OrderAggregate;
  readonly found: OrderReturn;
}

/**
 * One step of a return, for example its approval. Contains the return to change, a check that runs before the
 * step, and the function that does the work of the step.
 */
export interface ReturnStepToRun {
  readonly target: ReturnIdAndExpectedVersion;
  readonly step: ReturnStepName;
  /**
   * Throws if the step is not possible for another reason than the return's status. Runs after the check of
   * the return's status and before the check of its version.
   */
  readonly requireState?: (found: ReturnWithLockedOrder) => void;
  readonly work: (found: ReturnWithLockedOrder) => Promise<OrderColumnUpdateAndEvents>;
}

/** Locks the order of a return, checks that the step is possible in the return's status, and runs the step. */
export async function runReturnStep(
  transaction: Transaction,
  context: OrderCommandContext,
  { target, step, requireState, work }: ReturnStepToRun,
): Promise<OrderAndIdOfChangedPart> {
  const { returnId: id, expectedVersion } = target;
  const orderId = await findOrderIdOfOrderPart(transaction, context, { part: "return", id });
  const order = await lockAndChangeOrderOfPart(transaction, context, {
    orderId,
    work: async (before) => {
      const found = before.returns.find((candidate) => candidate.id === id);
      if (found === undefined) throw createFailure("resource_not_found");
      getStatusAfterReturnStep(found, step);
      requireState?.({ order: before, found });
      requireExpectedReturnVersion(found, expectedVersion);
      return work({ order: before, found });
    },
  });
  return { order, id };
}

export function approveReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  target: ReturnIdAndExpectedVersion,
): Promise<OrderAndIdOfChangedPart> {
  return runReturnStep(transaction, context, {
    target,
    step: "approve",
    requireState: ({ order, found }) => {
      if (isWithdrawalOfUnsentUnits(found)) requireUnsent(order, found);
      if (isSettledOnApproval(found)) requireRefundNotDisputed({ order, found, units: found.lines });
    },
    work: (found) => approveLockedReturn(transaction, context, found),
  });
}

/** Returns true if the buyer sends no goods back. Approving the return then also refunds the buyer. */
const isSettledOnApproval = (found: Pick<OrderReturn, "kind" | "method">): boolean =>
  found.kind === "refund_only" || isWithdrawalOfUnsentUnits(found);

/** The order and those fields of a return that are needed to approve the return. */
export interface ReturnToApprove {
  readonly order: OrderAggregate;
  readonly found: Omit<ReturnToSettle["found"], "lines"> &
    Pick<OrderReturn, "exchangeVariantId"> & { readonly lines: readonly OrderLineIdAndQuantity[] };
}

/**
 * Approves a return. Called by `approveReturn`, and by `requestReturn` if the request does not need the
 * merchant's consent, in the transaction of the request.
 */
export async function approveLockedReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, found }: ReturnToApprove,
): Promise<OrderColumnUpdateAndEvents> {
  const approved: OrderEvent = { type: "return.approved", id: found.id };
  if (isSettledOnApproval(found)) {
    await releaseRequestedUnits(transaction, found);
    const settled = { order, found, units: found.lines };
    const { events, ...patch } = await (isWithdrawalOfUnsentUnits(found) ? withdrawUnsent : settleReturn)(
      transaction,
      context,
      settled,
    );
    await updateReturnStatus(transaction, context, { id: found.id, status: "closed" });
    return { ...patch, events: [approved, { type: "return.closed", id: found.id }, ...events] };
  }
  const sent = isExchangeOrReplacementReturn(found)
    ? await createReplacementFulfillment(transaction, context, { order, found })
    : [];
  await updateReturnStatus(transaction, context, { id: found.id, status: "approved" });
  return { events: [approved, ...sent] };
}

export interface DeclineReturnInput extends ReturnIdAndExpectedVersion {
  readonly reason: string;
}

export const declineReasonLengthMax = 500;

export function declineReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  input: DeclineReturnInput,
): Promise<OrderAndIdOfChangedPart> {
  requireNoInputFieldErrors(declineFaults(input));
  return runReturnStep(transaction, context, {
    target: input,
    step: "decline",
    work: async ({ found }) => {
      await updateReturnStatus(transaction, context, {
        id: found.id,
        status: "declined",
        declineReason: input.reason,
      });
      await releaseRequestedUnits(transaction, found);
      return { events: [{ type: "return.declined", id: found.id }] };
    },
  });
}

function declineFaults({ reason }: DeclineReturnInput): InputFieldErrors {
  return getTextFieldErrors("/reason", reason, { max: declineReasonLengthMax, lines: "many" });
}

export function markReturnInTransit(
  transaction: Transaction,
  context: OrderCommandContext,
  target: ReturnIdAndExpectedVersion,
): Promise<OrderAndIdOfChangedPart> {
  return runReturnStep(transaction, context, {
    target,
    step: "track",
    work: async ({ found }) => {
      await updateReturnStatus(transaction, context, { id: found.id, status: "in_transit" });
      return { events: [{ type: "return.in_transit", id: found.id }] };
    },
  });
}

export interface ReceiveReturnInput extends ReturnIdAndExpectedVersion {
  readonly lines: readonly (CountedReturnLine & { readonly received: number })[];
}

export function receiveReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  input: ReceiveReturnInput,
): Promise<OrderAndIdOfChangedPart> {
  return runReturnStep(transaction, context, {
    target: input,
    step: "receive",
    work: async ({ found }) => {
      requireNoInputFieldErrors(
        findReturnedUnitCountFaults(found, input.lines, { received: ({ quantity }) => quantity }),
      );
      await updateReturnLineUnitCounts(transaction, { returnId: found.id, lines: input.lines });
      await updateReturnStatus(transaction, context, { id: found.id, status: "received" });
      return { events: [{ type: "return.received", id: found.id }] };
    },
  });
}

export function cancelReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  target: ReturnIdAndExpectedVersion,
): Promise<OrderAndIdOfChangedPart> {
  return runReturnStep(transaction, context, {
    target,
    step: "cancel",
    requireState: ({ order, found }) => {
      if (isReplacementSent(order, found))
        throw createReturnConflictFailure("invalid_state", found, { reason: "replacement_sent" });
    },
    work: async ({ order, found }) => {
      await updateReturnStatus(transaction, context, { id: found.id, status: "canceled" });
      await releaseRequestedUnits(transaction, found);
      const replaced = await cancelReplacementFulfillment(transaction, context, { order, found });
      return { events: [{ type: "return.canceled", id: found.id }, ...replaced] };
    },
  });
}

async function releaseRequestedUnits(
  transaction: Transaction,
  found: ReturnToApprove["found"],
): Promise<void> {
  if (!isReturnWithUnitsToSendBack(found)) return;
  await incrementOrderLineReturnsAndRefunds(
    transaction,
    found.lines.map(({ lineId, quantity }) => ({ lineId, returnRequested: -quantity })),
  );
}

async function withdrawUnsent(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, found }: ReturnToSettle,
): Promise<OrderColumnUpdateAndEvents> {
  if (order.status === "completed")
    return settleReturn(transaction, context, { order, found, units: found.lines });
  const { id: returnId, lines } = found;
  const canceled = await cancelOrderUnits(transaction, context, {
    order,
    lines,
    reason: "changed_mind",
    note: null,
    actor: context.actor,
    returnId,
  });
  await transaction
    .updateTable("orderReturn")
    .set({ refundMinor: canceled.reducedMinor ?? 0 })
    .where("id", "=", found.id)
    .execute();
  const { cancellationRequest, ...outcome } = canceled;
  // An open cancellation request of the buyer stays open. The withdrawal ends the cancellation request only
  // if no units are left that could be canceled.
  return outcome.status === undefined
    ? outcome
    : { ...outcome, cancellationRequest: cancellationRequest ?? null };
}

/**
 * Refuses to approve a buyer's withdrawal from unsent units if the merchant has sent or provided some of
 * these units since the request.
 */
function requireUnsent({ lines }: OrderAggregate, found: OrderReturn): void {
  const sent = found.lines.filter(({ lineId, quantity }) => {
    const line = lines.find(({ id }) => id === lineId);
    return line === undefined || countUnsentIntangibleUnits(line) < quantity;
  });
  if (sent.length === 0) return;
  const data = { lineIds: sent.map(({ lineId }) => lineId) };
  throw createReturnConflictFailure("invalid_state", found, {
    reason: "units_sent",
    message: "Some of the units have been provided since the withdrawal was requested.",
    data,
  });
}
