/**
 * The tables `payment_page` and `payment_connection` in memory, and services on them, so that tests of the
 * requests to Stripe need no database.
 */
import {
  type CompiledQuery,
  type DatabaseConnection,
  DummyDriver,
  InsertQueryNode,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  UpdateQueryNode,
} from "kysely";
import { getPaymentConnectionEncryptionContext } from "#commerce/payments/connections.ts";
import type { PaymentPageRow } from "#commerce/payments/payment-pages.ts";
import type { StripeServices } from "#commerce/payments/stripe/stripe-client.ts";
import type { Database } from "#database/connect.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";

/** The secret keys of a live and a test account, and the signing secret of the live account. */
export const stripeTestKeys = {
  live: "sk_live_fakeAccountOne4242",
  test: "sk_test_fakeAccountOne4242",
  signing: ["whsec", "fakeSigningSecretOfAnAccount"].join("_"),
} as const;

class MovableClock {
  at = new Date("2026-11-26T12:00:00.250Z");
  now(): Date {
    return this.at;
  }
  advance(ms: number): void {
    this.at = new Date(this.at.getTime() + ms);
  }
}

const keyring = createEncryptionKeyring([{ id: "test", key: Buffer.alloc(32, 1) }]);

export interface StripeTables extends StripeServices {
  readonly clock: MovableClock;
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
  const connection: DatabaseConnection = {
    executeQuery: <Row>(query: CompiledQuery): Promise<QueryResult<Row>> =>
      Promise.resolve({ rows: execute(query) as Row[] }),
    streamQuery: () => {
      throw new Error("No statement is read as a stream.");
    },
  };
  class TableDriver extends DummyDriver {
    override acquireConnection(): Promise<DatabaseConnection> {
      return Promise.resolve(connection);
    }
  }
  const db = new Kysely<never>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new TableDriver(),
      createIntrospector: (any) => new PostgresIntrospector(any),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }) as unknown as Database;
  return {
    db,
    keyring,
    stripeApiBase,
    clock: new MovableClock(),
    pages,
    addConnection: (id, secrets) => {
      const sealed = keyring.seal(Buffer.from(secrets), getPaymentConnectionEncryptionContext(id));
      connections.set(id, { id, merchantId: "mer_1", ...sealed });
    },
  };
}
