/**
 * Registers gauges whose values are read at each request for `/metrics`: database connections, open
 * subscriptions, and the connections to other processes.
 */
import { Counter, Gauge, type Registry } from "prom-client";
import type { DatabaseConnectionPoolCounts } from "#database/connect.ts";

/**
 * Functions that read the current state of the service, for gauges whose values are read at each request for
 * `/metrics`.
 */
export interface ServiceStateGaugeReaders {
  /** Reads the state of the database connection pool; undefined for PGlite, which has a single connection. */
  readonly pool: () => DatabaseConnectionPoolCounts | undefined;
  readonly subscriptions: () => number;
  /**
   * Returns true if this process currently receives the notifications that other processes send through the
   * database.
   */
  readonly isReceivingNotices: () => boolean;
  /**
   * Returns true if the rate limiter that all processes share does not answer. Each process then counts only
   * its own requests.
   */
  readonly isLimiterAway: () => boolean;
  /** Returns by how many seconds the read replica is behind; 0 if there is none. */
  readonly replicaLagSeconds: () => number;
  /** Returns true if the read replica is so far behind that reads use the primary database. */
  readonly isReplicaBehind: () => boolean;
  /** Reads the size of the memory for answers, carts, orders and results: total bytes and number of entries. */
  readonly responseCache: () => { readonly bytes: number; readonly entries: number };
}

/**
 * The functions that read the state of the service: those that the caller passes, and those that
 * `service-metrics.ts` adds.
 */
export interface AllServiceStateGaugeReaders extends ServiceStateGaugeReaders {
  /** Returns how many database transactions were repeated after a conflict since the process started. */
  readonly transactionsRunAgain: () => number;
}

/** Registers the gauges of the service's state (for example open connections) in the registry. */
export function registerServiceStateMetrics(registry: Registry, read: AllServiceStateGaugeReaders): void {
  const pool = (): DatabaseConnectionPoolCounts => read.pool() ?? pglitePool;
  registerConnections(registry, pool);
  register(registry, {
    name: "commerce_database_connections_max",
    help: "The maximum number of connections of the pool.",
    read: () => pool().max,
  });
  register(registry, {
    name: "commerce_database_waiting",
    help: "Statements and transactions that wait for a connection.",
    read: () => pool().waiting,
  });
  register(registry, {
    name: "commerce_graphql_subscriptions_open",
    help: "Open GraphQL subscriptions.",
    read: read.subscriptions,
  });
  register(registry, {
    name: "commerce_notices_current",
    help:
      "1 while this process receives the notices of other processes, otherwise 0. For several processes it " +
      "is the minimum.",
    aggregator: "min",
    read: () => Number(read.isReceivingNotices()),
  });
  register(registry, {
    name: "commerce_rate_limiter_away",
    help:
      "1 while the shared rate limiter does not answer and each process counts requests alone, otherwise " +
      "0. For several processes it is the maximum.",
    aggregator: "max",
    read: () => Number(read.isLimiterAway()),
  });
  register(registry, {
    name: "commerce_replica_lag_seconds",
    help: "Seconds by which the read replica is behind. For several processes it is the maximum.",
    aggregator: "max",
    read: read.replicaLagSeconds,
  });
  register(registry, {
    name: "commerce_replica_behind",
    help:
      "1 while the read replica is so far behind that reads use the primary database, otherwise 0. For " +
      "several processes it is the maximum.",
    aggregator: "max",
    read: () => Number(read.isReplicaBehind()),
  });
  register(registry, {
    name: "commerce_response_cache_bytes",
    help: "The estimated size of the answers, carts, orders and results that are kept in memory.",
    read: () => read.responseCache().bytes,
  });
  register(registry, {
    name: "commerce_response_cache_entries",
    help: "The number of answers, carts, orders and results that are kept in memory.",
    read: () => read.responseCache().entries,
  });
  const retried = new Counter({
    name: "commerce_transactions_retried_total",
    help: "Transactions that were run again after PostgreSQL aborted them (serialization failure or deadlock).",
    collect() {
      this.reset();
      this.inc(read.transactionsRunAgain());
    },
    registers: [],
  });
  registry.registerMetric(retried);
}

interface StateGauge {
  readonly name: string;
  readonly help: string;
  /**
   * How the values of the gauge in several processes are combined to one value: `min` takes the lowest, `max`
   * the highest. If left out, the values are added.
   */
  readonly aggregator?: "min" | "max";
  readonly read: () => number;
}

function register(registry: Registry, { read, ...options }: StateGauge): void {
  const gauge = new Gauge({
    ...options,
    registers: [],
    collect() {
      this.set(read());
    },
  });
  registry.registerMetric(gauge);
}

function registerConnections(registry: Registry, pool: () => DatabaseConnectionPoolCounts): void {
  const gauge = new Gauge({
    name: "commerce_database_connections",
    help: "Open connections of the pool, by state: busy or idle.",
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

const pglitePool: DatabaseConnectionPoolCounts = { max: 1, total: 1, idle: 1, waiting: 0 };
