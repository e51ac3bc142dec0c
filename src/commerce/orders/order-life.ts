/**
 * Commands by which a merchant confirms an order, puts it on hold, and ends the hold. There is no command to
 * complete an order, because the service itself computes when an order is completed.
 */
import { requireNoInputFieldErrors, getTextFieldErrors } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import {
  lockOrderAndApplyChange,
  type OrderColumnUpdateAndEvents,
  type OrderIdAndExpectedVersion,
  type OrderCommandContext,
} from "./change-order.ts";
import { createOrderConflictFailure } from "./order-checks.ts";
import type { OrderAggregate } from "./order-aggregate.ts";
import type { OrderStatus } from "./order-states.ts";

export interface HoldOrderInput extends OrderIdAndExpectedVersion {
  readonly reason: string;
}

export const holdReasonLengthMax = 200;

export const orderTransitions = {
  confirm: { from: "pending", to: "confirmed" },
  hold: { from: "confirmed", to: "on_hold" },
  release: { from: "on_hold", to: "confirmed" },
} as const satisfies Record<string, { readonly from: OrderStatus; readonly to: OrderStatus }>;

export function confirmOrder(
  transaction: Transaction,
  context: OrderCommandContext,
  target: OrderIdAndExpectedVersion,
): Promise<OrderAggregate> {
  return changeStatus(transaction, context, {
    target,
    name: "confirm",
    outcome: { events: [{ type: "order.confirmed" }] },
  });
}

export function putOrderOnHold(
  transaction: Transaction,
  context: OrderCommandContext,
  input: HoldOrderInput,
): Promise<OrderAggregate> {
  requireNoInputFieldErrors(getTextFieldErrors("/reason", input.reason, { max: holdReasonLengthMax }));
  const outcome: OrderColumnUpdateAndEvents = {
    holdReason: input.reason,
    events: [{ type: "order.on_hold" }],
  };
  return changeStatus(transaction, context, { target: input, name: "hold", outcome });
}

export function releaseOrderHold(
  transaction: Transaction,
  context: OrderCommandContext,
  target: OrderIdAndExpectedVersion,
): Promise<OrderAggregate> {
  return changeStatus(transaction, context, {
    target,
    name: "release",
    outcome: { holdReason: null, events: [] },
  });
}

interface OrderTransition {
  readonly target: OrderIdAndExpectedVersion;
  readonly name: keyof typeof orderTransitions;
  readonly outcome: OrderColumnUpdateAndEvents;
}

function changeStatus(
  transaction: Transaction,
  context: OrderCommandContext,
  { target, name, outcome }: OrderTransition,
): Promise<OrderAggregate> {
  const { from, to } = orderTransitions[name];
  return lockOrderAndApplyChange(transaction, context, {
    target,
    requireState: (order) => {
      if (order.status === from) return;
      throw createOrderConflictFailure("invalid_state", order, {
        message: `Only an order that is ${from} may become ${to}; this one is ${order.status}.`,
      });
    },
    work: async () => ({ ...outcome, status: to }),
  });
}
