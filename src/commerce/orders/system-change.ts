/** A change that nobody asks for: by the clock, or because a payment provider has answered. It is told of like any other. */
import type { Database } from "#database/connect.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import type { Keyring } from "#foundation/encryption.ts";
import { type RenderSubject, withOutbox } from "#webhooks/outbox.ts";
import type { OrderTenant } from "./change-order.ts";

export interface SystemServices {
  readonly db: Database;
  readonly now: Date;
  readonly keyring: Keyring;
  readonly publicUrl: string;
  readonly render: RenderSubject;
  readonly reindex: (transaction: Transaction, productIds: readonly string[], now: Date) => Promise<void>;
  readonly wakePayments: () => void;
}

const cause = { operationId: null, actor: "system", requestId: null } as const;

/** In a transaction of its own. */
export function changeAsSystem<Changed>(
  services: SystemServices,
  merchantId: string,
  work: (transaction: Transaction, tenant: OrderTenant) => Promise<Changed>,
): Promise<Changed> {
  const { db, now, render, reindex, keyring, publicUrl, wakePayments } = services;
  return inTransaction(db, (transaction) =>
    withOutbox(transaction, { merchantId, now, cause, render }, (outbox) =>
      work(transaction, {
        merchantId,
        now,
        outbox,
        keyring,
        publicUrl,
        wakePayments,
        buyerReference: null,
        isSystem: true,
        actor: "system",
        reindex: (handle, ids) => reindex(handle, ids, now),
      }),
    ),
  );
}
