/**
 * The endpoints to which something was sent, or became due, in the last two seconds. Only decides which
 * endpoints are checked first.
 */
export interface RecentlyActiveEndpoints {
  heat(endpointIds: Iterable<string>): void;
  /** Forgets endpoints without activity in the last two seconds. */
  cool(): void;
  forget(endpointIds: Iterable<string>): void;
  all(): readonly string[];
  /** Returns up to `count` endpoints and moves them to the end of the queue. */
  take(count: number): readonly string[];
  readonly isEmpty: () => boolean;
}

const warmMs = 2_000;

export function createRecentlyActiveEndpoints(): RecentlyActiveEndpoints {
  const untilMs = new Map<string, number>();
  return {
    heat: (endpointIds) => {
      const until = performance.now() + warmMs;
      for (const id of endpointIds) untilMs.set(id, until);
    },
    cool: () => {
      const now = performance.now();
      for (const [id, until] of untilMs) if (until < now) untilMs.delete(id);
    },
    forget: (endpointIds) => {
      for (const id of endpointIds) untilMs.delete(id);
    },
    all: () => [...untilMs.keys()],
    take: (count) => {
      const taken = [...untilMs].slice(0, count);
      for (const [id, until] of taken) {
        untilMs.delete(id);
        untilMs.set(id, until);
      }
      return taken.map(([id]) => id);
    },
    isEmpty: () => untilMs.size === 0,
  };
}
