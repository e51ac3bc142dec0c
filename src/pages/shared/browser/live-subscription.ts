/**
 * Receives the results of a GraphQL subscription as server-sent events (graphql-sse, distinct connections).
 * Connects again when the stream ends or breaks. No change is lost in between, because the first event of
 * every connection contains the current state.
 */
import { readServerSentEvents } from "./server-sent-events.ts";

interface LiveError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: string; readonly retryable?: boolean };
}

/** One GraphQL result that a subscription has received. */
export interface LiveGraphqlResult<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly LiveError[];
}

/**
 * The state of a subscription's connection. `connecting`: the request is not answered yet. `live`: the shown
 * data is current. `waiting`: the stream broke and will be requested again. `ended`: the stream is not
 * requested again, because the request was refused, the object no longer exists, or `signal` was aborted.
 */
export type LiveSubscriptionConnectionState = "connecting" | "live" | "waiting" | "ended";

export interface LiveSubscriptionOptions<Data> {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Additional headers of the requests. If the value is a function, it is called for each request. */
  readonly headers?: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>);
  readonly url?: string;
  readonly onNext: (result: LiveGraphqlResult<Data>) => void;
  /**
   * The callback for changes of the connection's state. `status` is given only if a response has ended the
   * stream: its HTTP status, or 401 if the credential is no longer valid.
   */
  readonly onState?: (state: LiveSubscriptionConnectionState, status?: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Milliseconds without a byte after which the connection counts as broken. The service sends at least a
 * comment every 12 seconds.
 */
const silenceMsMax = 40_000;
const pauseMsFirst = 500;
const pauseMsMax = 30_000;

/**
 * Starts to receive the results of a subscription and returns immediately. The caller ends the subscription
 * by aborting `signal`.
 */
export function startLiveSubscription<Data>(live: LiveSubscriptionOptions<Data>): void {
  void follow(live);
}

type Ending =
  | { readonly isOver: true; readonly status?: number }
  | { readonly isOver: false; readonly wasLive: boolean; readonly pauseMsMin?: number };

async function follow<Data>(live: LiveSubscriptionOptions<Data>): Promise<void> {
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

/**
 * Returns the pause before the next connection. Half of the pause is random, so that clients that were
 * disconnected together do not all connect again at the same moment.
 */
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

async function attempt<Data>(live: LiveSubscriptionOptions<Data>): Promise<Ending> {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  live.signal?.addEventListener("abort", stop, { once: true });
  try {
    return await read(live, stopping);
  } catch {
    return { isOver: false, wasLive: false };
  } finally {
    live.signal?.removeEventListener("abort", stop);
    // The request is aborted even after the regular end of the stream, because the rest of the response is
    // not needed.
    stop();
  }
}

async function read<Data>(live: LiveSubscriptionOptions<Data>, stopping: AbortController): Promise<Ending> {
  const response = await sendRequest(live, stopping.signal);
  const type = response.headers.get("content-type") ?? "";
  if (!response.ok || !type.startsWith("text/event-stream") || response.body === null)
    return refused(live, response);
  live.onState?.("live");
  return readStream(live, response.body, stopping);
}

function sendRequest<Data>(
  { url = "/graphql", query, variables = {}, headers = {} }: LiveSubscriptionOptions<Data>,
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

/**
 * Decides whether a refused request for a stream is sent again. The statuses 408, 429 and 5xx are temporary,
 * so the request is sent again. After any other status, the service would refuse it again.
 */
async function refused<Data>(live: LiveSubscriptionOptions<Data>, response: Response): Promise<Ending> {
  const { status } = response;
  if (status >= 500 || status === 408 || status === 429) {
    const seconds = Number(response.headers.get("retry-after") ?? 0);
    return { isOver: false, wasLive: false, pauseMsMin: Number.isFinite(seconds) ? seconds * 1000 : 0 };
  }
  const result = await response.json().catch(() => null);
  if (typeof result === "object" && result !== null) live.onNext(result as LiveGraphqlResult<Data>);
  return { isOver: true, status };
}

async function readStream<Data>(
  live: LiveSubscriptionOptions<Data>,
  body: ReadableStream<Uint8Array>,
  stopping: AbortController,
): Promise<Ending> {
  let last: LiveGraphqlResult<Data> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  const listen = (): void => {
    clearTimeout(silence);
    silence = setTimeout(() => stopping.abort(), silenceMsMax);
  };
  try {
    for await (const { event, data } of readServerSentEvents(body, listen)) {
      if (event === "complete") return endingAfter(last);
      if (event !== "next") continue;
      last = JSON.parse(data) as LiveGraphqlResult<Data>;
      live.onNext(last);
    }
  } catch {
    // An error of the broken connection is ignored, because the subscription connects again. `wasLive` is
    // true if the service sent data before the connection broke.
  } finally {
    clearTimeout(silence);
  }
  return { isOver: false, wasLive: last !== undefined };
}

function endingAfter<Data>(last: LiveGraphqlResult<Data> | undefined): Ending {
  if (last === undefined || !isLast(last)) return { isOver: false, wasLive: last !== undefined };
  return last.errors?.some(isUnauthenticated) === true ? { isOver: true, status: 401 } : { isOver: true };
}

/**
 * Matches the error codes that the service would answer with status 401 in a new request. An open stream
 * already has its status, so the service sends the code as an event.
 */
const unauthenticated = /^(?:credentials_|api_key_|oauth_token_|dpop_)|_suspended$/;
const isUnauthenticated = ({ extensions }: LiveError): boolean =>
  unauthenticated.test(extensions?.code ?? "");

/** True if the result is the last one, because the object no longer exists or the caller may no longer see it. */
function isLast<Data>({ data, errors = [] }: LiveGraphqlResult<Data>): boolean {
  return (
    Object.values(data ?? {}).every((value) => value === null) &&
    errors.every(({ extensions }) => extensions?.retryable !== true)
  );
}
