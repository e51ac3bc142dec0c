/**
 * Background work: payments, webhook deliveries, exports, and sweeps (periodic jobs). A process with the role
 * `all` does its own background work. With PostgreSQL, `worker` processes can do the background work instead
 * of the `gateway` processes, which notify the workers with NOTIFY when there is work to do.
 */
import { savePaymentOperationOutcomeAsSystem } from "#commerce/orders/payment/settle-payment.ts";
import {
  createPaymentOperationWorker,
  runDuePaymentOperations,
  type PaymentOperationDriverOptions,
  type PaymentOperationDriver,
} from "#commerce/payments/driver.ts";
import { createPaymentProviderRouter, type PaymentProvider } from "#commerce/payments/provider.ts";
import { createStripeProvider } from "#commerce/payments/stripe/stripe-provider.ts";
import { createTestPaymentProvider } from "#commerce/payments/test/test-provider.ts";
import { createExportWorker, type ExportWorker } from "#commerce/exports/export-worker.ts";
import { indexProducts } from "#commerce/search/index-products.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import type { Log } from "#foundation/log.ts";
import type { GraphqlServices } from "#graph/context.ts";
import { createWebhookDispatcher, type WebhookDispatcher } from "#webhooks/dispatch/dispatcher.ts";
import { createWebhookSender, type WebhookSender } from "#webhooks/safe-request.ts";
import type { InterProcessNotices } from "#database/notices.ts";
import type { ServiceSettings } from "./settings.ts";
import { startPeriodicCleanupSweeps } from "./sweeps.ts";

/**
 * The role of a process. `all` serves requests and does background work; `gateway` only serves requests;
 * `worker` only does background work.
 */
export type ProcessRole = "all" | "gateway" | "worker";

export interface PaymentBackgroundWork extends PaymentOperationDriver {
  readonly parts: PaymentOperationDriverOptions;
  /**
   * Runs all payment operations (for example captures) that are due. The promise resolves when all these
   * operations have ended.
   */
  readonly drive: () => Promise<void>;
}

export interface ServiceBackgroundWork {
  readonly payments: PaymentBackgroundWork;
  readonly deliveries: WebhookDispatcher;
  readonly exports: ExportWorker;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

/** Replacements of the requests that the background work sends over the network. */
export interface ExternalRequestReplacements {
  readonly webhookSender: WebhookSender;
  /** Returns the provider that the service uses in place of the built-in test provider. */
  readonly wrapTestProvider: (provider: PaymentProvider) => PaymentProvider;
}

export interface ServiceBackgroundWorkOptions {
  readonly database: OpenedDatabase;
  readonly settings: ServiceSettings;
  readonly notices: InterProcessNotices;
  readonly log: Log;
  readonly role: ProcessRole;
  readonly external?: ExternalRequestReplacements | undefined;
}

export function createServiceBackgroundWorkers(
  services: GraphqlServices,
  { database, settings, notices, log, role, external }: ServiceBackgroundWorkOptions,
): ServiceBackgroundWork {
  const payments = createPayments(services, {
    log,
    connections: database.engine === "pglite" ? embeddedConnections : settings.databasePool,
    areNoticesReceived: notices.isReceiving,
    external,
  });
  const deliveries = createDeliveries(services, settings, {
    log,
    areNoticesReceived: notices.isReceiving,
    external,
  });
  const exports = createExportWorker({ ...services, log, areNoticesReceived: notices.isReceiving });
  const { events } = services;
  if (role === "gateway") {
    events.on("paymentsDue", () => notices.send("payments"));
    events.on("deliveriesDue", () => notices.send("deliveries"));
    events.on("exportsDue", () => notices.send("exports"));
  } else {
    events.on("paymentsDue", () => payments.wake());
    events.on("deliveriesDue", () => deliveries.wake());
    events.on("exportsDue", () => exports.wake());
    events.on("noticeReceived", (text) => {
      if (text === "" || text === "payments") payments.wake();
      if (text === "" || text === "deliveries") deliveries.wake();
      if (text === "" || text === "exports") exports.wake();
    });
  }
  let stopSweeps: (() => Promise<void>) | undefined;
  return {
    payments,
    deliveries,
    exports,
    start: () => {
      if (role === "gateway") return;
      stopSweeps = startPeriodicCleanupSweeps(services, log);
      payments.start();
      deliveries.start();
      exports.start();
    },
    stop: async () => {
      await stopSweeps?.();
      await Promise.all([payments.stop(), deliveries.stop(), exports.stop()]);
    },
  };
}

/**
 * The number of database connections that is assumed for PGlite when the number of concurrent payment
 * operations is calculated. PGlite has only one connection, but several payment operations must still run
 * concurrently, so that a slow payment provider does not delay other payments.
 */
const embeddedConnections = 8;
const paymentWorkersMax = 8;

interface PaymentOptions {
  readonly log: Log;
  /** The maximum number of database connections that the process opens. */
  readonly connections: number;
  readonly areNoticesReceived: () => boolean;
  readonly external: ExternalRequestReplacements | undefined;
}

function createPayments(
  services: GraphqlServices,
  { log, connections, areNoticesReceived, external }: PaymentOptions,
): PaymentBackgroundWork {
  const { db, clock, keyring, publicUrl } = services;
  const testProvider = createTestPaymentProvider({ db, clock });
  const parts: PaymentOperationDriverOptions = {
    db,
    clock,
    keyring,
    publicUrl,
    log,
    areNoticesReceived,
    // Payments use at most half of the database connections, so that the other half is always free for
    // requests.
    workersMax: Math.min(paymentWorkersMax, Math.max(1, Math.floor(connections / 2))),
    provider: createPaymentProviderRouter({
      test: external?.wrapTestProvider(testProvider) ?? testProvider,
      connected: createStripeProvider(services),
    }),
    settle: (operation, outcome) =>
      savePaymentOperationOutcomeAsSystem(
        { ...services, now: clock.now(), log, reindex: indexProducts },
        operation,
        outcome,
      ),
  };
  return { ...createPaymentOperationWorker(parts), parts, drive: () => runDuePaymentOperations(parts) };
}

function createDeliveries(
  services: GraphqlServices,
  settings: Pick<ServiceSettings, "webhookAllowLoopback" | "webhookRetryScale">,
  { log, areNoticesReceived, external }: Omit<PaymentOptions, "connections">,
): WebhookDispatcher {
  const { db, clock, keyring, render, events } = services;
  const sender =
    external?.webhookSender ??
    createWebhookSender({ isLoopbackAllowed: settings.webhookAllowLoopback, clock });
  const dispatcher = createWebhookDispatcher({
    db,
    clock,
    keyring,
    render,
    log,
    areNoticesReceived,
    sender,
    scale: settings.webhookRetryScale,
    onDeliveriesChanged: () => void events.emit("deliveriesChanged"),
    onAttempt: (attempt) => void events.emit("deliveryAttempted", attempt),
  });
  return {
    ...dispatcher,
    stop: async () => {
      await dispatcher.stop();
      await sender.close();
    },
  };
}
