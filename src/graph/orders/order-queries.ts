/** How orders, and what belongs to them, are found. */
import {
  findLonePayment,
  findLoneRefund,
  findPartOwner,
  isForeignOrder,
  orderList,
  type OrderPart,
} from "#commerce/orders/find-orders.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { type OrderPartViews, toParts } from "#commerce/orders/render-parts.ts";
import { fail } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import {
  type CallerKind,
  getCallerKind,
  type GraphContext,
  integratorCallers,
  getListMerchantId,
  getOrderActor,
  getCallerMerchantId,
  merchantReaders,
} from "#graph/context.ts";
import { loadConnection, connectionCost, connectionTypeOptions } from "#graph/connections.ts";
import {
  FulfillmentRef,
  OrderRef,
  type GraphOrder,
  PaymentRef,
  RefundRef,
  ReturnRef,
  WarrantyRef,
} from "#graph/refs.ts";
import { OrderStatusEnum } from "./order-enums.ts";
import { showOrder } from "./orders.ts";

/** Whether the asker may know that the order is there. */
export function isOrderVisible(order: OrderAggregate, context: GraphContext): boolean {
  if (context.viewer.kind === "buyer") return order.sessionId === context.viewer.sessionId;
  return (
    isOurs(order.merchant.id, context) &&
    !isForeignOrder(order, { actor: getOrderActor(context), buyerReference: context.buyerReference })
  );
}

function isOurs(merchantId: string, context: GraphContext): boolean {
  const owner = getCallerMerchantId(context);
  return owner === null || owner === merchantId;
}

/** Whoever runs the merchant, and what renders events. */
const whoReadsParts: readonly CallerKind[] = ["system", ...merchantReaders];

builder.queryFields((t) => ({
  order: t.field({
    type: OrderRef,
    nullable: true,
    description:
      "An order by its id; null when there is none. A storefront sees those of the buyer that X-Buyer-Reference names. Over REST a 404.",
    authScopes: { callers: [...integratorCallers, "storefront", "buyer", "system", ...merchantReaders] },
    args: { id: t.arg.id({ required: true, description: "The order's id, `ord_…`." }) },
    resolve: async (_root, { id }, context) => {
      const order = await context.loaders.orders.load(id);
      return order === null || !isOrderVisible(order, context) ? null : showOrder(order, context);
    },
  }),
  orders: t.connection(
    {
      type: OrderRef,
      description: "Orders, oldest first. A storefront sees those of the buyer that X-Buyer-Reference names.",
      authScopes: { callers: ["storefront", ...merchantReaders] },
      complexity: connectionCost,
      args: {
        merchantId: t.arg.id({
          description: "The merchant; without it, with a token of the platform, all of them.",
        }),
        status: t.arg({ type: OrderStatusEnum, description: "Only those in this status." }),
        buyerReference: t.arg.string({
          description:
            "Only those of the buyer that frontends know by this name; with a storefront's token, itself alone.",
        }),
      },
      resolve: async (_root, { merchantId, status, buyerReference, ...args }, context) => {
        const filter = {
          merchantId: getListMerchantId(context, merchantId),
          status: status ?? null,
          buyerReference: askedBuyer(context, buyerReference ?? null),
        };
        const { edges, ...rest } = await loadConnection(args, {
          db: context.db,
          query: orderList(context.db, filter),
          column: "sales_order.id",
        });
        const orders = await context.loaders.orders.loadMany(edges.map(({ node }) => node.id));
        return {
          ...rest,
          edges: edges.flatMap((edge, index) => shownEdge(edge.cursor, orders[index], context)),
        };
      },
    },
    ...connectionTypeOptions("Order", "orders"),
  ),
}));

builder.queryFields((t) => ({
  fulfillment: t.field({
    type: FulfillmentRef,
    nullable: true,
    description: "A fulfillment by its id; null when there is none.",
    authScopes: { callers: whoReadsParts },
    args: { id: t.arg.id({ required: true, description: "The fulfillment's id, `ful_…`." }) },
    resolve: (_root, { id }, context) =>
      findPart(context, { part: "fulfillment", parts: "fulfillments", id }),
  }),
  payment: t.field({
    type: PaymentRef,
    nullable: true,
    description: "A payment by its id, also one of a checkout that came to nothing; null when there is none.",
    authScopes: { callers: whoReadsParts },
    args: { id: t.arg.id({ required: true, description: "The payment's id, `pay_…`." }) },
    resolve: (_root, { id }, context) =>
      findPart(context, { part: "payment", parts: "payments", id, alone: findLonePayment }),
  }),
  refund: t.field({
    type: RefundRef,
    nullable: true,
    description: "A refund by its id; null when there is none.",
    authScopes: { callers: whoReadsParts },
    args: { id: t.arg.id({ required: true, description: "The refund's id, `rfd_…`." }) },
    resolve: (_root, { id }, context) =>
      findPart(context, { part: "refund", parts: "refunds", id, alone: findLoneRefund }),
  }),
  return: t.field({
    type: ReturnRef,
    nullable: true,
    description: "A return by its id; null when there is none.",
    authScopes: { callers: whoReadsParts },
    args: { id: t.arg.id({ required: true, description: "The return's id, `ret_…`." }) },
    resolve: (_root, { id }, context) => findPart(context, { part: "return", parts: "returns", id }),
  }),
  warranty: t.field({
    type: WarrantyRef,
    nullable: true,
    description: "A warranty registration by its id; null when there is none.",
    authScopes: { callers: whoReadsParts },
    args: { id: t.arg.id({ required: true, description: "The registration's id, `wty_…`." }) },
    resolve: (_root, { id }, context) => findPart(context, { part: "warranty", parts: "warranties", id }),
  }),
}));

interface PartAsked<Parts extends keyof OrderPartViews> {
  readonly part: OrderPart;
  readonly parts: Parts;
  readonly id: string;
  /** Finds one that belongs to no order. */
  readonly alone?: (reader: GraphContext["db"], id: string) => Promise<OrderPartViews[Parts] | null>;
}

async function findPart<Parts extends keyof OrderPartViews>(
  context: GraphContext,
  { part, parts, id, alone }: PartAsked<Parts>,
): Promise<OrderPartViews[Parts] | null> {
  const owner = await findPartOwner(context.db, { part, id });
  if (owner === undefined || !isOurs(owner.merchantId, context)) return null;
  if (owner.orderId === null) return alone === undefined ? null : alone(context.db, id);
  const order = await context.loaders.orders.load(owner.orderId);
  return order === null ? null : (toParts(order, parts).find((view) => view.id === id) ?? null);
}

/** A storefront speaks for the buyer it serves and for no other. */
function askedBuyer(context: GraphContext, asked: string | null): string | null {
  if (getCallerKind(context.viewer) !== "storefront") return asked;
  const { buyerReference } = context;
  if (buyerReference === null || (asked !== null && asked !== buyerReference))
    throw fail("role_not_allowed", {
      message: "A storefront lists orders of a buyer: X-Buyer-Reference says whose.",
    });
  return buyerReference;
}

function shownEdge(
  cursor: string,
  order: OrderAggregate | Error | null | undefined,
  context: GraphContext,
): { cursor: string; node: GraphOrder }[] {
  if (order instanceof Error) throw order;
  return order === null || order === undefined ? [] : [{ cursor, node: showOrder(order, context) }];
}
