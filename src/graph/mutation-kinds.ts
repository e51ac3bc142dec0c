/**
 * The kinds of mutations. All mutations of one kind have the same shared arguments and the same command
 * context. A mutation copies the options of its kind: `defineMutation({ ...existingCartMutationKind, name, …
 * })`.
 */
import type { InstallationOrApiKeyEvent } from "#access/credential-changes.ts";
import type { AccessManagementCommandContext } from "#access/keys/manage-keys.ts";
import { isApiKeyOrOauthViewer } from "#access/viewer.ts";
import type { CartCommandContext } from "#commerce/carts/change-cart.ts";
import { createCartLockAndPreloadQuery } from "#commerce/carts/open-cart.ts";
import type { CheckoutSessionCommandContext } from "#commerce/checkout/change-session.ts";
import { createCheckoutSessionLockAndPreloadQuery } from "#commerce/checkout/open-session.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import type { ExportCommandContext } from "#commerce/exports/export-jobs.ts";
import type { OrderCommandContext } from "#commerce/orders/change-order.ts";
import { indexProducts } from "#commerce/search/index-products.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { createFailure, type FailureCode } from "#foundation/failure.ts";
import type { EndpointCommandContext } from "#webhooks/endpoints/change-endpoint.ts";
import { type EventCause, runFunctionAndInsertOutboxEvents } from "#webhooks/outbox.ts";
import type { DeliveryReplayCommandContext } from "#webhooks/replay-delivery.ts";
import { publishInstallationAndApiKeyEvents } from "./access/access-events.ts";
import {
  type CallerKind,
  getCallerKindOfViewer,
  type GraphqlContext,
  canAccessCheckoutSession,
  getOrderActorOfCaller,
  getCallerMerchantId,
  merchantReaders,
  checkoutPagesAndFrontends,
  resolveMerchantIdOfRequest,
  getInternalTokenOrStaffId,
} from "./context.ts";
import type {
  MutationAuthorizer,
  OptionsSharedByMutationKind,
  MutationRowLockFinder,
} from "./mutation-options.ts";

/**
 * Creates the context for commands that change one merchant's data. The events of a command are stored in the
 * outbox when the command has returned.
 */
const createMerchantContext = <Context>(
  contextOf: (base: MerchantCommandContext, request: GraphqlContext) => Context,
): MutationAuthorizer<Context> => ({
  hasMerchantId: true,
  open: (request, argument) => {
    const merchantId = resolveMerchantIdOfRequest(request, argument);
    return {
      merchantId,
      run: ({ transaction, now }, command) => {
        const outboxOptions = {
          merchantId,
          now,
          cause: getEventCause(request),
          render: request.services.render,
        };
        return runFunctionAndInsertOutboxEvents(transaction, outboxOptions, (outbox) =>
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

/** Options of the mutations of a merchant's products, markets and promotions. */
export const merchantMutationKind: OptionsSharedByMutationKind<MerchantCommandContext> = {
  context: createMerchantContext((base) => base),
  idempotency: "optional",
  failures: [],
};

/** Options of the mutations that encrypt and store a secret of a merchant. */
export const merchantSecretMutationKind: OptionsSharedByMutationKind<
  MerchantCommandContext & { readonly keyring: EncryptionKeyring }
> = {
  ...merchantMutationKind,
  context: createMerchantContext((base, { services }) => ({ ...base, keyring: services.keyring })),
};

const toCartContext = (
  base: MerchantCommandContext,
  { services, publicUrl, buyerReference, buyerSessionId }: GraphqlContext,
): CartCommandContext => ({
  ...base,
  keyring: services.keyring,
  publicUrl,
  buyerReference,
  buyerSessionId,
  events: services.events,
});

/** Options of the mutations that create a cart or change a buyer's saved addresses. */
export const cartMutationKind: OptionsSharedByMutationKind<CartCommandContext> = {
  context: createMerchantContext(toCartContext),
  idempotency: "optional",
  failures: [],
};

/**
 * Locks and reads the cart that a mutation changes when the transaction begins. The mutation's input may have
 * a promotion code in `code`, new lines in `lines`, and an address in `address` or `savedAddressId`. For a
 * new checkout session, tax rates and delivery methods are always read, because its cart should have an
 * address.
 */
const createCartRowLockFinder =
  (isNewSession: boolean): MutationRowLockFinder =>
  ({ services, clock }, merchantId, { cartId, code, lines, address, savedAddressId }) =>
    typeof cartId === "string"
      ? createCartLockAndPreloadQuery(services.db, {
          cartId,
          merchantId,
          now: clock.now(),
          code: typeof code === "string" ? code : undefined,
          addedVariantIds: Array.isArray(lines) ? lines.flatMap(listVariantIds) : [],
          isAddressExpected: isNewSession || address !== undefined || savedAddressId !== undefined,
        })
      : undefined;

const listVariantIds = (line: unknown): readonly string[] =>
  typeof line === "object" && line !== null && "variantId" in line && typeof line.variantId === "string"
    ? [line.variantId]
    : [];

/** Options of the mutations of the cart that the argument `cartId` names. */
export const existingCartMutationKind: OptionsSharedByMutationKind<CartCommandContext, "cartId"> = {
  ...cartMutationKind,
  opening: createCartRowLockFinder(false),
  target: { cartId: "The id of the cart, `cart_…`." },
  failures: [
    "cart_not_found",
    "cart_version_conflict",
    "cart_locked",
    "cart_completed",
    "cart_revoked",
    "cart_expired",
    "cart_merged",
  ],
};

const toSessionContext = (
  base: MerchantCommandContext,
  request: GraphqlContext,
): CheckoutSessionCommandContext => ({
  ...toCartContext(base, request),
  cancelActor: getEventCause(request).actor,
  tokenId: getInternalTokenOrStaffId(request),
});

/** Options of the mutations that create a checkout session. */
export const sessionMutationKind: OptionsSharedByMutationKind<CheckoutSessionCommandContext> = {
  context: createMerchantContext(toSessionContext),
  opening: createCartRowLockFinder(true),
  idempotency: "optional",
  failures: [],
};

/** Locks and reads the checkout session that a mutation changes, and its cart, when the transaction begins. */
const openSessionOfMutation: MutationRowLockFinder = (request, merchantId, { sessionId }) =>
  typeof sessionId === "string" && canAccessCheckoutSession(sessionId, request)
    ? createCheckoutSessionLockAndPreloadQuery(request.services.db, {
        sessionId,
        merchantId,
        now: request.clock.now(),
      })
    : undefined;

const endedSessionFailures: readonly FailureCode[] = [
  "checkout_session_not_found",
  "checkout_session_version_conflict",
  "checkout_session_completed",
  "checkout_session_canceled",
  "checkout_session_expired",
];

/** Options of the mutations of the checkout session that the argument `sessionId` names. */
export const existingSessionMutationKind: OptionsSharedByMutationKind<
  CheckoutSessionCommandContext,
  "sessionId"
> = {
  ...sessionMutationKind,
  opening: openSessionOfMutation,
  callers: checkoutPagesAndFrontends,
  target: { sessionId: "The id of the checkout session, `chs_…`." },
  failures: [...endedSessionFailures, "checkout_session_processing"],
  check: (request, { sessionId }) => {
    if (!canAccessCheckoutSession(sessionId, request)) throw createFailure("checkout_session_not_found");
  },
};

/**
 * Options of the mutations that pay for a checkout session and may place its order. These mutations move
 * money, so the idempotency key is required.
 */
export const sessionPaymentMutationKind: OptionsSharedByMutationKind<
  CheckoutSessionCommandContext & OrderCommandContext,
  "sessionId"
> = {
  ...existingSessionMutationKind,
  context: createMerchantContext((base, request) => {
    const session = toSessionContext(base, request);
    return { ...session, actor: session.cancelActor === "buyer" ? "buyer" : "merchant" };
  }),
  idempotency: "required",
  failures: [...endedSessionFailures, "invalid_state"],
};

const orderContext = createMerchantContext((base, request): OrderCommandContext => ({
  ...toCartContext(base, request),
  actor: getOrderActorOfCaller(request),
}));

/**
 * Options of the mutations of an order or a part of an order. The idempotency key is required, because such a
 * mutation may move money or goods.
 */
const createOrderMutationKind = <On extends string>(
  target: Readonly<Record<On, string>>,
): OptionsSharedByMutationKind<OrderCommandContext, On> => ({
  context: orderContext,
  target,
  failures: ["resource_not_found", "version_conflict", "invalid_state"],
  idempotency: "required",
});

export const orderMutationKind: OptionsSharedByMutationKind<OrderCommandContext, "orderId"> = {
  ...createOrderMutationKind({ orderId: "The id of the order, `ord_…`." }),
  failures: ["order_not_found", "version_conflict", "invalid_state"],
};
export const paymentMutationKind = createOrderMutationKind({ paymentId: "The id of the payment, `pay_…`." });
export const fulfillmentMutationKind = createOrderMutationKind({
  fulfillmentId: "The id of the fulfillment, `ful_…`.",
});
export const returnMutationKind = createOrderMutationKind({ returnId: "The id of the return, `ret_…`." });
export const warrantyMutationKind = createOrderMutationKind({
  warrantyId: "The id of the warranty registration, `wty_…`.",
});
export const warrantyClaimMutationKind = createOrderMutationKind({
  claimId: "The id of the warranty claim, `wcl_…`.",
});

/**
 * Options of the mutations that create or change webhook endpoints. The idempotency key is required, because
 * a mutation that ran twice could send an event twice.
 */
export const endpointMutationKind: OptionsSharedByMutationKind<EndpointCommandContext> = {
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
  failures: [],
  idempotency: "required",
};

/** Options of the mutations of the webhook endpoint that the argument `endpointId` names. */
export const existingEndpointMutationKind: OptionsSharedByMutationKind<EndpointCommandContext, "endpointId"> =
  {
    ...endpointMutationKind,
    target: { endpointId: "The id of the webhook endpoint, `whe_…`." },
    failures: ["webhook_endpoint_not_found", "version_conflict"],
  };

/** Options of the mutations that send webhook deliveries again. */
export const replayMutationKind: OptionsSharedByMutationKind<DeliveryReplayCommandContext> = {
  context: createMerchantContext(({ merchantId, now }, request) => ({
    merchantId,
    installationId: getInstallationId(request),
    now,
    events: request.services.events,
  })),
  failures: [],
  idempotency: "required",
};

/**
 * Options of the mutations of exports. Exports change no data of the merchant, so analysts may run these
 * mutations.
 */
export const exportMutationKind: OptionsSharedByMutationKind<ExportCommandContext> = {
  context: createMerchantContext(({ merchantId, now }, { services }) => ({
    merchantId,
    now,
    events: services.events,
  })),
  failures: [],
  callers: merchantReaders,
  idempotency: "optional",
};

/**
 * Returns the id of the caller's installation; null if the caller may act for every installation of the
 * merchant.
 */
const getInstallationId = ({ viewer }: GraphqlContext): string | null =>
  isApiKeyOrOauthViewer(viewer) ? viewer.installationId : null;

export interface AccessMutationContext extends AccessManagementCommandContext {
  /** Publishes events about installations and API keys in the transaction of the mutation's command. */
  readonly publish: (events: readonly InstallationOrApiKeyEvent[]) => void;
}

/**
 * Options of the mutations of merchants, apps, installations, credentials and staff accounts. A caller that
 * belongs to a merchant can change only that merchant's data.
 */
export const accessMutationKind: OptionsSharedByMutationKind<AccessMutationContext> = {
  context: {
    hasMerchantId: false,
    open: (request) => {
      const merchantId = getCallerMerchantId(request);
      return {
        merchantId,
        run: async ({ transaction, now }, command) => {
          const events: InstallationOrApiKeyEvent[] = [];
          const changed = await command({ merchantId, now, publish: (more) => void events.push(...more) });
          await publishInstallationAndApiKeyEvents(transaction, events, {
            now,
            cause: getEventCause(request),
            render: request.services.render,
          });
          return changed;
        },
      };
    },
  },
  failures: [],
  idempotency: "optional",
};

/**
 * The actor name in events, by kind of caller. Every caller kind that is missing here has the actor name
 * `staff`.
 */
const eventActors: Partial<Record<CallerKind, EventCause["actor"]>> = {
  storefront: "buyer",
  buyer: "buyer",
  api_key: "api_key",
  oauth: "oauth_client",
  system: "system",
};

/** Returns the cause that the request's events contain: the actor, the REST operation and the request id. */
function getEventCause({ viewer, operationId, requestId }: GraphqlContext): EventCause {
  return { operationId, actor: eventActors[getCallerKindOfViewer(viewer)] ?? "staff", requestId };
}
