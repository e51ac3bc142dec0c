/** The GraphQL types of hosted checkout sessions, and the queries that find sessions. */
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import type { CheckoutSessionCancellation } from "#commerce/checkout/end-session.ts";
import type { LockedCartAndCheckoutSession } from "#commerce/checkout/session-aggregate.ts";
import {
  type CheckoutSessionAggregate,
  buildCheckoutSessionListSqlQuery,
} from "#commerce/checkout/session-aggregate.ts";
import { getCheckoutPageUrlForCreator, toCheckoutSessionView } from "#commerce/checkout/render-session.ts";
import { builder } from "#graph/builder.ts";
import {
  hideUrlQueryFromAnalysts,
  type GraphqlContext,
  canAccessCheckoutSession,
  getMerchantIdForListQuery,
  merchantReaders,
  getInternalTokenOrStaffId,
  hideFromAnalysts,
} from "#graph/context.ts";
import { isCartVisibleToCaller, toGraphqlCart } from "#graph/carts/carts.ts";
import { ModeEnum } from "#graph/access/identity.ts";
import { PaymentProviderEnum } from "#graph/access/payment-connections.ts";
import { CartStatusEnum } from "#graph/carts/cart-enums.ts";
import {
  loadGraphqlConnection,
  computeConnectionCost,
  createGraphqlConnectionTypeOptions,
} from "#graph/connections.ts";
import { aggregateCost } from "#graph/limits.ts";
import {
  CartRef,
  CheckoutSessionRef,
  MerchantSummaryRef,
  MoneyRef,
  type GraphqlCheckoutSession,
} from "#graph/refs.ts";
import {
  SessionCancelActorEnum,
  SessionCancelReasonEnum,
  SessionPaymentStatusEnum,
  SessionStatusEnum,
} from "./session-types.ts";

const Cancellation = builder.objectRef<CheckoutSessionCancellation>("HostedCheckoutCancellation").implement({
  description: "The reason why a checkout session was canceled, and the kind of caller that canceled it.",
  fields: (t) => ({
    reason: t.expose("reason", {
      type: SessionCancelReasonEnum,
      description: "The reason for which the checkout session was canceled.",
    }),
    note: t.string({
      nullable: true,
      description:
        "An explanation of the reason for the cancellation, at most 500 characters; null if there is none. " +
        "Hidden from analysts.",
      resolve: ({ note }, _args, context) => hideFromAnalysts(note, context),
    }),
    actor: t.expose("actor", {
      type: SessionCancelActorEnum,
      description: "The kind of caller that canceled the session.",
    }),
  }),
});

CheckoutSessionRef.implement({
  description:
    "One attempt to check out a cart on the hosted checkout page. While the session is open, its cart is " +
    "locked and the units in the cart are reserved in the stock.",
  fields: (t) => ({
    id: t.exposeID("id", {
      description:
        "Id of the session, `chs_…`. The id alone does not open the checkout page, whose URL " +
        "contains a separate secret.",
    }),
    version: t.exposeInt("version", {
      description: "Version of the session, starting at 1 and raised by one with every change.",
    }),
    status: t.expose("status", {
      type: SessionStatusEnum,
      description: "Current status of the session. An open session counts as expired from `expiresAt` on.",
    }),
    cartId: t.exposeID("cartId", { description: "Id of the cart, `cart_…`." }),
    cartVersion: t.exposeInt("cartVersion", { description: "The current version of the session's cart." }),
    orderId: t.exposeID("orderId", {
      nullable: true,
      description: "Id of the order, `ord_…`; null unless the session is completed.",
    }),
    merchant: t.expose("merchant", { type: MerchantSummaryRef, description: "The merchant of the session." }),
    market: t.expose("market", {
      type: "CountryCode",
      description: "Country whose prices the cart has, ISO 3166-1 alpha-2.",
    }),
    currency: t.expose("currency", {
      type: "CurrencyCode",
      description: "The currency of the amount to pay, a code of ISO 4217.",
    }),
    locale: t.expose("locale", { type: "LocaleCode", description: "Language of the checkout page." }),
    amountTotal: t.expose("amountTotal", {
      type: MoneyRef,
      description: "The total amount that the buyer has to pay, as of the session's last change.",
    }),
    paymentStatus: t.expose("paymentStatus", {
      type: SessionPaymentStatusEnum,
      description: "Payment status of the session.",
    }),
  }),
});

builder.objectFields(CheckoutSessionRef, (t) => ({
  url: t.field({
    type: "URL",
    nullable: true,
    description:
      "The URL of the checkout page. Only the token that created the session gets the URL, and only while " +
      "the session is open. The URL is null for all other callers, and always null over REST.",
    resolve: ({ stored }, _args, context) =>
      getCheckoutPageUrlForCreator(stored, {
        tokenId: getInternalTokenOrStaffId(context),
        keyring: context.services.keyring,
        publicUrl: context.publicUrl,
        now: context.clock.now(),
      }),
  }),
  successUrl: t.field({
    type: "URL",
    description:
      "URL that the buyer returns to after the order is placed. Analysts see the URL without its query.",
    resolve: ({ successUrl }, _args, context) => hideUrlQueryFromAnalysts(successUrl, context),
  }),
  cancelUrl: t.field({
    type: "URL",
    description:
      "URL that the buyer returns to after giving up the checkout. Analysts see the URL without " +
      "its query.",
    resolve: ({ cancelUrl }, _args, context) => hideUrlQueryFromAnalysts(cancelUrl, context),
  }),
  expiresAt: t.expose("expiresAt", {
    type: "DateTime",
    description: "The time at which the session expires, unless the buyer submits the session earlier.",
  }),
}));

builder.objectFields(CheckoutSessionRef, (t) => ({
  createdAt: t.expose("createdAt", { type: "DateTime", description: "Time when the session was created." }),
  submittedAt: t.field({
    type: "DateTime",
    nullable: true,
    description: "Time when the buyer submitted the payment; null if the session is not submitted.",
    resolve: ({ stored }) => stored.submittedAt,
  }),
  completedAt: t.expose("completedAt", {
    type: "DateTime",
    nullable: true,
    description: "Time when the order was placed; null unless the session is completed.",
  }),
  canceledAt: t.expose("canceledAt", {
    type: "DateTime",
    nullable: true,
    description: "Time of the cancellation; null unless the session is canceled.",
  }),
  updatedAt: t.field({
    type: "DateTime",
    description: "Time of the session's last change.",
    resolve: ({ stored }) => stored.updatedAt,
  }),
  cancellation: t.expose("cancellation", {
    type: Cancellation,
    nullable: true,
    description:
      "The reason for which the session was canceled and the kind of caller that canceled it; null unless " +
      "the session is canceled.",
  }),
  cartStatus: t.expose("cartStatus", {
    type: CartStatusEnum,
    description: "The current status of the session's cart.",
  }),
  countries: t.field({
    type: ["CountryCode"],
    description:
      "The countries to which the merchant delivers in the cart's market, codes of ISO 3166-1 alpha-2, at " +
      "most 249.",
    resolve: ({ cart }) => [...cart.countries],
  }),
  paymentFailureCode: t.string({
    nullable: true,
    description:
      "The code of the reason for which the session's last failed payment failed, from the payment " +
      "provider or from this service, for example `card_declined` or `timed_out`; null if no payment has " +
      "failed.",
    resolve: ({ id }, _args, { loaders }) => loaders.paymentFailures.load(id),
  }),
  paymentProvider: t.field({
    type: PaymentProviderEnum,
    nullable: true,
    description:
      "The payment provider that processes the session's next payment; null if the merchant is in live " +
      "mode and has connected no payment provider.",
    resolve: ({ paymentSetup }) => paymentSetup.chosen?.provider ?? null,
  }),
  mode: t.field({
    type: ModeEnum,
    description: "Whether the checkout moves real money: the mode of the merchant.",
    resolve: ({ paymentSetup }) => paymentSetup.mode,
  }),
  cart: t.field({
    type: CartRef,
    description: "The cart of the session.",
    resolve: ({ cart }, _args, context) => toGraphqlCart(cart, context),
  }),
}));

export function toGraphqlCheckoutSession(
  { session, cart }: LockedCartAndCheckoutSession,
  context: GraphqlContext,
): GraphqlCheckoutSession {
  return { ...toCheckoutSessionView(session, cart, { now: context.clock.now() }), stored: session, cart };
}

/**
 * Returns whether the caller may see a checkout session. The caller must be allowed to see the session's
 * cart. The buyer on a hosted checkout page may see only the session of that page.
 */
const isSessionVisible = (
  { session, cart }: LockedCartAndCheckoutSession,
  context: GraphqlContext,
): boolean => isCartVisibleToCaller(cart, context) && canAccessCheckoutSession(session.id, context);

async function loadSessionCart(
  session: CheckoutSessionAggregate,
  { loaders }: GraphqlContext,
): Promise<LockedCartAndCheckoutSession> {
  const cart: CartAggregate | null = await loaders.carts.load(session.cartId);
  if (cart === null) throw new Error(`Session ${session.id} has no cart.`);
  return { session, cart };
}

builder.queryField("hostedCheckoutSession", (t) =>
  t.field({
    type: CheckoutSessionRef,
    nullable: true,
    description:
      "Returns a checkout session by its id; null if there is no such session or the caller may " +
      "not see it.",
    authScopes: { callers: ["storefront", "buyer", "system", ...merchantReaders] },
    complexity: aggregateCost,
    args: { id: t.arg.id({ required: true, description: "Id of the session, `chs_…`." }) },
    resolve: async (_root, { id }, context) => {
      const session = await context.loaders.sessions.load(id);
      const found = session === null ? null : await loadSessionCart(session, context);
      return found === null || !isSessionVisible(found, context)
        ? null
        : toGraphqlCheckoutSession(found, context);
    },
  }),
);

builder.queryField("hostedCheckoutSessions", (t) =>
  t.connection(
    {
      type: CheckoutSessionRef,
      description: "Lists checkout sessions, oldest first.",
      authScopes: { callers: merchantReaders },
      complexity: computeConnectionCost,
      args: {
        merchantId: t.arg.id({
          description:
            "Id of the merchant. If left out, a token of the platform gets the sessions of all " +
            "merchants.",
        }),
        status: t.arg({
          type: SessionStatusEnum,
          description: "Returns only sessions that have this status now.",
        }),
      },
      resolve: async (_root, { merchantId, status, ...args }, context) => {
        const filter = {
          merchantId: getMerchantIdForListQuery(context, merchantId),
          status: status ?? null,
          now: context.clock.now(),
        };
        const query = buildCheckoutSessionListSqlQuery(context.db, filter);
        const { edges, ...rest } = await loadGraphqlConnection(args, {
          db: context.db,
          query,
          column: "hosted_checkout_session.id",
          cursor: "checkoutSession",
        });
        const pageEdges = edges.map(async ({ cursor, node }) => {
          const session = await context.loaders.sessions.load(node.id);
          return session === null
            ? []
            : [{ cursor, node: toGraphqlCheckoutSession(await loadSessionCart(session, context), context) }];
        });
        return { ...rest, edges: (await Promise.all(pageEdges)).flat() };
      },
    },
    ...createGraphqlConnectionTypeOptions("HostedCheckoutSession", "checkout sessions", aggregateCost),
  ),
);
