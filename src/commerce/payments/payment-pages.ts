/**
 * Stores the payment pages that payment providers have opened. The code of a provider inserts the rows; the
 * checkout page reads the URL to which it sends the buyer.
 */
import type { Selectable } from "kysely";
import type { PaymentPageTable } from "#database/tables.ts";
import type { Database } from "#database/connect.ts";
import { type DatabaseOrTransaction, runInTransaction } from "#database/transaction.ts";
import type { InProcessEventEmitter } from "#foundation/events.ts";
import { makePaymentOperationsDueNow } from "./payment-operations.ts";

export type PaymentPageRow = Selectable<PaymentPageTable>;

/** Stores the page of a payment. Does nothing if a page of the payment is stored already. */
export async function recordPaymentPage(db: Database, page: Omit<PaymentPageRow, "intentId">): Promise<void> {
  await db
    .insertInto("paymentPage")
    .values({ ...page, intentId: null })
    .onConflict((conflict) => conflict.column("reference").doNothing())
    .execute();
}

export const findPaymentPage = (db: Database, reference: string): Promise<PaymentPageRow | undefined> =>
  db.selectFrom("paymentPage").selectAll().where("reference", "=", reference).executeTakeFirst();

/**
 * Stores the id that the payment provider has given to a payment. Later events of the provider contain this
 * id.
 */
export async function recordPaymentIntentId(
  db: Database,
  { reference, intentId }: { readonly reference: string; readonly intentId: string },
): Promise<void> {
  await db
    .updateTable("paymentPage")
    .set({ intentId })
    .where("reference", "=", reference)
    .where("intentId", "is distinct from", intentId)
    .execute();
}

/**
 * The ids by which an event of a payment provider can name a payment. An id that the event does not contain
 * is undefined.
 */
export interface PaymentIdsInProviderEvent {
  readonly pageId?: string | undefined;
  readonly intentId?: string | undefined;
  /** The id of the payment in this service. The provider stores this id together with the payment. */
  readonly reference?: string | undefined;
}

/**
 * Finds the payment that a provider's event names, among the payments of one connection; undefined if there
 * is none.
 */
export async function findPaymentByProviderIds(
  reader: DatabaseOrTransaction,
  connectionId: string,
  { pageId, intentId, reference }: PaymentIdsInProviderEvent,
): Promise<{ readonly id: string; readonly orderId: string | null; readonly currency: string } | undefined> {
  return reader
    .selectFrom("paymentPage")
    .innerJoin("payment", "payment.id", "paymentPage.reference")
    .select(["payment.id", "payment.orderId", "payment.currency"])
    .where("paymentPage.connectionId", "=", connectionId)
    .where((where) =>
      where.or([
        ...(pageId === undefined ? [] : [where("paymentPage.pageId", "=", pageId)]),
        ...(intentId === undefined ? [] : [where("paymentPage.intentId", "=", intentId)]),
        ...(reference === undefined ? [] : [where("paymentPage.reference", "=", reference)]),
      ]),
    )
    .executeTakeFirst();
}

/**
 * Returns the URL of the page on which the buyer pays for a checkout session. Undefined if the session has no
 * pending payment, or if the payment has no page or an expired page.
 */
export async function findOpenPaymentPageUrl(
  reader: DatabaseOrTransaction,
  { sessionId, now }: { readonly sessionId: string; readonly now: Date },
): Promise<string | undefined> {
  const row = await reader
    .selectFrom("payment")
    .innerJoin("paymentPage", "paymentPage.reference", "payment.id")
    .select("paymentPage.url")
    .where("payment.sessionId", "=", sessionId)
    .where("payment.status", "=", "pending")
    .where("paymentPage.expiresAt", ">", now)
    .executeTakeFirst();
  return row?.url;
}

/**
 * Makes the pending operations of a checkout session's payment due, because the buyer has come back from the
 * payment page.
 */
export function makeCheckoutPaymentOperationsDueNow(
  db: Database,
  {
    sessionId,
    now,
    events,
  }: { readonly sessionId: string; readonly now: Date; readonly events: InProcessEventEmitter },
): Promise<void> {
  return runInTransaction(db, async (transaction) => {
    const payment = await transaction
      .selectFrom("payment")
      .select("id")
      .where("sessionId", "=", sessionId)
      .where("status", "=", "pending")
      .executeTakeFirst();
    if (payment !== undefined)
      await makePaymentOperationsDueNow(transaction, { paymentId: payment.id, now, events });
  });
}
