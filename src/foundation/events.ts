/**
 * Notifications between the parts of one process. Code emits an event after its transaction has committed;
 * listeners subscribe at start (`app/`). Emitters never wait for listeners. A lost notification only delays
 * work, because due work is stored in the database and is also found by timers.
 */
import { EventEmitter } from "node:events";

/** The result of one attempt to deliver a webhook. */
export interface DeliveryAttemptResult {
  /**
   * The HTTP status of the answer; without an answer, the error code of the request, `fault` for an error of
   * this service, or `interrupted` if the process stopped.
   */
  readonly outcome: string | number;
  /** How long the attempt took, in milliseconds; null if it ended without a result. */
  readonly durationMs: number | null;
  /**
   * Milliseconds between the event and its first attempt; null for later attempts and replays, and for
   * attempts without a result.
   */
  readonly waitedMs: number | null;
}

export interface ServiceEventMap {
  /** A payment operation has been queued. */
  paymentsDue: [];
  /** An event, or a delivery to be repeated, has been stored and can be sent. */
  deliveriesDue: [];
  /** An export has been queued. */
  exportsDue: [];
  /** A delivery or its attempts have changed in this process. */
  deliveriesChanged: [];
  /** A cart or an order with subscribers has changed in this process; the argument is its type. */
  subjectChanged: [type: string];
  /** Another process has sent a notice with this text. An empty text means that notices may have been missed. */
  noticeReceived: [text: string];
  /** A client's GraphQL document was accepted; the argument is its cost. */
  documentExecuted: [cost: number];
  deliveryAttempted: [attempt: DeliveryAttemptResult];
}

export type ServiceEvents = EventEmitter<ServiceEventMap>;

export const createServiceEvents = (): ServiceEvents => new EventEmitter<ServiceEventMap>();
