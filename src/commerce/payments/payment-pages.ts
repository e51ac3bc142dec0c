/**
 * The pages that payment providers have opened for payments. The code of a provider writes these rows; the
 * checkout page reads where the buyer pays.
 */
import type { Selectable } from "kysely";
import type { PaymentPageTable } from "#database/tables.ts";
import type { Database } from "#database/connect.ts";
import { type DatabaseReader, runInTransaction } from "#database/transaction.ts";
import type { InProcessEvents } from "#foundation/events.ts";
import { wakePaymentOperations } from "./payment-operations.ts";

export type PaymentPageRow = Selectable<PaymentPageTable>;

/** Stores the page of a payment, unless it was stored before. */
export async function recordPaymentPage(db: Database, page: Omit<PaymentPageRow, "intentId">): Promise<void> {
  await db
    .insertInto("paymentPage")
    .values({ ...page, intentId: null })
    .onConflict((conflict) => conflict.column("reference").doNothing())
    .execute();
}

export const findPaymentPage = (db: Database, reference: string): Promise<PaymentPageRow | undefined> =>
  db.selectFrom("paymentPage").selectAll().where("reference", "=", reference).executeTakeFirst();

/** Stores the provider's id of a payment, which its later events name. */
export async function recordPaymentIntent(
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

/** The ids by which an event of a provider names a payment. A missing id is undefined. */
export interface ProviderPaymentIds {
  readonly pageId?: string | undefined;
  readonly intentId?: string | undefined;
  /** The id of the payment at this service, which the provider stores with the payment. */
  readonly reference?: string | undefined;
}

/** Finds the payment of a connection that an event names; undefined if the event is about something else. */
export async function findPaymentOfProviderIds(
  reader: DatabaseReader,
  connectionId: string,
  { pageId, intentId, reference }: ProviderPaymentIds,
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
 * Returns the URL of the page on which the buyer pays for a checkout session; undefined if its payment needs
 * no page, has none yet, or is decided.
 */
export async function findOpenPaymentPageUrl(
  reader: DatabaseReader,
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

/** Makes the pending operations of a checkout session's payment due, because the buyer has returned. */
export function wakePaymentOfSession(
  db: Database,
  {
    sessionId,
    now,
    events,
  }: { readonly sessionId: string; readonly now: Date; readonly events: InProcessEvents },
): Promise<void> {
  return runInTransaction(db, async (transaction) => {
    const payment = await transaction
      .selectFrom("payment")
      .select("id")
      .where("sessionId", "=", sessionId)
      .where("status", "=", "pending")
      .executeTakeFirst();
    if (payment !== undefined)
      await wakePaymentOperations(transaction, { paymentId: payment.id, now, events });
  });
}
