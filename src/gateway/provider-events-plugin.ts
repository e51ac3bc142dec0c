/**
 * The route at which a payment provider delivers its events (webhooks). The signature is verified over the
 * body exactly as it arrived. After an error, the provider sends the event again.
 */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { createFailure } from "#foundation/failure.ts";
import { toClientAddressKey } from "#http/caller.ts";
import { createRateLimitFailure, type RateLimiter } from "#http/rate-limiter.ts";

export interface PaymentProviderWebhookPluginOptions {
  /** The path of the route, with the parameter `connectionId`. */
  readonly path: string;
  /** Verifies and handles an event. Resolves to undefined if the signature of the event is wrong. */
  readonly receive: (
    connectionId: string,
    event: { readonly body: Buffer; readonly signature: string },
  ) => Promise<string | undefined>;
  readonly limiter: RateLimiter;
}

type EventRequest = FastifyRequest<{ Params: { readonly connectionId: string } }>;

/** The maximum size of an event in bytes. An event contains one object of the provider. */
const bodyBytesMax = 512 * 1024;

export const paymentProviderWebhookPlugin: FastifyPluginAsync<PaymentProviderWebhookPluginOptions> = async (
  server,
  { path, receive, limiter },
) => {
  const answer = async (request: EventRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { body, params } = request;
    const signature = request.headers["stripe-signature"];
    const result =
      typeof signature === "string" && Buffer.isBuffer(body)
        ? await receive(params.connectionId, { body, signature })
        : undefined;
    if (result !== undefined) return reply.send({ result });
    await limiter.consume("auth-fail", toAttemptKey(request));
    throw createFailure("malformed_request", {
      message: "The header Stripe-Signature must be a valid signature of the body for this address.",
    });
  };
  await server.register(async (route) => {
    // Runs before the body is read, so that a blocked address cannot upload bodies.
    route.addHook("onRequest", (request) => requireAttemptsLeft(limiter, request));
    route.removeAllContentTypeParsers();
    route.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: bodyBytesMax }, (_request, body, done) =>
      done(null, body),
    );
    route.post(path, { bodyLimit: bodyBytesMax }, answer);
  });
};

const toAttemptKey = ({ ip }: FastifyRequest): string => `provider-events:${toClientAddressKey(ip)}`;

/** Throws if too many events with a wrong signature came from the address of the request. */
async function requireAttemptsLeft(limiter: RateLimiter, request: FastifyRequest): Promise<void> {
  const state = await limiter.peek("auth-fail", toAttemptKey(request));
  if (state?.remaining === 0) throw createRateLimitFailure("too_many_failed_attempts", state);
}
