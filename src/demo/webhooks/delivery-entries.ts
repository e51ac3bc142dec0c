/** What the demo's endpoint was told of: what had just happened to the demo's orders then. */
import type { DeliveryName, OrderName } from "#demo/demo-file.ts";
import type { EventType } from "#webhooks/event-types.ts";

export type DeliveryKey = DeliveryName | "skipped";

export interface DeliveryEntry {
  readonly key: DeliveryKey;
  readonly ends: DeliveryKey;
  readonly type: EventType;
  readonly order: OrderName;
  /** What of the order; null: the order itself. */
  readonly part: "fulfillment" | "orderReturn" | null;
  readonly hoursAgo: number;
  /** Made by now. */
  readonly attempts: number;
}

const entry = (key: DeliveryKey, told: Omit<DeliveryEntry, "key" | "ends">): DeliveryEntry => ({ key, ends: key, ...told });

/**
 * The oldest first. All ten attempts take 75 hours and 35 minutes. Of a day ago, seven were made; the eighth follows in seven and a half hours. The
 * last one that was made arrived.
 */
export const deliveryEntries: readonly DeliveryEntry[] = [
  entry("exhausted", { type: "return.closed", order: "returned", part: "orderReturn", hoursAgo: 96, attempts: 10 }),
  entry("skipped", { type: "fulfillment.shipped", order: "shipped", part: "fulfillment", hoursAgo: 60, attempts: 0 }),
  entry("retrying", { type: "order.completed", order: "delivered", part: null, hoursAgo: 24, attempts: 7 }),
  entry("succeeded", { type: "order.canceled", order: "canceled", part: null, hoursAgo: 155 / 60, attempts: 1 }),
];

export const endpointLife = {
  description: "The demo's: nothing listens there.",
  /** Only these: it has no use for more, and what cannot be delivered is tried for days. */
  eventTypes: deliveryEntries.map(({ type }) => type),
  /** Ago. */
  hours: { created: 120, disabled: 62, enabled: 58 },
} as const;
