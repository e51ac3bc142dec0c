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
  type Caller,
  callerOf,
  type GraphContext,
  isOwnSession,
  orderActorOf,
  ownerOf,
  pagesAndFrontends,
  tenantOf,
  tokenIdOf,
} from "./context.ts";
import type { ChangeContext, ChangeKind } from "./mutation.ts";

/** The context of changes of one merchant: their events are written when the command is done. */
const ofMerchant = <Context>(
  contextOf: (base: CommandContext, request: GraphContext) => Context,
): ChangeContext<Context> => ({
  hasMerchantId: true,
  open: (request, argument) => {
    const merchantId = tenantOf(request, argument);
    return {
      merchantId,
      run: ({ transaction, now }, command) => {
        const circumstances = { merchantId, now, cause: causeOf(request), render: request.services.render };
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
export const merchantChange: ChangeKind<CommandContext> = {
  context: ofMerchant((base) => base),
  idempotency: "optional",
};

const toCart = (
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
export const anyCartChange: ChangeKind<CartCommandContext> = {
  context: ofMerchant(toCart),
  idempotency: "optional",
};

export const cartChange: ChangeKind<CartCommandContext, "cartId"> = {
  ...anyCartChange,
  target: { cartId: "The cart, `cart_…`." },
};

const toSession = (base: CommandContext, request: GraphContext): SessionCommandContext => ({
  ...toCart(base, request),
  cancelActor: causeOf(request).actor,
  tokenId: tokenIdOf(request),
});

/** A new checkout session. */
export const anySessionChange: ChangeKind<SessionCommandContext> = {
  context: ofMerchant(toSession),
  idempotency: "optional",
};

export const sessionChange: ChangeKind<SessionCommandContext, "sessionId"> = {
  ...anySessionChange,
  callers: pagesAndFrontends,
  target: { sessionId: "The session, `chs_…`." },
  check: (request, { sessionId }) => {
    if (!isOwnSession(sessionId, request)) throw fail("checkout_session_not_found");
  },
};

/** The payment of a session, which may place its order: money moves, so the idempotency key is required. */
export const sessionPaymentChange: ChangeKind<SessionCommandContext & OrderCommandContext, "sessionId"> = {
  ...sessionChange,
  context: ofMerchant((base, request) => {
    const session = toSession(base, request);
    return { ...session, actor: session.cancelActor === "buyer" ? "buyer" : "merchant" };
  }),
  idempotency: "required",
};

const orderContext = ofMerchant((base, request): OrderCommandContext => ({
  ...toCart(base, request),
  actor: orderActorOf(request),
}));

/** An order or one of its parts: money or goods move, so the idempotency key is required. */
const ofOrder = <On extends string>(
  target: Readonly<Record<On, string>>,
): ChangeKind<OrderCommandContext, On> => ({
  context: orderContext,
  target,
  idempotency: "required",
});

export const orderChange = ofOrder({ orderId: "The order, `ord_…`." });
export const paymentChange = ofOrder({ paymentId: "The payment, `pay_…`." });
export const fulfillmentChange = ofOrder({ fulfillmentId: "The fulfillment, `ful_…`." });
export const returnChange = ofOrder({ returnId: "The return, `ret_…`." });
export const warrantyChange = ofOrder({ warrantyId: "The warranty registration, `wty_…`." });
export const warrantyClaimChange = ofOrder({ claimId: "The warranty claim, `wcl_…`." });

/** A webhook endpoint: receivers would get an event twice, so the idempotency key is required. */
export const anyEndpointChange: ChangeKind<EndpointCommandContext> = {
  context: ofMerchant(({ merchantId, now, outbox }, request): EndpointCommandContext => {
    const { keyring, render, isLoopbackAllowed } = request.services;
    const installationId = installationIdOf(request);
    return {
      merchantId,
      installationId,
      now,
      cause: causeOf(request),
      outbox,
      keyring,
      render,
      isLoopbackAllowed,
    };
  }),
  idempotency: "required",
};

export const endpointChange: ChangeKind<EndpointCommandContext, "endpointId"> = {
  ...anyEndpointChange,
  target: { endpointId: "The webhook endpoint, `whe_…`." },
};

/** Sending deliveries once more. */
export const replayChange: ChangeKind<ReplayTenant> = {
  context: ofMerchant(({ merchantId, now }, request) => ({
    merchantId,
    installationId: installationIdOf(request),
    now,
    events: request.services.events,
  })),
  idempotency: "required",
};

/** The caller's installation; null for callers that act for any installation of the merchant. */
const installationIdOf = ({ viewer }: GraphContext): string | null =>
  isIntegrator(viewer) ? viewer.installationId : null;

export interface AccessContext extends AccessCommandContext {
  /** Takes the events of installations and keys. */
  readonly publish: (events: readonly AccessEvent[]) => void;
}

/**
 * Merchants, apps, installations, credentials and staff: who may do what. A token of one merchant changes
 * what is that merchant's.
 */
export const accessChange: ChangeKind<AccessContext> = {
  context: {
    hasMerchantId: false,
    open: (request) => {
      const merchantId = ownerOf(request);
      return {
        merchantId,
        run: async ({ transaction, now }, command) => {
          const events: AccessEvent[] = [];
          const changed = await command({ merchantId, now, publish: (more) => void events.push(...more) });
          await publishAccessEvents(transaction, events, {
            now,
            cause: causeOf(request),
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
const actors: Partial<Record<Caller, Cause["actor"]>> = {
  storefront: "buyer",
  buyer: "buyer",
  api_key: "api_key",
  oauth: "oauth_client",
  system: "system",
};

/** The cause that events name: the caller's kind, the REST operation and the request. */
function causeOf({ viewer, operationId, requestId }: GraphContext): Cause {
  return { operationId, actor: actors[callerOf(viewer)] ?? "staff", requestId };
}
