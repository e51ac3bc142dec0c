/**
 * Server-sent events: writes the results of a subscription to the client's connection, and keeps a list of
 * the open streams. The number of streams per caller and per process is limited, and a stream ends after an
 * hour. Once a second, the credential of every open stream is verified again.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#foundation/clock.ts";
import { createFailure, Failure } from "#foundation/failure.ts";

export interface ServerSentEventStream {
  /**
   * The signal that is aborted when the stream ends. The reason of the abort is the failure if sending to the
   * client failed.
   */
  readonly signal: AbortSignal;
  readonly end: (failure?: Failure) => void;
}

/**
 * The owner of an event stream: a credential and its merchant. The number of open streams is limited for
 * both.
 */
export interface EventStreamOwner {
  /** Id of the credential with which the stream was opened. */
  readonly callerId: string;
  /** Id of the merchant to which the credential belongs; null for a credential of the platform. */
  readonly merchantId: string | null;
}

export interface ServerSentEventStreams {
  /** Opens a stream of server-sent events. Throws if the caller or the process has too many open streams. */
  readonly open: (caller: FastifyRequest, owner: EventStreamOwner) => ServerSentEventStream;
  readonly close: () => void;
}

export interface ServerSentEventStreamsOptions {
  readonly clock: Clock;
  /** Verifies the credential of an open event stream again. Throws if the credential is no longer valid. */
  readonly recheck: (caller: FastifyRequest) => Promise<unknown>;
}

export const streamsPerCallerMax = 20;
/**
 * The maximum number of open streams of a process. A merchant may open another stream only while the number
 * of free streams is higher than its own open streams. One merchant can therefore have at most half of all
 * streams, and a merchant without streams always finds a free one.
 */
export const streamsMax = 500;
/**
 * The value of the header Retry-After, in seconds, if a stream was refused because too many streams are open.
 * The time is short, because another client can free a stream at any moment.
 */
const retryAfterSeconds = 5;
const lifeMsMax = 3_600_000;
const checkMs = 1_000;

interface Entry extends ServerSentEventStream, EventStreamOwner {
  readonly caller: FastifyRequest;
  /**
   * The credential with which the stream was opened. A single check verifies all streams with the same
   * credential.
   */
  readonly credential: string;
  readonly endsAt: number;
}

export function createServerSentEventStreamManager({
  clock,
  recheck,
}: ServerSentEventStreamsOptions): ServerSentEventStreams {
  const entries = new Set<Entry>();
  let checking: NodeJS.Timeout | undefined;
  let isOver = false;
  // The first stream starts the timer that verifies the callers of all streams. The timer runs outside the
  // request's trace context, so that its work does not appear in the trace of that first request.
  const inDetachedContext = AsyncLocalStorage.snapshot();
  const open = (caller: FastifyRequest, owner: EventStreamOwner): ServerSentEventStream => {
    if (isOver)
      throw createFailure("service_unavailable", { message: "This process is stopping.", retryAfterSeconds });
    requireFreeStream([...entries], owner);
    const over = new AbortController();
    const { socket, headers } = caller.raw;
    const end = (failure?: Failure): void => {
      if (!entries.delete(entry)) return;
      socket.off("close", gone);
      over.abort(failure);
      if (entries.size === 0) clearInterval(checking);
    };
    const gone = (): void => end();
    const credential = JSON.stringify([headers.authorization, headers.cookie]);
    const entry: Entry = {
      signal: over.signal,
      end,
      caller,
      ...owner,
      credential,
      endsAt: clock.now().getTime() + lifeMsMax,
    };
    entries.add(entry);
    if (entries.size === 1)
      checking = inDetachedContext(() => setInterval(() => void check(), checkMs).unref());
    socket.once("close", gone);
    return entry;
  };
  let isChecking = false;
  const check = async (): Promise<void> => {
    if (isChecking) return;
    isChecking = true;
    const now = clock.now().getTime();
    for (const { endsAt, end } of entries) if (endsAt <= now) end();
    await Promise.all(
      [...Map.groupBy(entries, ({ credential }) => credential).values()].map((streams) =>
        checkStreams(streams, recheck),
      ),
    );
    isChecking = false;
  };
  return {
    open,
    close: () => {
      isOver = true;
      for (const { end } of entries) end();
    },
  };
}

function requireFreeStream(entries: readonly Entry[], { callerId, merchantId }: EventStreamOwner): void {
  if (entries.length >= streamsMax)
    throw createFailure("service_unavailable", {
      message: `This process has ${streamsMax} streams open, which is the limit.`,
      retryAfterSeconds,
    });
  const ofMerchant = entries.filter((entry) => entry.merchantId === merchantId).length;
  if (ofMerchant >= streamsMax - entries.length)
    throw createFailure("rate_limited", {
      message:
        `The merchant has ${ofMerchant} streams open at this process, and only ` +
        `${streamsMax - entries.length} are free for all merchants.`,
      retryAfterSeconds,
    });
  if (entries.filter((entry) => entry.callerId === callerId).length < streamsPerCallerMax) return;
  throw createFailure("rate_limited", {
    message:
      `There are ${streamsPerCallerMax} streams open with this credential, which is the limit: ` +
      "close one first.",
    retryAfterSeconds,
  });
}

/**
 * Ends all streams of one credential if the credential is no longer valid. The streams stay open while the
 * database is unavailable.
 */
async function checkStreams(
  streams: readonly Entry[],
  recheck: ServerSentEventStreamsOptions["recheck"],
): Promise<void> {
  const [first] = streams;
  if (first === undefined) return;
  try {
    await recheck(first.caller);
  } catch (error) {
    if (!(error instanceof Failure) || error.status >= 500) return;
    for (const { end } of streams) end(error);
  }
}

/**
 * Sends the results of a subscription by the protocol of graphql-sse. Each result is an event `next`, and the
 * end is an event `complete`. A comment is sent if there was no result for some time.
 */
export interface SubscriptionResultStream extends ServerSentEventStream {
  /**
   * The results of the subscription, one for each event. Calling `return` on the iterator ends a wait for the
   * next event immediately.
   */
  readonly steps: AsyncIterator<unknown>;
  readonly renderStep: (step: unknown) => Promise<SubscriptionResultWithLastFlag>;
  readonly renderEnd: (reason: unknown) => object | undefined;
}

export interface SubscriptionResultWithLastFlag {
  readonly result: object;
  /** True if this is the last result, because the object that the subscription follows no longer exists. */
  readonly isLast: boolean;
}

/** Milliseconds without data after which a comment is sent, because proxies close connections without data. */
const heartbeatMs = 12_000;
/**
 * Milliseconds between the last event of a stream and the closing of its connection, so that the client has
 * time to read the last event.
 */
const closingMs = 2_000;

export function sendSubscriptionResults(
  reply: FastifyReply,
  results: SubscriptionResultStream,
): FastifyReply {
  const body = Readable.from(eventsOf(results), { objectMode: false });
  const { signal, end } = results;
  const leave = (): void => void setTimeout(() => body.destroy(), closingMs).unref();
  // The event `close` of the answer's body ends the stream. It occurs even if the client never began to read
  // the body.
  body.once("close", () => end());
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });
  return reply
    .code(200)
    .headers({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    })
    .send(body);
}

async function* eventsOf({
  steps,
  signal,
  renderStep,
  renderEnd,
}: SubscriptionResultStream): AsyncGenerator<string, void> {
  const stop = (): void => void steps.return?.();
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  try {
    // The first comment makes Fastify send the HTTP headers before the first event of the stream.
    yield comment;
    let pending = steps.next();
    for (let isOver = false; !isOver;) {
      const step = await within(pending, heartbeatMs);
      if (step === undefined) {
        yield comment;
        continue;
      }
      if (step.done === true) break;
      const { result, isLast } = await renderStep(step.value);
      if (signal.aborted) break;
      yield eventOf(result);
      isOver = isLast;
      if (!isOver) pending = steps.next();
    }
    const last = renderEnd(signal.reason);
    yield `${last === undefined ? "" : eventOf(last)}event: complete\ndata:\n\n`;
  } finally {
    stop();
  }
}

const comment = ":\n\n";
const eventOf = (result: object): string => `event: next\ndata: ${JSON.stringify(result)}\n\n`;

/**
 * Waits for a promise for at most `ms` milliseconds. Returns undefined if the promise has not settled in this
 * time.
 */
async function within<Value>(pending: Promise<Value>, ms: number): Promise<Value | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms).unref();
  try {
    return await Promise.race([pending, promise]);
  } finally {
    clearTimeout(timer);
  }
}
