/**
 * Notifications inside one process. Code that has done something emits an event after its transaction has
 * committed; whoever reacts to it subscribes at start (`app/`). Nothing waits for a subscriber, and nothing
 * is lost with a notification: what is due stands in the database and is also found by the clock.
 */
import { EventEmitter } from "node:events";

/** One attempt to deliver a webhook, when it has ended. */
export interface DeliveryAttempted {
  /** The status of the answer, the code of the error, `interrupted`, or `fault`. */
  readonly outcome: string | number;
  /** How long the attempt took; null if it was interrupted. */
  readonly durationMs: number | null;
  /** How long the delivery waited after it was due; null if it was interrupted. */
  readonly waitedMs: number | null;
}

export interface ServiceEventMap {
  /** A payment operation has been queued. */
  paymentsDue: [];
  /** An event, or a delivery to be repeated, has been written. */
  deliveriesDue: [];
  /** A delivery or its attempts have changed in this process. */
  deliveriesChanged: [];
  /** A cart or an order that somebody follows has changed in this process: its type. */
  subjectChanged: [type: string];
  /** Another process has sent this text; an empty one says that texts may have been missed. */
  noticeReceived: [text: string];
  /** A GraphQL document of a client has been let in: its cost. */
  documentExecuted: [cost: number];
  deliveryAttempted: [attempt: DeliveryAttempted];
}

export type ServiceEvents = EventEmitter<ServiceEventMap>;

export const createServiceEvents = (): ServiceEvents => new EventEmitter<ServiceEventMap>();
