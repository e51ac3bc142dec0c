/**
 * The steps of a return before inspection: approve, decline, track, receive, cancel. A step that ends the
 * return releases the requested units of the order lines. Approving a withdrawal from units that were never
 * sent settles the withdrawal at once: the units are canceled and their payment is refunded.
 */
import type { ExpectedVersionInput } from "#commerce/carts/cart-status.ts";
import { type Faults, requireNoFaults, findTextFaults } from "#foundation/faults.ts";
import {
  type ChangedOrderPart,
  changeOrderOfPart,
  findOrderIdByPartId,
  type OrderChangeOutcome,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import type { OrderEvent } from "#commerce/orders/order-events.ts";
import type { LineQuantity, OrderAggregate, OrderReturn } from "#commerce/orders/order-aggregate.ts";
import type { Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { countUnsentIntangibleUnits } from "#commerce/orders/order-statuses.ts";
import { cancelUnits } from "#commerce/orders/cancellation/cancel-units.ts";
import {
  cancelReplacementFulfillment,
  createReplacementFulfillment,
  isReplacementSent,
  isExchangeOrReplacement,
} from "./replacement-fulfillments.ts";
import { type ReturnLineCount, findReturnLineCountFaults } from "./return-line-counts.ts";
import { isWithdrawalOfUnsentUnits } from "./obstacles.ts";
import {
  updateReturnLineCounts,
  isExpectingReturnedUnits,
  incrementOrderLineCounts,
  updateReturnStatus,
} from "./return-rows.ts";
import {
  createReturnFailure,
  requireReturnVersion,
  getStatusAfterReturnStep,
  type ReturnStep,
} from "./return-rules.ts";
import { requireRefundNotDisputed, type ReturnToSettle, settleReturn } from "./settle-return.ts";

/** The return that a command changes, with the version that the caller expects. */
export interface ReturnTarget extends ExpectedVersionInput {
  readonly returnId: string;
}

/** A return with its order. The order is locked. */
export interface ReturnWithLockedOrder {
  readonly order: OrderAggregate;
  readonly found: OrderReturn;
}

/**
 * One step of a return, for example its approval: the return to change, the check before the step, and the
 * work to do.
 */
export interface ReturnStepChange {
  readonly target: ReturnTarget;
  readonly step: ReturnStep;
  /**
   * Throws if the step is not possible for a reason other than the status of the return. Runs after the check
   * of the status and before the check of the version that the caller expects.
   */
  readonly requireState?: (found: ReturnWithLockedOrder) => void;
  readonly work: (found: ReturnWithLockedOrder) => Promise<OrderChangeOutcome>;
}

/** Locks the return's order, checks that the step is possible from the return's status, and runs the step. */
export async function runReturnStep(
  transaction: Transaction,
  context: OrderCommandContext,
  { target, step, requireState, work }: ReturnStepChange,
): Promise<ChangedOrderPart> {
  const { returnId: id, expectedVersion } = target;
  const orderId = await findOrderIdByPartId(transaction, context, { part: "return", id });
  const order = await changeOrderOfPart(transaction, context, {
    orderId,
    work: async (before) => {
      const found = before.returns.find((candidate) => candidate.id === id);
      if (found === undefined) throw fail("resource_not_found");
      getStatusAfterReturnStep(found, step);
      requireState?.({ order: before, found });
      requireReturnVersion(found, expectedVersion);
      return work({ order: before, found });
    },
  });
  return { order, id };
}

export function approveReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  target: ReturnTarget,
): Promise<ChangedOrderPart> {
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

/** Returns true if the buyer sends no goods back, so that approving the return already settles it. */
const isSettledOnApproval = (found: Pick<OrderReturn, "kind" | "method">): boolean =>
  found.kind === "refund_only" || isWithdrawalOfUnsentUnits(found);

/** The order and the fields of a return that are needed to approve the return. */
export interface ReturnToApprove {
  readonly order: OrderAggregate;
  readonly found: Omit<ReturnToSettle["found"], "lines"> &
    Pick<OrderReturn, "exchangeVariantId"> & { readonly lines: readonly LineQuantity[] };
}

/**
 * Approves a return. Called by `approveReturn`. If a request needs no consent, `requestReturn` calls this
 * function too, in the transaction of the request.
 */
export async function approveLockedReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, found }: ReturnToApprove,
): Promise<OrderChangeOutcome> {
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
  const sent = isExchangeOrReplacement(found)
    ? await createReplacementFulfillment(transaction, context, { order, found })
    : [];
  await updateReturnStatus(transaction, context, { id: found.id, status: "approved" });
  return { events: [approved, ...sent] };
}

export interface ReturnDeclineInput extends ReturnTarget {
  readonly reason: string;
}

export const declineReasonLengthMax = 500;

export function declineReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  input: ReturnDeclineInput,
): Promise<ChangedOrderPart> {
  requireNoFaults(declineFaults(input));
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

function declineFaults({ reason }: ReturnDeclineInput): Faults {
  return findTextFaults("/reason", reason, { max: declineReasonLengthMax, lines: "many" });
}

export function markReturnInTransit(
  transaction: Transaction,
  context: OrderCommandContext,
  target: ReturnTarget,
): Promise<ChangedOrderPart> {
  return runReturnStep(transaction, context, {
    target,
    step: "track",
    work: async ({ found }) => {
      await updateReturnStatus(transaction, context, { id: found.id, status: "in_transit" });
      return { events: [{ type: "return.in_transit", id: found.id }] };
    },
  });
}

export interface ReturnReceiveInput extends ReturnTarget {
  readonly lines: readonly (ReturnLineCount & { readonly received: number })[];
}

export function receiveReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  input: ReturnReceiveInput,
): Promise<ChangedOrderPart> {
  return runReturnStep(transaction, context, {
    target: input,
    step: "receive",
    work: async ({ found }) => {
      requireNoFaults(
        findReturnLineCountFaults(found, input.lines, { received: ({ quantity }) => quantity }),
      );
      await updateReturnLineCounts(transaction, { returnId: found.id, lines: input.lines });
      await updateReturnStatus(transaction, context, { id: found.id, status: "received" });
      return { events: [{ type: "return.received", id: found.id }] };
    },
  });
}

export function cancelReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  target: ReturnTarget,
): Promise<ChangedOrderPart> {
  return runReturnStep(transaction, context, {
    target,
    step: "cancel",
    requireState: ({ order, found }) => {
      if (isReplacementSent(order, found))
        throw createReturnFailure("invalid_state", found, { reason: "replacement_sent" });
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
  if (!isExpectingReturnedUnits(found)) return;
  await incrementOrderLineCounts(
    transaction,
    found.lines.map(({ lineId, quantity }) => ({ lineId, returnRequested: -quantity })),
  );
}

async function withdrawUnsent(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, found }: ReturnToSettle,
): Promise<OrderChangeOutcome> {
  if (order.status === "completed")
    return settleReturn(transaction, context, { order, found, units: found.lines });
  const { id: returnId, lines } = found;
  const canceled = await cancelUnits(transaction, context, {
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
  // An open cancellation request stays open, unless no units are left to cancel.
  return outcome.status === undefined
    ? outcome
    : { ...outcome, cancellationRequest: cancellationRequest ?? null };
}

/**
 * Refuses to approve a buyer's withdrawal from units that were not shipped, if some of these units have been
 * shipped or made available since the request.
 */
function requireUnsent({ lines }: OrderAggregate, found: OrderReturn): void {
  const sent = found.lines.filter(({ lineId, quantity }) => {
    const line = lines.find(({ id }) => id === lineId);
    return line === undefined || countUnsentIntangibleUnits(line) < quantity;
  });
  if (sent.length === 0) return;
  const data = { lineIds: sent.map(({ lineId }) => lineId) };
  throw createReturnFailure("invalid_state", found, {
    reason: "units_sent",
    message: "Some of the units have been provided since the withdrawal was requested.",
    data,
  });
}
