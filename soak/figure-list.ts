/**
 * The measured guarantees, each with the commands that measure it at full size and the test files that check
 * a short version. `npm run generate` writes docs/figures.md from this list and docs/figures.json.
 */
import { consistencyGuarantees, simulationGuarantee } from "./consistency-guarantees.ts";
import { securityGuarantees } from "./security-guarantees.ts";
import {
  bothEngines,
  type MeasuredGuarantee,
  measureByMutation,
  measureBySoak,
  measureBySuite,
} from "./guarantee.ts";
import { operationGuarantees } from "./operation-guarantees.ts";

export const measuredGuarantees: readonly MeasuredGuarantee[] = [
  {
    number: 1,
    promise:
      "If processes of the service are killed 50 times with `kill -9` during 20 000 changes, no change " +
      "is made twice, no acknowledged change is lost, and every repeated request gets the first answer " +
      "again. Two gateways and two workers behind nginx, with PgBouncer and Redis, give the same " +
      "guarantee when their processes are killed.",
    measurements: [
      { ...measureBySoak("crash", 30), engines: bothEngines, atLeast: { kills: 50, keys: 20_000 } },
      { ...measureBySoak("scale-out", 10), engines: ["postgres"], atLeast: { copied: 200, kills: 20 } },
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
      "If 1 000 writes are sent 50 times each at the same moment, each write has exactly one effect. The " +
      "service answers each repetition of a write with the bytes of the first answer, or with 409 while " +
      "the first request is still running.",
    measurements: [{ ...measureBySoak("duplicates", 10), engines: bothEngines, atLeast: { keys: 1_000 } }],
    shortTests: ["test/exactly-once/duplicates.test.ts"],
  },
  {
    number: 3,
    promise:
      "While 100 clients repeat one idempotency key on PostgreSQL, the 99th percentile of the duration " +
      "of other clients' requests is at most twice as high as without these repetitions.",
    measurements: [{ ...measureBySoak("bystanders", 5), engines: ["postgres"], atMost: { "p99 ratio": 2 } }],
    shortTests: ["test/exactly-once/bystanders.test.ts"],
  },
  {
    number: 4,
    promise:
      "If PostgreSQL is killed, or if its connections are cut at the moment of the commit, 200 times in " +
      "total, no change is made twice, and a retry of a change returns the outcome of this change.",
    measurements: [
      {
        ...measureBySoak("cuts", 5),
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
      "The service refuses every call whose credential lacks the required scope, and such a call changes " +
      "nothing; the tests call every operation with every set of scopes. If a caller names the id of " +
      "another merchant's object over REST or GraphQL, the service answers as if this object did not " +
      "exist, and changes nothing.",
    measurements: [measureBySuite("scopes")],
    shortTests: [
      "test/gateway/every-scope.test.ts",
      "test/gateway/foreign-ids.test.ts",
      "test/graph/foreign-ids.test.ts",
    ],
  },
  {
    number: 6,
    promise:
      "If 16 clients read and change the same carts, orders and stock, no version of these objects is given " +
      "to two changes, no version is missing, and every answer shows the state that results from making the " +
      "changes one after the other. 80 000 changes are tested on both databases together.",
    measurements: [
      { ...measureBySoak("serializability", 60), engines: bothEngines, atLeast: { changes: 80_000 } },
    ],
    shortTests: ["test/exactly-once/serializability.test.ts"],
  },
  {
    number: 7,
    promise:
      "If 20 checkouts with the same promotion code, which may be used once, are submitted at the same " +
      "moment, one checkout gets the code, and the service requests no payment for the other 19 " +
      "checkouts. If buyers cancel and submit the same checkout at the same moment, in 1 000 attempts, " +
      "the cancellation and the submission never both succeed. If the service is killed 50 times during " +
      "payments at a fake Stripe, no payment is lost or doubled.",
    measurements: [
      { ...measureBySoak("checkout", 10), engines: bothEngines, atLeast: { rounds: 1_000 } },
      { ...measureBySoak("stripe-crash", 10), engines: bothEngines, atLeast: { kills: 50 } },
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
      "At 100 events per second, the time from the commit of an event to the first byte at the webhook " +
      "receiver is at most 10 ms for 50 % of the deliveries and at most 100 ms for 99 % of the " +
      "deliveries.",
    measurements: [
      {
        ...measureBySoak("webhook-latency", 5),
        engines: bothEngines,
        atMost: { "p50 ms": 10, "p99 ms": 100 },
      },
    ],
    shortTests: ["test/webhooks/dispatcher.test.ts"],
  },
  {
    number: 9,
    promise:
      "If processes of the service are killed 50 times while a webhook receiver answers three of ten " +
      "requests with an error, no event is lost, and a repeated delivery has the same `webhook-id` and " +
      "the same bytes.",
    measurements: [{ ...measureBySoak("webhooks", 30), engines: bothEngines, atLeast: { kills: 50 } }],
    shortTests: ["test/exactly-once/webhooks.test.ts", "test/process/webhook-stop.test.ts"],
  },
  {
    number: 10,
    promise:
      "If one of 100 webhook endpoints never answers, the 99th percentile of the delivery time to the " +
      "other 99 endpoints rises by at most a fifth.",
    measurements: [
      { ...measureBySoak("webhook-latency", 5), engines: bothEngines, atMost: { "p99 ratio": 1.2 } },
    ],
    shortTests: ["test/webhooks/dispatcher-fairness.test.ts"],
  },
  {
    number: 11,
    promise:
      "The service ends the connection to a webhook receiver that is slow, never answers, redirects, " +
      "sends 10 GB or a gzip bomb, or resets the connection, and logs the failed attempt. The service " +
      "retries a failed webhook delivery after the documented delays, which tests check with a simulated " +
      "clock.",
    measurements: [measureBySuite("receivers")],
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
    measurements: [measureBySuite("ssrf")],
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
        engines: bothEngines,
        atLeast: { codes: 1_000 },
      },
      measureBySuite("dpop"),
    ],
    shortTests: ["test/exactly-once/codes.test.ts", "test/gateway/dpop-proofs.test.ts"],
  },
  {
    number: 14,
    promise:
      "If 10 000 valid and invalid requests are generated from the OpenAPI document, every answer has a " +
      "status and a body that the OpenAPI document declares, and no answer has a status from 500 to 599.",
    measurements: [{ ...measureBySoak("contract", 10), engines: bothEngines, atLeast: { requests: 10_000 } }],
    shortTests: ["test/contract/contract.test.ts"],
  },
  {
    number: 15,
    promise:
      "The service takes at most 20 ms to refuse each of 200 GraphQL documents that an attacker could " +
      "send to overload the service.",
    measurements: [
      {
        ...measureBySoak("hostile-documents", 1),
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
      "No request fails when a process of the service is stopped with SIGTERM under load. During 30 " +
      "minutes of load, the resident memory of the service grows by at most 1 MB per minute, and the " +
      "service leaves no file descriptor open.",
    measurements: [
      { ...measureBySoak("stop", 5), engines: bothEngines, atLeast: { stops: 20 }, atMost: { failed: 0 } },
      {
        ...measureBySoak("memory", 60),
        engines: bothEngines,
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
      "authentication, the life cycle of keys, the policies of the Mesh layer, signing, webhook requests, " +
      "eligibility, money, requests to Stripe, and the choice of words in a search.",
    measurements: [
      "money",
      "signing",
      "ssrf",
      "idempotency",
      "authentication",
      "keys",
      "cancellation",
      "after-sales",
      "mesh-policies",
      "payment-adapter",
      "search-relevance",
    ].map(measureByMutation),
    shortTests: [],
  },
  {
    number: 18,
    promise:
      "If 16 writers publish a million events while the connections of the workers are cut, no reader of " +
      "the event feed misses an event or gets an event twice. Every reader of the event feed gets the " +
      "events about one subject, for example one order, in the order of the changes, even if a writer " +
      "commits an event up to 400 ms after its insert.",
    measurements: [
      { ...measureBySoak("event-feed", 1), engines: ["postgres"], atLeast: { events: 1_000_000 } },
    ],
    shortTests: ["test/exactly-once/event-feed.test.ts"],
  },
  {
    number: 19,
    promise:
      "If 10 000 hostile tool calls are sent over MCP, with API keys of all sets of scopes and of " +
      "another merchant, no call exceeds the rights of its key, and no call causes an internal error.",
    measurements: [{ ...measureBySuite("hostile-tool-calls"), atLeast: { calls: 10_000 } }],
    shortTests: ["test/mcp/hostile-calls.test.ts"],
  },
  {
    number: 20,
    promise:
      "100 000 orders with several tax classes, each through up to 12 random cancellations, refunds and price " +
      "reductions: after every step, the money of the order adds up, the taxes by rate add up to its tax, and no " +
      "tax is given back twice; a full refund gives back every tax.",
    measurements: [{ ...measureBySuite("tax-histories"), atLeast: { orders: 100_000 } }],
    shortTests: ["test/commerce/orders/order-tax-histories.test.ts"],
  },
  ...consistencyGuarantees,
  ...operationGuarantees,
  ...securityGuarantees,
  simulationGuarantee,
  {
    number: 36,
    promise: "In 20 full runs of `npm test` in a row, no test fails.",
    measurements: [
      {
        name: "full-suite",
        command: "npm run soak -- --only full-suite --rounds 20 --minutes 400",
        engines: ["both"],
        atLeast: { "full runs": 20 },
        atMost: { failed: 0 },
      },
    ],
    shortTests: [],
  },
];
