/** What is looked up when it is asked for: connections, subscriptions, whether others are heard. */
import { Counter, Gauge, type Registry } from "prom-client";
import type { PoolState } from "#database/connect.ts";

export interface StateReadings {
  /** Undefined: the embedded database, whose one connection goes round. */
  readonly pool: () => PoolState | undefined;
  readonly subscriptions: () => number;
  /** What other processes tell arrives here. */
  readonly isCurrent: () => boolean;
  readonly isLimiterAway: () => boolean;
}

export interface RegisteredReadings extends StateReadings {
  /** Since the process began. */
  readonly transactionsRunAgain: () => number;
}

export function registerStateMetrics(registry: Registry, read: RegisteredReadings): void {
  const pool = (): PoolState => read.pool() ?? embedded;
  registerConnections(registry, pool);
  register(registry, {
    name: "commerce_database_connections_max",
    help: "Connections that the pool may have.",
    read: () => pool().max,
  });
  register(registry, {
    name: "commerce_database_waiting",
    help: "Statements that wait for a connection.",
    read: () => pool().waiting,
  });
  register(registry, {
    name: "commerce_graphql_subscriptions_open",
    help: "Subscriptions that somebody follows.",
    read: read.subscriptions,
  });
  register(registry, {
    name: "commerce_notices_current",
    help: "1 while what other processes tell arrives here; of several processes, the least.",
    aggregator: "min",
    read: () => Number(read.isCurrent()),
  });
  register(registry, {
    name: "commerce_rate_limiter_away",
    help: "1 while whoever counts requests for all does not answer and each process counts by itself; of several processes, the most.",
    aggregator: "max",
    read: () => Number(read.isLimiterAway()),
  });
  const retried = new Counter({
    name: "commerce_transactions_retried_total",
    help: "Transactions that were run again because PostgreSQL gave up on them for others (serialization failure, deadlock).",
    collect() {
      this.reset();
      this.inc(read.transactionsRunAgain());
    },
    registers: [],
  });
  registry.registerMetric(retried);
}

interface Reading {
  readonly name: string;
  readonly help: string;
  /** Of several processes; their sum unless told. */
  readonly aggregator?: "min" | "max";
  readonly read: () => number;
}

function register(registry: Registry, { read, ...described }: Reading): void {
  const gauge = new Gauge({
    ...described,
    registers: [],
    collect() {
      this.set(read());
    },
  });
  registry.registerMetric(gauge);
}

function registerConnections(registry: Registry, pool: () => PoolState): void {
  const gauge = new Gauge({
    name: "commerce_database_connections",
    help: "Connections of the pool, by state.",
    labelNames: ["state"],
    registers: [],
    collect() {
      const { total, idle } = pool();
      this.set({ state: "busy" }, total - idle);
      this.set({ state: "idle" }, idle);
    },
  });
  registry.registerMetric(gauge);
}

const embedded: PoolState = { max: 1, total: 1, idle: 1, waiting: 0 };
