/**
 * One round of dispatching: fans events out into deliveries, claims due deliveries and sends them. Between
 * rounds it only remembers warm endpoints, where something was sent or came due a moment ago.
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
  createSuccessRecorder,
  releaseDelivery,
  postponeDelivery,
  recordAttempt,
  type AttemptRecordContext,
  type SuccessRecorder,
} from "./record-attempt.ts";

const usualSendingMax = 512;
/** Of the endpoints that are worth a look, so many in one claim for each place there is; the others come next. */
const endpointsPerPlace = 2;
const probeEveryMs = 60_000;
/** However many events come, whoever was told looks this soon for what is none. */
const lookMsMax = 50;

export interface RoundOptions {
  /** After each attempt. */
  readonly onDone: () => void;
  /** More events wait to be fanned out than one round does. */
  readonly onMore: () => void;
  /** Somebody said that there is something: an event, or deliveries without one (a ping, a replay). */
  readonly wasTold: boolean;
}

export interface DispatchRound {
  /** Fans out, takes what there is room for, and sends it. Gives how many were taken. */
  go(calls: RoundOptions): Promise<number>;
  /** Finds endpoints that have something due which nobody told of. */
  lookAround(): Promise<void>;
  /** Something was sent or told a moment ago, and more may follow. */
  isWarm(): boolean;
  idle(): Promise<void>;
  finish(patienceMs: number): Promise<void>;
}

export function createDispatchRound(parts: DispatcherOptions): DispatchRound {
  const { db, clock, scale, onMoved, sendingMax = usualSendingMax } = parts;
  const warm = createWarmEndpoints();
  const { sending, send, idle, finish } = createAttempts(parts, warm);
  /** One batch, so that sending goes on however many there are. Gives how many events were new. */
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
    onMoved?.();
    return events;
  };
  const look = { isDue: false, lastAt: -lookMsMax };
  const lookAround = async (): Promise<void> => {
    look.isDue = false;
    look.lastAt = performance.now();
    warm.heat(await findDueEndpoints(db, clock.now()));
  };
  const coolIdle = async (): Promise<void> => {
    const asked = warm.all();
    const due = new Set(await findDueEndpoints(db, clock.now(), asked));
    warm.forget(asked.filter((id) => !due.has(id)));
  };
  return {
    go: async ({ onDone, onMore, wasTold }) => {
      warm.cool();
      look.isDue ||= wasTold;
      const events = wasTold ? await spread() : 0;
      if (events === fanOutEventsMax) onMore();
      if (look.isDue && ((wasTold && events === 0) || performance.now() - look.lastAt >= lookMsMax))
        await lookAround();
      // Nothing is new: a short question in place of a long one that would most often be for nothing.
      else if (!wasTold && !warm.isEmpty()) await coolIdle();
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

function createAttempts(parts: DispatcherOptions, warm: WarmEndpoints): Attempts {
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
        parts.onMoved?.();
        onDone();
      });
      sending.add(attempt);
      parts.onMoved?.();
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
 * Never rejects: what was interrupted is made again at once, what could not be written later, at the latest
 * when the lease is over.
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

/** Told as it was, whether or not it can be written down. */
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

/**
 * Endpoints to which something was sent, or for which something came due, a moment ago. Only decides where to
 * look first.
 */
interface WarmEndpoints {
  heat(endpointIds: Iterable<string>): void;
  /** Forgets those that nothing happened to for a while. */
  cool(): void;
  forget(endpointIds: Iterable<string>): void;
  all(): readonly string[];
  /** So many of them; whoever was given comes last the next time. */
  take(count: number): readonly string[];
  readonly isEmpty: () => boolean;
}

const warmMs = 2_000;

function createWarmEndpoints(): WarmEndpoints {
  const untilMs = new Map<string, number>();
  return {
    heat: (endpointIds) => {
      const until = performance.now() + warmMs;
      for (const id of endpointIds) untilMs.set(id, until);
    },
    cool: () => {
      const now = performance.now();
      for (const [id, until] of untilMs) if (until < now) untilMs.delete(id);
    },
    forget: (endpointIds) => {
      for (const id of endpointIds) untilMs.delete(id);
    },
    all: () => [...untilMs.keys()],
    take: (count) => {
      const taken = [...untilMs].slice(0, count);
      for (const [id, until] of taken) {
        untilMs.delete(id);
        untilMs.set(id, until);
      }
      return taken.map(([id]) => id);
    },
    isEmpty: () => untilMs.size === 0,
  };
}

/** Told what came of each attempt. */
type AttemptObserver = (attempt: {
  /** A status, why there was none, or that it failed or was interrupted on our side. */
  readonly outcome: number | AttemptErrorCode | "fault" | "interrupted";
  readonly durationMs: number | null;
  /** Of the first attempt: for how long its event had waited. */
  readonly waitedMs: number | null;
}) => void;

export interface DispatcherOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly keyring: Keyring;
  readonly sender: SafeSender;
  readonly render: RenderEventSubject;
  readonly log: Log;
  /** WEBHOOK_RETRY_SCALE. */
  readonly scale: number;
  readonly random?: () => number;
  /** Deliveries have been made, taken or recorded here. */
  readonly onMoved?: () => void;
  readonly onAttempt?: AttemptObserver;
  /** So many attempts at once. */
  readonly sendingMax?: number;
  /** How long `stop` waits for what is being sent. */
  readonly stopMsMax?: number;
}
