/** Reads the events (webhooks) of Stripe, and the disputes and refunds that they name. */
import type Stripe from "stripe";
import { loadDecryptedPaymentConnection } from "#commerce/payments/connections.ts";
import type { PaymentDisputeReasonCode } from "#commerce/orders/payment/disputes.ts";
import {
  type PaymentProviderEventReader,
  type PaymentProviderDispute,
  type PaymentProviderEvent,
  PaymentProviderKeyRefusedError,
} from "#commerce/payments/provider-events.ts";
import { convertStripeAmountRoundingUp } from "./stripe-amounts.ts";
import { openStripeClientForConnection, type StripeServices, verifyStripeEvent } from "./stripe-client.ts";
import { isStripeKeyRefusalError } from "./stripe-errors.ts";
import { operationMetadataName, paymentMetadataName } from "./stripe-page.ts";
import { isFailedOrCanceledRefundStatus } from "./stripe-refunds.ts";

/**
 * The types of Stripe events that the service handles. The merchant must register the webhook endpoint at
 * Stripe for these types.
 */
export const stripeEventTypes = [
  "checkout.session.completed",
  "checkout.session.expired",
  "checkout.session.async_payment_succeeded",
  "checkout.session.async_payment_failed",
  "payment_intent.amount_capturable_updated",
  "payment_intent.succeeded",
  "payment_intent.canceled",
  "payment_intent.payment_failed",
  "charge.refunded",
  "refund.updated",
  "refund.failed",
  "charge.dispute.created",
  "charge.dispute.updated",
  "charge.dispute.closed",
] as const satisfies readonly Stripe.WebhookEndpointCreateParams.EnabledEvent[];

export function createStripeEventSource(services: StripeServices): PaymentProviderEventReader {
  const { db, clock, keyring } = services;
  return {
    verify: async (connectionId, { body, signature }) => {
      const connection = await loadDecryptedPaymentConnection(db, keyring, connectionId);
      if (connection === undefined || connection.signingSecret === null) return undefined;
      const { id, merchantId, signingSecret } = connection;
      const event = await verifyStripeEvent({ body, signature, signingSecret, now: clock.now() });
      return event === undefined
        ? undefined
        : { event: toProviderEvent(event), connection: { id, merchantId } };
    },
    list: async function* list(connectionId, since) {
      const { client } = await openStripeClientForConnection(services, connectionId);
      const created = { gte: Math.floor(since.getTime() / 1000) };
      const listed = client.events.list({ created, types: [...stripeEventTypes], limit: 100 });
      try {
        for await (const event of listed) yield toProviderEvent(event);
      } catch (error) {
        if (!isStripeKeyRefusalError(error)) throw error;
        throw new PaymentProviderKeyRefusedError(
          `Stripe has refused the key of the connection ${connectionId}.`,
          {
            cause: error,
          },
        );
      }
    },
    readDispute: async (connectionId, id) => {
      const { client } = await openStripeClientForConnection(services, connectionId);
      return toProviderDispute(await client.disputes.retrieve(id));
    },
    readRefund: async (connectionId, id) => {
      const { client } = await openStripeClientForConnection(services, connectionId);
      const { status, metadata } = await client.refunds.retrieve(id);
      return {
        operationId: metadata?.[operationMetadataName] ?? null,
        hasFailed: isFailedOrCanceledRefundStatus(status),
      };
    },
  };
}

/**
 * Converts a Stripe event: keeps its id, type and time, and the ids of the objects that it names. Everything
 * else in the event is ignored.
 */
function toProviderEvent(event: Stripe.Event): PaymentProviderEvent {
  const { id, type, created } = event;
  return { id, type, createdAt: new Date(created * 1_000), ...idsOf(event.data.object) };
}

function idsOf(
  object: Stripe.Event["data"]["object"],
): Omit<PaymentProviderEvent, "id" | "type" | "createdAt"> {
  if (!("object" in object)) return { payment: {} };
  if (object.object === "checkout.session") return { payment: { pageId: object.id } };
  if (object.object === "payment_intent")
    return { payment: { intentId: object.id, reference: object.metadata[paymentMetadataName] } };
  if (object.object === "charge") return { payment: { intentId: idOf(object.payment_intent) } };
  if (object.object === "refund")
    return { payment: { intentId: idOf(object.payment_intent) }, refundId: object.id };
  if (object.object === "dispute")
    return { payment: { intentId: idOf(object.payment_intent) }, disputeId: object.id };
  return { payment: {} };
}

const idOf = (value: string | { readonly id: string } | null): string | undefined =>
  typeof value === "string" ? value : value?.id;

/** The dispute reasons of Stripe, each with its name in this service. Any other reason becomes `other`. */
const disputeReasons: Readonly<Record<string, PaymentDisputeReasonCode>> = {
  fraudulent: "fraudulent",
  unrecognized: "unrecognized",
  product_not_received: "not_received",
  product_unacceptable: "not_as_described",
  duplicate: "duplicate",
  subscription_canceled: "canceled",
};

function toProviderDispute({ id, status, amount, currency, reason }: Stripe.Dispute): PaymentProviderDispute {
  return {
    id,
    status: disputeStatusOf(status),
    amountMinor: convertStripeAmountRoundingUp(amount, currency.toUpperCase()),
    reason: disputeReasons[reason] ?? "other",
  };
}

/**
 * Converts the status of a Stripe dispute. Ignores questions of the bank (`warning_…`) and prevented
 * disputes, because they claim no money back.
 */
function disputeStatusOf(status: string): PaymentProviderDispute["status"] {
  if (status === "won" || status === "lost") return status;
  return status.startsWith("warning_") || status === "prevented" ? "ignored" : "open";
}
