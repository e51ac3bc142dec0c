/**
 * A buyer's erasure as somebody at the command line asks for it: it is looked what there is, and that is
 * erased, told of and written down in one transaction, in which it is still all there is.
 */
import { createServiceEvents } from "#foundation/events.ts";
import { appendAuditEntries, commandLineActor } from "#access/audit.ts";
import { eraseBuyer, type Erased } from "#commerce/orders/erasure/erase-buyer.ts";
import {
  type ErasureFinds,
  type ErasureTarget,
  findErasureScope,
  findForErasure,
  isSameScope,
  lockErasureScope,
} from "#commerce/orders/erasure/erasure-scope.ts";
import { indexProducts } from "#commerce/search/index-products.ts";
import type { Database } from "#database/connect.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import type { Keyring } from "#foundation/encryption.ts";
import { fail } from "#foundation/failure.ts";
import { type RenderSubject, withOutbox } from "#webhooks/outbox.ts";

export interface ErasureServices {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly render: RenderSubject;
  readonly publicUrl: string;
  readonly now: Date;
}

export interface ErasureRequest {
  readonly target: ErasureTarget;
  /** Also while an order is still to be sent. */
  readonly isForced: boolean;
}

/** While it is looked for, the buyer may go on: then what was found is looked for again. */
const roundsMax = 5;

export async function eraseBuyerOnRequest(services: ErasureServices, asked: ErasureRequest): Promise<Erased> {
  const { db, keyring, now } = services;
  for (let round = 1; round <= roundsMax; round += 1) {
    const finds = await findForErasure(db, keyring, { target: asked.target, now });
    const erased = await inTransaction(db, (transaction) =>
      eraseFound(transaction, services, { ...asked, finds }),
    );
    if (erased !== undefined) return erased;
  }
  throw fail("invalid_state", {
    message: "The buyer orders or changes something all the time. Nothing was erased: try it again.",
  });
}

/** Undefined, and nothing is done, where something came or went since it was looked. */
async function eraseFound(
  transaction: Transaction,
  { keyring, render, publicUrl, now }: ErasureServices,
  { target, isForced, finds }: ErasureRequest & { readonly finds: ErasureFinds },
): Promise<Erased | undefined> {
  const { scope } = finds;
  await lockErasureScope(transaction, scope);
  if (!isSameScope(scope, await findErasureScope(transaction, target))) return undefined;
  const { merchantId, cartIds, orderIds } = scope;
  const cause = { operationId: null, actor: "staff", requestId: null } as const;
  const erased = await withOutbox(transaction, { merchantId, now, cause, render }, (outbox) => {
    const asked = {
      merchantId,
      now,
      keyring,
      outbox,
      publicUrl,
      buyerReference: null,
      events: createServiceEvents(),
    };
    return eraseBuyer(
      transaction,
      { ...asked, reindex: (handle, ids) => indexProducts(handle, ids, now) },
      { finds, isForced },
    );
  });
  // A buyer's reference or an address token would be found here for ever.
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
