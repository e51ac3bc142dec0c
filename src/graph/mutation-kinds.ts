/**
 * The kinds of mutations. Each says what its commands get beside the transaction and the input, and the
 * arguments that its mutations have in common: `changeMutation({ ...cartChange, name, … })`.
 */
import type { AccessEvent } from "#access/credential-changes.ts";
import type { AccessCommandContext } from "#access/keys/manage-keys.ts";
import { isIntegrator } from "#access/viewer.ts";
import type { CartCommandContext } from "#commerce/carts/change-cart.ts";
import type { SessionCommandContext } from "#commerce/checkout/change-session.ts";
import type { CommandContext } from "#commerce/command-context.ts";
import type { OrderCommandContext } from "#commerce/orders/change-order.ts";
import { indexProducts } from "#commerce/search/index-products.ts";
import { fail } from "#foundation/failure.ts";
import type { EndpointCommandContext } from "#webhooks/endpoints/change-endpoint.ts";
import { type Cause, withOutbox } from "#webhooks/outbox.ts";
import type { ReplayTenant } from "#webhooks/replay-delivery.ts";
import { publishAccessEvents } from "./access/access-events.ts";
import {
  type CallerKind,
  getCallerKind,
  type GraphContext,
  mayAccessSession,
  getOrderActor,
  getCallerMerchantId,
  checkoutPagesAndFrontends,
  requireMerchantId,
  getInternalCredentialId,
} from "./context.ts";
import type { MutationContext, MutationKind } from "./mutation.ts";

/** The context of changes of one merchant: their events are written when the command is done. */
const createMerchantContext = <Context>(
  contextOf: (base: CommandContext, request: GraphContext) => Context,
): MutationContext<Context> => ({
  hasMerchantId: true,
  open: (request, argument) => {
    const merchantId = requireMerchantId(request, argument);
    return {
      merchantId,
      run: ({ transaction, now }, command) => {
        const circumstances = {
          merchantId,
          now,
          cause: getEventCause(request),
          render: request.services.render,
        };
        return withOutbox(transaction, circumstances, (outbox) =>
          command(
            contextOf(
              { merchantId, now, outbox, reindex: (handle, ids) => indexProducts(handle, ids, now) },
              request,
            ),
          ),
        );
      },
    };
  },
});

/** What belongs to a merchant: products, markets, promotions. */
export const merchantMutationKind: MutationKind<CommandContext> = {
  context: createMerchantContext((base) => base),
  idempotency: "optional",
};

const toCartContext = (
  base: CommandContext,
  { services, publicUrl, buyerReference }: GraphContext,
): CartCommandContext => ({
  ...base,
  keyring: services.keyring,
  publicUrl,
  buyerReference,
  events: services.events,
});

/** A new cart, or what a buyer keeps. */
export const cartMutationKind: MutationKind<CartCommandContext> = {
  context: createMerchantContext(toCartContext),
  idempotency: "optional",
};

export const existingCartMutationKind: MutationKind<CartCommandContext, "cartId"> = {
  ...cartMutationKind,
  target: { cartId: "The cart, `cart_…`." },
};

const toSessionContext = (base: CommandContext, request: GraphContext): SessionCommandContext => ({
  ...toCartContext(base, request),
  cancelActor: getEventCause(request).actor,
  tokenId: getInternalCredentialId(request),
});

/** A new checkout session. */
export const sessionMutationKind: MutationKind<SessionCommandContext> = {
  context: createMerchantContext(toSessionContext),
  idempotency: "optional",
};

export const existingSessionMutationKind: MutationKind<SessionCommandContext, "sessionId"> = {
  ...sessionMutationKind,
  callers: checkoutPagesAndFrontends,
  target: { sessionId: "The session, `chs_…`." },
  check: (request, { sessionId }) => {
    if (!mayAccessSession(sessionId, request)) throw fail("checkout_session_not_found");
  },
};

/** The payment of a session, which may place its order: money moves, so the idempotency key is required. */
export const sessionPaymentMutationKind: MutationKind<
  SessionCommandContext & OrderCommandContext,
  "sessionId"
> = {
  ...existingSessionMutationKind,
  context: createMerchantContext((base, request) => {
    const session = toSessionContext(base, request);
    return { ...session, actor: session.cancelActor === "buyer" ? "buyer" : "merchant" };
  }),
  idempotency: "required",
};

const orderContext = createMerchantContext((base, request): OrderCommandContext => ({
  ...toCartContext(base, request),
  actor: getOrderActor(request),
}));

/** An order or one of its parts: money or goods move, so the idempotency key is required. */
const createOrderMutationKind = <On extends string>(
  target: Readonly<Record<On, string>>,
): MutationKind<OrderCommandContext, On> => ({
  context: orderContext,
  target,
  idempotency: "required",
});

export const orderMutationKind = createOrderMutationKind({ orderId: "The order, `ord_…`." });
export const paymentMutationKind = createOrderMutationKind({ paymentId: "The payment, `pay_…`." });
export const fulfillmentMutationKind = createOrderMutationKind({
  fulfillmentId: "The fulfillment, `ful_…`.",
});
export const returnMutationKind = createOrderMutationKind({ returnId: "The return, `ret_…`." });
export const warrantyMutationKind = createOrderMutationKind({
  warrantyId: "The warranty registration, `wty_…`.",
});
export const warrantyClaimMutationKind = createOrderMutationKind({ claimId: "The warranty claim, `wcl_…`." });

/** A webhook endpoint: receivers would get an event twice, so the idempotency key is required. */
export const endpointMutationKind: MutationKind<EndpointCommandContext> = {
  context: createMerchantContext(({ merchantId, now, outbox }, request): EndpointCommandContext => {
    const { keyring, render, isLoopbackAllowed } = request.services;
    const installationId = getInstallationId(request);
    return {
      merchantId,
      installationId,
      now,
      cause: getEventCause(request),
      outbox,
      keyring,
      render,
      isLoopbackAllowed,
    };
  }),
  idempotency: "required",
};

export const existingEndpointMutationKind: MutationKind<EndpointCommandContext, "endpointId"> = {
  ...endpointMutationKind,
  target: { endpointId: "The webhook endpoint, `whe_…`." },
};

/** Sending deliveries once more. */
export const replayMutationKind: MutationKind<ReplayTenant> = {
  context: createMerchantContext(({ merchantId, now }, request) => ({
    merchantId,
    installationId: getInstallationId(request),
    now,
    events: request.services.events,
  })),
  idempotency: "required",
};

/** The caller's installation; null for callers that act for any installation of the merchant. */
const getInstallationId = ({ viewer }: GraphContext): string | null =>
  isIntegrator(viewer) ? viewer.installationId : null;

export interface AccessMutationContext extends AccessCommandContext {
  /** Takes the events of installations and keys. */
  readonly publish: (events: readonly AccessEvent[]) => void;
}

/**
 * Merchants, apps, installations, credentials and staff: who may do what. A token of one merchant changes
 * what is that merchant's.
 */
export const accessMutationKind: MutationKind<AccessMutationContext> = {
  context: {
    hasMerchantId: false,
    open: (request) => {
      const merchantId = getCallerMerchantId(request);
      return {
        merchantId,
        run: async ({ transaction, now }, command) => {
          const events: AccessEvent[] = [];
          const changed = await command({ merchantId, now, publish: (more) => void events.push(...more) });
          await publishAccessEvents(transaction, events, {
            now,
            cause: getEventCause(request),
            render: request.services.render,
          });
          return changed;
        },
      };
    },
  },
  idempotency: "optional",
};

/** The actors of events; every other caller is staff. */
const eventActors: Partial<Record<CallerKind, Cause["actor"]>> = {
  storefront: "buyer",
  buyer: "buyer",
  api_key: "api_key",
  oauth: "oauth_client",
  system: "system",
};

/** The cause that events name: the caller's kind, the REST operation and the request. */
function getEventCause({ viewer, operationId, requestId }: GraphContext): Cause {
  return { operationId, actor: eventActors[getCallerKind(viewer)] ?? "staff", requestId };
}
