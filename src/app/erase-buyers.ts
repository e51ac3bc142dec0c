/**
 * Erases a buyer's personal data at the operator's request. First searches for the data without locking it.
 * Then, in one transaction, locks the found carts and orders, checks that they have not changed since the
 * search, erases the data, publishes the events and writes the audit entry.
 */
import { createInProcessEventEmitter } from "#foundation/events.ts";
import { appendAuditEntries, commandLineActor } from "#access/audit.ts";
import { eraseBuyerData, type BuyerErasureResult } from "#commerce/orders/erasure/erase-buyer.ts";
import {
  type BuyerDataToErase,
  type BuyerIdentifierForErasure,
  findBuyerRecordIdsToErase,
  findBuyerDataToErase,
  areSameBuyerRecordIds,
  lockCartsAndOrdersToErase,
} from "#commerce/orders/erasure/erasure-scope.ts";
import { indexProducts } from "#commerce/search/index-products.ts";
import type { Database } from "#database/connect.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { createFailure } from "#foundation/failure.ts";
import { type EventSubjectRenderer, runFunctionAndInsertOutboxEvents } from "#webhooks/outbox.ts";

export interface BuyerErasureServices {
  readonly db: Database;
  readonly keyring: EncryptionKeyring;
  readonly render: EventSubjectRenderer;
  readonly publicUrl: string;
  readonly now: Date;
}

export interface BuyerErasureRequest {
  readonly target: BuyerIdentifierForErasure;
  /** True to erase the data even if an order has not been shipped completely. */
  readonly isForced: boolean;
}

/**
 * The maximum number of searches for a buyer's data. The search is repeated if the buyer's data changes
 * between the search and the erasure.
 */
const roundsMax = 5;

export async function findAndEraseBuyerData(
  services: BuyerErasureServices,
  request: BuyerErasureRequest,
): Promise<BuyerErasureResult> {
  const { db, keyring, now } = services;
  for (let round = 1; round <= roundsMax; round += 1) {
    const finds = await findBuyerDataToErase(db, keyring, { target: request.target, now });
    const erased = await runInTransaction(db, (transaction) =>
      eraseFinds(transaction, services, { ...request, finds }),
    );
    if (erased !== undefined) return erased;
  }
  throw createFailure("invalid_state", {
    message:
      "The buyer's carts or orders kept changing during the erasure, so nothing was erased. Run the " +
      "command again.",
  });
}

/**
 * Erases the data that the search found. Returns undefined, and erases nothing, if the carts or orders have
 * changed since the search.
 */
async function eraseFinds(
  transaction: Transaction,
  { keyring, render, publicUrl, now }: BuyerErasureServices,
  { target, isForced, finds }: BuyerErasureRequest & { readonly finds: BuyerDataToErase },
): Promise<BuyerErasureResult | undefined> {
  const { scope } = finds;
  await lockCartsAndOrdersToErase(transaction, scope);
  if (!areSameBuyerRecordIds(scope, await findBuyerRecordIdsToErase(transaction, target))) return undefined;
  const { merchantId, cartIds, orderIds } = scope;
  const cause = { operationId: null, actor: "staff", requestId: null } as const;
  const erased = await runFunctionAndInsertOutboxEvents(
    transaction,
    { merchantId, now, cause, render },
    (outbox) => {
      const request = {
        merchantId,
        now,
        keyring,
        outbox,
        publicUrl,
        buyerReference: null,
        buyerSessionId: null,
        events: createInProcessEventEmitter(),
      };
      return eraseBuyerData(
        transaction,
        { ...request, reindex: (handle, ids) => indexProducts(handle, ids, now) },
        { finds, isForced },
      );
    },
  );
  // The audit entry contains the id of a cart or order, but never a buyer reference or an address token,
  // because audit entries are never deleted.
  const targetId = target.by === "cart" || target.by === "order" ? target.value : null;
  const details = { by: target.by, ...erased, cartIds, orderIds, ...(isForced ? { forced: true } : {}) };
  await appendAuditEntries(transaction, {
    ...commandLineActor,
    merchantId,
    now,
    action: "privacyErase",
    targetId,
    requestId: null,
    details,
  });
  return erased;
}
