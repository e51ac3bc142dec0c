/**
 * Server-sent events: writes the results of a subscription to its connection, and keeps the list of open
 * streams. The number of streams per caller and per process is limited, and a stream ends after an hour. Once
 * a second, the credential of every caller is verified again.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#foundation/clock.ts";
import { fail, Failure } from "#foundation/failure.ts";

export interface EventStream {
  /** Aborted when the stream ends. Its reason is the failure to send to the client, if there is one. */
  readonly signal: AbortSignal;
  readonly end: (failure?: Failure) => void;
}

export interface EventStreams {
  /** Opens a stream; throws if a limit is reached. */
  readonly open: (caller: FastifyRequest, callerId: string) => EventStream;
  readonly close: () => void;
}

export interface EventStreamsOptions {
  readonly clock: Clock;
  /** Verifies the caller again; throws if the credential is no longer valid. */
  readonly recheck: (caller: FastifyRequest) => Promise<unknown>;
}

export const streamsPerCallerMax = 20;
export const streamsMax = 500;
/**
 * Seconds after which a refused client should retry. A stream can become free at any time, when a client
 * disconnects.
 */
const retryAfterSeconds = 5;
const lifeMsMax = 3_600_000;
const checkMs = 1_000;

interface Entry extends EventStream {
  readonly caller: FastifyRequest;
  readonly callerId: string;
  /** The credential that the caller sent; streams with the same credential are verified once. */
  readonly credential: string;
  readonly endsAt: number;
}

export function createEventStreams({ clock, recheck }: EventStreamsOptions): EventStreams {
  const entries = new Set<Entry>();
  let checking: NodeJS.Timeout | undefined;
  let isOver = false;
  // The timer verifies all streams, so it must not belong to the trace of the first stream's request.
  const inDetachedContext = AsyncLocalStorage.snapshot();
  const open = (caller: FastifyRequest, callerId: string): EventStream => {
    requireFreeStream([...entries], callerId, isOver);
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
      callerId,
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

function requireFreeStream(entries: readonly Entry[], callerId: string, isOver: boolean): void {
  if (isOver) throw fail("service_unavailable", { message: "This process is stopping.", retryAfterSeconds });
  if (entries.length >= streamsMax)
    throw fail("service_unavailable", {
      message: `This process has ${streamsMax} streams open, which is the limit.`,
      retryAfterSeconds,
    });
  if (entries.filter((entry) => entry.callerId === callerId).length < streamsPerCallerMax) return;
  throw fail("rate_limited", {
    message:
      `There are ${streamsPerCallerMax} streams open with this credential, which is the limit: ` +
      "close one first.",
    retryAfterSeconds,
  });
}

/** Ends the streams of one credential if it is no longer valid. An unavailable database does not end them. */
async function checkStreams(
  streams: readonly Entry[],
  recheck: EventStreamsOptions["recheck"],
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
 * The results of a subscription, to be sent by the protocol of graphql-sse: each result as `next`, the end as
 * `complete`, and a comment after a time without results.
 */
export interface SubscriptionResults extends EventStream {
  /** Waits for the next event of the subscription; `return` ends the wait at once. */
  readonly steps: AsyncIterator<unknown>;
  readonly renderStep: (step: unknown) => Promise<SubscriptionStepResult>;
  readonly renderEnd: (reason: unknown) => object | undefined;
}

export interface SubscriptionStepResult {
  readonly result: object;
  /** True if the subject of the subscription no longer exists. */
  readonly isLast: boolean;
}

/**
 * Maximum time in ms without data on a connection; then a comment is sent, because proxies close silent
 * connections.
 */
const heartbeatMs = 12_000;
/** Time in which a client can read the end of its stream; then the connection is closed. */
const closingMs = 2_000;

export function sendEvents(reply: FastifyReply, results: SubscriptionResults): FastifyReply {
  const body = Readable.from(eventsOf(results), { objectMode: false });
  const { signal, end } = results;
  const leave = (): void => void setTimeout(() => body.destroy(), closingMs).unref();
  // `close` is emitted even if the client never began to read.
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
}: SubscriptionResults): AsyncGenerator<string, void> {
  const stop = (): void => void steps.return?.();
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  try {
    // Sends the headers.
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

/** Returns undefined if the promise has not settled within the time. */
async function within<Value>(pending: Promise<Value>, ms: number): Promise<Value | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms).unref();
  try {
    return await Promise.race([pending, promise]);
  } finally {
    clearTimeout(timer);
  }
}
