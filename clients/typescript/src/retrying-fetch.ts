/**
 * Repeats failed requests that may succeed later, with the same bytes and the same Idempotency-Key, so that
 * no change is made twice. An attempt succeeds only if the whole answer was read, because the connection can
 * break in the middle of an answer.
 */
import {
  type Answer,
  isTemporaryStatus,
  createNoAnswerError,
  readRefusal,
  readRetryAfter,
} from "./commerce-api-error.ts";

export interface RetryOptions {
  /** Maximum number of attempts; 5 by default, 1 for no retries. */
  readonly attemptsMax?: number;
  /**
   * Milliseconds before the second attempt, doubled for each further attempt; 1 000 by default. If the
   * service names a waiting time, that time is used instead.
   */
  readonly waitMsBase?: number;
  /**
   * Maximum milliseconds to wait; 60 000 by default. If the service names a longer time, the error is thrown
   * at once.
   */
  readonly waitMsMax?: number;
  /** Timeout of each attempt in milliseconds; 30 000 by default. */
  readonly timeoutMs?: number;
  /**
   * Maximum milliseconds of a call with all its attempts and waits; unlimited by default. At the deadline,
   * the running attempt ends. An attempt that would start after the deadline is not made. In a list, the
   * deadline applies to each page.
   */
  readonly deadlineMs?: number;
  /**
   * Waits between two attempts. Schedulers and tests can replace this function. It must stop when the signal
   * is aborted.
   */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Sends a request, like `fetch`. `init.signal` takes precedence over the request's signal. */
export type Send = (request: Request, init: { readonly signal: AbortSignal }) => Promise<Response>;

export function retryingFetch(
  send: Send,
  options: RetryOptions = {},
): (request: Request) => Promise<Response> {
  const { attemptsMax = 5, timeoutMs = 30_000, deadlineMs = Infinity, wait = waitFor } = options;
  return async (request) => {
    const deadline = performance.now() + deadlineMs;
    for (let attempt = 1; ; attempt += 1) {
      const leftMs = Math.max(deadline - performance.now(), 0);
      const outcome = await attemptOnce(send, { request, timeoutMs: Math.min(timeoutMs, leftMs) });
      const waitMs = attempt < attemptsMax ? waitBefore(outcome, attempt, options) : undefined;
      if (waitMs !== undefined && performance.now() + waitMs < deadline) await wait(waitMs, request.signal);
      else if ("cause" in outcome) throw createNoAnswerError(request, outcome.cause);
      // A response with status 204 or 304 must not be constructed with a body, not even an empty one.
      else return new Response(outcome.text === "" ? null : outcome.text, outcome);
    }
  };
}

type Outcome = Answer | { readonly cause: unknown };

async function attemptOnce(
  send: Send,
  { request, timeoutMs }: { readonly request: Request; readonly timeoutMs: number },
): Promise<Outcome> {
  // The timer and the caller's signal keep this controller alive. A Request refers to its signal weakly, as does
  // `AbortSignal.any`. A signal without other references would be garbage collected, and could no longer end the
  // request.
  const attempt = new AbortController();
  const abort = (): void => attempt.abort(request.signal.reason);
  const timer = setTimeout(
    () => attempt.abort(new DOMException("The answer did not arrive in time.", "TimeoutError")),
    timeoutMs,
  );
  request.signal.addEventListener("abort", abort, { once: true });
  if (request.signal.aborted) abort();
  try {
    const response = await send(request.clone(), { signal: attempt.signal });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (cause) {
    // A request that the caller aborted is not repeated.
    request.signal.throwIfAborted();
    return { cause };
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener("abort", abort);
  }
}

/**
 * Returns the milliseconds before the next attempt; undefined if the request must not be repeated. A refusal
 * because of a state, for example of a locked cart, is not repeated, because the state can last long.
 */
function waitBefore(
  outcome: Outcome,
  attempt: number,
  { waitMsBase = 1000, waitMsMax = 60_000 }: RetryOptions,
): number | undefined {
  const namedSeconds = "cause" in outcome ? null : retrySeconds(outcome);
  if (namedSeconds === undefined) return undefined;
  const waitMs =
    namedSeconds === null ? Math.min(waitMsBase * 2 ** (attempt - 1), waitMsMax) : namedSeconds * 1000;
  // The wait is randomized, so that clients that were refused at the same time do not all retry at the same
  // time.
  return waitMs > waitMsMax ? undefined : waitMs * (1 + Math.random() / 4);
}

/**
 * Returns the seconds to wait that the answer names. Returns null if the client chooses the time, and
 * undefined if the request must not be repeated.
 */
function retrySeconds({ status, headers, text }: Answer): number | null | undefined {
  if (status < 400) return undefined;
  const refusal = readRefusal(text);
  // Without an error body of the service, the answer comes from a proxy.
  if (refusal === undefined) return isTemporaryStatus(status) ? readRetryAfter(headers) : undefined;
  if (!refusal.retryable) return undefined;
  return refusal.retryAfterSeconds ?? (status >= 500 ? null : undefined);
}

function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done, failed) => {
    const abort = (): void => {
      clearTimeout(timer);
      failed(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", abort);
      done();
    }, ms);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
  });
}
