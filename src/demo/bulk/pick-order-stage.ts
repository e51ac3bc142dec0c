/**
 * Picks the stage of a generated order, which says how far the order has progressed. The stage is random, but
 * depends on the order's age: older orders are more often completed.
 */
import type { DemoOrderStage } from "#demo/rows/order-stages.ts";

/**
 * The percentage of orders in each stage, per age group. An order belongs to the first group whose
 * `untilDays` is higher than the order's age in days.
 */
const stageShares: readonly (readonly [
  untilDays: number,
  stages: readonly (readonly [DemoOrderStage, number])[],
])[] = [
  [
    0.5,
    [
      ["placed", 65],
      ["onHold", 5],
      ["packing", 25],
      ["canceled", 5],
    ],
  ],
  [
    2,
    [
      ["packing", 45],
      ["partlyShipped", 8],
      ["shipped", 40],
      ["canceled", 7],
    ],
  ],
  [
    6,
    [
      ["shipped", 60],
      ["partlyShipped", 5],
      ["delivered", 28],
      ["canceled", 5],
      ["refunded", 2],
    ],
  ],
  [
    28,
    [
      ["delivered", 78],
      ["returnRequested", 4],
      ["returned", 10],
      ["canceled", 5],
      ["refunded", 3],
    ],
  ],
  [
    Infinity,
    [
      ["delivered", 82],
      ["returned", 10],
      ["canceled", 5],
      ["refunded", 3],
    ],
  ],
];

/** Picks a random stage of an order, depending on its age. `lines` is the number of its order lines. */
export function pickRandomDemoOrderStage(
  random: () => number,
  { ageDays, lines }: { readonly ageDays: number; readonly lines: number },
): DemoOrderStage {
  const stages = stageShares.find(([untilDays]) => ageDays < untilDays)?.[1] ?? [];
  let left = random() * 100;
  const stage = stages.find(([, share]) => (left -= share) < 0)?.[0] ?? "placed";
  // Excludes the partly shipped stage for an order with a single line, because such an order cannot be partly
  // shipped.
  return stage === "partlyShipped" && lines < 2 ? "shipped" : stage;
}
