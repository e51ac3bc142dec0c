/**
 * One round of the webhook dispatcher: creates the deliveries of new events, claims due deliveries (reserves
 * them for this process) and sends them. Between two rounds, a process keeps only the recently active
 * endpoints in memory (see `recently-active-endpoints.ts`).
 */
import { startSpan } from "#foundation/tracing.ts";
import type { DeliverySendResult, WebhookSender } from "#webhooks/safe-request.ts";
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import type { Log } from "#foundation/log.ts";
import type { EventSubjectRenderer } from "#webhooks/outbox.ts";
import type { DeliveryAttemptErrorCode } from "#webhooks/safe-connector.ts";
import {
  claimDueWebhookDeliveries,
  type ClaimedDelivery,
  findEndpointsWithDueDeliveries,
} from "./claim-deliveries.ts";
import { createWebhookSecretDecryptor, sendDelivery, type WebhookSecretDecryptFunction } from "./deliver.ts";
import { fanOutEventsMax, fanOutEventsToWebhookDeliveries } from "./fan-out.ts";
import {
  type DeliveryAttemptRecordContext,
  retryDeliveryAfterInternalError,
  recordDeliveryAttempt,
  releaseDeliveryOfAbortedAttempt,
} from "./record-attempt.ts";
import {
  createRecentlyActiveEndpointTracker,
  type RecentlyActiveEndpoints,
} from "./recently-active-endpoints.ts";
import { createDeliverySuccessRecorder, type DeliverySuccessRecorder } from "./record-success.ts";

const sendingMaxDefault = 512;
/**
 * Number of endpoints that one claim of deliveries checks for each free slot, which is an attempt that the
 * process can still start. The claim in the next round checks other endpoints.
 */
const endpointsPerFreeSlot = 2;
const probeEveryMs = 60_000;
/**
 * The minimum pause, in milliseconds, between two searches of all endpoints for due deliveries while new
 * events are published continuously.
 */
const searchIntervalMs = 50;

export interface WebhookDispatchRoundOptions {
  readonly onAttemptEnded: () => void;
  /**
   * Called after a round that created the deliveries of a full batch of new events, because more new events
   * may be waiting.
   */
  readonly onFullBatch: () => void;
  /**
   * True if the dispatcher was notified of new events, pings or replays. Pings and replays are new deliveries
   * without a new event in the feed.
   */
  readonly wasNotified: boolean;
}

export interface WebhookDispatchRoundRunner {
  /**
   * Creates the deliveries of new events. Then claims due deliveries, at most as many as this process may
   * still send concurrently, and sends them. Returns the number of claimed deliveries.
   */
  run(options: WebhookDispatchRoundOptions): Promise<number>;
  /** Finds all endpoints with due deliveries, and adds these endpoints to the recently active endpoints. */
  findAllDueEndpoints(): Promise<void>;
  /** Returns true if there are recently active endpoints, so that more deliveries may be due soon. */
  hasActiveEndpoints(): boolean;
  waitUntilIdle(): Promise<void>;
  stop(waitMsMax: number): Promise<void>;
}

export function createWebhookDispatchRoundRunner(
  parts: WebhookDispatcherOptions,
): WebhookDispatchRoundRunner {
  const { db, clock, scale, onDeliveriesChanged, sendingMax = sendingMaxDefault } = parts;
  const activeEndpoints = createRecentlyActiveEndpointTracker();
  const { sending, send, waitUntilIdle, stop } = createAttempts(parts, activeEndpoints);
  /**
   * Creates the deliveries of one batch of new events, and returns the number of these events. The deliveries
   * are sent before the next batch of events is read.
   */
  const createDeliveries = async (): Promise<number> => {
    const startedAt = new Date();
    const { events, endpointIds, causes } = await fanOutEventsToWebhookDeliveries(db, clock.now());
    if (events > 0)
      startSpan({
        name: "webhook fan-out",
        ownTrace: {},
        causes,
        startedAt,
        attributes: { "commerce.events": events },
      })?.end();
    activeEndpoints.markActive(endpointIds);
    onDeliveriesChanged?.();
    return events;
  };
  const search = { isDue: false, lastAt: -searchIntervalMs };
  const findAllDueEndpoints = async (): Promise<void> => {
    search.isDue = false;
    search.lastAt = performance.now();
    activeEndpoints.markActive(await findEndpointsWithDueDeliveries(db, clock.now()));
  };
  const removeEndpointsWithoutDueDeliveries = async (): Promise<void> => {
    const activeIds = activeEndpoints.list();
    const due = new Set(await findEndpointsWithDueDeliveries(db, clock.now(), activeIds));
    activeEndpoints.remove(activeIds.filter((id) => !due.has(id)));
  };
  let isBacklogged = false;
  return {
    run: async ({ onAttemptEnded, onFullBatch, wasNotified }) => {
      activeEndpoints.removeInactive();
      search.isDue ||= wasNotified;
      const events = wasNotified ? await createDeliveries() : 0;
      if (events === fanOutEventsMax) onFullBatch();
      if (
        search.isDue &&
        ((wasNotified && events === 0) || performance.now() - search.lastAt >= searchIntervalMs)
      )
        await findAllDueEndpoints();
      // A claim of deliveries is expensive, so a cheap query first removes endpoints without due deliveries
      // from the recently active endpoints. This is worthwhile if no new events were announced, unless the
      // last claim found several deliveries for each endpoint.
      else if (!wasNotified && !isBacklogged && !activeEndpoints.isEmpty())
        await removeEndpointsWithoutDueDeliveries();
      const deliveriesMax = sendingMax - sending.size;
      const claim = {
        endpointIds: activeEndpoints.take(deliveriesMax * endpointsPerFreeSlot),
        deliveriesMax,
        now: clock.now(),
        probeEveryMs: probeEveryMs * scale,
      };
      const claimed = await claimDueWebhookDeliveries(db, claim);
      isBacklogged = claimed.length > claim.endpointIds.length;
      activeEndpoints.markActive(claimed.map(({ endpointId }) => endpointId));
      for (const delivery of claimed) send(delivery, onAttemptEnded);
      return claimed.length;
    },
    findAllDueEndpoints,
    hasActiveEndpoints: () => !activeEndpoints.isEmpty() || search.isDue,
    waitUntilIdle,
    stop,
  };
}

interface Attempts {
  readonly waitUntilIdle: () => Promise<void>;
  readonly stop: (waitMsMax: number) => Promise<void>;
  readonly sending: ReadonlySet<Promise<void>>;
  readonly send: (delivery: ClaimedDelivery, onAttemptEnded: () => void) => void;
}

function createAttempts(parts: WebhookDispatcherOptions, activeEndpoints: RecentlyActiveEndpoints): Attempts {
  const sending = new Set<Promise<void>>();
  const stopping = new AbortController();
  const attempting = {
    ...parts,
    decrypt: createWebhookSecretDecryptor(parts.keyring),
    successes: createDeliverySuccessRecorder({ ...parts, countRunning: () => sending.size }),
    signal: stopping.signal,
  };
  const waitUntilIdle = async (): Promise<void> => {
    while (sending.size > 0) await Promise.all(sending);
  };
  return {
    sending,
    send: (delivery, onAttemptEnded) => {
      const attempt = runAttempt(attempting, delivery).finally(() => {
        sending.delete(attempt);
        activeEndpoints.markActive([delivery.endpointId]);
        parts.onDeliveriesChanged?.();
        onAttemptEnded();
      });
      sending.add(attempt);
      parts.onDeliveriesChanged?.();
    },
    waitUntilIdle,
    stop: async (waitMsMax) => {
      const timer = setTimeout(() => stopping.abort(), waitMsMax);
      await waitUntilIdle();
      clearTimeout(timer);
    },
  };
}

interface Attempting extends WebhookDispatcherOptions {
  readonly decrypt: WebhookSecretDecryptFunction;
  readonly successes: DeliverySuccessRecorder;
  readonly signal: AbortSignal;
}

/**
 * Makes one attempt of a delivery and records the result; never rejects. If the process stops during the
 * attempt, releases the delivery for other processes. After any other error, postpones the delivery. If
 * postponing fails too, the delivery is sent again when its lease expires.
 */
async function runAttempt(attempting: Attempting, delivery: ClaimedDelivery): Promise<void> {
  const {
    db,
    clock,
    decrypt,
    sender,
    render,
    log,
    scale,
    random = Math.random,
    successes,
    signal,
  } = attempting;
  const { id: deliveryId, endpointId, attemptNumber } = delivery;
  const startedAt = clock.now();
  const recording = (): DeliveryAttemptRecordContext => ({
    db,
    successes,
    render,
    now: clock.now(),
    scale,
    random,
  });
  try {
    const result = await observeAttempt(
      attempting,
      { delivery, startedAt },
      sendDelivery(delivery, { sender, decrypt, now: startedAt, signal }),
    );
    await recordDeliveryAttempt(recording(), { delivery, startedAt, result });
  } catch (err) {
    if (!signal.aborted)
      log.error({ err, deliveryId, endpointId, attemptNumber }, "A webhook could not be sent.");
    const undone = signal.aborted
      ? releaseDeliveryOfAbortedAttempt(db, delivery, clock.now())
      : retryDeliveryAfterInternalError(recording(), delivery);
    await undone.catch(() => undefined);
  }
}

interface Attempted {
  readonly delivery: ClaimedDelivery;
  readonly startedAt: Date;
}

/**
 * Reports the result of the attempt to the observer (for example for metrics), even if the result cannot be
 * recorded.
 */
async function observeAttempt(
  { onAttempt, signal }: Attempting,
  { delivery, startedAt }: Attempted,
  attempt: Promise<DeliverySendResult>,
): Promise<DeliverySendResult> {
  const isFirst = delivery.attemptNumber === 1 && !delivery.isReplay;
  const waitedMs = isFirst ? startedAt.getTime() - delivery.occurredAt.getTime() : null;
  try {
    const result = await attempt;
    onAttempt?.({
      outcome: result.httpStatus ?? result.errorCode ?? "fault",
      durationMs: result.durationMs,
      waitedMs,
    });
    return result;
  } catch (error) {
    onAttempt?.({ outcome: signal.aborted ? "interrupted" : "fault", durationMs: null, waitedMs: null });
    throw error;
  }
}

/** The observer that receives the result of each attempt. */
type AttemptObserver = (attempt: {
  /**
   * The HTTP status of the receiver's answer, or the error of the request. The value is `fault` after an
   * error of this service, and `interrupted` if the process stopped.
   */
  readonly outcome: number | DeliveryAttemptErrorCode | "fault" | "interrupted";
  readonly durationMs: number | null;
  /**
   * Milliseconds between the time of the event and its first delivery attempt; null for later attempts and
   * replays.
   */
  readonly waitedMs: number | null;
}) => void;

export interface WebhookDispatcherOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly keyring: EncryptionKeyring;
  readonly sender: WebhookSender;
  readonly render: EventSubjectRenderer;
  readonly log: Log;
  /** The setting WEBHOOK_RETRY_SCALE, by which all delays are multiplied. */
  readonly scale: number;
  readonly random?: () => number;
  /** Called after this process has created or claimed deliveries, or has recorded the result of an attempt. */
  readonly onDeliveriesChanged?: () => void;
  readonly onAttempt?: AttemptObserver;
  /**
   * Returns whether this process receives notices of new work; always true if left out. Without notices, the
   * process looks for work more often.
   */
  readonly areNoticesReceived?: () => boolean;
  /** The largest number of concurrent delivery attempts of this process. */
  readonly sendingMax?: number;
  /** The milliseconds that `stop` waits for attempts in progress. */
  readonly stopMsMax?: number;
}
