/**
 * The steps of a return before the goods are inspected: approved, declined, tracked, received, canceled. A
 * step that ends the return gives the requested units back to the order's lines. A withdrawal from units that
 * were never sent is settled with its approval: what the order still had to do is canceled, and what is done
 * is paid back.
 */
import type { ExpectedVersionInput } from "#commerce/carts/cart-aggregate.ts";
import {
  faultAt,
  type Faults,
  integerFaults,
  repeatFaults,
  requireNoFaults,
  textFaults,
} from "#foundation/faults.ts";
import {
  type ChangedPart,
  changePart,
  orderIdOf,
  type OrderOutcome,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import type { OrderEvent } from "#commerce/orders/order-events.ts";
import type {
  LineQuantity,
  OrderAggregate,
  OrderReturn,
  ReturnLine,
} from "#commerce/orders/order-aggregate.ts";
import type { Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { unsentIntangibles } from "#commerce/orders/order-statuses.ts";
import { cancelUnits } from "#commerce/orders/cancellation/cancel-order.ts";
import {
  cancelReplacementFulfillment,
  createReplacementFulfillment,
  isReplacementSent,
  sendsReplacement,
} from "./replacement-fulfillments.ts";
import { isWithdrawalOfUnsentUnits } from "./obstacles.ts";
import {
  updateReturnLineCounts,
  countsAsReturnRequested,
  incrementOrderLines,
  updateReturnStatus,
} from "./return-rows.ts";
import { refuseReturn, requireReturnVersion, requireReturnStep, type ReturnStep } from "./return-rules.ts";
import { requireRefundNotDisputed, type ReturnToSettle, settleReturn } from "./settle-return.ts";

export interface ReturnTarget extends ExpectedVersionInput {
  readonly returnId: string;
}

export interface LockedReturn {
  readonly order: OrderAggregate;
  readonly found: OrderReturn;
}

export interface ReturnStepChange {
  readonly target: ReturnTarget;
  readonly step: ReturnStep;
  /** What else must be so, beside where the return stands: state before version. */
  readonly requireState?: (found: LockedReturn) => void;
  readonly work: (found: LockedReturn) => Promise<OrderOutcome>;
}

/** One step of a return, if it may be taken from where the return stands. */
export async function runReturnStep(
  transaction: Transaction,
  context: OrderCommandContext,
  { target, step, requireState, work }: ReturnStepChange,
): Promise<ChangedPart> {
  const { returnId: id, expectedVersion } = target;
  const orderId = await orderIdOf(transaction, context, { part: "return", id });
  const order = await changePart(transaction, context, {
    orderId,
    work: async (before) => {
      const found = before.returns.find((candidate) => candidate.id === id);
      if (found === undefined) throw fail("resource_not_found");
      requireReturnStep(found, step);
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
): Promise<ChangedPart> {
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

/** Nothing of it comes back. */
const isSettledOnApproval = (found: Pick<OrderReturn, "kind" | "method">): boolean =>
  found.kind === "refund_only" || isWithdrawalOfUnsentUnits(found);

/** What of a return its approval needs. */
export interface ReturnToApprove {
  readonly order: OrderAggregate;
  readonly found: Omit<ReturnToSettle["found"], "lines"> &
    Pick<OrderReturn, "exchangeVariantId"> & { readonly lines: readonly LineQuantity[] };
}

/** Also what a request that needs nobody's consent goes through, in the same transaction. */
export async function approveLockedReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, found }: ReturnToApprove,
): Promise<OrderOutcome> {
  const approved: OrderEvent = { type: "return.approved", id: found.id };
  if (isSettledOnApproval(found)) {
    await releaseRequestedUnits(transaction, found);
    const settled = { order, found, units: found.lines };
    const { happenings, ...patch } = await (isWithdrawalOfUnsentUnits(found) ? withdrawUnsent : settleReturn)(
      transaction,
      context,
      settled,
    );
    await updateReturnStatus(transaction, context, { id: found.id, status: "closed" });
    return { ...patch, happenings: [approved, { type: "return.closed", id: found.id }, ...happenings] };
  }
  const sent = sendsReplacement(found)
    ? await createReplacementFulfillment(transaction, context, { order, found })
    : [];
  await updateReturnStatus(transaction, context, { id: found.id, status: "approved" });
  return { happenings: [approved, ...sent] };
}

export interface ReturnDeclineInput extends ReturnTarget {
  readonly reason: string;
}

export const declineReasonLengthMax = 500;

export function declineReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  input: ReturnDeclineInput,
): Promise<ChangedPart> {
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
      return { happenings: [{ type: "return.declined", id: found.id }] };
    },
  });
}

function declineFaults({ reason }: ReturnDeclineInput): Faults {
  return textFaults("/reason", reason, { max: declineReasonLengthMax, lines: "many" });
}

export function trackReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  target: ReturnTarget,
): Promise<ChangedPart> {
  return runReturnStep(transaction, context, {
    target,
    step: "track",
    work: async ({ found }) => {
      await updateReturnStatus(transaction, context, { id: found.id, status: "in_transit" });
      return { happenings: [{ type: "return.in_transit", id: found.id }] };
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
): Promise<ChangedPart> {
  return runReturnStep(transaction, context, {
    target: input,
    step: "receive",
    work: async ({ found }) => {
      requireNoFaults(returnLineCountFaults(found, input.lines, { received: ({ quantity }) => quantity }));
      await updateReturnLineCounts(transaction, { returnId: found.id, lines: input.lines });
      await updateReturnStatus(transaction, context, { id: found.id, status: "received" });
      return { happenings: [{ type: "return.received", id: found.id }] };
    },
  });
}

export function cancelReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  target: ReturnTarget,
): Promise<ChangedPart> {
  return runReturnStep(transaction, context, {
    target,
    step: "cancel",
    requireState: ({ order, found }) => {
      if (isReplacementSent(order, found))
        throw refuseReturn("invalid_state", found, { reason: "replacement_sent" });
    },
    work: async ({ order, found }) => {
      await updateReturnStatus(transaction, context, { id: found.id, status: "canceled" });
      await releaseRequestedUnits(transaction, found);
      const replaced = await cancelReplacementFulfillment(transaction, context, { order, found });
      return { happenings: [{ type: "return.canceled", id: found.id }, ...replaced] };
    },
  });
}

async function releaseRequestedUnits(
  transaction: Transaction,
  found: ReturnToApprove["found"],
): Promise<void> {
  if (!countsAsReturnRequested(found)) return;
  await incrementOrderLines(
    transaction,
    found.lines.map(({ lineId, quantity }) => ({ lineId, returnRequested: -quantity })),
  );
}

/** A count of one line of a return: every line is counted once, and never more units than in the step before. */
export interface ReturnLineCount {
  readonly lineId: string;
}

/** Each counted figure with the most it may be, by the return's line and what else was counted of it. */
type CountBounds<Count extends ReturnLineCount> = Readonly<
  Partial<Record<Exclude<keyof Count, "lineId">, (line: ReturnLine, count: Count) => number>>
>;

export function returnLineCountFaults<Count extends ReturnLineCount>(
  { lines }: Pick<OrderReturn, "lines">,
  counts: readonly Count[],
  bounds: CountBounds<Count>,
): Faults {
  const ids = counts.map(({ lineId }) => lineId);
  const missing = lines.filter(({ lineId }) => !ids.includes(lineId)).map(({ lineId }) => lineId);
  return [
    ...repeatFaults(ids, (index) => `/lines/${index}/lineId`),
    ...counts.flatMap((count, index) => lineCountFaults(lines, { count, index, bounds })),
    ...(missing.length === 0
      ? []
      : [{ ...faultAt("/lines", "required", "Every line of the return must be named."), allowed: missing }]),
  ];
}

function lineCountFaults<Count extends ReturnLineCount>(
  lines: readonly ReturnLine[],
  {
    count,
    index,
    bounds,
  }: { readonly count: Count; readonly index: number; readonly bounds: CountBounds<Count> },
): Faults {
  const line = lines.find(({ lineId }) => lineId === count.lineId);
  if (line === undefined)
    return [faultAt(`/lines/${index}/lineId`, "unknown", "The return has no such line.")];
  return (Object.keys(bounds) as Exclude<keyof Count & string, "lineId">[]).flatMap((name) => {
    const max = bounds[name]?.(line, count) ?? 0;
    return integerFaults(`/lines/${index}/${name}`, count[name] as number, { min: 0, max: Math.max(0, max) });
  });
}

async function withdrawUnsent(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, found }: ReturnToSettle,
): Promise<OrderOutcome> {
  if (order.status === "completed")
    return settleReturn(transaction, context, { order, found, units: found.lines });
  const { id: returnId, lines } = found;
  const cancellation = { order, lines, reason: "changed_mind", note: null, actor: context.actor, returnId };
  const canceled = await cancelUnits(transaction, context, cancellation);
  await transaction
    .updateTable("orderReturn")
    .set({ refundMinor: canceled.reducedMinor ?? 0 })
    .where("id", "=", found.id)
    .execute();
  const { cancellationRequest, ...outcome } = canceled;
  // What somebody asks to have canceled beside it is still asked for, unless nothing is left.
  return outcome.status === undefined
    ? outcome
    : { ...outcome, cancellationRequest: cancellationRequest ?? null };
}

/** It was unsent when it was asked for: whatever has been given out since is no longer. */
function requireUnsent({ lines }: OrderAggregate, found: OrderReturn): void {
  const sent = found.lines.filter(({ lineId, quantity }) => {
    const line = lines.find(({ id }) => id === lineId);
    return line === undefined || unsentIntangibles(line) < quantity;
  });
  if (sent.length === 0) return;
  const data = { lineIds: sent.map(({ lineId }) => lineId) };
  throw refuseReturn("invalid_state", found, {
    reason: "units_sent",
    message: "It has been sent since it was asked for.",
    data,
  });
}
