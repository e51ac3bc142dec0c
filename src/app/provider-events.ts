/**
 * Connects the events of Stripe with the rules of orders, for the route that receives the events and for the
 * sweep that reads missed events.
 */
import {
  handlePaymentProviderEvent,
  type PaymentProviderEventServices,
} from "#commerce/orders/payment/handle-provider-event.ts";
import { providerEventsPath } from "#commerce/payments/provider-events.ts";
import { createStripeEventSource } from "#commerce/payments/stripe/stripe-events.ts";
import { createStripeProvider } from "#commerce/payments/stripe/stripe-provider.ts";
import { indexProducts } from "#commerce/search/index-products.ts";
import { isIdOfKind } from "#foundation/ids.ts";
import type { PaymentProviderWebhookPluginOptions } from "#gateway/provider-events-plugin.ts";
import type { GraphqlServices } from "#graph/context.ts";

export const createPaymentProviderEventServices = (
  services: GraphqlServices,
): Omit<PaymentProviderEventServices, "now"> => ({
  ...services,
  reindex: indexProducts,
  provider: createStripeProvider(services),
  eventSource: createStripeEventSource(services),
});

/**
 * Returns the route that receives a payment provider's events: its path, and the function that verifies and
 * handles an event. The path contains the id of the merchant's connection to the provider. The function
 * resolves to undefined if the signature is wrong or the connection does not exist.
 */
export function createPaymentEventRoute(
  services: GraphqlServices,
): Pick<PaymentProviderWebhookPluginOptions, "path" | "receive"> {
  const eventServices = createPaymentProviderEventServices(services);
  return {
    path: providerEventsPath,
    receive: async (connectionId, signed) => {
      const verified = isIdOfKind("paymentConnection", connectionId)
        ? await eventServices.eventSource.verify(connectionId, signed)
        : undefined;
      if (verified === undefined) return undefined;
      const { connection, event } = verified;
      return handlePaymentProviderEvent({ ...eventServices, now: services.clock.now() }, connection, event);
    },
  };
}
