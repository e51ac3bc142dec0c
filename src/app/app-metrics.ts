/** Wires what is measured to what is asked, and to the page that shows it. */
import type { OpenDatabase } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import { createExposition } from "#observability/exposition.ts";
import type { Exchange } from "#observability/gathering.ts";
import { createInstruments, type Instruments } from "#observability/instruments.ts";
import { createQueueReader } from "#observability/queue-metrics.ts";
import type { Readings } from "#observability/readings.ts";
import type { MetricsPage } from "#observability/metrics-page.ts";
import type { Role } from "./background.ts";
import type { Settings } from "./settings.ts";

export interface MetricsParts {
  readonly settings: Settings;
  readonly database: OpenDatabase;
  readonly clock: Clock;
  readonly role: Role;
  /** Where this is one of several processes. */
  readonly exchange: Exchange | undefined;
}

export interface AppMetrics extends Omit<Instruments, "registry"> {
  readonly page: MetricsPage;
}

export function createAppMetrics({ settings, database, clock, role, exchange }: MetricsParts, readings: Omit<Readings, "pool">): AppMetrics {
  const { registry, ...instruments } = createInstruments({ role, engine: database.engine }, { ...readings, pool: () => database.pool() });
  const exposition = createExposition({ registry, readQueue: createQueueReader({ db: database.db, clock }), exchange });
  return { ...instruments, page: { ...exposition, token: settings.metricsToken, isBehindProxy: settings.trustProxy > 0 } };
}
