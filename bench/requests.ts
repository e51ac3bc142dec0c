/** The requests of a scenario as a server is sent them, one after another. */
import { withFreshKey } from "./idempotency-keys.ts";
import type { Scenario } from "./scenario.ts";
import type { BenchServer } from "./servers.ts";

/** Gives the next request at each call. */
export type NextRequest = () => Buffer;

/**
 * Begins a load. One that reads is the same each time, from the first request on. One that writes goes on
 * where the last one ended, whichever server that was sent to: they change the same rows, and a code that a
 * cart has already would change nothing.
 */
export type StartRequests = () => NextRequest;

export function createRequestSequence(scenario: Scenario): (server: BenchServer) => StartRequests {
  let turn = 0;
  return (server) => {
    const requests = scenario.asks.map((ask) => server.request(scenario, ask));
    if (scenario.effect !== null) return () => () => withFreshKey(requestAt(requests, turn++));
    return () => {
      let next = 0;
      return () => requestAt(requests, next++);
    };
  };
}

function requestAt(requests: readonly Buffer[], index: number): Buffer {
  const request = requests[index % requests.length];
  if (request === undefined) throw new Error("There is nothing to ask.");
  return request;
}
