/**
 * One attempt of a webhook: a POST to a URL that a stranger chose. Answers with what happened and never with
 * what the receiver wrote: of that at most 16 KiB are read, nothing is decompressed, no redirect is followed
 * and no proxy setting applies.
 */
import type { Socket } from "node:net";
import type { Agent, Dispatcher } from "undici";
import { type Clock, systemClock } from "#foundation/clock.ts";
import { type AttemptErrorCode, createSafeConnector, DeliveryFault } from "./safe-connector.ts";
import { type ResolveName, resolveName } from "./safe-addresses.ts";

export interface SafeRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
  /** The merchant is in test mode. */
  readonly isLoopbackAllowed: boolean;
  /** Ends the attempt without a result: `send` rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface AttemptResult {
  readonly httpStatus: number | null;
  /** Null: a status of 2xx. */
  readonly errorCode: AttemptErrorCode | null;
  readonly durationMs: number;
  /** What a 429 or 503 asked for. */
  readonly retryAfterSeconds: number | null;
}

export interface SafeSender {
  send(request: SafeRequest): Promise<AttemptResult>;
  /** Waits for what is under way. */
  close(): Promise<void>;
}

export interface SafeSenderOptions {
  /** WEBHOOK_ALLOW_LOOPBACK: without it no request reaches this machine, whatever it says itself. */
  readonly isLoopbackAllowed: boolean;
  readonly clock?: Clock;
  readonly resolve?: ResolveName;
  readonly limits?: Partial<SendLimits>;
  readonly certificateAuthority?: string;
}

export interface SendLimits {
  /** From the first look-up to the last byte that is read. */
  readonly totalMs: number;
  readonly connectMs: number;
  readonly answerBytes: number;
  /** With so many sockets open, further ones are closed after their answer. */
  readonly keptSockets: number;
}

const defaultLimits: SendLimits = {
  totalMs: 15_000,
  connectMs: 5_000,
  answerBytes: 16_384,
  keptSockets: 256,
};

export function createSafeSender({
  isLoopbackAllowed,
  clock = systemClock,
  resolve = resolveName,
  ...rest
}: SafeSenderOptions): SafeSender {
  const limits = { ...defaultLimits, ...rest.limits };
  const sockets = new Set<Socket>();
  const onOpen = (socket: Socket): void => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  };
  const agentFor = (isOpen: boolean): Promise<Agent> =>
    createAgent({
      isLoopbackAllowed: isOpen,
      resolve,
      connectTimeoutMs: limits.connectMs,
      certificateAuthority: rest.certificateAuthority,
      onOpen,
    });
  // Two, or a live merchant's request would find a test merchant's connection to this machine already open.
  let [publicAgent, loopbackAgent]: (Promise<Agent> | undefined)[] = [];
  return {
    send: async (request) => {
      const agent = await (isLoopbackAllowed && request.isLoopbackAllowed
        ? (loopbackAgent ??= agentFor(true))
        : (publicAgent ??= agentFor(false)));
      return attempt(request, { agent, limits, clock, isPoolFull: sockets.size >= limits.keptSockets });
    },
    close: async () => {
      await Promise.all([publicAgent, loopbackAgent].map(async (agent) => (await agent)?.close()));
    },
  };
}

/** The library is loaded for the first webhook: most processes that serve send none. */
async function createAgent(options: Parameters<typeof createSafeConnector>[0]): Promise<Agent> {
  const { Agent: UndiciAgent } = await import("undici");
  return new UndiciAgent({
    connect: createSafeConnector(options),
    // An idle connection ends after seconds and any connection is followed by a new one, so that a receiver
    // that moves is found again.
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 10_000,
    clientTtl: 60_000,
    // One limit for the whole attempt stands in their place.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 16_384,
  });
}

interface Sending {
  readonly agent: Agent;
  readonly limits: SendLimits;
  readonly clock: Clock;
  readonly isPoolFull: boolean;
}

async function attempt(request: SafeRequest, sending: Sending): Promise<AttemptResult> {
  const { signal: stopped } = request;
  stopped?.throwIfAborted();
  const startedAt = performance.now();
  const cut = new AbortController();
  const timer = setTimeout(() => cut.abort(new DeliveryFault("timeout")), sending.limits.totalMs);
  const stop = (): void => cut.abort(stopped?.reason);
  stopped?.addEventListener("abort", stop, { once: true });
  const durationMs = (): number => Math.round(performance.now() - startedAt);
  try {
    const answer = await ask(request, { ...sending, signal: cut.signal });
    const result = { ...resultOf(answer, sending.clock.now()), durationMs: durationMs() };
    await discard(answer.body, sending.limits.answerBytes);
    return result;
  } catch (error) {
    if (stopped?.aborted === true) throw stopped.reason;
    return {
      httpStatus: null,
      errorCode: error instanceof DeliveryFault ? error.errorCode : "connection",
      durationMs: durationMs(),
      retryAfterSeconds: null,
    };
  } finally {
    clearTimeout(timer);
    stopped?.removeEventListener("abort", stop);
  }
}

/** undici hears of the signal only when it has a connection; the limit counts before that too. */
async function ask(
  { url, headers, body }: SafeRequest,
  { agent, limits, isPoolFull, signal }: Sending & { readonly signal: AbortSignal },
): Promise<Dispatcher.ResponseData> {
  const { origin, pathname, search } = new URL(url);
  const answer = agent.request({
    origin,
    path: `${pathname}${search}`,
    method: "POST",
    headers,
    body: typeof body === "string" ? Buffer.from(body) : body,
    signal,
    reset: isPoolFull,
    highWaterMark: limits.answerBytes,
  });
  const { promise: isCut, reject } = Promise.withResolvers<never>();
  const give = (): void => reject(signal.reason);
  signal.addEventListener("abort", give, { once: true });
  try {
    return await Promise.race([answer, isCut]);
  } finally {
    signal.removeEventListener("abort", give);
    // Whichever of the two came second has nobody left to tell.
    answer.catch(() => {});
  }
}

function resultOf(
  { statusCode, headers }: Dispatcher.ResponseData,
  now: Date,
): Omit<AttemptResult, "durationMs"> {
  const asked = [headers["retry-after"]].flat()[0];
  const retryAfterSeconds = statusCode === 429 || statusCode === 503 ? parseRetryAfter(asked, now) : null;
  return { httpStatus: statusCode, errorCode: errorCodeOf(statusCode), retryAfterSeconds };
}

function errorCodeOf(status: number): AttemptErrorCode | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? "redirect" : "http_status";
}

/**
 * Read so that the connection can be used again, and only so far. The status has decided already: an answer
 * that breaks off changes nothing.
 */
async function discard(body: Dispatcher.ResponseData["body"], bytesMax: number): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += (chunk as Uint8Array).length;
      if (bytes > bytesMax) break;
    }
  } catch {
    body.on("error", () => {});
  }
}

/** The header `Retry-After` of RFC 9110: seconds or a date. */
const wholeSeconds = /^\d{1,10}$/;
/** The one form of a date that HTTP has sent since 1999; `Date.parse` alone would take `-5` for a year. */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** In seconds from now; null where it says neither. */
export function parseRetryAfter(value: string | undefined, now: Date): number | null {
  if (value === undefined) return null;
  if (wholeSeconds.test(value)) return Number(value);
  if (!httpDate.test(value)) return null;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now.getTime()) / 1000));
}
