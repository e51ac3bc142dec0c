/**
 * What must be shown, each with the commands that show it at full size and the tests that show it in short.
 * docs/figures.md is this list and docs/figures.json.
 */
import type { Measured } from "./record.ts";

export interface FigureEntry {
  readonly number: number;
  readonly promise: string;
  readonly shownBy: readonly Shown[];
  /** In `npm test`. */
  readonly shortForm: readonly string[];
}

export interface Shown {
  /** The record's. */
  readonly name: string;
  readonly command: string;
  readonly engines: readonly Measured["engine"][];
  /** How hard it has to be tried on all its engines together, by the names of the counts. */
  readonly atLeast?: Readonly<Record<string, number>>;
  /** What has to be measured on each engine: no less, and no more. */
  readonly atLeastEach?: Readonly<Record<string, number>>;
  readonly atMost?: Readonly<Record<string, number>>;
}

const both = ["pglite", "postgres"] as const;

const soak = (name: string, minutes: number): Pick<Shown, "name" | "command"> => ({
  name,
  command: `npm run soak -- --only ${name} --minutes ${minutes}`,
});
const suite = (name: string): Shown => ({ ...soak(name, 1), engines: ["both"], atMost: { failed: 0 } });

const mutation = (module: string): Shown => ({
  name: `mutation-${module}`,
  command: "npm run mutation -- --fresh --record",
  engines: [null],
  atLeastEach: { scorePercent: 85 },
});

export const figureList: readonly FigureEntry[] = [
  {
    number: 1,
    promise:
      "50 times `kill -9` and 20 000 keys: no effect twice, no acknowledged change lost, no replay that differs from the first answer; also of two gateways and two workers behind nginx, PgBouncer and Redis.",
    shownBy: [
      { ...soak("crash", 30), engines: both, atLeast: { kills: 50, keys: 20_000 } },
      { ...soak("scale-out", 10), engines: ["postgres"], atLeast: { copied: 200, kills: 20 } },
    ],
    shortForm: [
      "test/exactly-once/crash.test.ts",
      "test/process/payment-kill.test.ts",
      "test/process/scale-out.test.ts",
    ],
  },
  {
    number: 2,
    promise:
      "1 000 writes, each 50 times at the same moment: one effect each; all else is a replay with the same bytes or a 409.",
    shownBy: [{ ...soak("duplicates", 10), engines: both, atLeast: { keys: 1_000 } }],
    shortForm: ["test/exactly-once/duplicates.test.ts"],
  },
  {
    number: 3,
    promise:
      "100 clients who repeat one key: the 99th percentile of unrelated requests is at most twice that of a quiet spell, on PostgreSQL.",
    shownBy: [{ ...soak("bystanders", 5), engines: ["postgres"], atMost: { "p99 ratio": 2 } }],
    shortForm: ["test/exactly-once/bystanders.test.ts"],
  },
  {
    number: 4,
    promise:
      "PostgreSQL killed, or its connections cut at the commit, 200 times: no effect twice, and a retry settles every outcome.",
    shownBy: [
      {
        ...soak("cuts", 5),
        engines: ["postgres"],
        atLeast: { faults: 200, crashes: 10 },
        atMost: { "slowest 503 ms": 3_000 },
      },
    ],
    shortForm: [
      "test/exactly-once/cuts.test.ts",
      "test/database/idempotency.test.ts",
      "test/faults/database-away.test.ts",
    ],
  },
  {
    number: 5,
    promise:
      "Every operation with every set of scopes; every foreign id at every operation, over REST and GraphQL: not found, and nothing is written.",
    shownBy: [suite("scopes")],
    shortForm: [
      "test/gateway/every-scope.test.ts",
      "test/gateway/foreign-ids.test.ts",
      "test/graph/foreign-ids.test.ts",
    ],
  },
  {
    number: 6,
    promise:
      "8 writers with 10 000 operations each on the same carts: no version given twice or left out, every state that of a replay.",
    shownBy: [{ ...soak("histories", 30), engines: both, atLeast: { operations: 80_000 } }],
    shortForm: ["test/exactly-once/histories.test.ts"],
  },
  {
    number: 7,
    promise:
      "A code that may be used once, submitted by 20 checkouts at once: one gets it, and nobody else is asked for money. A cancel that races a submission, 1 000 times: never both.",
    shownBy: [{ ...soak("checkout", 10), engines: both, atLeast: { rounds: 1_000 } }],
    shortForm: ["test/exactly-once/checkout.test.ts", "test/exactly-once/checkout-crash.test.ts"],
  },
  {
    number: 8,
    promise:
      "From an event's commit to its first byte at the receiver, at 100 events a second: half within 10 ms, 99 of 100 within 100 ms.",
    shownBy: [{ ...soak("webhook-latency", 5), engines: both, atMost: { "p50 ms": 10, "p99 ms": 100 } }],
    shortForm: ["test/webhooks/dispatcher.test.ts"],
  },
  {
    number: 9,
    promise:
      "50 kills beside a receiver that fails with three of ten: no event lost, and what comes twice has the same `webhook-id` and bytes.",
    shownBy: [{ ...soak("webhooks", 30), engines: both, atLeast: { kills: 50 } }],
    shortForm: ["test/exactly-once/webhooks.test.ts", "test/process/webhook-stop.test.ts"],
  },
  {
    number: 10,
    promise:
      "One endpoint that never answers beside 99 that do: the 99th percentile of theirs rises by a fifth at most.",
    shownBy: [{ ...soak("webhook-latency", 5), engines: both, atMost: { "p99 ratio": 1.2 } }],
    shortForm: ["test/webhooks/dispatcher-fairness.test.ts"],
  },
  {
    number: 11,
    promise:
      "Receivers that are slow, never answer, redirect, send 10 GB, gzip bombs or resets: cut off and written down; the retry table on a clock of its own.",
    shownBy: [suite("receivers")],
    shortForm: [
      "test/webhooks/safe-request.test.ts",
      "test/webhooks/dispatcher.test.ts",
      "test/webhooks/retries.test.ts",
    ],
  },
  {
    number: 12,
    promise:
      "43 addresses that lead inwards, and a name that changes where it leads: no connection to anything but a public address.",
    shownBy: [suite("ssrf")],
    shortForm: ["test/webhooks/blocked-targets.test.ts", "test/webhooks/safe-addresses.test.ts"],
  },
  {
    number: 13,
    promise:
      "One code redeemed 20 times at once, 1 000 times: one token each. 25 kinds of wrong proofs: all refused with 401.",
    shownBy: [
      {
        name: "oauth",
        command: "npm run soak -- --only oauth --rounds 1000 --minutes 30",
        engines: both,
        atLeast: { codes: 1_000 },
      },
      suite("dpop"),
    ],
    shortForm: ["test/exactly-once/codes.test.ts", "test/gateway/dpop-proofs.test.ts"],
  },
  {
    number: 14,
    promise:
      "10 000 requests generated from the OpenAPI document, valid and broken: no 5xx, no status that is not declared, no answer that its schema does not allow.",
    shownBy: [{ ...soak("contract", 10), engines: both, atLeast: { requests: 10_000 } }],
    shortForm: ["test/contract/contract.test.ts"],
  },
  {
    number: 15,
    promise: "200 hostile GraphQL documents: each is refused, within 20 ms.",
    shownBy: [
      {
        ...soak("hostile-documents", 1),
        engines: ["pglite"],
        atLeast: { documents: 200 },
        atMost: { "slowest ms": 20 },
      },
    ],
    shortForm: ["test/attacks/hostile-documents.test.ts"],
  },
  {
    number: 16,
    promise:
      "SIGTERM under load: no request fails. 30 minutes of load: resident memory grows by 1 MB a minute at most, and no descriptor is left open.",
    shownBy: [
      { ...soak("stop", 5), engines: both, atLeast: { stops: 20 }, atMost: { failed: 0 } },
      {
        ...soak("memory", 60),
        engines: both,
        atLeastEach: { "minutes of load": 30 },
        atMost: { "MB a minute": 1, "descriptors more": 0 },
      },
    ],
    shortForm: ["test/faults/stop.test.ts", "test/process/serve.test.ts"],
  },
  {
    number: 17,
    promise:
      "Of all small faults that are planted in idempotency, authentication, signing, guarded requests, eligibility and money, tests see 85 of 100.",
    shownBy: [
      "money",
      "signing",
      "ssrf",
      "idempotency",
      "authentication",
      "keys",
      "cancellation",
      "after-sales",
    ].map(mutation),
    shortForm: [],
  },
];

/** Undefined: a measurement that no figure asks for. */
export const figureNumberOf = (name: string): number | undefined =>
  figureList.find(({ shownBy }) => shownBy.some((shown) => shown.name === name))?.number;
