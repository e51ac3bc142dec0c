/**
 * Notifications between the parts of one process. Code emits an event after its transaction has committed,
 * and never waits for the listeners. Listeners subscribe when the process starts (`src/app/`). If an event is
 * lost, work is only delayed: the work is also stored in the database, where timers look for it.
 */
import { EventEmitter } from "node:events";

/** The result of one attempt to deliver a webhook. */
export interface WebhookAttemptResult {
  /**
   * The HTTP status of the receiver's answer. Without an answer: the error code of the request, `fault` for
   * an error of this service, or `interrupted` if the process stopped during the attempt.
   */
  readonly outcome: string | number;
  /** Duration of the delivery attempt in milliseconds; null if the attempt ended without a result. */
  readonly durationMs: number | null;
  /**
   * Milliseconds between the event and its first delivery attempt. Null for every later attempt, for replays
   * of a delivery, and if the attempt ended without a result.
   */
  readonly waitedMs: number | null;
}

export interface InProcessEventMap {
  /**
   * Emitted when a payment operation, for example a capture, has been stored and can be sent to the payment
   * provider.
   */
  paymentsDue: [];
  /** Emitted when a webhook event, or a webhook delivery to repeat, has been stored and can be sent. */
  deliveriesDue: [];
  /** Emitted when an export of data to a file has been stored in the queue of exports. */
  exportsDue: [];
  /** Emitted when this process has changed a webhook delivery or has stored the result of a delivery attempt. */
  deliveriesChanged: [];
  /**
   * Emitted when this process has changed a cart or an order that a GraphQL subscription follows. The
   * argument is the type of the changed object.
   */
  subjectChanged: [type: string];
  /**
   * Emitted when a notice from another process (`src/database/notices.ts`) has arrived. The argument is the
   * text of the notice, or "" if notices may have been missed.
   */
  noticeReceived: [text: string];
  /**
   * Emitted when a request has looked for its answer in the response cache, or for a kept result of its
   * query. The arguments are the id of the REST operation ("graphql" for a document of a client), and whether
   * the answer was in memory.
   */
  responseCacheUsed: [operationId: string, isHit: boolean];
  /**
   * Emitted before a GraphQL document of a client is executed. The argument is the cost of the document in
   * points.
   */
  documentExecuted: [cost: number];
  deliveryAttempted: [attempt: WebhookAttemptResult];
}

export type InProcessEventEmitter = EventEmitter<InProcessEventMap>;

export const createInProcessEventEmitter = (): InProcessEventEmitter => new EventEmitter<InProcessEventMap>();
