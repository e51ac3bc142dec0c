/** Wires the payment driver to the built-in provider and to what settles payments. */
import { settlePayment } from "#commerce/orders/settle-payment.ts";
import { createPaymentDriver, drivePayments, type PaymentDrive, type PaymentDriver } from "#commerce/payments/driver.ts";
import { createTestProvider } from "#commerce/payments/test-provider.ts";
import { indexProducts } from "#commerce/search/index-products.ts";
import type { Log } from "#foundation/log.ts";
import type { GraphServices } from "#graph/context.ts";

export interface Payments extends PaymentDriver {
  /** What it works with. */
  readonly parts: PaymentDrive;
  /** Does all that is due now, and waits for it. */
  readonly drive: () => Promise<void>;
}

export interface PaymentOptions {
  readonly log: Log;
  /** How many can use the database at once. */
  readonly connections: number;
}

const workersMax = 8;

export function createPayments(services: Omit<GraphServices, "wakePayments" | "rateLimitScale">, { log, connections }: PaymentOptions): Payments {
  const { db, clock, keyring } = services;
  const wakePayments = (): void => driver.wake();
  const parts: PaymentDrive = {
    db,
    clock,
    keyring,
    log,
    // However much is to be paid, half of the connections are left to requests.
    workersMax: Math.min(workersMax, Math.max(1, Math.floor(connections / 2))),
    provider: createTestProvider({ db, clock }),
    settle: (operation, outcome) => settlePayment({ ...services, now: clock.now(), log, wakePayments, reindex: indexProducts }, operation, outcome),
  };
  const driver = createPaymentDriver(parts);
  return { ...driver, parts, drive: () => drivePayments(parts) };
}
