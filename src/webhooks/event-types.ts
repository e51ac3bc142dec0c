/**
 * The event catalogue lists every event type that the service publishes, with the version of its schema and
 * the type of the object that events of this type are about.
 */
import { commerceEventTypes } from "./commerce-event-types.ts";
import { platformEventTypes } from "./platform-event-types.ts";

export const eventTypes = { ...commerceEventTypes, ...platformEventTypes } as const;

export type EventType = keyof typeof eventTypes;
export type EventSubjectType = (typeof eventTypes)[EventType]["subject"];

/** Subject types whose events are delivered only to installations with the scope `catalog:read`. */
export const catalogReadSubjectTypes: readonly EventSubjectType[] = [
  "cart",
  "checkout_session",
  "order",
  "payment",
  "refund",
  "fulfillment",
  "return",
  "warranty",
];
