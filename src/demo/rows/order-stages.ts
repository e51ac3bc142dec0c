/**
 * The stages of a generated order. A stage says how far the order has progressed. This file also defines the
 * steps that lead to each stage, and the time and the timeline entries of each step.
 */
import type { OrderActor } from "#commerce/orders/order-states.ts";
import { calculateLineAmountOfUnits } from "#commerce/orders/order-value.ts";
import type { DemoTableRowToInsert } from "./insert-rows.ts";

export type DemoOrderHistoryStep =
  | "place"
  | "confirm"
  | "hold"
  | "pack"
  | "capture"
  | "ship"
  | "deliver"
  | "requestReturn"
  | "closeReturn"
  | "cancel";

const stepsUntilShipped: readonly DemoOrderHistoryStep[] = ["place", "confirm", "pack", "capture", "ship"];

const stepsOfStage = {
  placed: ["place"],
  onHold: ["place", "confirm", "hold"],
  packing: ["place", "confirm", "pack"],
  partlyShipped: stepsUntilShipped,
  shipped: stepsUntilShipped,
  delivered: [...stepsUntilShipped, "deliver"],
  returnRequested: [...stepsUntilShipped, "deliver", "requestReturn"],
  returned: [...stepsUntilShipped, "deliver", "requestReturn", "closeReturn"],
  /** The order was canceled before the payment was captured. */
  canceled: ["place", "cancel"],
  /** The order was canceled after the payment was captured, so the payment was refunded. */
  refunded: ["place", "confirm", "capture", "cancel"],
} as const satisfies Record<string, readonly DemoOrderHistoryStep[]>;
export type DemoOrderStage = keyof typeof stepsOfStage;

/** The ids of an order to create, and of the objects to which its rows refer. */
export interface DemoOrderRowIds {
  readonly orderId: string;
  readonly sessionId: string;
  readonly merchantId: string;
  /** The id of the order's return; null if no return was requested. */
  readonly returnId: string | null;
}

/** The steps that an order has gone through, with their times. */
export interface DemoOrderHistory {
  readonly stage: DemoOrderStage;
  /** The steps of the order, in the order of their execution. */
  readonly steps: readonly DemoOrderHistoryStep[];
  /** Returns the time at which the order went through a step. */
  readonly timeOf: (step: DemoOrderHistoryStep) => Date;
}

const hourMs = 3_600_000;
/** The usual number of hours between placing the order and each later step. */
const hoursAfterPlacement: Readonly<Record<DemoOrderHistoryStep, number>> = {
  place: 0,
  confirm: 0.5,
  hold: 1,
  pack: 12,
  capture: 20,
  ship: 21,
  cancel: 24,
  deliver: 80,
  requestReturn: 180,
  closeReturn: 320,
};

/**
 * Creates the steps of an order up to its stage, each with its time. For a recent order, the intervals
 * between the steps are shortened, so that no step is in the future.
 */
export function createDemoOrderHistory(
  stage: DemoOrderStage,
  { placedAt, now }: { readonly placedAt: Date; readonly now: Date },
): DemoOrderHistory {
  const steps = stepsOfStage[stage];
  const ageMs = now.getTime() - placedAt.getTime();
  const timeOf = (step: DemoOrderHistoryStep): Date => {
    const share =
      Math.max(
        0,
        steps.findIndex((candidate) => candidate === step),
      ) / steps.length;
    return new Date(
      placedAt.getTime() + Math.floor(Math.min(hoursAfterPlacement[step] * hourMs, ageMs * share)),
    );
  };
  return { stage, steps, timeOf };
}

/**
 * Returns how many of an order's lines are shipped, counted from the first line: all but the last line if the
 * order is partly shipped, otherwise all or none.
 */
export function countShippedLines(stage: DemoOrderStage, count: number): number {
  const isShipped: boolean = stepsOfStage[stage].some((step) => step === "ship");
  if (!isShipped) return 0;
  return stage === "partlyShipped" ? Math.max(1, count - 1) : count;
}

interface LineAmount {
  readonly totalMinor: number;
  readonly ordered: number;
  readonly isFirst: boolean;
}

/**
 * Computes the amount in minor units that the buyer no longer pays for an order line, because units of the
 * line were canceled or returned.
 */
export function computeCanceledOrReturnedLineAmountMinor(
  stage: DemoOrderStage,
  { totalMinor, ordered, isFirst }: LineAmount,
): number {
  if (stage === "canceled" || stage === "refunded") return totalMinor;
  return stage === "returned" && isFirst
    ? calculateLineAmountOfUnits({ amountMinor: totalMinor, ordered, gone: 0, quantity: 1 })
    : 0;
}

type TimelineEntries = readonly (readonly [type: string, actor: OrderActor])[];

const timelineOfStep: Readonly<Record<DemoOrderHistoryStep, TimelineEntries>> = {
  place: [
    ["payment_authorized", "system"],
    ["order_placed", "system"],
  ],
  hold: [["order_on_hold", "merchant"]],
  confirm: [["order_confirmed", "merchant"]],
  pack: [
    ["fulfillment_created", "merchant"],
    ["fulfillment_packed", "merchant"],
  ],
  capture: [["payment_captured", "system"]],
  ship: [["fulfillment_shipped", "merchant"]],
  deliver: [["fulfillment_delivered", "merchant"]],
  requestReturn: [["return_requested", "buyer"]],
  closeReturn: [
    ["return_inspected", "merchant"],
    ["return_closed", "merchant"],
    ["refund_created", "merchant"],
    ["refund_succeeded", "system"],
  ],
  cancel: [["order_canceled", "buyer"]],
};

export function createDemoOrderTimelineRows({
  stage,
  steps,
  timeOf,
}: DemoOrderHistory): Omit<DemoTableRowToInsert<"orderTimeline">, "orderId">[] {
  const closingEntries: TimelineEntries =
    stage === "canceled" ? [["payment_canceled", "system"]] : stage === "refunded" ? refundTimeline : [];
  return [
    ...steps.flatMap((step) =>
      timelineOfStep[step].map(([type, actor]) => ({ at: timeOf(step), type, actor })),
    ),
    ...closingEntries.map(([type, actor]) => ({ at: timeOf("cancel"), type, actor })),
  ];
}

const refundTimeline: TimelineEntries = [
  ["refund_created", "buyer"],
  ["refund_succeeded", "system"],
];
