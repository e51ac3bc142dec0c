/**
 * What goes on beside requests: payments, webhooks, and what comes due by the clock. It runs in the process that serves, or, on PostgreSQL, in
 * workers, which the processes that serve wake.
 */
import type { OpenDatabase } from "#database/connect.ts";
import { createTeller, type Listening, noticeChannel } from "#database/notices.ts";
import type { Log } from "#foundation/log.ts";
import type { GraphServices } from "#graph/context.ts";
import type { AttemptObserver } from "#webhooks/dispatch/dispatch-parts.ts";
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
  /** Whether all that other processes told up to a moment ago has been heard. */
  readonly isCurrent: () => boolean;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

export interface BackgroundParts {
  readonly database: OpenDatabase;
  readonly settings: Settings;
  readonly log: Log;
  readonly role: Role;
  /** What is told about credentials; empty: something may have been missed. */
  readonly onCredentials: (payload: string) => void;
  readonly onAttempt?: AttemptObserver;
}

export function createBackground(services: GraphServices, parts: BackgroundParts): Background {
  const { database, settings, log, role, onCredentials, onAttempt } = parts;
  const payments = createPayments(services, { log, connections: database.engine === "pglite" ? embeddedTurns : settings.databasePool });
  const deliveries = createDeliveries({ ...services, settings, log, onAttempt });
  const works = { payments, deliveries };
  const tell = role === "gateway" ? createTeller(database.db, noticeChannel) : undefined;
  const wake = (name: keyof typeof works): void => (tell === undefined ? works[name].wake() : tell(name));
  /** What may have been missed is of concern to all. */
  const hear = (payload: string): void => {
    onCredentials(payload);
    if (role === "gateway") return;
    if (payload === "" || payload === "payments") payments.wake();
    if (payload === "" || payload === "deliveries") deliveries.wake();
  };
  let stopSweeps: (() => Promise<void>) | undefined;
  let listening: Listening | undefined;
  return {
    payments,
    deliveries,
    wakePayments: () => wake("payments"),
    wakeDeliveries: () => wake("deliveries"),
    isCurrent: () => listening?.isCurrent() === true,
    start: () => {
      listening = database.listen(noticeChannel, { onNotice: hear, onDeaf: () => log.warn({ event: "notices_lost" }, deaf) });
      if (role === "gateway") return;
      stopSweeps = startSweeps(services, log);
      payments.start();
      deliveries.start();
    },
    stop: async () => {
      await listening?.stop();
      await stopSweeps?.();
      await Promise.all([payments.stop(), deliveries.stop()]);
    },
  };
}

const deaf =
  "What other processes tell does not arrive here, as behind a transaction pooler: set DATABASE_DIRECT_URL to PostgreSQL itself. Until then every request looks its credentials up.";

/** The embedded database has one connection, which goes round: so many may wait for it, and a slow provider delays nobody else. */
const embeddedTurns = 8;
