/**
 * Handles the events of payment providers. An event only names the objects that have changed, so the service
 * reads their state from the provider before it saves anything. A repeated event is recognized by its id. If
 * the handling fails, the event is not recorded, so that the provider sends the event again.
 */
import { findPaymentByProviderIds } from "#commerce/payments/payment-pages.ts";
import { makePaymentOperationsDueNow } from "#commerce/payments/payment-operations.ts";
import type {
  PaymentConnectionOfProviderEvent,
  PaymentProviderEventReader,
  PaymentProviderEvent,
  PaymentProviderRefund,
} from "#commerce/payments/provider-events.ts";
import type { PaymentProvider } from "#commerce/payments/provider.ts";
import { runInTransaction } from "#database/transaction.ts";
import { runOrderChangeAsSystem, type ServicesForSystemOrderChanges } from "#commerce/orders/change-order.ts";
import { recordDisputeOpeningOrEnd } from "./provider-disputes.ts";
import { saveLateRefundFailure, saveLateRefundFailureOfPaymentWithoutOrder } from "./provider-refunds.ts";
import { applyProviderAmountsToPayment } from "./reconcile-payment.ts";

export interface PaymentProviderEventServices extends ServicesForSystemOrderChanges {
  readonly provider: PaymentProvider;
  readonly eventSource: PaymentProviderEventReader;
}

/**
 * The result of handling an event. `repeated`: the event was handled before. `later`: the event must be
 * handled again, because an operation of the payment is pending or has just ended.
 * `handleMissedPaymentProviderEvents` handles such an event again within minutes.
 */
export type PaymentProviderEventHandlingResult = "handled" | "repeated" | "later";

export async function handlePaymentProviderEvent(
  services: PaymentProviderEventServices,
  connection: PaymentConnectionOfProviderEvent,
  event: PaymentProviderEvent,
): Promise<PaymentProviderEventHandlingResult> {
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

/**
 * Saves what has happened to the payment that an event names: a failed refund, a dispute, or changed amounts.
 * Returns false if the event must be handled again later.
 */
async function followEvent(
  services: PaymentProviderEventServices,
  connection: PaymentConnectionOfProviderEvent,
  event: PaymentProviderEvent,
): Promise<boolean> {
  const { db, now, events } = services;
  if (Object.values(event.payment).every((id) => id === undefined)) return true;
  const payment = await findPaymentByProviderIds(db, connection.id, event.payment);
  if (payment === undefined) return true;
  const { id: paymentId, orderId } = payment;
  await runInTransaction(db, (transaction) =>
    makePaymentOperationsDueNow(transaction, { paymentId, now, events }),
  );
  const change = { ...connection, orderId, paymentId, currency: payment.currency };
  const refund = await readRefund(services, connection.id, event.refundId);
  const { operationId, hasFailed } = refund;
  const isFollowed =
    !hasFailed || operationId === null || (await followFailedRefund(services, change, operationId));
  if (!isFollowed) return false;
  if (orderId === null) return true;
  const ofOrder = { ...change, orderId };
  if (event.disputeId !== undefined) await followDispute(services, ofOrder, event.disputeId);
  return reconcile(services, ofOrder, refund);
}

interface PaymentOfEvent<OrderId> extends PaymentConnectionOfProviderEvent {
  readonly orderId: OrderId;
  readonly paymentId: string;
  readonly currency: string;
}

async function followDispute(
  services: PaymentProviderEventServices,
  { id: connectionId, merchantId, orderId, paymentId }: PaymentOfEvent<string>,
  disputeId: string,
): Promise<void> {
  const dispute = await services.eventSource.readDispute(connectionId, disputeId);
  const step = (): Promise<boolean> =>
    runOrderChangeAsSystem(services, merchantId, (transaction, context) =>
      recordDisputeOpeningOrEnd(transaction, context, { connectionId, orderId, paymentId, dispute }),
    );
  if (await step()) await step();
}

/**
 * Reads the refund that an event names. If the event names no refund, returns a result without an operation
 * and without a failure.
 */
async function readRefund(
  { eventSource }: PaymentProviderEventServices,
  connectionId: string,
  refundId: string | undefined,
): Promise<PaymentProviderRefund> {
  return refundId === undefined
    ? { operationId: null, hasFailed: false }
    : eventSource.readRefund(connectionId, refundId);
}

/**
 * Saves the failure of a refund that this service has requested. Returns false if the failure must be saved
 * later.
 */
function followFailedRefund(
  services: PaymentProviderEventServices,
  { merchantId, orderId, paymentId }: PaymentOfEvent<string | null>,
  operationId: string,
): Promise<boolean> {
  return runOrderChangeAsSystem(services, merchantId, async (transaction, context) => {
    if (orderId === null)
      return saveLateRefundFailureOfPaymentWithoutOrder(transaction, context, { paymentId, operationId });
    await saveLateRefundFailure(transaction, context, { orderId, paymentId, operationId });
    return true;
  });
}

const lookupMsMax = 20_000;

async function reconcile(
  services: PaymentProviderEventServices,
  { id: connectionId, merchantId, orderId, paymentId, currency }: PaymentOfEvent<string>,
  refund: PaymentProviderRefund,
): Promise<boolean> {
  const { provider, now: askedAt } = services;
  const signal = AbortSignal.timeout(lookupMsMax);
  const amounts = await provider.lookup({ connectionId, reference: paymentId, currency, signal });
  if (amounts.outcome !== "authorized" && amounts.outcome !== "voided") return true;
  const hasFailedRefund = refund.hasFailed && refund.operationId === null;
  return runOrderChangeAsSystem(services, merchantId, (transaction, context) =>
    applyProviderAmountsToPayment(transaction, context, {
      orderId,
      paymentId,
      amounts,
      askedAt,
      hasFailedRefund,
    }),
  );
}
