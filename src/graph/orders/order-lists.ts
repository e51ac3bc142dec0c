/** The GraphQL list of orders, with its filters and sort orders. */
import { z } from "zod";
import { buildOrderIdSqlQuery } from "#commerce/orders/list-orders.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { createFailureWithDetail } from "#foundation/failure.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import {
  computeConnectionCost,
  createGraphqlConnectionTypeOptions,
  loadGraphqlConnection,
} from "#graph/connections.ts";
import { aggregateCost } from "#graph/limits.ts";
import { type GraphqlContext, getMerchantIdForListQuery, merchantReaders } from "#graph/context.ts";
import { findIdsOfObjectsNamedInFilter } from "#graph/filter-objects.ts";
import { requirePeriodStartBeforeEnd } from "#graph/list-arguments.ts";
import { type GraphqlOrder, OrderRef } from "#graph/refs.ts";
import { resolveOrderListBuyerFilter } from "./buyer-filter.ts";
import {
  OrderFulfillmentStatusEnum,
  OrderPaymentStatusEnum,
  OrderReturnStatusEnum,
  OrderStatusEnum,
} from "./order-enums.ts";
import { toGraphqlOrder } from "./orders.ts";

type OrderSort = "oldest_first" | "newest_first" | "highest_total_first" | "lowest_total_first";

const OrderSortEnum = defineGraphqlEnum<OrderSort>("OrderSort", {
  description: "The order of a list of orders.",
  values: {
    oldest_first: "The order that was placed first comes first.",
    newest_first: "The order that was placed last comes first.",
    highest_total_first:
      "The order with the highest total comes first. The query must also give the argument `currency`.",
    lowest_total_first:
      "The order with the lowest total comes first. The query must also give the argument `currency`.",
  },
});

/** The arguments that select the orders of a list. */
const filterArgs = builder.args((t) => ({
  merchantId: t.id({
    description:
      "The id of the merchant. If left out, a token of the platform gets the orders of all merchants.",
  }),
  status: t.field({ type: OrderStatusEnum, description: "Lists only orders with this status." }),
  paymentStatus: t.field({
    type: OrderPaymentStatusEnum,
    description: "Lists only orders with this payment status.",
  }),
  fulfillmentStatus: t.field({
    type: OrderFulfillmentStatusEnum,
    description: "Lists only orders with this fulfillment status.",
  }),
  returnStatus: t.field({
    type: OrderReturnStatusEnum,
    description: "Lists only orders with this return status.",
  }),
  buyerReference: t.string({
    description:
      "Lists only orders of this buyer: the opaque reference of `Order.buyer.reference`, `byr_…`, or the " +
      "frontend's reference. Analysts may only send an opaque reference. A token of the platform needs " +
      "`merchantId` beside an opaque reference. A storefront may only name the buyer of its buyer session, or " +
      "the buyer in X-Buyer-Reference, by the frontend's reference.",
  }),
  number: t.string({
    description:
      "Lists only the order with this order number; upper and lower case are the same. No two orders of a " +
      "merchant have the same number.",
  }),
  market: t.string({
    description: "Lists only orders of the market with this id, `mkt_…`, or handle.",
    validate: z.string().max(96),
  }),
  country: t.field({ type: "CountryCode", description: "Lists only orders that were sold to this country." }),
  currency: t.field({ type: "CurrencyCode", description: "Lists only orders in this currency." }),
  totalMinorMin: t.field({
    type: "MinorUnits",
    description:
      "Lists only orders whose total was at least this amount when they were placed, in minor units. " +
      "Requires the argument `currency`.",
  }),
  totalMinorMax: t.field({
    type: "MinorUnits",
    description:
      "Lists only orders whose total was at most this amount when they were placed, in minor units. " +
      "Requires the argument `currency`.",
  }),
  placedFrom: t.field({
    type: "DateTime",
    description: "Lists only orders that were placed at this time or later.",
  }),
  placedTo: t.field({
    type: "DateTime",
    description: "Lists only orders that were placed before this time, which must be after `placedFrom`.",
  }),
}));

builder.queryFields((t) => ({
  orders: t.connection(
    {
      type: OrderRef,
      description:
        "Lists orders, oldest first by default. A storefront gets only orders of its buyer: the buyer of " +
        "its buyer session, including the orders that the session placed as a guest, or the buyer in the " +
        "header X-Buyer-Reference.",
      authScopes: { callers: ["storefront", ...merchantReaders] },
      complexity: computeConnectionCost,
      args: {
        ...filterArgs,
        sort: t.arg({
          type: OrderSortEnum,
          required: true,
          defaultValue: "oldest_first",
          description: "The order of the list. A cursor is valid only in a list with the same order.",
        }),
      },
      resolve: async (_root, { sort, ...args }, context) => {
        requirePeriodStartBeforeEnd("placed", args);
        requireCurrencyForTotals(sort, args);
        const merchantId = getMerchantIdForListQuery(context, args.merchantId);
        const buyerFilter = await resolveOrderListBuyerFilter(context, args);
        const market = { table: "market", id: args.market, merchantId, acceptsHandle: true } as const;
        const marketIds = await findIdsOfObjectsNamedInFilter(context, "market", market);
        const filter = {
          ...args,
          ...buyerFilter,
          merchantId,
          marketIds,
          number: args.number?.trim().toUpperCase(),
        };
        const isByTotal = sort === "highest_total_first" || sort === "lowest_total_first";
        const query = buildOrderIdSqlQuery(context.db, filter);
        const { edges, ...rest } = await loadGraphqlConnection(args, {
          db: context.db,
          query: isByTotal ? query.select("salesOrder.totalMinor as sortValue") : query,
          column: "sales_order.id",
          cursor: "order",
          ...(isByTotal ? { sortColumn: "sales_order.total_minor" } : {}),
          isDescending: sort === "newest_first" || sort === "highest_total_first",
        });
        const orders = await context.loaders.orders.loadMany(edges.map(({ node }) => node.id));
        return {
          ...rest,
          edges: edges.flatMap((edge, index) => visibleEdges(edge.cursor, orders[index], context)),
        };
      },
    },
    ...createGraphqlConnectionTypeOptions("Order", "orders", aggregateCost),
  ),
}));

interface TotalArgs {
  readonly currency?: string | null | undefined;
  readonly totalMinorMin?: number | null | undefined;
  readonly totalMinorMax?: number | null | undefined;
}

/**
 * Refuses to sort or filter orders by their total without a filter by currency, because totals in different
 * currencies cannot be compared.
 */
function requireCurrencyForTotals(
  sort: OrderSort,
  { currency, totalMinorMin, totalMinorMax }: TotalArgs,
): void {
  const comparesTotals =
    sort === "highest_total_first" ||
    sort === "lowest_total_first" ||
    typeof totalMinorMin === "number" ||
    typeof totalMinorMax === "number";
  if (!comparesTotals || typeof currency === "string") return;
  throw createFailureWithDetail("invalid_field", {
    in: "body",
    field: "/currency",
    code: "required",
    message: '"currency" is required to filter or sort by totals.',
  });
}

function visibleEdges(
  cursor: string,
  order: OrderAggregate | Error | null | undefined,
  context: GraphqlContext,
): { cursor: string; node: GraphqlOrder }[] {
  if (order instanceof Error) throw order;
  return order === null || order === undefined ? [] : [{ cursor, node: toGraphqlOrder(order, context) }];
}
