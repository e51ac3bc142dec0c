/**
 * How far an order of the bulk has come: the steps that led there, when each was taken, and what its buyer
 * reads of them.
 */
import type { OrderActor } from "#commerce/orders/order-states.ts";
import { unitShare } from "#commerce/orders/order-value.ts";
import type { TableRow } from "./insert-rows.ts";

export type OrderHistoryStep =
  | "place"
  | "confirm"
  | "hold"
  | "pack"
  | "capture"
  | "ship"
  | "deliver"
  | "askReturn"
  | "closeReturn"
  | "cancel";

const stepsUntilShipped: readonly OrderHistoryStep[] = ["place", "confirm", "pack", "capture", "ship"];

const stepsOfStage = {
  placed: ["place"],
  onHold: ["place", "confirm", "hold"],
  packing: ["place", "confirm", "pack"],
  partlyShipped: stepsUntilShipped,
  shipped: stepsUntilShipped,
  delivered: [...stepsUntilShipped, "deliver"],
  returnRequested: [...stepsUntilShipped, "deliver", "askReturn"],
  returned: [...stepsUntilShipped, "deliver", "askReturn", "closeReturn"],
  /** Before anything was captured. */
  canceled: ["place", "cancel"],
  /** Canceled when it was paid. */
  refunded: ["place", "confirm", "capture", "cancel"],
} as const satisfies Record<string, readonly OrderHistoryStep[]>;
export type OrderStage = keyof typeof stepsOfStage;

export interface NewOrderIds {
  readonly orderId: string;
  readonly sessionId: string;
  readonly merchantId: string;
  /** Null: nothing came back, or was asked to. */
  readonly returnId: string | null;
}

export interface OrderHistory {
  readonly stage: OrderStage;
  /** In their order. */
  readonly steps: readonly OrderHistoryStep[];
  readonly timeOf: (step: OrderHistoryStep) => Date;
}

const hourMs = 3_600_000;
/** So many hours after it was placed, where it is old enough. */
const hoursAfterPlacement: Readonly<Record<OrderHistoryStep, number>> = {
  place: 0,
  confirm: 0.5,
  hold: 1,
  pack: 12,
  capture: 20,
  ship: 21,
  cancel: 24,
  deliver: 80,
  askReturn: 180,
  closeReturn: 320,
};

/** A young order has gone through its steps faster: none is in the future, and they follow each other. */
export function createOrderHistory(
  stage: OrderStage,
  { placedAt, now }: { readonly placedAt: Date; readonly now: Date },
): OrderHistory {
  const steps = stepsOfStage[stage];
  const ageMs = now.getTime() - placedAt.getTime();
  const timeOf = (step: OrderHistoryStep): Date => {
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

/** How many of the lines are in the parcel, the first ones: all but of an order that is sent in parts. */
export function countShippedLines(stage: OrderStage, count: number): number {
  const isShipped: boolean = stepsOfStage[stage].some((step) => step === "ship");
  if (!isShipped) return 0;
  return stage === "partlyShipped" ? Math.max(1, count - 1) : count;
}

interface LineAmount {
  readonly totalMinor: number;
  readonly ordered: number;
  readonly isFirst: boolean;
}

/** What the buyer no longer owes of a line. */
export function computeReducedMinor(stage: OrderStage, { totalMinor, ordered, isFirst }: LineAmount): number {
  if (stage === "canceled" || stage === "refunded") return totalMinor;
  return stage === "returned" && isFirst
    ? unitShare({ amountMinor: totalMinor, ordered, gone: 0, quantity: 1 })
    : 0;
}

type TimelineEntries = readonly (readonly [type: string, actor: OrderActor])[];

const timelineOfStep: Readonly<Record<OrderHistoryStep, TimelineEntries>> = {
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
  askReturn: [["return_requested", "buyer"]],
  closeReturn: [
    ["return_inspected", "merchant"],
    ["return_closed", "merchant"],
    ["refund_created", "merchant"],
    ["refund_succeeded", "system"],
  ],
  cancel: [["order_canceled", "buyer"]],
};

export function createTimelineRows({
  stage,
  steps,
  timeOf,
}: OrderHistory): Omit<TableRow<"orderTimeline">, "orderId">[] {
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
