/**
 * The set of recently active endpoints: those for which, in the last two seconds, deliveries were created,
 * were found to be due, or were sent. The dispatcher checks these endpoints first, and all other endpoints
 * less often.
 */
export interface RecentlyActiveEndpoints {
  markActive(endpointIds: Iterable<string>): void;
  /** Removes endpoints without activity in the last two seconds. */
  removeInactive(): void;
  remove(endpointIds: Iterable<string>): void;
  list(): readonly string[];
  /** Returns up to `count` endpoints and moves them to the end of the queue. */
  take(count: number): readonly string[];
  readonly isEmpty: () => boolean;
}

const activeMs = 2_000;

export function createRecentlyActiveEndpointTracker(): RecentlyActiveEndpoints {
  const untilMs = new Map<string, number>();
  return {
    markActive: (endpointIds) => {
      const until = performance.now() + activeMs;
      for (const id of endpointIds) untilMs.set(id, until);
    },
    removeInactive: () => {
      const now = performance.now();
      for (const [id, until] of untilMs) if (until < now) untilMs.delete(id);
    },
    remove: (endpointIds) => {
      for (const id of endpointIds) untilMs.delete(id);
    },
    list: () => [...untilMs.keys()],
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
