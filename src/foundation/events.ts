/**
 * Notifications between the parts of one process. Code emits an event after its transaction has committed.
 * Listeners subscribe when the process starts (`src/app/`). Code that emits an event never waits for the
 * listeners. A lost event only delays work, because due work is stored in the database and timers look for
 * due work too.
 */
import { EventEmitter } from "node:events";

/** The result of one attempt to deliver a webhook. */
export interface DeliveryAttemptResult {
  /**
   * The HTTP status of the receiver's answer. Without an answer: the error code of the request, `fault` for
   * an error of this service, or `interrupted` if the process stopped during the attempt.
   */
  readonly outcome: string | number;
  /** Duration of the attempt in milliseconds; null if the attempt ended without a result. */
  readonly durationMs: number | null;
  /**
   * Milliseconds between the event and its first delivery attempt. Null for later attempts, for replays, and
   * for attempts without a result.
   */
  readonly waitedMs: number | null;
}

export interface ServiceEventMap {
  /** A payment operation has been queued. */
  paymentsDue: [];
  /** A webhook event, or a delivery to repeat, has been stored and can be sent. */
  deliveriesDue: [];
  /** An export has been queued. */
  exportsDue: [];
  /** A webhook delivery or its attempts have changed in this process. */
  deliveriesChanged: [];
  /**
   * This process has changed a cart or an order that GraphQL subscriptions watch. The argument is the type of
   * the changed object.
   */
  subjectChanged: [type: string];
  /**
   * A notice between processes (`src/database/notices.ts`) has arrived. The argument is its text, or "" if
   * notices may have been missed.
   */
  noticeReceived: [text: string];
  /** A GraphQL document of a client is executed. The argument is the cost of the document. */
  documentExecuted: [cost: number];
  deliveryAttempted: [attempt: DeliveryAttemptResult];
}

export type ServiceEvents = EventEmitter<ServiceEventMap>;

export const createServiceEvents = (): ServiceEvents => new EventEmitter<ServiceEventMap>();
