/** Reads what a subscription is answered with: server-sent events, each with one GraphQL result, until `complete`. */
import { readEvents } from "#pages/shared/browser/live-events.ts";

/**
 * `stop` ends the request. A generator's own `return` would wait until the pending read is answered, which a quiet subscription never does: Stop would
 * leave it open.
 */
export function eventsOf({ body }: Response, stop: () => void): AsyncIterableIterator<unknown> {
  const results = resultsIn(body);
  const over = { done: true, value: undefined } as const;
  let isStopped = false;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      try {
        return isStopped ? over : await results.next();
      } catch (error) {
        // The read that was broken off by stopping is no fault.
        if (isStopped) return over;
        throw error;
      }
    },
    return() {
      isStopped = true;
      stop();
      return Promise.resolve(over);
    },
  };
}

async function* resultsIn(body: Response["body"]): AsyncGenerator<unknown, void> {
  if (body === null) return;
  for await (const { event, data } of readEvents(body, () => undefined)) {
    if (event === "complete") return;
    if (data !== "") yield JSON.parse(data) as unknown;
  }
}
