/**
 * The GraphQL subscriptions: to a cart, an order, the deliveries of a webhook endpoint, and the event feed.
 * The data of each result is loaded when the result is sent, with the same access rules as for queries.
 */
import { createFailure } from "#foundation/failure.ts";
import { isTextWithoutForbiddenCharacters } from "#foundation/text.ts";
import { builder } from "#graph/builder.ts";
import {
  type GraphqlContext,
  getCallerMerchantId,
  getMerchantIdForListQuery,
  merchantReaders,
} from "#graph/context.ts";
import { isCartVisibleToCaller, toGraphqlCart } from "#graph/carts/carts.ts";
import { isOrderVisibleToCaller } from "#graph/orders/order-queries.ts";
import { toGraphqlOrder } from "#graph/orders/orders.ts";
import { CartRef, OrderRef, WebhookDeliveryRef } from "#graph/refs.ts";
import {
  EventFeedPageRef,
  eventFeedArgs,
  loadEventFeedPage,
  resolveEventFeedStartCursor,
  computeFeedCost,
} from "#graph/webhooks/event-feed.ts";
import { allMerchantsKey } from "#webhooks/event-feed.ts";
import { type DeliveryView, findMerchantIdOfEndpoint } from "#webhooks/delivery-log.ts";
import { findWebhookDeliveriesPage } from "#webhooks/delivery-pages.ts";
import {
  type DeliveryIdsChangedSinceLastResult,
  watchDeliveriesOfEndpoint,
  watchMerchantEventFeed,
  watchObjectVersion,
  deliveriesPerStepMax,
} from "./follow.ts";
import type { SubscriptionPollers } from "./watch.ts";

function watchOf({ services: { watch } }: GraphqlContext): SubscriptionPollers {
  if (watch === undefined)
    throw createFailure("service_unavailable", {
      message: "Subscriptions are not available on this server.",
    });
  return watch;
}

interface DeliveryChangeBatch {
  readonly deliveries: readonly DeliveryView[];
  readonly isMore: boolean;
}

const ChangesRef = builder.objectRef<DeliveryChangeBatch>("WebhookDeliveryChanges").implement({
  description: "The deliveries of an endpoint that have changed since the previous event.",
  fields: (t) => ({
    deliveries: t.field({
      type: [WebhookDeliveryRef],
      description:
        `The changed deliveries in their present state, oldest first, at most ${deliveriesPerStepMax}; the ` +
        "next event contains the remaining ones. The first event contains the newest " +
        `${deliveriesPerStepMax} deliveries.`,
      complexity: { multiplier: deliveriesPerStepMax },
      resolve: ({ deliveries }) => [...deliveries],
    }),
    readAnew: t.exposeBoolean("isMore", {
      description:
        "Whether the events lack deliveries: the first event may lack older deliveries, and a later event " +
        "may lack changes if too many occurred at once. If true, query `webhookDeliveries` to load all " +
        "deliveries.",
    }),
  }),
});

builder.subscriptionFields((t) => ({
  cartChanged: t.field({
    type: CartRef,
    nullable: true,
    description:
      "Sends the cart at once, and again after each change of its version. Changes in quick succession are " +
      "combined into one event. If the caller can see no such cart, the subscription sends null and ends.",
    authScopes: { callers: ["storefront", ...merchantReaders] },
    args: { id: t.arg.id({ required: true, description: "The cart's id, `cart_…`." }) },
    subscribe: (_root, { id }, context) => watchObjectVersion(watchOf(context).carts, id),
    resolve: async (step, { id }, context) => {
      const cart = await context.loaders.carts.load(id);
      if (cart === null || !isCartVisibleToCaller(cart, context)) return null;
      step.sentVersion(cart.version);
      return toGraphqlCart(cart, context);
    },
  }),
  orderChanged: t.field({
    type: OrderRef,
    nullable: true,
    description:
      "Sends the order with all its parts at once, and again after each change of its version. Changes in " +
      "quick succession are combined into one event. If the caller can see no such order, the subscription " +
      "sends null and ends.",
    authScopes: { callers: ["storefront", ...merchantReaders] },
    args: { id: t.arg.id({ required: true, description: "The order's id, `ord_…`." }) },
    subscribe: (_root, { id }, context) => watchObjectVersion(watchOf(context).orders, id),
    resolve: async (step, { id }, context) => {
      const order = await context.loaders.orders.load(id);
      if (order === null || !isOrderVisibleToCaller(order, context)) return null;
      step.sentVersion(order.version);
      return toGraphqlOrder(order, context);
    },
  }),
  deliveryChanged: t.field({
    type: ChangesRef,
    nullable: true,
    description:
      "Sends the newest deliveries of an endpoint at once, then every delivery whose status or number of " +
      "attempts has changed, in its present state. Deleted endpoints work too. If the caller can see no " +
      "such endpoint, the subscription sends null and ends.",
    authScopes: { callers: merchantReaders },
    args: { endpointId: t.arg.id({ required: true, description: "The endpoint's id, `whe_…`." }) },
    subscribe: (_root, { endpointId }, context) =>
      watchDeliveriesOfEndpoint(watchOf(context).deliveries, endpointId),
    resolve: async (step, { endpointId }, context) => {
      const merchantId = getCallerMerchantId(context);
      const owner = isTextWithoutForbiddenCharacters(endpointId)
        ? await findMerchantIdOfEndpoint(context.db, endpointId)
        : undefined;
      if (owner === undefined || (merchantId !== null && owner !== merchantId)) return null;
      return step.ids === null ? newest(context, endpointId) : changed(context, step, step.ids);
    },
  }),
}));

builder.subscriptionField("eventFeedChanged", (t) =>
  t.field({
    type: EventFeedPageRef,
    nullable: true,
    description:
      "Sends the event feed page by page, as `eventFeed` returns it, and waits for new events at the end " +
      "of the feed. If the connection breaks, subscribe again with the `cursor` of the last received page " +
      "as `after`. A page without events only moves the cursor.",
    authScopes: { callers: merchantReaders },
    complexity: computeFeedCost,
    args: eventFeedArgs,
    subscribe: async (_root, args, context) =>
      watchMerchantEventFeed(watchOf(context).eventFeeds, {
        merchantKey: getMerchantIdForListQuery(context, args.merchantId) ?? allMerchantsKey,
        after: await resolveEventFeedStartCursor(args, context),
      }),
    resolve: async ({ after, sentPage }, args, context) => {
      const page = await loadEventFeedPage({ ...args, after }, context);
      sentPage(page);
      return page;
    },
  }),
);

async function newest(context: GraphqlContext, endpointId: string): Promise<DeliveryChangeBatch> {
  const filter = { merchantId: null, endpointId, status: null };
  const page = await findWebhookDeliveriesPage(context.db, filter, {
    limit: deliveriesPerStepMax + 1,
    isInverted: true,
  });
  const ids = page.slice(0, deliveriesPerStepMax).map(({ id }) => id);
  return { deliveries: await load(context, ids.toReversed()), isMore: page.length > deliveriesPerStepMax };
}

const changed = async (
  context: GraphqlContext,
  { isMore }: DeliveryIdsChangedSinceLastResult,
  ids: readonly string[],
): Promise<DeliveryChangeBatch> => ({
  deliveries: await load(context, ids.toSorted()),
  isMore,
});

async function load({ loaders }: GraphqlContext, ids: readonly string[]): Promise<DeliveryView[]> {
  const found = await Promise.all(ids.map((id) => loaders.webhookDeliveries.load(id)));
  return found.filter((delivery) => delivery !== null);
}
