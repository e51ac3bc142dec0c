/**
 * Server-sent events: writes the results of a subscription to its connection, and keeps the list of open
 * streams. A caller may have so many, the process so many in all, each for an hour at most; once a second
 * every caller's credential is checked again.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#foundation/clock.ts";
import { fail, Failure } from "#foundation/failure.ts";

export interface OpenStream {
  /** Aborted when it is over; with a failure as its reason where there is one to tell. */
  readonly signal: AbortSignal;
  readonly end: (failure?: Failure) => void;
}

export interface OpenStreams {
  /** Throws where there are as many as there may be. */
  readonly open: (caller: FastifyRequest, callerId: string) => OpenStream;
  readonly close: () => void;
}

export interface StreamParts {
  readonly clock: Clock;
  /** Throws where the credential is not good any more. */
  readonly recheck: (caller: FastifyRequest) => Promise<unknown>;
}

export const streamsOfCallerMax = 20;
export const streamsMax = 500;
/** Streams end whenever somebody leaves. */
const retryAfterSeconds = 5;
const lifeMsMax = 3_600_000;
const checkMs = 1_000;

interface Entry extends OpenStream {
  readonly caller: FastifyRequest;
  readonly callerId: string;
  /** What was shown: streams of one credential are looked at together. */
  readonly shown: string;
  readonly endsAt: number;
}

export function createOpenStreams({ clock, recheck }: StreamParts): OpenStreams {
  const entries = new Set<Entry>();
  let checking: NodeJS.Timeout | undefined;
  let isOver = false;
  // One look is for all of them: it is no part of the trace of whoever came first.
  const inNobodysName = AsyncLocalStorage.snapshot();
  const open = (caller: FastifyRequest, callerId: string): OpenStream => {
    requireRoom([...entries], callerId, isOver);
    const over = new AbortController();
    const { socket, headers } = caller.raw;
    const end = (failure?: Failure): void => {
      if (!entries.delete(entry)) return;
      socket.off("close", gone);
      over.abort(failure);
      if (entries.size === 0) clearInterval(checking);
    };
    const gone = (): void => end();
    const shown = JSON.stringify([headers.authorization, headers.cookie]);
    const entry: Entry = {
      signal: over.signal,
      end,
      caller,
      callerId,
      shown,
      endsAt: clock.now().getTime() + lifeMsMax,
    };
    entries.add(entry);
    if (entries.size === 1) checking = inNobodysName(() => setInterval(() => void check(), checkMs).unref());
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
      [...Map.groupBy(entries, ({ shown }) => shown).values()].map((alike) => checkAlike(alike, recheck)),
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

function requireRoom(entries: readonly Entry[], callerId: string, isOver: boolean): void {
  if (isOver)
    throw fail("service_unavailable", { message: "This process is about to stop.", retryAfterSeconds });
  if (entries.length >= streamsMax)
    throw fail("service_unavailable", {
      message: `This process has ${streamsMax} streams open, which is the limit.`,
      retryAfterSeconds,
    });
  if (entries.filter((entry) => entry.callerId === callerId).length < streamsOfCallerMax) return;
  throw fail("rate_limited", {
    message: `There are ${streamsOfCallerMax} streams open with this credential, which is the limit: close one first.`,
    retryAfterSeconds,
  });
}

/** A database that is away has not taken anybody's rights. */
async function checkAlike(alike: readonly Entry[], recheck: StreamParts["recheck"]): Promise<void> {
  const [first] = alike;
  if (first === undefined) return;
  try {
    await recheck(first.caller);
  } catch (error) {
    if (!(error instanceof Failure) || error.status >= 500) return;
    for (const { end } of alike) end(error);
  }
}

/**
 * Results as server-sent events, by the protocol of graphql-sse: each as `next`, at the end `complete`, and a
 * comment when nothing was said for a while.
 */
export interface Results extends OpenStream {
  /** Waits for the next thing that is to be told; `return` ends it at once. */
  readonly steps: AsyncIterator<unknown>;
  readonly tell: (step: unknown) => Promise<Told>;
  readonly tellEnd: (reason: unknown) => object | undefined;
}

export interface Told {
  readonly result: object;
  /** Nothing is there to follow any more. */
  readonly isLast: boolean;
}

/** Proxies cut a connection on which nothing is heard for longer. */
const heartbeatMs = 12_000;
/** Whoever does not read to the end of what is over is left. */
const lastWordsMs = 2_000;

export function sendEvents(reply: FastifyReply, results: Results): FastifyReply {
  const body = Readable.from(eventsOf(results), { objectMode: false });
  const { signal, end } = results;
  const leave = (): void => void setTimeout(() => body.destroy(), lastWordsMs).unref();
  // Also where it was never begun to be read.
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

async function* eventsOf({ steps, signal, tell, tellEnd }: Results): AsyncGenerator<string, void> {
  const stop = (): void => void steps.return?.();
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  try {
    // Lets the headers go.
    yield comment;
    let coming = steps.next();
    for (let isOver = false; !isOver;) {
      const step = await within(coming, heartbeatMs);
      if (step === undefined) {
        yield comment;
        continue;
      }
      if (step.done === true) break;
      const { result, isLast } = await tell(step.value);
      if (signal.aborted) break;
      yield eventOf(result);
      isOver = isLast;
      if (!isOver) coming = steps.next();
    }
    const last = tellEnd(signal.reason);
    yield `${last === undefined ? "" : eventOf(last)}event: complete\ndata:\n\n`;
  } finally {
    stop();
  }
}

const comment = ":\n\n";
const eventOf = (result: object): string => `event: next\ndata: ${JSON.stringify(result)}\n\n`;

/** Undefined: not yet. */
async function within<Value>(coming: Promise<Value>, ms: number): Promise<Value | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms).unref();
  try {
    return await Promise.race([coming, promise]);
  } finally {
    clearTimeout(timer);
  }
}
