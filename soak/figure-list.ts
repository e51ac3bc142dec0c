/**
 * The measured guarantees, each with the commands that measure it at full size and the test files that check
 * a short version. `npm run generate` writes docs/figures.md from this list and docs/figures.json.
 */
import type { MeasuredFigure } from "./record.ts";

export interface MeasuredGuarantee {
  readonly number: number;
  readonly promise: string;
  readonly measurements: readonly GuaranteeMeasurement[];
  /** Test files of `npm test` that check a short version of the guarantee. */
  readonly shortTests: readonly string[];
}

export interface GuaranteeMeasurement {
  /** The name of the measurement in docs/figures.json. */
  readonly name: string;
  readonly command: string;
  readonly engines: readonly MeasuredFigure["engine"][];
  /** The minimum of each count, summed over all engines. */
  readonly atLeast?: Readonly<Record<string, number>>;
  /** The minimum of each value, on every engine. */
  readonly atLeastEach?: Readonly<Record<string, number>>;
  readonly atMost?: Readonly<Record<string, number>>;
}

const both = ["pglite", "postgres"] as const;

const soak = (name: string, minutes: number): Pick<GuaranteeMeasurement, "name" | "command"> => ({
  name,
  command: `npm run soak -- --only ${name} --minutes ${minutes}`,
});
const suite = (name: string): GuaranteeMeasurement => ({
  ...soak(name, 1),
  engines: ["both"],
  atMost: { failed: 0 },
});

const mutation = (module: string): GuaranteeMeasurement => ({
  name: `mutation-${module}`,
  command: "npm run mutation -- --fresh --record",
  engines: [null],
  atLeastEach: { scorePercent: 85 },
});

export const measuredGuarantees: readonly MeasuredGuarantee[] = [
  {
    number: 1,
    promise:
      "If processes of the service are killed 50 times with `kill -9` during 20 000 changes, no change is " +
      "made twice, no acknowledged change is lost, and every repeated request gets the first answer " +
      "again. The same holds for two gateways and two workers behind nginx, with PgBouncer and Redis.",
    measurements: [
      { ...soak("crash", 30), engines: both, atLeast: { kills: 50, keys: 20_000 } },
      { ...soak("scale-out", 10), engines: ["postgres"], atLeast: { copied: 200, kills: 20 } },
    ],
    shortTests: [
      "test/exactly-once/crash.test.ts",
      "test/process/payment-kill.test.ts",
      "test/process/scale-out.test.ts",
    ],
  },
  {
    number: 2,
    promise:
      "If 1 000 writes are sent 50 times each at the same moment, each write has exactly one effect. All " +
      "other answers have the same bytes as the first answer, or are 409.",
    measurements: [{ ...soak("duplicates", 10), engines: both, atLeast: { keys: 1_000 } }],
    shortTests: ["test/exactly-once/duplicates.test.ts"],
  },
  {
    number: 3,
    promise:
      "While 100 clients repeat one idempotency key, the 99th percentile of the duration of unrelated " +
      "requests is at most twice as high as in a quiet period, on PostgreSQL.",
    measurements: [{ ...soak("bystanders", 5), engines: ["postgres"], atMost: { "p99 ratio": 2 } }],
    shortTests: ["test/exactly-once/bystanders.test.ts"],
  },
  {
    number: 4,
    promise:
      "If PostgreSQL is killed, or if its connections are cut at the moment of the commit, 200 times in " +
      "total, no change is made twice, and a retry returns the outcome of every change.",
    measurements: [
      {
        ...soak("cuts", 5),
        engines: ["postgres"],
        atLeast: { faults: 200, crashes: 10 },
        atMost: { "slowest 503 ms": 3_000 },
      },
    ],
    shortTests: [
      "test/exactly-once/cuts.test.ts",
      "test/database/idempotency.test.ts",
      "test/faults/database-away.test.ts",
    ],
  },
  {
    number: 5,
    promise:
      "If every operation is called with every set of scopes, and with ids of other merchants' objects " +
      "over REST and GraphQL, the service does not find these objects, and writes nothing.",
    measurements: [suite("scopes")],
    shortTests: [
      "test/gateway/every-scope.test.ts",
      "test/gateway/foreign-ids.test.ts",
      "test/graph/foreign-ids.test.ts",
    ],
  },
  {
    number: 6,
    promise:
      "If 8 writers make 10 000 changes each on the same carts, no version of a cart is given twice, no " +
      "version is missing, and every state of a cart equals the state that a replay of the changes gives.",
    measurements: [{ ...soak("histories", 30), engines: both, atLeast: { operations: 80_000 } }],
    shortTests: ["test/exactly-once/histories.test.ts"],
  },
  {
    number: 7,
    promise:
      "If 20 checkouts with the same promotion code, which may be used once, are submitted at the same " +
      "moment, one checkout gets the code, and the service requests no payment for the others. If a " +
      "cancellation and a submission of one checkout arrive at the same moment, 1 000 times, the two " +
      "never both succeed. 50 kills of the service during payments at a fake Stripe lose and double no payment.",
    measurements: [
      { ...soak("checkout", 10), engines: both, atLeast: { rounds: 1_000 } },
      { ...soak("stripe-crash", 10), engines: both, atLeast: { kills: 50 } },
    ],
    shortTests: [
      "test/exactly-once/checkout.test.ts",
      "test/exactly-once/checkout-crash.test.ts",
      "test/exactly-once/stripe-crash.test.ts",
    ],
  },
  {
    number: 8,
    promise:
      "At 100 events per second, the time from the commit of an event to the first byte at the receiver" +
      " is at most 10 ms for 50 % and 100 ms for 99 % of the deliveries.",
    measurements: [{ ...soak("webhook-latency", 5), engines: both, atMost: { "p50 ms": 10, "p99 ms": 100 } }],
    shortTests: ["test/webhooks/dispatcher.test.ts"],
  },
  {
    number: 9,
    promise:
      "If processes of the service are killed 50 times while a receiver fails three of ten requests, no " +
      "event is lost, and a repeated delivery has the same `webhook-id` and the same bytes.",
    measurements: [{ ...soak("webhooks", 30), engines: both, atLeast: { kills: 50 } }],
    shortTests: ["test/exactly-once/webhooks.test.ts", "test/process/webhook-stop.test.ts"],
  },
  {
    number: 10,
    promise:
      "If one of 100 webhook endpoints never answers, the 99th percentile of the delivery time to the " +
      "other 99 endpoints rises by at most a fifth.",
    measurements: [{ ...soak("webhook-latency", 5), engines: both, atMost: { "p99 ratio": 1.2 } }],
    shortTests: ["test/webhooks/dispatcher-fairness.test.ts"],
  },
  {
    number: 11,
    promise:
      "The service ends the connection to a receiver that is slow, never answers, redirects, sends 10 GB " +
      "or a gzip bomb, or resets the connection, and logs the failed attempt. Retries follow the table of " +
      "delays, as tests with a simulated clock check.",
    measurements: [suite("receivers")],
    shortTests: [
      "test/webhooks/safe-request.test.ts",
      "test/webhooks/dispatcher.test.ts",
      "test/webhooks/retries.test.ts",
    ],
  },
  {
    number: 12,
    promise:
      "If webhook URLs have one of 43 addresses that lead into private networks, or a host name whose " +
      "address changes after the check, the service still connects only to public addresses.",
    measurements: [suite("ssrf")],
    shortTests: ["test/webhooks/blocked-targets.test.ts", "test/webhooks/safe-addresses.test.ts"],
  },
  {
    number: 13,
    promise:
      "If each of 1 000 authorization codes is redeemed 20 times at the same moment, each code gives " +
      "exactly one token. The service refuses 25 kinds of wrong DPoP proofs with 401.",
    measurements: [
      {
        name: "oauth",
        command: "npm run soak -- --only oauth --rounds 1000 --minutes 30",
        engines: both,
        atLeast: { codes: 1_000 },
      },
      suite("dpop"),
    ],
    shortTests: ["test/exactly-once/codes.test.ts", "test/gateway/dpop-proofs.test.ts"],
  },
  {
    number: 14,
    promise:
      "If 10 000 valid and invalid requests are generated from the OpenAPI document, no answer is a 5xx, " +
      "has a status that the document does not declare, or violates its schema.",
    measurements: [{ ...soak("contract", 10), engines: both, atLeast: { requests: 10_000 } }],
    shortTests: ["test/contract/contract.test.ts"],
  },
  {
    number: 15,
    promise: "The service refuses each of 200 hostile GraphQL documents within 20 ms.",
    measurements: [
      {
        ...soak("hostile-documents", 1),
        engines: ["pglite"],
        atLeast: { documents: 200 },
        atMost: { "slowest ms": 20 },
      },
    ],
    shortTests: ["test/attacks/hostile-documents.test.ts"],
  },
  {
    number: 16,
    promise:
      "No request fails when the service gets SIGTERM under load. During 30 minutes of load, resident " +
      "memory grows by at most 1 MB per minute, and no file descriptor stays open.",
    measurements: [
      { ...soak("stop", 5), engines: both, atLeast: { stops: 20 }, atMost: { failed: 0 } },
      {
        ...soak("memory", 60),
        engines: both,
        atLeastEach: { "minutes of load": 30 },
        atMost: { "MB a minute": 1, "descriptors more": 0 },
      },
    ],
    shortTests: ["test/faults/stop.test.ts", "test/process/serve.test.ts"],
  },
  {
    number: 17,
    promise:
      "The tests detect at least 85 of 100 small deliberate faults (mutants) in the code of idempotency, " +
      "authentication, signing, webhook requests, eligibility and money.",
    measurements: [
      "money",
      "signing",
      "ssrf",
      "idempotency",
      "authentication",
      "keys",
      "cancellation",
      "after-sales",
    ].map(mutation),
    shortTests: [],
  },
  {
    number: 18,
    promise:
      "If a million events are published by 16 writers, which commit up to 400 ms after their inserts, " +
      "while the connections of the workers are cut, no reader of the event feed misses an event or gets " +
      "an event twice, and every reader gets the events about one subject in their order.",
    measurements: [{ ...soak("event-feed", 1), engines: ["postgres"], atLeast: { events: 1_000_000 } }],
    shortTests: ["test/exactly-once/event-feed.test.ts"],
  },
  {
    number: 19,
    promise:
      "If 10 000 hostile tool calls are sent over MCP, with keys of all sets of scopes and of another " +
      "merchant, no call exceeds the rights of its key, and no call causes an internal error.",
    measurements: [{ ...suite("hostile-tool-calls"), atLeast: { calls: 10_000 } }],
    shortTests: ["test/mcp/hostile-calls.test.ts"],
  },
  {
    number: 20,
    promise:
      "100 000 orders with several tax classes, each through up to 12 random cancellations, refunds and price " +
      "reductions: after every step, the money of the order adds up, the taxes by rate add up to its tax, and no " +
      "tax is given back twice; a full refund gives back every tax.",
    measurements: [{ ...suite("tax-histories"), atLeast: { orders: 100_000 } }],
    shortTests: ["test/commerce/orders/order-tax-histories.test.ts"],
  },
];

/** Returns the number of the guarantee that uses a measurement; undefined if no guarantee uses it. */
export const findGuaranteeNumber = (name: string): number | undefined =>
  measuredGuarantees.find(({ measurements }) => measurements.some((shown) => shown.name === name))?.number;
