/** Lets few work at a time. Others wait in line, in order; whoever finds the line full or waits too long is told to try again. */
import { type Failure, fail } from "#foundation/failure.ts";

export interface GateLimits {
  readonly runningMax: number;
  readonly waitingMax: number;
  readonly waitMs: number;
  /** What those are told who cannot wait. */
  readonly refusal: string;
}

export type Gate = <Result>(work: () => Promise<Result>) => Promise<Result>;

const retryAfterSeconds = 5;

export function createGate({ runningMax, waitingMax, waitMs, refusal }: GateLimits): Gate {
  const waiting = new Set<() => void>();
  let running = 0;
  const refuse = (): Failure => fail("service_unavailable", { message: refusal, retryAfterSeconds });

  const enter = async (): Promise<void> => {
    if (running < runningMax) {
      running += 1;
      return;
    }
    if (waiting.size >= waitingMax) throw refuse();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.add(resolve);
    const timer = setTimeout(() => {
      waiting.delete(resolve);
      reject(refuse());
    }, waitMs);
    await promise.finally(() => clearTimeout(timer));
  };

  /** The place goes to whoever has waited longest: nobody who comes meanwhile can take it. */
  const leave = (): void => {
    const [next] = waiting;
    if (next === undefined) {
      running -= 1;
      return;
    }
    waiting.delete(next);
    next();
  };

  return async (work) => {
    await enter();
    try {
      return await work();
    } finally {
      leave();
    }
  };
}
