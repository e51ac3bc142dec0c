/** Creates the sequence of a scenario's requests for a server. */
import { withFreshKey } from "./idempotency-keys.ts";
import type { Scenario } from "./scenario.ts";
import type { BenchServer } from "./servers.ts";

/** Returns the next request at each call. */
export type NextRequest = () => Buffer;

/**
 * Starts the requests of a load. A reading scenario starts with the first request each time. A writing
 * scenario continues after the last request of the previous load, also if that went to another server. All
 * servers change the same rows, and applying a code that a cart already has would change nothing.
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
  if (request === undefined) throw new Error("The scenario has no requests.");
  return request;
}
