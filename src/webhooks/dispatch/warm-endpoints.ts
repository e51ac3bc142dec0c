/** Which endpoints are worth a look: something was sent to them, or came due for them, a moment ago. Where to look first, and no more than that. */
export interface WarmEndpoints {
  heat(endpointIds: Iterable<string>): void;
  /** Forgets those that nothing happened to for a while. */
  cool(): void;
  forget(endpointIds: Iterable<string>): void;
  all(): readonly string[];
  /** So many of them; whoever was given comes last the next time. */
  take(count: number): readonly string[];
  readonly isEmpty: () => boolean;
}

const warmMs = 2_000;

export function createWarmEndpoints(): WarmEndpoints {
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
