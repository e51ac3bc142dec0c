/**
 * The streams that a process has open: so many of one caller, so many in all, each for an hour at most. Whoever follows something shows the same
 * credential once a second, and is let in no longer than it is good.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { FastifyRequest } from "fastify";
import type { Clock } from "#foundation/clock.ts";
import { Failure, fail } from "#foundation/failure.ts";

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
    const entry: Entry = { signal: over.signal, end, caller, callerId, shown, endsAt: clock.now().getTime() + lifeMsMax };
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
    await Promise.all([...Map.groupBy(entries, ({ shown }) => shown).values()].map((alike) => checkAlike(alike, recheck)));
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
  if (isOver) throw fail("service_unavailable", { message: "This process is about to stop.", retryAfterSeconds });
  if (entries.length >= streamsMax)
    throw fail("service_unavailable", { message: `This process has ${streamsMax} streams open, which is the limit.`, retryAfterSeconds });
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
