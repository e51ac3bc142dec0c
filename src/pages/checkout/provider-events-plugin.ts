/**
 * The route at which Stripe delivers its events (webhooks): `POST /payments/stripe/{connectionId}/events`.
 * The signature is verified over the body exactly as it arrived. After an error, Stripe sends the event
 * again.
 */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { handleProviderEvent } from "#commerce/orders/payment/handle-provider-event.ts";
import { createStripeEventSource } from "#commerce/payments/stripe/stripe-events.ts";
import { createStripeProvider } from "#commerce/payments/stripe/stripe-provider.ts";
import { indexProducts } from "#commerce/search/index-products.ts";
import { createFailure } from "#foundation/failure.ts";
import { isIdOfKind } from "#foundation/ids.ts";
import type { GraphqlServices } from "#graph/context.ts";
import { toClientAddressKey } from "#http/caller.ts";
import { createRateLimitFailure, type RateLimiter } from "#http/rate-limiter.ts";
import { registerMethodNotAllowedRoute } from "#http/server.ts";

export interface ProviderEventsPluginOptions {
  readonly services: GraphqlServices;
  readonly limiter: RateLimiter;
}

const path = "/payments/stripe/:connectionId/events";
/** The maximum size of an event in bytes. An event contains one object of Stripe. */
const bodyBytesMax = 512 * 1024;

export const providerEventsPlugin: FastifyPluginAsync<ProviderEventsPluginOptions> = async (
  server,
  { services, limiter },
) => {
  const [eventSource, provider] = [createStripeEventSource(services), createStripeProvider(services)];
  const receive = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { connectionId } = request.params as { readonly connectionId: string };
    await requireAttemptsLeft(limiter, request);
    const connection = isIdOfKind("paymentConnection", connectionId)
      ? await services.db
          .selectFrom("paymentConnection")
          .select(["id", "merchantId"])
          .where("id", "=", connectionId)
          .executeTakeFirst()
      : undefined;
    const signature = request.headers["stripe-signature"];
    const event =
      connection === undefined || typeof signature !== "string" || !Buffer.isBuffer(request.body)
        ? undefined
        : await eventSource.verify(connection.id, { body: request.body, signature });
    if (connection === undefined || event === undefined) {
      await limiter.consume("auth-fail", toAttemptKey(request));
      throw createFailure("malformed_request", {
        message: "The header Stripe-Signature must be a valid signature of the body for this address.",
      });
    }
    const now = services.clock.now();
    const options = { ...services, now, reindex: indexProducts, provider, eventSource };
    const result = await handleProviderEvent(options, connection, event);
    return reply.send({ result });
  };
  await server.register(async (route) => {
    route.removeAllContentTypeParsers();
    route.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: bodyBytesMax }, (_request, body, done) =>
      done(null, body),
    );
    route.post(path, { bodyLimit: bodyBytesMax }, receive);
  });
  registerMethodNotAllowedRoute(server, path, ["POST"]);
};

const toAttemptKey = ({ ip }: FastifyRequest): string => `provider-events:${toClientAddressKey(ip)}`;

/** Throws if too many events with a wrong signature came from the address of the request. */
async function requireAttemptsLeft(limiter: RateLimiter, request: FastifyRequest): Promise<void> {
  const state = await limiter.peek("auth-fail", toAttemptKey(request));
  if (state?.remaining === 0) throw createRateLimitFailure("too_many_failed_attempts", state);
}
