/** Queries of orders and their parts. */
import {
  findPaymentWithoutOrder,
  findRefundWithoutOrder,
  findOrderPartOwner,
  isOrderOfOtherBuyer,
  selectOrderIds,
  type OrderPartKind,
} from "#commerce/orders/find-orders.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { type OrderPartViewsByKind, toOrderPartViews } from "#commerce/orders/render-parts.ts";
import { fail, failWithDetail } from "#foundation/failure.ts";
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
import { loadConnection, computeConnectionCost, createConnectionTypeOptions } from "#graph/connections.ts";
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
import { toGraphOrder } from "./orders.ts";

/** True if the caller may read the order. */
export function isOrderVisible(order: OrderAggregate, context: GraphContext): boolean {
  if (context.viewer.kind === "buyer") return order.sessionId === context.viewer.sessionId;
  return (
    isOfCallerMerchant(order.merchant.id, context) &&
    !isOrderOfOtherBuyer(order, { actor: getOrderActor(context), buyerReference: context.buyerReference })
  );
}

function isOfCallerMerchant(merchantId: string, context: GraphContext): boolean {
  const owner = getCallerMerchantId(context);
  return owner === null || owner === merchantId;
}

/**
 * Callers that may query a payment, refund, fulfillment, return or warranty by its id: the merchant's staff,
 * and the service itself when it renders events.
 */
const partReaders: readonly CallerKind[] = ["system", ...merchantReaders];

builder.queryFields((t) => ({
  order: t.field({
    type: OrderRef,
    nullable: true,
    description:
      "Returns an order by its id; null if there is none (over REST: 404). A storefront can only read " +
      "orders of the buyer in X-Buyer-Reference.",
    authScopes: { callers: [...integratorCallers, "storefront", "buyer", "system", ...merchantReaders] },
    args: { id: t.arg.id({ required: true, description: "The id of the order, `ord_…`." }) },
    resolve: async (_root, { id }, context) => {
      const order = await context.loaders.orders.load(id);
      return order === null || !isOrderVisible(order, context) ? null : toGraphOrder(order, context);
    },
  }),
}));

builder.queryFields((t) => ({
  orders: t.connection(
    {
      type: OrderRef,
      description:
        "Lists orders, oldest first. A storefront can only list orders of the buyer in X-Buyer-Reference.",
      authScopes: { callers: ["storefront", ...merchantReaders] },
      complexity: computeConnectionCost,
      args: {
        merchantId: t.arg.id({
          description:
            "The id of the merchant. Left out, with a token of the platform: the orders of all merchants.",
        }),
        status: t.arg({ type: OrderStatusEnum, description: "Lists only orders with this status." }),
        buyerReference: t.arg.string({
          description:
            "Lists only orders of the buyer with this frontend reference. A storefront may only name the " +
            "buyer in X-Buyer-Reference.",
        }),
        number: t.arg.string({
          description:
            "Lists only the order with this number, in capital or small letters. At most one order of a " +
            "merchant has a number.",
        }),
        placedFrom: t.arg({
          type: "DateTime",
          description: "Lists only orders that were placed at this time or later.",
        }),
        placedTo: t.arg({
          type: "DateTime",
          description:
            "Lists only orders that were placed before this time, which must be after `placedFrom`.",
        }),
      },
      resolve: async (
        _root,
        { merchantId, status, buyerReference, number, placedFrom, placedTo, ...args },
        context,
      ) => {
        requirePeriod(placedFrom, placedTo);
        const filter = {
          merchantId: getListMerchantId(context, merchantId),
          status: status ?? null,
          buyerReference: getBuyerFilter(context, buyerReference ?? null),
          number: number?.trim().toUpperCase(),
          placedFrom,
          placedTo,
        };
        const { edges, ...rest } = await loadConnection(args, {
          db: context.db,
          query: selectOrderIds(context.db, filter),
          column: "sales_order.id",
        });
        const orders = await context.loaders.orders.loadMany(edges.map(({ node }) => node.id));
        return {
          ...rest,
          edges: edges.flatMap((edge, index) => visibleEdges(edge.cursor, orders[index], context)),
        };
      },
    },
    ...createConnectionTypeOptions("Order", "orders"),
  ),
}));

builder.queryFields((t) => ({
  fulfillment: t.field({
    type: FulfillmentRef,
    nullable: true,
    description: "Returns a fulfillment by its id; null if there is none.",
    authScopes: { callers: partReaders },
    args: { id: t.arg.id({ required: true, description: "The id of the fulfillment, `ful_…`." }) },
    resolve: (_root, { id }, context) =>
      findPart(context, { part: "fulfillment", parts: "fulfillments", id }),
  }),
  payment: t.field({
    type: PaymentRef,
    nullable: true,
    description:
      "Returns a payment by its id, including payments of checkouts that placed no order; null if there is " +
      "none.",
    authScopes: { callers: partReaders },
    args: { id: t.arg.id({ required: true, description: "The id of the payment, `pay_…`." }) },
    resolve: (_root, { id }, context) =>
      findPart(context, { part: "payment", parts: "payments", id, withoutOrder: findPaymentWithoutOrder }),
  }),
  refund: t.field({
    type: RefundRef,
    nullable: true,
    description: "Returns a refund by its id; null if there is none.",
    authScopes: { callers: partReaders },
    args: { id: t.arg.id({ required: true, description: "The id of the refund, `rfd_…`." }) },
    resolve: (_root, { id }, context) =>
      findPart(context, { part: "refund", parts: "refunds", id, withoutOrder: findRefundWithoutOrder }),
  }),
  return: t.field({
    type: ReturnRef,
    nullable: true,
    description: "Returns a return by its id; null if there is none.",
    authScopes: { callers: partReaders },
    args: { id: t.arg.id({ required: true, description: "The id of the return, `ret_…`." }) },
    resolve: (_root, { id }, context) => findPart(context, { part: "return", parts: "returns", id }),
  }),
  warranty: t.field({
    type: WarrantyRef,
    nullable: true,
    description: "Returns a warranty registration by its id; null if there is none.",
    authScopes: { callers: partReaders },
    args: { id: t.arg.id({ required: true, description: "The id of the warranty registration, `wty_…`." }) },
    resolve: (_root, { id }, context) => findPart(context, { part: "warranty", parts: "warranties", id }),
  }),
}));

interface PartQuery<Parts extends keyof OrderPartViewsByKind> {
  readonly part: OrderPartKind;
  readonly parts: Parts;
  readonly id: string;
  /**
   * Finds a part, such as a payment or a refund, that is not linked to an order: for example the payment of a
   * failed checkout.
   */
  readonly withoutOrder?: (
    reader: GraphContext["db"],
    id: string,
  ) => Promise<OrderPartViewsByKind[Parts] | null>;
}

async function findPart<Parts extends keyof OrderPartViewsByKind>(
  context: GraphContext,
  { part, parts, id, withoutOrder }: PartQuery<Parts>,
): Promise<OrderPartViewsByKind[Parts] | null> {
  const owner = await findOrderPartOwner(context.db, { part, id });
  if (owner === undefined || !isOfCallerMerchant(owner.merchantId, context)) return null;
  if (owner.orderId === null) return withoutOrder === undefined ? null : withoutOrder(context.db, id);
  const order = await context.loaders.orders.load(owner.orderId);
  return order === null ? null : (toOrderPartViews(order, parts).find((view) => view.id === id) ?? null);
}

function requirePeriod(from: Date | null | undefined, to: Date | null | undefined): void {
  if (!from || !to || from < to) return;
  throw failWithDetail("invalid_field", {
    in: "body",
    field: "/placedTo",
    code: "too_small",
    message: `"placedTo" must be after "placedFrom".`,
  });
}

/**
 * Returns the buyer whose orders a list shows; null if the list shows the orders of all buyers. A storefront
 * may only list orders of the buyer that it serves.
 */
function getBuyerFilter(context: GraphContext, requested: string | null): string | null {
  if (getCallerKind(context.viewer) !== "storefront") return requested;
  const { buyerReference } = context;
  if (buyerReference === null || (requested !== null && requested !== buyerReference))
    throw fail("role_not_allowed", {
      message: "A storefront can only list orders of the buyer in the header X-Buyer-Reference.",
    });
  return buyerReference;
}

function visibleEdges(
  cursor: string,
  order: OrderAggregate | Error | null | undefined,
  context: GraphContext,
): { cursor: string; node: GraphOrder }[] {
  if (order instanceof Error) throw order;
  return order === null || order === undefined ? [] : [{ cursor, node: toGraphOrder(order, context) }];
}
