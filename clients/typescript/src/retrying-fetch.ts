/**
 * Sends a request again where that may help: the same bytes under the same Idempotency-Key, so that nothing
 * is done twice. The whole answer is read before it counts, since a connection can also be cut in its
 * middle.
 */
import { type Answer, isPassing, noAnswer, readRefusal, retryAfterOf } from "./commerce-error.ts";

export interface RetryOptions {
  /** 5 unless told; 1: nothing is sent again. */
  readonly attemptsMax?: number;
  /**
   * Before the second attempt, doubled for each that follows; where the service says how long, that counts
   * instead. 1 000 unless told.
   */
  readonly waitMsBase?: number;
  /** Who is told to wait longer is refused at once. 60 000 unless told. */
  readonly waitMsMax?: number;
  /** For each attempt. 30 000 unless told. */
  readonly timeoutMs?: number;
  /** How it waits, for schedulers and tests. It is over early when the signal is. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** As `fetch`: the signal goes before the request's own. */
export type Send = (request: Request, init: { readonly signal: AbortSignal }) => Promise<Response>;

export function retryingFetch(
  send: Send,
  options: RetryOptions = {},
): (request: Request) => Promise<Response> {
  const { attemptsMax = 5, timeoutMs = 30_000, wait = waitFor } = options;
  return async (request) => {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await attemptOnce(send, { request, timeoutMs });
      const waitMs = attempt < attemptsMax ? waitBefore(outcome, attempt, options) : undefined;
      if (waitMs !== undefined) await wait(waitMs, request.signal);
      else if ("cause" in outcome) throw noAnswer(outcome.cause, request.headers.get("idempotency-key"));
      // A status that has no body (204, 304) may not even be given an empty one.
      else return new Response(outcome.text === "" ? null : outcome.text, outcome);
    }
  };
}

type Outcome = Answer | { readonly cause: unknown };

async function attemptOnce(
  send: Send,
  { request, timeoutMs }: { readonly request: Request; readonly timeoutMs: number },
): Promise<Outcome> {
  // One that the timer and the caller's signal hold: a Request follows its signal weakly, as
  // `AbortSignal.any` does, and what nobody else holds is collected as garbage, after which nothing ends the
  // request.
  const attempt = new AbortController();
  const stop = (): void => attempt.abort(request.signal.reason);
  const timer = setTimeout(
    () => attempt.abort(new DOMException("The answer took too long.", "TimeoutError")),
    timeoutMs,
  );
  request.signal.addEventListener("abort", stop, { once: true });
  if (request.signal.aborted) stop();
  try {
    const response = await send(request.clone(), { signal: attempt.signal });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (cause) {
    // Whoever gave up is not asked again.
    request.signal.throwIfAborted();
    return { cause };
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener("abort", stop);
  }
}

/**
 * In milliseconds; undefined: it is not sent again. What is refused for as long as something stands (a locked
 * cart) is the caller's to wait for.
 */
function waitBefore(
  outcome: Outcome,
  attempt: number,
  { waitMsBase = 1000, waitMsMax = 60_000 }: RetryOptions,
): number | undefined {
  const told = "cause" in outcome ? null : secondsTold(outcome);
  if (told === undefined) return undefined;
  const waitMs = told === null ? Math.min(waitMsBase * 2 ** (attempt - 1), waitMsMax) : told * 1000;
  // Some chance in it, so that those who were refused together do not come back together.
  return waitMs > waitMsMax ? undefined : waitMs * (1 + Math.random() / 4);
}

/** Null: after a time of one's own; undefined: not at all. */
function secondsTold({ status, headers, text }: Answer): number | null | undefined {
  if (status < 400) return undefined;
  const refusal = readRefusal(text);
  // A proxy's own has no body of ours.
  if (refusal === undefined) return isPassing(status) ? retryAfterOf(headers) : undefined;
  if (!refusal.retryable) return undefined;
  return refusal.retryAfterSeconds ?? (status >= 500 ? null : undefined);
}

function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done, failed) => {
    const stop = (): void => {
      clearTimeout(timer);
      failed(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      done();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
  });
}
