/**
 * How far an order of the bulk has come: the steps that led there, when each was taken, and what its buyer
 * reads of them.
 */
import type { OrderActor } from "#commerce/orders/order-states.ts";
import { unitShare } from "#commerce/orders/order-value.ts";
import type { Row } from "./insert-rows.ts";

export type OrderStep =
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

const sent: readonly OrderStep[] = ["place", "confirm", "pack", "capture", "ship"];

const stages = {
  placed: ["place"],
  onHold: ["place", "confirm", "hold"],
  packing: ["place", "confirm", "pack"],
  partlyShipped: sent,
  shipped: sent,
  delivered: [...sent, "deliver"],
  returnRequested: [...sent, "deliver", "askReturn"],
  returned: [...sent, "deliver", "askReturn", "closeReturn"],
  /** Before anything was captured. */
  canceled: ["place", "cancel"],
  /** Canceled when it was paid. */
  refunded: ["place", "confirm", "capture", "cancel"],
} as const satisfies Record<string, readonly OrderStep[]>;
export type OrderStage = keyof typeof stages;

export interface OrderIds {
  readonly orderId: string;
  readonly sessionId: string;
  readonly merchantId: string;
  /** Null: nothing came back, or was asked to. */
  readonly returnId: string | null;
}

export interface OrderLife {
  readonly stage: OrderStage;
  /** In their order. */
  readonly steps: readonly OrderStep[];
  readonly at: (step: OrderStep) => Date;
}

const hourMs = 3_600_000;
/** So many hours after it was placed, where it is old enough. */
const hours: Readonly<Record<OrderStep, number>> = {
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
export function lifeOf(
  stage: OrderStage,
  { placedAt, now }: { readonly placedAt: Date; readonly now: Date },
): OrderLife {
  const steps = stages[stage];
  const ageMs = now.getTime() - placedAt.getTime();
  const timeOf = (step: OrderStep): Date => {
    const share =
      Math.max(
        0,
        steps.findIndex((candidate) => candidate === step),
      ) / steps.length;
    return new Date(placedAt.getTime() + Math.floor(Math.min(hours[step] * hourMs, ageMs * share)));
  };
  return { stage, steps, at: timeOf };
}

/** How many of the lines are in the parcel, the first ones: all but of an order that is sent in parts. */
export function partlyShippedLines(stage: OrderStage, count: number): number {
  const isSent: boolean = stages[stage].some((step) => step === "ship");
  if (!isSent) return 0;
  return stage === "partlyShipped" ? Math.max(1, count - 1) : count;
}

interface LineWorth {
  readonly totalMinor: number;
  readonly ordered: number;
  readonly isFirst: boolean;
}

/** What the buyer no longer owes of a line. */
export function reducedShare(stage: OrderStage, { totalMinor, ordered, isFirst }: LineWorth): number {
  if (stage === "canceled" || stage === "refunded") return totalMinor;
  return stage === "returned" && isFirst
    ? unitShare({ amountMinor: totalMinor, ordered, gone: 0, quantity: 1 })
    : 0;
}

type Told = readonly (readonly [type: string, actor: OrderActor])[];

const told: Readonly<Record<OrderStep, Told>> = {
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

export function timelineOf({ stage, steps, at }: OrderLife): Omit<Row<"orderTimeline">, "orderId">[] {
  const ends: Told =
    stage === "canceled" ? [["payment_canceled", "system"]] : stage === "refunded" ? refundTold : [];
  return [
    ...steps.flatMap((step) => told[step].map(([type, actor]) => ({ at: at(step), type, actor }))),
    ...ends.map(([type, actor]) => ({ at: at("cancel"), type, actor })),
  ];
}

const refundTold: Told = [
  ["refund_created", "buyer"],
  ["refund_succeeded", "system"],
];
