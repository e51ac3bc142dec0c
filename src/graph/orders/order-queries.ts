/** The GraphQL queries of orders and of their parts, for example payments. */
import {
  findPaymentsWithoutOrder,
  findRefundsWithoutOrder,
  findMerchantAndOrderOfOrderPart,
  isOrderOfOtherBuyer,
  type OrderPartKind,
} from "#commerce/orders/find-orders.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { type OrderPartViewsByKind, toOrderPartViews } from "#commerce/orders/render-parts.ts";
import { builder } from "#graph/builder.ts";
import { aggregateCost } from "#graph/limits.ts";
import {
  type CallerKind,
  type GraphqlContext,
  integratorCallers,
  getOrderActorOfCaller,
  getCallerMerchantId,
  merchantReaders,
} from "#graph/context.ts";
import { createKeptResultSource } from "#graph/kept-results.ts";
import { FulfillmentRef, OrderRef, PaymentRef, RefundRef, ReturnRef, WarrantyRef } from "#graph/refs.ts";
import { toGraphqlOrder } from "./orders.ts";

/** Returns whether the caller may read the order. */
export function isOrderVisibleToCaller(order: OrderAggregate, context: GraphqlContext): boolean {
  if (context.viewer.kind === "buyer") return order.sessionId === context.viewer.sessionId;
  return (
    isMerchantReadableByCaller(order.merchant.id, context) &&
    !isOrderOfOtherBuyer(order, {
      actor: getOrderActorOfCaller(context),
      buyerReference: context.buyerReference,
      buyerSessionId: context.buyerSessionId,
    })
  );
}

/** Returns whether the caller may read data of the merchant. */
export function isMerchantReadableByCaller(merchantId: string, context: GraphqlContext): boolean {
  const owner = getCallerMerchantId(context);
  return owner === null || owner === merchantId;
}

/**
 * The kinds of callers that may query a payment, refund, fulfillment, return or warranty by its id: the
 * merchant's staff, and the service itself when it renders events.
 */
const partReaders: readonly CallerKind[] = ["system", ...merchantReaders];

builder.queryFields((t) => ({
  order: t.field({
    type: OrderRef,
    nullable: true,
    description:
      "Returns an order by its id; null if there is no such order (over REST: 404). A storefront can read " +
      "only orders of its buyer: the buyer of its buyer session, or the buyer in the header " +
      "X-Buyer-Reference.",
    authScopes: { callers: [...integratorCallers, "storefront", "buyer", "system", ...merchantReaders] },
    complexity: aggregateCost,
    args: { id: t.arg.id({ required: true, description: "The id of the order, `ord_…`." }) },
    extensions: {
      keptResultSource: createKeptResultSource({
        load: (id, { loaders }) => loaders.orders.load(id),
        // No field that is computed from the order alone depends on the time.
        findTimeOfNextChange: () => null,
      }),
    },
    resolve: async (_root, { id }, context) => {
      const order = await context.loaders.orders.load(id);
      return order === null || !isOrderVisibleToCaller(order, context)
        ? null
        : toGraphqlOrder(order, context);
    },
  }),
}));

builder.queryFields((t) => ({
  fulfillment: t.field({
    type: FulfillmentRef,
    nullable: true,
    description: "Returns a fulfillment by its id; null if there is no such fulfillment.",
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
      "no such payment.",
    authScopes: { callers: partReaders },
    args: { id: t.arg.id({ required: true, description: "The id of the payment, `pay_…`." }) },
    resolve: (_root, { id }, context) =>
      findPart(context, {
        part: "payment",
        parts: "payments",
        id,
        findWithoutOrder: findPaymentsWithoutOrder,
      }),
  }),
  refund: t.field({
    type: RefundRef,
    nullable: true,
    description: "Returns a refund by its id; null if there is no such refund.",
    authScopes: { callers: partReaders },
    args: { id: t.arg.id({ required: true, description: "The id of the refund, `rfd_…`." }) },
    resolve: (_root, { id }, context) =>
      findPart(context, { part: "refund", parts: "refunds", id, findWithoutOrder: findRefundsWithoutOrder }),
  }),
  return: t.field({
    type: ReturnRef,
    nullable: true,
    description: "Returns a return by its id; null if there is no such return.",
    authScopes: { callers: partReaders },
    args: { id: t.arg.id({ required: true, description: "The id of the return, `ret_…`." }) },
    resolve: (_root, { id }, context) => findPart(context, { part: "return", parts: "returns", id }),
  }),
  warranty: t.field({
    type: WarrantyRef,
    nullable: true,
    description: "Returns a warranty registration by its id; null if there is no such registration.",
    authScopes: { callers: partReaders },
    args: { id: t.arg.id({ required: true, description: "The id of the warranty registration, `wty_…`." }) },
    resolve: (_root, { id }, context) => findPart(context, { part: "warranty", parts: "warranties", id }),
  }),
}));

interface PartQuery<Parts extends keyof OrderPartViewsByKind> {
  readonly part: OrderPartKind;
  readonly parts: Parts;
  readonly id: string;
  /** Finds payments or refunds without an order by their ids, for example the payment of a failed checkout. */
  readonly findWithoutOrder?: (
    reader: GraphqlContext["db"],
    ids: readonly string[],
  ) => Promise<ReadonlyMap<string, OrderPartViewsByKind[Parts]>>;
}

async function findPart<Parts extends keyof OrderPartViewsByKind>(
  context: GraphqlContext,
  { part, parts, id, findWithoutOrder }: PartQuery<Parts>,
): Promise<OrderPartViewsByKind[Parts] | null> {
  const owner = await findMerchantAndOrderOfOrderPart(context.db, { part, id });
  if (owner === undefined || !isMerchantReadableByCaller(owner.merchantId, context)) return null;
  if (owner.orderId === null) return (await findWithoutOrder?.(context.db, [id]))?.get(id) ?? null;
  const order = await context.loaders.orders.load(owner.orderId);
  return order === null ? null : (toOrderPartViews(order, parts).find((view) => view.id === id) ?? null);
}
