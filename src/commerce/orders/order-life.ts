/** The merchant confirms an order, holds it and releases it. An order completes by itself. */
import { requireNoFaults, textFaults } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import {
  changeOrder,
  type OrderOutcome,
  type OrderTarget,
  type OrderCommandContext,
} from "./change-order.ts";
import { refuseOrder } from "./order-checks.ts";
import type { OrderAggregate } from "./order-aggregate.ts";
import type { OrderStatus } from "./order-states.ts";

export interface OrderHoldInput extends OrderTarget {
  readonly reason: string;
}

export const holdReasonMax = 200;

export const orderSteps = {
  confirm: { from: "pending", to: "confirmed" },
  hold: { from: "confirmed", to: "on_hold" },
  release: { from: "on_hold", to: "confirmed" },
} as const satisfies Record<string, { readonly from: OrderStatus; readonly to: OrderStatus }>;

export function confirmOrder(
  transaction: Transaction,
  context: OrderCommandContext,
  target: OrderTarget,
): Promise<OrderAggregate> {
  return step(transaction, context, {
    target,
    name: "confirm",
    outcome: { happenings: [{ type: "order.confirmed" }] },
  });
}

export function holdOrder(
  transaction: Transaction,
  context: OrderCommandContext,
  input: OrderHoldInput,
): Promise<OrderAggregate> {
  requireNoFaults(textFaults("/reason", input.reason, { max: holdReasonMax }));
  const outcome: OrderOutcome = { holdReason: input.reason, happenings: [{ type: "order.on_hold" }] };
  return step(transaction, context, { target: input, name: "hold", outcome });
}

export function releaseOrder(
  transaction: Transaction,
  context: OrderCommandContext,
  target: OrderTarget,
): Promise<OrderAggregate> {
  return step(transaction, context, {
    target,
    name: "release",
    outcome: { holdReason: null, happenings: [] },
  });
}

interface Step {
  readonly target: OrderTarget;
  readonly name: keyof typeof orderSteps;
  readonly outcome: OrderOutcome;
}

function step(
  transaction: Transaction,
  context: OrderCommandContext,
  { target, name, outcome }: Step,
): Promise<OrderAggregate> {
  const { from, to } = orderSteps[name];
  return changeOrder(transaction, context, {
    target,
    requireState: (order) => {
      if (order.status === from) return;
      throw refuseOrder("invalid_state", order, {
        message: `Only an order that is ${from} may become ${to}; this one is ${order.status}.`,
      });
    },
    work: async () => ({ ...outcome, status: to }),
  });
}
