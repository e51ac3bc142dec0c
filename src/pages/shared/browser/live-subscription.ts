/**
 * Follows a GraphQL subscription over server-sent events (graphql-sse, distinct connections) and comes back
 * by itself when the stream ends or breaks off: every subscription begins with the present state, so nothing
 * is missed meanwhile.
 */
import { readServerSentEvents } from "./server-sent-events.ts";

interface LiveError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: string; readonly retryable?: boolean };
}

/** What GraphQL answers with, each time. */
export interface LiveResult<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly LiveError[];
}

/**
 * `connecting`: asked, not answered yet. `live`: what is told is the present. `waiting`: the stream is away,
 * and will be asked for again. `ended`: for good, since the request was refused, there is nothing to follow,
 * or `signal` said so.
 */
export type LiveState = "connecting" | "live" | "waiting" | "ended";

export interface LiveSubscription<Data> {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Sent with every request; asked anew each time where it is a function. */
  readonly headers?: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>);
  readonly url?: string;
  readonly onNext: (result: LiveResult<Data>) => void;
  /**
   * `status`: that of the answer which ended it, where one did; 401 also where a stream ended since the
   * credential is good no more.
   */
  readonly onState?: (state: LiveState, status?: number) => void;
  readonly signal?: AbortSignal;
}

/** The service is heard every 12 seconds, if only as a comment. */
const silenceMsMax = 40_000;
const pauseMsFirst = 500;
const pauseMsMax = 30_000;

/** Returns at once; whoever called stops it by the signal. */
export function followSubscription<Data>(live: LiveSubscription<Data>): void {
  void follow(live);
}

type Ending =
  | { readonly isOver: true; readonly status?: number }
  | { readonly isOver: false; readonly wasLive: boolean; readonly pauseMsMin?: number };

async function follow<Data>(live: LiveSubscription<Data>): Promise<void> {
  const { signal, onState } = live;
  let failures = 0;
  while (!isAborted(signal)) {
    onState?.("connecting");
    const ending = await attempt(live);
    if (ending.isOver || isAborted(signal))
      return onState?.("ended", ...("status" in ending ? [ending.status] : []));
    failures = ending.wasLive ? 1 : failures + 1;
    onState?.("waiting");
    await pause(Math.max(pauseMsOf(failures), ending.pauseMsMin ?? 0), signal);
  }
  onState?.("ended");
}

const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;

/** Half of it is chance, so that all who were sent away do not come back in the same moment. */
function pauseMsOf(failures: number): number {
  const most = Math.min(pauseMsFirst * 2 ** (failures - 1), pauseMsMax);
  return most / 2 + (Math.random() * most) / 2;
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => resolve();
  const timer = setTimeout(end, ms);
  signal?.addEventListener("abort", end, { once: true });
  return promise.finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  });
}

async function attempt<Data>(live: LiveSubscription<Data>): Promise<Ending> {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  live.signal?.addEventListener("abort", stop, { once: true });
  try {
    return await read(live, stopping);
  } catch {
    return { isOver: false, wasLive: false };
  } finally {
    live.signal?.removeEventListener("abort", stop);
    // What was not read to its end is not wanted any more.
    stop();
  }
}

async function read<Data>(live: LiveSubscription<Data>, stopping: AbortController): Promise<Ending> {
  const response = await ask(live, stopping.signal);
  const type = response.headers.get("content-type") ?? "";
  if (!response.ok || !type.startsWith("text/event-stream") || response.body === null)
    return refused(live, response);
  live.onState?.("live");
  return tell(live, response.body, stopping);
}

function ask<Data>(
  { url = "/graphql", query, variables = {}, headers = {} }: LiveSubscription<Data>,
  signal: AbortSignal,
): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      ...(typeof headers === "function" ? headers() : headers),
      accept: "text/event-stream",
      "content-type": "application/json",
    },
    body: JSON.stringify({ query, variables }),
    cache: "no-store",
    signal,
  });
}

/** Some statuses pass; what else is refused would be refused again. */
async function refused<Data>(live: LiveSubscription<Data>, response: Response): Promise<Ending> {
  const { status } = response;
  if (status >= 500 || status === 408 || status === 429) {
    const seconds = Number(response.headers.get("retry-after") ?? 0);
    return { isOver: false, wasLive: false, pauseMsMin: Number.isFinite(seconds) ? seconds * 1000 : 0 };
  }
  const result = await response.json().catch(() => null);
  if (typeof result === "object" && result !== null) live.onNext(result as LiveResult<Data>);
  return { isOver: true, status };
}

async function tell<Data>(
  live: LiveSubscription<Data>,
  body: ReadableStream<Uint8Array>,
  stopping: AbortController,
): Promise<Ending> {
  let last: LiveResult<Data> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  const listen = (): void => {
    clearTimeout(silence);
    silence = setTimeout(() => stopping.abort(), silenceMsMax);
  };
  try {
    for await (const { event, data } of readServerSentEvents(body, listen)) {
      if (event === "complete") return endingAfter(last);
      if (event !== "next") continue;
      last = JSON.parse(data) as LiveResult<Data>;
      live.onNext(last);
    }
  } catch {
    // Broken off: what was told before was the present then.
  } finally {
    clearTimeout(silence);
  }
  return { isOver: false, wasLive: last !== undefined };
}

function endingAfter<Data>(last: LiveResult<Data> | undefined): Ending {
  if (last === undefined || !isLast(last)) return { isOver: false, wasLive: last !== undefined };
  return last.errors?.some(isUnauthenticated) === true ? { isOver: true, status: 401 } : { isOver: true };
}

/** What a request is refused with by status 401; in a stream that is open there is no status any more. */
const unauthenticated = /^(?:credentials_|api_key_|oauth_token_|dpop_)|_suspended$/;
const isUnauthenticated = ({ extensions }: LiveError): boolean =>
  unauthenticated.test(extensions?.code ?? "");

/** Nothing is there to follow, or the right to see it is gone. */
function isLast<Data>({ data, errors = [] }: LiveResult<Data>): boolean {
  return (
    Object.values(data ?? {}).every((value) => value === null) &&
    errors.every(({ extensions }) => extensions?.retryable !== true)
  );
}
