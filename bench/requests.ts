/** Creates the sequence of a scenario's requests for a server. */
import { withNewIdempotencyKey } from "./idempotency-keys.ts";
import type { StartRequests } from "./load.ts";
import { createMixedSequence } from "./mixture.ts";
import type { MeasuredScenario } from "./scenario.ts";
import type { BenchServer } from "./servers.ts";

/**
 * Creates the function that starts the sequence of a scenario's requests for a server. In a reading scenario,
 * each load starts with the first request. In a writing scenario, a load continues after the last request of
 * the previous load, even if that load was sent to another server. The servers change the same rows, and
 * applying a code that a cart already has would change nothing.
 */
export function createRequestSequence(scenario: MeasuredScenario): (server: BenchServer) => StartRequests {
  if ("parts" in scenario) return createMixedSequence(scenario);
  let turn = 0;
  return (server) => {
    const requests = scenario.requests.map((request) => server.request(scenario, request));
    if (scenario.effect !== null) return () => () => withNewIdempotencyKey(requestAt(requests, turn++));
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
