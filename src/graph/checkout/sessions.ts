/** Hosted checkout sessions as integrators and frontends see them, and how they are found. */
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import type { SessionCancellation } from "#commerce/checkout/end-session.ts";
import type { LockedSession } from "#commerce/checkout/change-session.ts";
import { type SessionAggregate, sessionListQuery } from "#commerce/checkout/session-aggregate.ts";
import { sessionPageUrl, toSessionView } from "#commerce/checkout/render-session.ts";
import { builder } from "#graph/builder.ts";
import {
  addressToShow,
  type GraphContext,
  isOwnSession,
  listedOwner,
  readers,
  tokenIdOf,
  unlessAnalyst,
} from "#graph/context.ts";
import { isCartVisible, toCartNode } from "#graph/carts/carts.ts";
import { CartStatusEnum } from "#graph/carts/cart-types.ts";
import { connectionOf, pageCost, listTypes } from "#graph/connections.ts";
import { CartRef, CheckoutSessionRef, MerchantSummaryRef, MoneyRef, type SessionShown } from "#graph/refs.ts";
import {
  SessionCancelActorEnum,
  SessionCancelReasonEnum,
  SessionPaymentStatusEnum,
  SessionStatusEnum,
} from "./session-types.ts";

const Cancellation = builder.objectRef<SessionCancellation>("HostedCheckoutCancellation").implement({
  description: "Why a checkout session was canceled.",
  fields: (t) => ({
    reason: t.expose("reason", { type: SessionCancelReasonEnum, description: "The reason given." }),
    note: t.string({
      nullable: true,
      description: "At most 500 characters. Analysts are not told.",
      resolve: ({ note }, _args, context) => unlessAnalyst(note, context),
    }),
    actor: t.expose("actor", { type: SessionCancelActorEnum, description: "Who did it." }),
  }),
});

CheckoutSessionRef.implement({
  description:
    "One attempt to check a cart out, on a page of ours. While it is open its cart is locked, and what is in it is kept back from the stock.",
  fields: (t) => ({
    id: t.exposeID("id", {
      description: "The session's id, `chs_…`. It opens nothing: the page has a secret of its own.",
    }),
    version: t.exposeInt("version", { description: "Rises by one with every change." }),
    status: t.expose("status", {
      type: SessionStatusEnum,
      description: "Where it is in its life, by the clock.",
    }),
    cartId: t.exposeID("cartId", { description: "The cart, `cart_…`." }),
    cartVersion: t.exposeInt("cartVersion", { description: "The cart's version." }),
    orderId: t.exposeID("orderId", { nullable: true, description: "The order that it became, `ord_…`." }),
    merchant: t.expose("merchant", { type: MerchantSummaryRef, description: "Who sells." }),
    market: t.expose("market", {
      type: "CountryCode",
      description: "The country its prices were taken for.",
    }),
    currency: t.expose("currency", { type: "CurrencyCode", description: "The currency of its amount." }),
    locale: t.expose("locale", { type: "LocaleCode", description: "The language of its page." }),
    amountTotal: t.expose("amountTotal", {
      type: MoneyRef,
      description: "What is to be paid, as of its last change.",
    }),
    paymentStatus: t.expose("paymentStatus", {
      type: SessionPaymentStatusEnum,
      description: "Whether it is paid.",
    }),
    url: t.field({
      type: "URL",
      nullable: true,
      description:
        "Its page. Only the token that made the session is told, while it is open; null for everybody else, and always null over REST.",
      resolve: ({ stored }, _args, context) =>
        sessionPageUrl(stored, {
          tokenId: tokenIdOf(context),
          keyring: context.services.keyring,
          publicUrl: context.publicUrl,
          now: context.clock.now(),
        }),
    }),
    successUrl: t.field({
      type: "URL",
      description: "Where the buyer goes when there is an order. Analysts see it without its query.",
      resolve: ({ successUrl }, _args, context) => addressToShow(successUrl, context),
    }),
    cancelUrl: t.field({
      type: "URL",
      description: "Where the buyer goes who gives up. Analysts see it without its query.",
      resolve: ({ cancelUrl }, _args, context) => addressToShow(cancelUrl, context),
    }),
    expiresAt: t.expose("expiresAt", {
      type: "DateTime",
      description: "When it ends if it is not submitted.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was opened." }),
    submittedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "When it was submitted.",
      resolve: ({ stored }) => stored.submittedAt,
    }),
    completedAt: t.expose("completedAt", {
      type: "DateTime",
      nullable: true,
      description: "When there was an order.",
    }),
    canceledAt: t.expose("canceledAt", {
      type: "DateTime",
      nullable: true,
      description: "When it was canceled.",
    }),
    updatedAt: t.field({
      type: "DateTime",
      description: "When it last changed.",
      resolve: ({ stored }) => stored.updatedAt,
    }),
    cancellation: t.expose("cancellation", {
      type: Cancellation,
      nullable: true,
      description: "Why it was canceled.",
    }),
    cartStatus: t.expose("cartStatus", {
      type: CartStatusEnum,
      description: "Where the cart is in its life, by the clock.",
    }),
    countries: t.field({
      type: ["CountryCode"],
      description: "Where it can go: the countries of its market, up to 249.",
      resolve: ({ cart }) => [...cart.countries],
    }),
    paymentFailureCode: t.string({
      nullable: true,
      description:
        "Why the last payment came to nothing, in the provider's word for it or ours: `card_declined`, `timed_out`; null where none did.",
      resolve: ({ id }, _args, { loaders }) => loaders.paymentFailures.load(id),
    }),
    cart: t.field({
      type: CartRef,
      description: "The cart.",
      resolve: ({ cart }, _args, context) => toCartNode(cart, context),
    }),
  }),
});

export function toSessionNode({ session, cart }: LockedSession, context: GraphContext): SessionShown {
  return { ...toSessionView(session, cart, { now: context.clock.now() }), stored: session, cart };
}

/** A session is there for whom its cart is there. */
const isSessionVisible = ({ session, cart }: LockedSession, context: GraphContext): boolean =>
  isCartVisible(cart, context) && isOwnSession(session.id, context);

async function loadSessionCart(session: SessionAggregate, { loaders }: GraphContext): Promise<LockedSession> {
  const cart: CartAggregate | null = await loaders.carts.load(session.cartId);
  if (cart === null) throw new Error(`Session ${session.id} has no cart.`);
  return { session, cart };
}

builder.queryFields((t) => ({
  hostedCheckoutSession: t.field({
    type: CheckoutSessionRef,
    nullable: true,
    description: "A checkout session by its id; null when there is none.",
    authScopes: { callers: ["storefront", "buyer", "system", ...readers] },
    args: { id: t.arg.id({ required: true, description: "The session's id, `chs_…`." }) },
    resolve: async (_root, { id }, context) => {
      const session = await context.loaders.sessions.load(id);
      const found = session === null ? null : await loadSessionCart(session, context);
      return found === null || !isSessionVisible(found, context) ? null : toSessionNode(found, context);
    },
  }),
  hostedCheckoutSessions: t.connection(
    {
      type: CheckoutSessionRef,
      description: "Checkout sessions, oldest first.",
      authScopes: { callers: readers },
      complexity: pageCost,
      args: {
        merchantId: t.arg.id({
          description: "The merchant; without it, with a token of the platform, all of them.",
        }),
        status: t.arg({ type: SessionStatusEnum, description: "Only those in this status, by the clock." }),
      },
      resolve: async (_root, { merchantId, status, ...args }, context) => {
        const filter = {
          merchantId: listedOwner(context, merchantId),
          status: status ?? null,
          now: context.clock.now(),
        };
        const query = sessionListQuery(context.db, filter);
        const { edges, ...rest } = await connectionOf(args, {
          db: context.db,
          query,
          column: "hosted_checkout_session.id",
        });
        const shown = edges.map(async ({ cursor, node }) => {
          const session = await context.loaders.sessions.load(node.id);
          return session === null
            ? []
            : [{ cursor, node: toSessionNode(await loadSessionCart(session, context), context) }];
        });
        return { ...rest, edges: (await Promise.all(shown)).flat() };
      },
    },
    ...listTypes("HostedCheckoutSession", "checkout sessions"),
  ),
}));
