/**
 * Handles the events of payment providers. An event only says what has changed: the state is read from the
 * provider before anything is saved. An event that arrives again is recognized by its id. If the handling
 * fails, the event is not recorded, so that the provider sends it again.
 */
import { findPaymentOfProviderIds } from "#commerce/payments/payment-pages.ts";
import { wakePaymentOperations } from "#commerce/payments/payment-operations.ts";
import type { PaymentProviderEventSource, ProviderEvent } from "#commerce/payments/provider-events.ts";
import type { PaymentProvider } from "#commerce/payments/provider.ts";
import { runInTransaction } from "#database/transaction.ts";
import { changeOrderAsSystem, type SystemOrderChangeServices } from "#commerce/orders/change-order.ts";
import { recordDisputeStep } from "./provider-disputes.ts";
import { adoptProviderPaymentState, saveLateRefundFailure } from "./reconcile-payment.ts";

export interface ProviderEventServices extends SystemOrderChangeServices {
  readonly provider: PaymentProvider;
  readonly eventSource: PaymentProviderEventSource;
}

export interface ConnectionOfEvent {
  readonly id: string;
  readonly merchantId: string;
}

/**
 * `repeated` if the event was handled before; `later` if an operation of the payment is pending or has just
 * ended, so that the event must be handled again. `readMissedProviderEvents` does this within minutes.
 */
export type ProviderEventResult = "handled" | "repeated" | "later";

export async function handleProviderEvent(
  services: ProviderEventServices,
  connection: ConnectionOfEvent,
  event: ProviderEvent,
): Promise<ProviderEventResult> {
  const { db, now } = services;
  const handled = await db
    .selectFrom("providerEvent")
    .select("id")
    .where("connectionId", "=", connection.id)
    .where("id", "=", event.id)
    .executeTakeFirst();
  if (handled !== undefined) return "repeated";
  if (!(await followEvent(services, connection, event))) return "later";
  await db
    .insertInto("providerEvent")
    .values({ connectionId: connection.id, id: event.id, type: event.type.slice(0, 100), handledAt: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return "handled";
}

/** Returns false if the event must be handled again later. */
async function followEvent(
  services: ProviderEventServices,
  connection: ConnectionOfEvent,
  event: ProviderEvent,
): Promise<boolean> {
  const { db, now, events } = services;
  if (Object.values(event.payment).every((id) => id === undefined)) return true;
  const payment = await findPaymentOfProviderIds(db, connection.id, event.payment);
  if (payment === undefined) return true;
  const { id: paymentId, orderId } = payment;
  await runInTransaction(db, (transaction) => wakePaymentOperations(transaction, { paymentId, now, events }));
  if (orderId === null) return true;
  const change = { ...connection, orderId, paymentId };
  if (event.disputeId !== undefined) await followDispute(services, change, event.disputeId);
  if (event.refundId !== undefined) await followRefund(services, change, event.refundId);
  return reconcile(services, { ...change, currency: payment.currency });
}

interface PaymentOfEvent extends ConnectionOfEvent {
  readonly orderId: string;
  readonly paymentId: string;
}

async function followDispute(
  services: ProviderEventServices,
  { id: connectionId, merchantId, orderId, paymentId }: PaymentOfEvent,
  disputeId: string,
): Promise<void> {
  const dispute = await services.eventSource.readDispute(connectionId, disputeId);
  const step = (): Promise<boolean> =>
    changeOrderAsSystem(services, merchantId, (transaction, context) =>
      recordDisputeStep(transaction, context, { connectionId, orderId, paymentId, dispute }),
    );
  if (await step()) await step();
}

async function followRefund(
  services: ProviderEventServices,
  { id: connectionId, merchantId, orderId }: PaymentOfEvent,
  refundId: string,
): Promise<void> {
  const { operationId, hasFailed } = await services.eventSource.readRefund(connectionId, refundId);
  if (operationId === null || !hasFailed) return;
  await changeOrderAsSystem(services, merchantId, (transaction, context) =>
    saveLateRefundFailure(transaction, context, { orderId, operationId }),
  );
}

const lookupMsMax = 20_000;

async function reconcile(
  services: ProviderEventServices,
  {
    id: connectionId,
    merchantId,
    orderId,
    paymentId,
    currency,
  }: PaymentOfEvent & { readonly currency: string },
): Promise<boolean> {
  const { provider, now: askedAt } = services;
  const signal = AbortSignal.timeout(lookupMsMax);
  const found = await provider.lookup({ connectionId, reference: paymentId, currency, signal });
  if (found.outcome !== "authorized" && found.outcome !== "voided") return true;
  return changeOrderAsSystem(services, merchantId, (transaction, context) =>
    adoptProviderPaymentState(transaction, context, { orderId, paymentId, amounts: found, askedAt }),
  );
}
