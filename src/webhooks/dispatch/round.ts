/**
 * One round of dispatching: creates the deliveries of new events, claims due deliveries and sends them.
 * Between rounds only the warm endpoints are remembered: those to which something was sent or became due in
 * the last two seconds.
 */
import { startSpan } from "#foundation/tracing.ts";
import type { AttemptResult, SafeSender } from "#webhooks/safe-request.ts";
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import type { Keyring } from "#foundation/encryption.ts";
import type { Log } from "#foundation/log.ts";
import type { RenderEventSubject } from "#webhooks/outbox.ts";
import type { AttemptErrorCode } from "#webhooks/safe-connector.ts";
import { claimDeliveries, type ClaimedDelivery, findDueEndpoints } from "./claim-deliveries.ts";
import { sendDelivery } from "./deliver.ts";
import { fanOutEventsMax, fanOutEvents } from "./fan-out.ts";
import {
  type AttemptRecordContext,
  postponeDelivery,
  recordAttempt,
  releaseDelivery,
} from "./record-attempt.ts";
import { createRecentlyActiveEndpoints, type RecentlyActiveEndpoints } from "./warm-endpoints.ts";
import { createSuccessRecorder, type SuccessRecorder } from "./record-success.ts";

const usualSendingMax = 512;
/**
 * One claim considers at most this number of warm endpoints per free attempt slot. Later claims consider the
 * others.
 */
const endpointsPerPlace = 2;
const probeEveryMs = 60_000;
/**
 * The maximum time in milliseconds between two searches of all endpoints for due deliveries, if the
 * dispatcher is notified of new events continuously.
 */
const lookMsMax = 50;

export interface DispatchRoundOptions {
  /** Called after each attempt of a webhook delivery has ended. */
  readonly onDone: () => void;
  /** Called if a full batch of new events was found, so that more new events may be waiting. */
  readonly onMore: () => void;
  /** True if the dispatcher was notified of new events or of deliveries without an event (ping, replay). */
  readonly wasNotified: boolean;
}

export interface DispatchRound {
  /**
   * Creates deliveries of new events, claims as many due deliveries as there are free slots, and sends them.
   * Returns the number of claimed deliveries.
   */
  go(calls: DispatchRoundOptions): Promise<number>;
  /** Finds all endpoints with due deliveries, also those for which the dispatcher was not notified. */
  lookAround(): Promise<void>;
  /** True if endpoints are warm, so that more deliveries may follow soon. */
  isWarm(): boolean;
  idle(): Promise<void>;
  finish(patienceMs: number): Promise<void>;
}

export function createDispatchRound(parts: DispatcherOptions): DispatchRound {
  const { db, clock, scale, onDeliveriesChanged, sendingMax = usualSendingMax } = parts;
  const warm = createRecentlyActiveEndpoints();
  const { sending, send, idle, finish } = createAttempts(parts, warm);
  /**
   * Creates the deliveries of one batch of new events. Returns the number of events. Only one batch is
   * handled, so that deliveries are sent before the next batch.
   */
  const spread = async (): Promise<number> => {
    const startedAt = new Date();
    const { events, endpointIds, causes } = await fanOutEvents(db, clock.now());
    if (events > 0)
      startSpan({
        name: "webhook fan-out",
        ownTrace: {},
        causes,
        startedAt,
        attributes: { "commerce.events": events },
      })?.end();
    warm.heat(endpointIds);
    onDeliveriesChanged?.();
    return events;
  };
  const look = { isDue: false, lastAt: -lookMsMax };
  const lookAround = async (): Promise<void> => {
    look.isDue = false;
    look.lastAt = performance.now();
    warm.heat(await findDueEndpoints(db, clock.now()));
  };
  const coolIdle = async (): Promise<void> => {
    const warmIds = warm.all();
    const due = new Set(await findDueEndpoints(db, clock.now(), warmIds));
    warm.forget(warmIds.filter((id) => !due.has(id)));
  };
  return {
    go: async ({ onDone, onMore, wasNotified }) => {
      warm.cool();
      look.isDue ||= wasNotified;
      const events = wasNotified ? await spread() : 0;
      if (events === fanOutEventsMax) onMore();
      if (look.isDue && ((wasNotified && events === 0) || performance.now() - look.lastAt >= lookMsMax))
        await lookAround();
      // Without a notification, most warm endpoints have no due deliveries. A cheap query finds and forgets
      // these endpoints, so that the claim does not consider them.
      else if (!wasNotified && !warm.isEmpty()) await coolIdle();
      const deliveriesMax = sendingMax - sending.size;
      const claim = {
        endpointIds: warm.take(deliveriesMax * endpointsPerPlace),
        deliveriesMax,
        now: clock.now(),
        probeEveryMs: probeEveryMs * scale,
      };
      const claimed = await claimDeliveries(db, claim);
      warm.heat(claimed.map(({ endpointId }) => endpointId));
      for (const delivery of claimed) send(delivery, onDone);
      return claimed.length;
    },
    lookAround,
    isWarm: () => !warm.isEmpty() || look.isDue,
    idle,
    finish,
  };
}

interface Attempts {
  readonly idle: () => Promise<void>;
  readonly finish: (patienceMs: number) => Promise<void>;
  readonly sending: ReadonlySet<Promise<void>>;
  readonly send: (delivery: ClaimedDelivery, onDone: () => void) => void;
}

function createAttempts(parts: DispatcherOptions, warm: RecentlyActiveEndpoints): Attempts {
  const sending = new Set<Promise<void>>();
  const stopping = new AbortController();
  const attempting = { ...parts, successes: createSuccessRecorder(parts), signal: stopping.signal };
  const idle = async (): Promise<void> => {
    while (sending.size > 0) await Promise.all(sending);
  };
  return {
    sending,
    send: (delivery, onDone) => {
      const attempt = runAttempt(attempting, delivery).finally(() => {
        sending.delete(attempt);
        warm.heat([delivery.endpointId]);
        parts.onDeliveriesChanged?.();
        onDone();
      });
      sending.add(attempt);
      parts.onDeliveriesChanged?.();
    },
    idle,
    finish: async (patienceMs) => {
      const patience = setTimeout(() => stopping.abort(), patienceMs);
      await idle();
      clearTimeout(patience);
    },
  };
}

interface Attempting extends DispatcherOptions {
  readonly successes: SuccessRecorder;
  readonly signal: AbortSignal;
}

/**
 * Makes and records one attempt. Never rejects: an interrupted attempt is released and repeated at once;
 * after another error the delivery is postponed, or repeated when its lease expires.
 */
async function runAttempt(attempting: Attempting, delivery: ClaimedDelivery): Promise<void> {
  const {
    db,
    clock,
    keyring,
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
  const recording = (): AttemptRecordContext => ({ db, successes, render, now: clock.now(), scale, random });
  try {
    const result = await observeAttempt(
      attempting,
      { delivery, startedAt },
      sendDelivery(delivery, { sender, keyring, now: startedAt, signal }),
    );
    await recordAttempt(recording(), { delivery, startedAt, result });
  } catch (err) {
    if (!signal.aborted)
      log.error({ err, deliveryId, endpointId, attemptNumber }, "A webhook could not be sent.");
    const undone = signal.aborted
      ? releaseDelivery(db, delivery, clock.now())
      : postponeDelivery(recording(), delivery);
    await undone.catch(() => undefined);
  }
}

interface Attempted {
  readonly delivery: ClaimedDelivery;
  readonly startedAt: Date;
}

/** Reports the result of the attempt to the observer, even if the result cannot be recorded. */
async function observeAttempt(
  { onAttempt, signal }: Attempting,
  { delivery, startedAt }: Attempted,
  attempt: Promise<AttemptResult>,
): Promise<AttemptResult> {
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

/** Receives the result of each attempt. */
type AttemptObserver = (attempt: {
  /**
   * The HTTP status, the error of the request, `fault` for an error of this service, or `interrupted` if the
   * process stopped.
   */
  readonly outcome: number | AttemptErrorCode | "fault" | "interrupted";
  readonly durationMs: number | null;
  /** Milliseconds between the event and its first attempt; null for later attempts and replays. */
  readonly waitedMs: number | null;
}) => void;

export interface DispatcherOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly keyring: Keyring;
  readonly sender: SafeSender;
  readonly render: RenderEventSubject;
  readonly log: Log;
  /** The setting WEBHOOK_RETRY_SCALE; all delays are multiplied by it. */
  readonly scale: number;
  readonly random?: () => number;
  /** Called after this process has created, claimed or recorded deliveries. */
  readonly onDeliveriesChanged?: () => void;
  readonly onAttempt?: AttemptObserver;
  /** The largest number of concurrent attempts of this process. */
  readonly sendingMax?: number;
  /** Milliseconds that `stop` waits for attempts in progress. */
  readonly stopMsMax?: number;
}
