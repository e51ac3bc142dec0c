/** Draws the requests of a mixed scenario, and creates their sequence for a server. */
import { withNewIdempotencyKey } from "./idempotency-keys.ts";
import type { StartRequests } from "./load.ts";
import { createSeededRandom, createZipfDraw, shuffle } from "./random.ts";
import type { BenchRequest, MixedScenario, Scenario } from "./scenario.ts";
import type { BenchServer } from "./servers.ts";

/** A drawn request: the index of the part, and the index of the page, cart or order within the part. */
interface Draw {
  readonly part: number;
  readonly subject: number;
}

interface DrawnPart {
  /** How many of each hundred requests belong to the part. */
  readonly perHundred: number;
  /** The number of pages, carts or orders of the part. */
  readonly subjects: number;
}

const seed = 20_261_126;
/** The number of hundreds of requests until the sequence repeats. */
const hundreds = 500;

/**
 * Draws the sequence of requests, always the same one for the same parts. In each hundred requests, the order
 * of the parts is random and their numbers are exact, so that a short load has the same shares as a long
 * one.
 */
export function drawMixture(parts: readonly DrawnPart[]): Draw[] {
  const random = createSeededRandom(seed);
  const draws = parts.map(({ subjects }) => createZipfDraw(subjects, random));
  const hundred = parts.flatMap(({ perHundred }, part) => Array.from({ length: perHundred }, () => part));
  return Array.from({ length: hundreds }, () => shuffle(hundred, random)).flatMap((order) =>
    order.map((part) => ({ part, subject: draws[part]?.() ?? 0 })),
  );
}

/** A page, cart or order, with the requests that are sent to it in turn. */
interface Subject {
  readonly scenario: Scenario;
  readonly requests: readonly BenchRequest[];
  /** The number of requests that were sent to it. */
  sent: number;
}

/**
 * Creates the sequence of a mixed scenario. Each load starts with the first drawn request. The changes of a
 * cart continue where the previous load ended, so that each one changes the cart.
 */
export function createMixedSequence({ parts }: MixedScenario): (server: BenchServer) => StartRequests {
  const subjects = parts.map(({ scenario }) =>
    [...Map.groupBy(scenario.requests, ({ path }) => path).values()].map((requests): Subject => ({
      scenario,
      requests,
      sent: 0,
    })),
  );
  const draws = drawMixture(
    parts.map(({ perHundred }, part) => ({ perHundred, subjects: subjects[part]?.length ?? 0 })),
  );
  const sequence = draws.flatMap(({ part, subject }) => subjects[part]?.[subject] ?? []);
  return (server) => {
    const encoded = new Map(
      subjects
        .flat()
        .map((subject) => [
          subject,
          subject.requests.map((request) => server.request(subject.scenario, request)),
        ]),
    );
    return () => {
      let next = 0;
      return () => {
        const subject = sequence[next++ % sequence.length];
        const requests = subject === undefined ? undefined : encoded.get(subject);
        const request = requests?.[(subject?.sent ?? 0) % requests.length];
        if (subject === undefined || request === undefined) throw new Error("The scenario has no requests.");
        subject.sent += 1;
        return withNewIdempotencyKey(request);
      };
    };
  };
}
