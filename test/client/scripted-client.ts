/** A client that gets scripted answers instead of a service's, without real pauses between its attempts. */
import { type CommerceClient, createCommerceClient, type RetryOptions } from "#client/index.ts";

type Reply = Response | Error | Promise<never>;

export interface Asked {
  readonly client: CommerceClient;
  readonly requests: readonly Request[];
  readonly waits: readonly number[];
}

/** Creates a client that gets these answers in order, and the last one from then on. */
export function clientOf(replies: readonly (() => Reply)[], retries: RetryOptions = {}): Asked {
  const requests: Request[] = [];
  const waits: number[] = [];
  const client = createCommerceClient({
    baseUrl: "https://shop.test",
    apiKey: "cpk_test",
    fetch: async (request, { signal }) => {
      requests.push(request);
      const reply = replies[Math.min(requests.length, replies.length) - 1]?.();
      if (reply instanceof Response) return reply;
      if (reply instanceof Promise)
        return new Promise((_, failed) =>
          signal.addEventListener("abort", () => failed(signal.reason as Error), { once: true }),
        );
      throw reply ?? new Error("No reply.");
    },
    retries: { wait: (ms) => Promise.resolve(void waits.push(ms)), ...retries },
  });
  return { client, requests, waits };
}

export const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): (() => Response) =>
  () =>
    new Response(typeof body === "string" ? body : JSON.stringify(body), { status, headers });
export const refusal = (
  status: number,
  code: string,
  seconds: number | null,
  retryable = true,
): (() => Response) =>
  answer(status, {
    error: {
      code,
      message: "No.",
      requestId: "req_1",
      retryable,
      retryAfterSeconds: seconds,
      details: [],
      conflict: null,
      docUrl: "https://shop.test",
    },
  });
export const done = answer(200, { data: { cartVersion: 8 } });
export const gone = (): Error => new TypeError("fetch failed");
