/** Results as server-sent events, by the protocol of graphql-sse: each as `next`, at the end `complete`, and a comment when nothing was said for a while. */
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { OpenStream } from "./open-streams.ts";

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
    .headers({ "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store", "x-accel-buffering": "no" })
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
