/**
 * What one service measures, by the names that docs/metrics.md explains. Whoever has something to tell is given a function to tell it to and knows
 * nothing of this. No label is anything that a client, a merchant or a receiver chooses.
 */
import { readFileSync } from "node:fs";
import { Gauge, Registry } from "prom-client";
import type { DoOnce } from "#database/idempotency.ts";
import { transactionsRunAgain } from "#database/transaction.ts";
import type { RateLimiter } from "#http/rate-limiter.ts";
import type { ServerObserver } from "#http/server.ts";
import type { AttemptObserver } from "#webhooks/dispatch/dispatch-parts.ts";
import { createAttemptMetrics } from "./attempt-metrics.ts";
import { createGraphqlCosts } from "./graphql-costs.ts";
import { createHttpMetrics } from "./http-metrics.ts";
import { countLimits, countOnce } from "./outcomes.ts";
import { type Readings, registerReadings } from "./readings.ts";

export interface Instruments {
  readonly registry: Registry;
  readonly http: ServerObserver;
  readonly onAttempt: AttemptObserver;
  /** Told what each GraphQL document costs that is let in. */
  readonly onCost: (cost: number) => void;
  /** The same limiter, which tells whom it refuses. */
  readonly ofLimiter: (limiter: RateLimiter) => RateLimiter;
  readonly ofOnce: (doOnce: DoOnce) => DoOnce;
}

export interface Described {
  readonly role: string;
  readonly engine: string;
}

export function createInstruments({ role, engine }: Described, readings: Readings): Instruments {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: "commerce_build_info",
    help: "1 for each kind of process: which version of the service runs on which Node, with which database, and what it does.",
    labelNames: ["version", "node", "engine", "role"],
    aggregator: "max",
    registers,
  }).set({ version: packageVersion, node: process.version, engine, role }, 1);
  registerReadings(registry, { ...readings, transactionsRunAgain });
  return {
    registry,
    http: createHttpMetrics(registry),
    onAttempt: createAttemptMetrics(registry),
    onCost: createGraphqlCosts(registry),
    ofLimiter: countLimits(registry),
    ofOnce: countOnce(registry),
  };
}

const { version: packageVersion } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { readonly version: string };
