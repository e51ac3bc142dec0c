/**
 * What goes on beside requests: payments, webhooks, and what comes due by the clock. It runs in the process that serves, or, on PostgreSQL, in
 * workers, which the processes that serve wake.
 */
import type { OpenDatabase } from "#database/connect.ts";
import { createTeller } from "#database/notices.ts";
import type { Log } from "#foundation/log.ts";
import type { GraphServices } from "#graph/context.ts";
import type { Dispatcher } from "#webhooks/dispatch/dispatcher.ts";
import { createDeliveries } from "./deliveries.ts";
import { createPayments, type Payments } from "./payments.ts";
import type { Settings } from "./settings.ts";
import { startSweeps } from "./sweeps.ts";

/** `all`: one process is enough. `gateway`: leaves the rest to workers. `worker`: does the rest. */
export type Role = "all" | "gateway" | "worker";

export interface Background {
  readonly payments: Payments;
  readonly deliveries: Dispatcher;
  /** There is something to do, here or elsewhere. */
  readonly wakePayments: () => void;
  readonly wakeDeliveries: () => void;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

export interface BackgroundParts {
  readonly database: OpenDatabase;
  readonly settings: Settings;
  readonly log: Log;
  readonly role: Role;
}

const channel = "commerce_gateway";

export function createBackground(services: GraphServices, { database, settings, log, role }: BackgroundParts): Background {
  const payments = createPayments(services, { log, connections: database.engine === "pglite" ? embeddedTurns : settings.databasePool });
  const deliveries = createDeliveries({ ...services, settings, log });
  const works = { payments, deliveries };
  const tell = role === "gateway" ? createTeller(database.db, channel) : undefined;
  const wake = (name: keyof typeof works): void => (tell === undefined ? works[name].wake() : tell(name));
  /** What may have been missed wakes all. */
  const hear = (payload: string): void => {
    if (payload !== "deliveries") payments.wake();
    if (payload !== "payments") deliveries.wake();
  };
  let stopSweeps: (() => Promise<void>) | undefined;
  let stopListening: (() => Promise<void>) | undefined;
  return {
    payments,
    deliveries,
    wakePayments: () => wake("payments"),
    wakeDeliveries: () => wake("deliveries"),
    start: () => {
      if (role === "gateway") return;
      stopSweeps = startSweeps(services, log);
      payments.start();
      deliveries.start();
      stopListening = database.listen(channel, hear);
    },
    stop: async () => {
      await stopListening?.();
      await stopSweeps?.();
      await Promise.all([payments.stop(), deliveries.stop()]);
    },
  };
}

/** The embedded database has one connection, which goes round: so many may wait for it, and a slow provider delays nobody else. */
const embeddedTurns = 8;
