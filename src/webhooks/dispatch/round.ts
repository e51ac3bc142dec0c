/**
 * One round of dispatching: makes deliveries of what has happened, takes what is due and may go, and sends it. What it remembers is only which
 * endpoints are worth a look.
 */
import { startSpan } from "#foundation/tracing.ts";
import type { AttemptResult } from "#webhooks/safe-request.ts";
import { claimDeliveries, type ClaimedDelivery } from "./claim-deliveries.ts";
import { deliver } from "./deliver.ts";
import type { DispatchParts } from "./dispatch-parts.ts";
import { findDueEndpoints } from "./due-endpoints.ts";
import { batchEventsMax, fanOut } from "./fan-out.ts";
import { giveBack, postpone, recordAttempt, type Recording } from "./record-attempt.ts";
import { createSuccesses, type Successes } from "./record-successes.ts";
import { createWarmEndpoints, type WarmEndpoints } from "./warm-endpoints.ts";

const usualSendingMax = 512;
/** Of the endpoints that are worth a look, so many in one claim for each place there is; the others come next. */
const endpointsPerPlace = 2;
const probeEveryMs = 60_000;
/** However many events come, whoever was told looks this soon for what is none. */
const lookMsMax = 50;

export interface Calls {
  /** After each attempt. */
  readonly onDone: () => void;
  /** More events wait to be fanned out than one round does. */
  readonly onMore: () => void;
  /** Somebody said that there is something: an event, or deliveries without one (a ping, a replay). */
  readonly wasTold: boolean;
}

export interface Round {
  /** Fans out, takes what there is room for, and sends it. Gives how many were taken. */
  go(calls: Calls): Promise<number>;
  /** Finds endpoints that have something due which nobody told of. */
  lookAround(): Promise<void>;
  /** Something was sent or told a moment ago, and more may follow. */
  isWarm(): boolean;
  idle(): Promise<void>;
  finish(patienceMs: number): Promise<void>;
}

export function createRound(parts: DispatchParts): Round {
  const { db, clock, scale, onMoved, sendingMax = usualSendingMax } = parts;
  const warm = createWarmEndpoints();
  const { sending, send, idle, finish } = createAttempts(parts, warm);
  /** One batch, so that sending goes on however many there are. Gives how many events were new. */
  const spread = async (): Promise<number> => {
    const startedAt = new Date();
    const { events, endpointIds, causes } = await fanOut(db, clock.now());
    if (events > 0) startSpan({ name: "webhook fan-out", ownTrace: {}, causes, startedAt, attributes: { "commerce.events": events } })?.end();
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
      if (events === batchEventsMax) onMore();
      if (look.isDue && ((wasTold && events === 0) || performance.now() - look.lastAt >= lookMsMax)) await lookAround();
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

function createAttempts(parts: DispatchParts, warm: WarmEndpoints): Attempts {
  const sending = new Set<Promise<void>>();
  const stopping = new AbortController();
  const attempting = { ...parts, successes: createSuccesses(parts), signal: stopping.signal };
  const idle = async (): Promise<void> => {
    while (sending.size > 0) await Promise.all(sending);
  };
  return {
    sending,
    send: (delivery, onDone) => {
      const attempt = attemptOf(attempting, delivery).finally(() => {
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

interface Attempting extends DispatchParts {
  readonly successes: Successes;
  readonly signal: AbortSignal;
}

/** Never rejects: what was interrupted is made again at once, what could not be written later, at the latest when the lease is over. */
async function attemptOf(attempting: Attempting, delivery: ClaimedDelivery): Promise<void> {
  const { db, clock, keyring, sender, render, log, scale, random = Math.random, successes, signal } = attempting;
  const { id: deliveryId, endpointId, attemptNumber } = delivery;
  const startedAt = clock.now();
  const recording = (): Recording => ({ db, successes, render, now: clock.now(), scale, random });
  try {
    const result = await seen(attempting, { delivery, startedAt }, deliver(delivery, { sender, keyring, now: startedAt, signal }));
    await recordAttempt(recording(), { delivery, startedAt, result });
  } catch (err) {
    if (!signal.aborted) log.error({ err, deliveryId, endpointId, attemptNumber }, "A webhook could not be sent.");
    const undone = signal.aborted ? giveBack(db, delivery, clock.now()) : postpone(recording(), delivery);
    await undone.catch(() => undefined);
  }
}

interface Attempted {
  readonly delivery: ClaimedDelivery;
  readonly startedAt: Date;
}

/** Told as it was, whether or not it can be written down. */
async function seen({ onAttempt, signal }: Attempting, { delivery, startedAt }: Attempted, attempt: Promise<AttemptResult>): Promise<AttemptResult> {
  const isFirst = delivery.attemptNumber === 1 && !delivery.isReplay;
  const waitedMs = isFirst ? startedAt.getTime() - delivery.occurredAt.getTime() : null;
  try {
    const result = await attempt;
    onAttempt?.({ outcome: result.httpStatus ?? result.errorCode ?? "fault", durationMs: result.durationMs, waitedMs });
    return result;
  } catch (error) {
    onAttempt?.({ outcome: signal.aborted ? "interrupted" : "fault", durationMs: null, waitedMs: null });
    throw error;
  }
}
