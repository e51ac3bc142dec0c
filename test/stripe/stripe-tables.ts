/**
 * The tables `payment_page` and `payment_connection` in memory, and services on them, so that tests of the
 * requests to Stripe need no database.
 */
import { type CompiledQuery, InsertQueryNode, UpdateQueryNode } from "kysely";
import { getPaymentConnectionEncryptionContext } from "#commerce/payments/connections.ts";
import type { PaymentPageRow } from "#commerce/payments/payment-pages.ts";
import type { StripeServices } from "#commerce/payments/stripe/stripe-client.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import { createMemoryDatabase } from "#test/support/memory-database.ts";
import { TestClock } from "#test/support/test-clock.ts";

/** The secret keys of a live and a test account, and the signing secret of the live account. */
export const stripeTestKeys = {
  live: "sk_live_fakeAccountOne4242",
  test: "sk_test_fakeAccountOne4242",
  signing: ["whsec", "fakeSigningSecretOfAnAccount"].join("_"),
} as const;

const keyring = createEncryptionKeyring([{ id: "test", key: Buffer.alloc(32, 1) }]);

export interface StripeTables extends StripeServices {
  readonly clock: TestClock;
  /** The stored payment pages, by the id of their payment. */
  readonly pages: Map<string, PaymentPageRow>;
  /** Stores a payment connection with its secrets, separated by a line break. */
  readonly addConnection: (id: string, secrets: string) => void;
}

export function createStripeTables(stripeApiBase: string): StripeTables {
  const pages = new Map<string, PaymentPageRow>();
  const connections = new Map<string, object>();
  const execute = ({ query, parameters }: CompiledQuery): readonly unknown[] => {
    if (InsertQueryNode.is(query)) {
      const names = query.columns?.map(({ column }) => column.name) ?? [];
      const row = Object.fromEntries(
        names.map((name, index) => [name, parameters[index]]),
      ) as unknown as PaymentPageRow;
      if (!pages.has(row.reference)) pages.set(row.reference, row);
      return [];
    }
    if (UpdateQueryNode.is(query)) {
      const [intentId, reference] = parameters as readonly [string, string];
      const page = pages.get(reference);
      if (page !== undefined) pages.set(reference, { ...page, intentId });
      return [];
    }
    const id = String(parameters[0]);
    return [pages.get(id) ?? connections.get(id)].filter((row) => row !== undefined);
  };
  const db = createMemoryDatabase(execute);
  return {
    db,
    keyring,
    stripeApiBase,
    clock: new TestClock(new Date("2026-11-26T12:00:00.250Z")),
    pages,
    addConnection: (id, secrets) => {
      const sealed = keyring.seal(Buffer.from(secrets), getPaymentConnectionEncryptionContext(id));
      connections.set(id, { id, merchantId: "mer_1", ...sealed });
    },
  };
}
