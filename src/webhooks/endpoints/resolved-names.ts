/**
 * Where the names of new endpoints lead to. Asking takes time and the network, and must not happen inside of a transaction: who opens one asks
 * before, and finds the answer here for a few seconds. A name that nobody asked for passes: the delivery looks where it leads to once more.
 */
import { LRUCache } from "lru-cache";
import type { FailureDetail } from "#foundation/failure.ts";
import { endpointUrlFaults, resolutionFaults } from "#webhooks/endpoint-url.ts";
import { type ResolveName, resolveName } from "#webhooks/resolve-name.ts";

export interface ResolvedNames {
  /** Asks, unless it has done so a moment ago. Never rejects. */
  readonly prepare: (url: string) => Promise<void>;
  /** What is wrong with the addresses of the URL's name. */
  readonly faultsOf: (url: string) => readonly FailureDetail[];
}

const keptMs = 15_000;
const namesMax = 1_000;

export function createResolvedNames(resolve: ResolveName = resolveName): ResolvedNames {
  const found = new LRUCache<string, readonly FailureDetail[]>({ max: namesMax, ttl: keptMs });
  return {
    prepare: async (url) => {
      // What is refused for its form alone is asked nobody. Receivers on this machine need no asking.
      if (endpointUrlFaults(url, { isLoopbackAllowed: true }).length > 0) return;
      const { hostname } = new URL(url);
      if (!found.has(hostname)) found.set(hostname, await resolutionFaults(url, { isLoopbackAllowed: true, resolve }));
    },
    faultsOf: (url) => found.get(new URL(url).hostname) ?? [],
  };
}
