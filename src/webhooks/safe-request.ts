/**
 * Sends the request of one webhook delivery attempt: a POST to a URL that the merchant chose. Returns the
 * HTTP status and the duration, never the content of the answer. At most 16 KiB of the answer are read, and
 * nothing is decompressed. Redirects and proxy settings are ignored.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { Agent, Dispatcher } from "undici";
import { type Clock, systemClock } from "#foundation/clock.ts";
import {
  type DeliveryAttemptErrorCode,
  createSsrfSafeConnector,
  WebhookDeliveryError,
} from "./safe-connector.ts";
import { type HostNameResolver, resolveHostName } from "./safe-addresses.ts";

export interface WebhookHttpRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
  /** True if requests to receivers on this machine are allowed, because the merchant is in test mode. */
  readonly isLoopbackAllowed: boolean;
  /** The signal that aborts the attempt; `send` then rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

export interface DeliverySendResult {
  readonly httpStatus: number | null;
  /** The reason why the attempt failed; null if the HTTP status is 2xx. */
  readonly errorCode: DeliveryAttemptErrorCode | null;
  readonly durationMs: number;
  /**
   * The number of seconds from the header Retry-After of an answer with status 429 or 503; null if there is
   * no valid header.
   */
  readonly retryAfterSeconds: number | null;
}

export interface WebhookSender {
  send(request: WebhookHttpRequest): Promise<DeliverySendResult>;
  /** Closes all connections after the requests in progress have ended. */
  close(): Promise<void>;
}

export interface WebhookSenderOptions {
  /**
   * The setting WEBHOOK_ALLOW_LOOPBACK. If false, no request may reach this machine, even if the request
   * itself allows loopback.
   */
  readonly isLoopbackAllowed: boolean;
  readonly clock?: Clock;
  readonly resolve?: HostNameResolver;
  readonly limits?: Partial<WebhookSendLimits>;
  readonly certificateAuthority?: string;
}

export interface WebhookSendLimits {
  /** The maximum time of an attempt in milliseconds, from the DNS lookup to the last byte that is read. */
  readonly totalMs: number;
  readonly connectMs: number;
  readonly answerBytes: number;
  /**
   * The number of sockets that may stay open for later requests. While at least this number of sockets is
   * open, a connection is closed after its request.
   */
  readonly keptSockets: number;
}

const defaultLimits: WebhookSendLimits = {
  totalMs: 15_000,
  connectMs: 5_000,
  answerBytes: 16_384,
  keptSockets: 512,
};

export function createWebhookSender({
  isLoopbackAllowed,
  clock = systemClock,
  resolve = resolveHostName,
  ...rest
}: WebhookSenderOptions): WebhookSender {
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
  // Requests of merchants in test mode and in live mode use separate agents (connection pools). A live
  // merchant's request therefore never reuses a test merchant's connection to this machine.
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

/**
 * Creates a connection pool (agent) of the HTTP client undici. undici is loaded for the first webhook,
 * because most processes send none.
 */
async function createAgent(options: Parameters<typeof createSsrfSafeConnector>[0]): Promise<Agent> {
  const { Agent: UndiciAgent } = await import("undici");
  return new UndiciAgent({
    connect: createSsrfSafeConnector(options),
    // Idle connections end after a few seconds, and every connection ends after a minute, so that changes of
    // a receiver's DNS records take effect.
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 10_000,
    clientTtl: 60_000,
    // The timeouts of undici are switched off, because `totalMs` limits the duration of the whole attempt.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 16_384,
  });
}

interface Sending {
  readonly agent: Agent;
  readonly limits: WebhookSendLimits;
  readonly clock: Clock;
  readonly isPoolFull: boolean;
}

/**
 * Makes one delivery attempt. Rejects only if the signal of the request is aborted before the receiver has
 * answered. The method `dispatch` of undici needs half of the CPU time of `request`, which creates a stream
 * for the body of each answer.
 */
async function attempt(request: WebhookHttpRequest, sending: Sending): Promise<DeliverySendResult> {
  const { signal: stopped } = request;
  stopped?.throwIfAborted();
  const startedAt = performance.now();
  const { result, handler, cut } = createAnswerHandler(sending);
  const timer = setTimeout(() => cut(new WebhookDeliveryError("timeout")), sending.limits.totalMs);
  const stop = (): void => cut(stopped?.reason);
  stopped?.addEventListener("abort", stop, { once: true });
  try {
    sending.agent.dispatch(toDispatchOptions(request, sending.isPoolFull), handler);
    return await result;
  } catch (error) {
    if (stopped?.aborted === true) throw stopped.reason;
    return {
      httpStatus: null,
      errorCode: error instanceof WebhookDeliveryError ? error.errorCode : "connection",
      durationMs: Math.round(performance.now() - startedAt),
      retryAfterSeconds: null,
    };
  } finally {
    clearTimeout(timer);
    stopped?.removeEventListener("abort", stop);
  }
}

function toDispatchOptions(
  { url, headers, body }: WebhookHttpRequest,
  isPoolFull: boolean,
): Dispatcher.DispatchOptions {
  const { origin, pathname, search } = new URL(url);
  return {
    origin,
    path: `${pathname}${search}`,
    method: "POST",
    headers,
    body: typeof body === "string" ? Buffer.from(body) : body,
    reset: isPoolFull,
  };
}

interface AnswerHandler {
  /**
   * Promise of the attempt's result. It is resolved when the answer has been read, and rejected if there is
   * no answer.
   */
  readonly result: Promise<DeliverySendResult>;
  readonly handler: Dispatcher.DispatchHandler;
  /**
   * Closes the connection and ends the attempt. If the receiver has not answered yet, `result` is rejected
   * with the error.
   */
  readonly cut: (error: unknown) => void;
}

/**
 * Creates the handler of an answer. Reads and discards the body, up to about `answerBytes` bytes, so that the
 * connection can be reused. Ignores errors in the body, because the status alone decides whether the attempt
 * succeeded.
 */
function createAnswerHandler({ limits, clock }: Sending): AnswerHandler {
  const startedAt = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<DeliverySendResult>();
  let request: Dispatcher.DispatchController | undefined;
  let result: DeliverySendResult | undefined;
  let cutError: Error | undefined;
  let bytes = 0;
  const end = (error: unknown): void => (result === undefined ? reject(error) : resolve(result));
  const cut = (error: unknown): void => {
    cutError = new WebhookDeliveryError("connection", error);
    end(error);
    request?.abort(cutError);
  };
  const handler: Dispatcher.DispatchHandler = {
    // undici starts a request as soon as it has a connection. If the attempt has already ended by then, the
    // request is aborted.
    onRequestStart: (started) => {
      request = started;
      if (cutError !== undefined) started.abort(cutError);
    },
    onResponseStart: (_, status, headers) => {
      // An informational status below 200, for example 103 (Early Hints), is ignored, because the final
      // status follows.
      if (status < 200) return;
      const durationMs = Math.round(performance.now() - startedAt);
      result = { ...resultOf(status, headers, clock.now()), durationMs };
    },
    onResponseData: (_, { length }) => {
      bytes += length;
      if (bytes > limits.answerBytes) cut(undefined);
    },
    onResponseEnd: () => end(undefined),
    onResponseError: (_, error) => end(error),
  };
  return { result: promise, handler, cut };
}

function resultOf(
  status: number,
  headers: IncomingHttpHeaders,
  now: Date,
): Omit<DeliverySendResult, "durationMs"> {
  const retryAfter = [headers["retry-after"]].flat()[0];
  const retryAfterSeconds = status === 429 || status === 503 ? parseRetryAfterHeader(retryAfter, now) : null;
  return { httpStatus: status, errorCode: errorCodeOf(status), retryAfterSeconds };
}

function errorCodeOf(status: number): DeliveryAttemptErrorCode | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? "redirect" : "http_status";
}

/**
 * Matches the first form of the header `Retry-After` (RFC 9110): a number of seconds. The second form is a
 * date.
 */
const wholeSeconds = /^\d{1,10}$/;
/**
 * Matches the date format that RFC 9110 requires in HTTP headers. `Date.parse` alone would accept `-5` as a
 * year.
 */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Parses the header Retry-After. Returns the number of seconds from the time `now`; null if the value is
 * neither a number of seconds nor a date.
 */
export function parseRetryAfterHeader(value: string | undefined, now: Date): number | null {
  if (value === undefined) return null;
  if (wholeSeconds.test(value)) return Number(value);
  if (!httpDate.test(value)) return null;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now.getTime()) / 1000));
}
