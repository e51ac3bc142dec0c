/** The GraphQL lists of payments, refunds, returns, fulfillments and warranty registrations over all orders. */
import type { DefaultConnectionArguments } from "@pothos/plugin-relay";
import {
  findPaymentsWithoutOrder,
  findRefundsWithoutOrder,
  type OrderPartKind,
} from "#commerce/orders/find-orders.ts";
import { buildOrderPartIdSqlQuery } from "#commerce/orders/list-orders.ts";
import { type OrderPartViewsByKind, toOrderPartViews } from "#commerce/orders/render-parts.ts";
import { builder } from "#graph/builder.ts";
import {
  computeConnectionCost,
  type GraphqlConnectionPage,
  createGraphqlConnectionTypeOptions,
  loadGraphqlConnection,
} from "#graph/connections.ts";
import { aggregateCost } from "#graph/limits.ts";
import { type GraphqlContext, getMerchantIdForListQuery, merchantReaders } from "#graph/context.ts";
import { createdPeriodArgs, listMerchantArgs, requirePeriodStartBeforeEnd } from "#graph/list-arguments.ts";
import { FulfillmentRef, PaymentRef, RefundRef, ReturnRef, WarrantyRef } from "#graph/refs.ts";
import {
  FulfillmentStatusEnum,
  PaymentStatusEnum,
  RefundStatusEnum,
  ReturnStatusEnum,
  WarrantyStatusEnum,
} from "./order-enums.ts";

/**
 * The arguments that the lists of payments, refunds, returns, fulfillments and warranties have in common.
 * Each list also has an argument for the status.
 */
const partListArgs = { ...listMerchantArgs, ...createdPeriodArgs };

interface PartListArgs {
  readonly merchantId?: string | null | undefined;
  readonly status?: string | null | undefined;
  readonly createdFrom?: Date | null | undefined;
  readonly createdTo?: Date | null | undefined;
}

builder.queryFields((t) => ({
  payments: t.connection(
    {
      type: PaymentRef,
      description: "Lists payments, newest first, including payments of checkouts that placed no order.",
      authScopes: { callers: merchantReaders },
      complexity: computeConnectionCost,
      args: {
        ...partListArgs,
        status: t.arg({ type: PaymentStatusEnum, description: "Lists only payments with this status." }),
      },
      resolve: (_root, args, context) =>
        loadParts(context, args, {
          part: "payment",
          parts: "payments",
          findWithoutOrder: findPaymentsWithoutOrder,
        }),
    },
    ...createGraphqlConnectionTypeOptions("Payment", "payments", aggregateCost),
  ),
  refunds: t.connection(
    {
      type: RefundRef,
      description:
        "Lists refunds, newest first, including refunds of payments that succeeded too late to place an order.",
      authScopes: { callers: merchantReaders },
      complexity: computeConnectionCost,
      args: {
        ...partListArgs,
        status: t.arg({ type: RefundStatusEnum, description: "Lists only refunds with this status." }),
      },
      resolve: (_root, args, context) =>
        loadParts(context, args, {
          part: "refund",
          parts: "refunds",
          findWithoutOrder: findRefundsWithoutOrder,
        }),
    },
    ...createGraphqlConnectionTypeOptions("Refund", "refunds", aggregateCost),
  ),
}));

builder.queryFields((t) => ({
  returns: t.connection(
    {
      type: ReturnRef,
      description: "Lists returns, newest first.",
      authScopes: { callers: merchantReaders },
      complexity: computeConnectionCost,
      args: {
        ...partListArgs,
        status: t.arg({ type: ReturnStatusEnum, description: "Lists only returns with this status." }),
      },
      resolve: (_root, args, context) => loadParts(context, args, { part: "return", parts: "returns" }),
    },
    ...createGraphqlConnectionTypeOptions("Return", "returns", aggregateCost),
  ),
  fulfillments: t.connection(
    {
      type: FulfillmentRef,
      description: "Lists fulfillments, newest first.",
      authScopes: { callers: merchantReaders },
      complexity: computeConnectionCost,
      args: {
        ...partListArgs,
        status: t.arg({
          type: FulfillmentStatusEnum,
          description: "Lists only fulfillments with this status.",
        }),
      },
      resolve: (_root, args, context) =>
        loadParts(context, args, { part: "fulfillment", parts: "fulfillments" }),
    },
    ...createGraphqlConnectionTypeOptions("Fulfillment", "fulfillments", aggregateCost),
  ),
  warranties: t.connection(
    {
      type: WarrantyRef,
      description: "Lists warranty registrations, newest first.",
      authScopes: { callers: merchantReaders },
      complexity: computeConnectionCost,
      args: {
        ...partListArgs,
        status: t.arg({
          type: WarrantyStatusEnum,
          description: "Lists only warranty registrations with this status.",
        }),
      },
      resolve: (_root, args, context) => loadParts(context, args, { part: "warranty", parts: "warranties" }),
    },
    ...createGraphqlConnectionTypeOptions("WarrantyRegistration", "warranty registrations", aggregateCost),
  ),
}));

interface PartList<Parts extends keyof OrderPartViewsByKind> {
  readonly part: OrderPartKind;
  readonly parts: Parts;
  /** Finds payments or refunds without an order by their ids, for example the payment of a failed checkout. */
  readonly findWithoutOrder?: (
    reader: GraphqlContext["db"],
    ids: readonly string[],
  ) => Promise<ReadonlyMap<string, OrderPartViewsByKind[Parts]>>;
}

/**
 * Loads one page of a list of payments, refunds or other parts of orders. A single SQL statement reads the
 * orders of all parts on the page.
 */
async function loadParts<Parts extends keyof OrderPartViewsByKind>(
  context: GraphqlContext,
  args: PartListArgs & DefaultConnectionArguments,
  { part, parts, findWithoutOrder }: PartList<Parts>,
): Promise<GraphqlConnectionPage<OrderPartViewsByKind[Parts]>> {
  requirePeriodStartBeforeEnd("created", args);
  const query = buildOrderPartIdSqlQuery(context.db, {
    ...args,
    part,
    merchantId: getMerchantIdForListQuery(context, args.merchantId),
  });
  const page = await loadGraphqlConnection(args, {
    db: context.db,
    query,
    column: "part.id",
    cursor: part,
    isDescending: true,
  });
  const nodes = page.edges.map(({ node }) => node);
  const orderIds = new Set(nodes.flatMap(({ orderId }) => (orderId === null ? [] : [orderId])));
  const unlinkedIds = nodes.flatMap(({ id, orderId }) => (orderId === null ? [id] : []));
  const [orders, unlinked] = await Promise.all([
    Promise.all([...orderIds].map((id) => context.loaders.orders.load(id))),
    unlinkedIds.length === 0 ? undefined : findWithoutOrder?.(context.db, unlinkedIds),
  ]);
  const views = new Map(unlinked);
  for (const order of orders)
    if (order !== null) for (const view of toOrderPartViews(order, parts)) views.set(view.id, view);
  return {
    ...page,
    edges: page.edges.flatMap(({ cursor, node: { id } }) => {
      const view = views.get(id);
      return view === undefined ? [] : [{ cursor, node: view }];
    }),
  };
}
