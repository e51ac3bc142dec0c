/**
 * The GraphQL lists of stock movements and of prices, which show how the stock and the prices of variants
 * changed.
 */
import {
  findPriceHistoryPage,
  priceCursorPattern,
  type PriceHistoryRow,
  buildPriceHistorySqlQuery,
} from "#commerce/catalog/list-prices.ts";
import {
  buildStockMovementSqlQuery,
  type StockMovementReason,
  type StockMovementRow,
} from "#commerce/inventory/list-movements.ts";
import { createMoney } from "#foundation/money.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import {
  computeConnectionCost,
  createGraphqlConnectionTypeOptions,
  loadGraphqlConnection,
  timedCursorPattern,
} from "#graph/connections.ts";
import { getMerchantIdForListQuery, hideFromAnalysts, merchantReaders } from "#graph/context.ts";
import { requireObjectNamedInFilterExists } from "#graph/filter-objects.ts";
import { createdPeriodArgs, listMerchantArgs, requirePeriodStartBeforeEnd } from "#graph/list-arguments.ts";
import { MoneyRef } from "#graph/refs.ts";

const StockMovementReasonEnum = defineGraphqlEnum<StockMovementReason>("StockMovementReason", {
  description: "Why the stock of a variant changed.",
  values: {
    received: "New units of the variant arrived.",
    correction: "The number of units was corrected, for example after counting.",
    damaged: "Units on hand were damaged.",
    lost: "Units on hand were lost.",
    returned: "A buyer returned units that can be sold again.",
    sold:
      "An order took units that were on hand, either when the order was placed or when units arrived for " +
      "which the order had waited. Packing and shipping change the stock no further.",
    canceled: "Units of a canceled fulfillment came back into the stock.",
  },
});

const StockMovementType = builder.objectRef<StockMovementRow>("StockMovement").implement({
  description: "A change of the number of units of a variant on hand.",
  fields: (t) => ({
    id: t.exposeID("id", {
      description: "The number of the stock movement, unique among all stock movements.",
    }),
    variantId: t.exposeID("variantId", { description: "The id of the variant, `var_…`." }),
    delta: t.exposeInt("delta", {
      description:
        "The number of units that were added to the units on hand; negative if units were removed.",
    }),
    onHandAfter: t.exposeInt("onHandAfter", {
      description: "The number of units on hand after the movement.",
    }),
    reason: t.expose("reason", {
      type: StockMovementReasonEnum,
      description: "Why the stock of the variant changed.",
    }),
    note: t.string({
      nullable: true,
      description:
        "A note about the movement, for example the number of an order; null if there is no note. Hidden " +
        "from analysts.",
      resolve: ({ note }, _args, context) => hideFromAnalysts(note, context),
    }),
    createdAt: t.expose("createdAt", {
      type: "DateTime",
      description: "When the stock of the variant changed.",
    }),
  }),
});

const PriceHistoryEntryType = builder.objectRef<PriceHistoryRow>("PriceHistoryEntry").implement({
  description: "A price that a variant has or had in a market.",
  fields: (t) => ({
    variantId: t.exposeID("variantId", { description: "The id of the variant, `var_…`." }),
    marketId: t.exposeID("marketId", { description: "The id of the market, `mkt_…`." }),
    amount: t.field({
      type: MoneyRef,
      description: "The price of one unit in the market's currency.",
      resolve: ({ amountMinor, currency }) => createMoney(amountMinor, currency),
    }),
    compareAt: t.field({
      type: MoneyRef,
      nullable: true,
      description: "The price of one unit before a reduction; null if the price was not reduced.",
      resolve: ({ compareAtMinor, currency }) =>
        compareAtMinor === null ? null : createMoney(compareAtMinor, currency),
    }),
    validFrom: t.expose("validFrom", { type: "DateTime", description: "When the price became valid." }),
    validUntil: t.expose("validUntil", {
      type: "DateTime",
      nullable: true,
      description:
        "When the price stopped applying; null if the price still applies, or stopped less than about a " +
        "minute ago.",
    }),
    endsAt: t.expose("endsAt", {
      type: "DateTime",
      nullable: true,
      description:
        "The end that was set together with the price; null if no end was set. The price stopped applying " +
        "earlier if another price replaced it.",
    }),
  }),
});

builder.queryFields((t) => ({
  stockMovements: t.connection(
    {
      type: StockMovementType,
      description: "Lists changes of the stock of variants, newest first.",
      authScopes: { callers: merchantReaders },
      complexity: computeConnectionCost,
      args: {
        ...listMerchantArgs,
        ...createdPeriodArgs,
        variantId: t.arg.id({ description: "Lists only movements of the variant with this id, `var_…`." }),
        reason: t.arg({
          type: StockMovementReasonEnum,
          description: "Lists only movements with this reason.",
        }),
      },
      resolve: async (_root, args, context) => {
        requirePeriodStartBeforeEnd("created", args);
        const merchantId = getMerchantIdForListQuery(context, args.merchantId);
        const variant = { table: "variant", id: args.variantId, merchantId } as const;
        await requireObjectNamedInFilterExists(context, "variantId", variant);
        return loadGraphqlConnection(args, {
          db: context.db,
          query: buildStockMovementSqlQuery(context.db, { ...args, merchantId }),
          column: "stock_movement.id",
          sortColumn: "stock_movement.created_at",
          sortType: "time",
          isDescending: true,
          cursor: timedCursorPattern,
        });
      },
    },
    ...createGraphqlConnectionTypeOptions("StockMovement", "stock movements"),
  ),
}));

builder.queryFields((t) => ({
  priceHistory: t.connection(
    {
      type: PriceHistoryEntryType,
      description: "Lists the present and former prices of variants, the price that became valid last first.",
      authScopes: { callers: merchantReaders },
      complexity: computeConnectionCost,
      args: {
        ...listMerchantArgs,
        variantId: t.arg.id({ description: "Lists only prices of the variant with this id, `var_…`." }),
        marketId: t.arg.id({ description: "Lists only prices in the market with this id, `mkt_…`." }),
        startedFrom: t.arg({
          type: "DateTime",
          description: "Lists only prices that became valid at this time or later.",
        }),
        startedTo: t.arg({
          type: "DateTime",
          description:
            "Lists only prices that became valid before this time, which must be after `startedFrom`.",
        }),
      },
      resolve: async (_root, args, context) => {
        requirePeriodStartBeforeEnd("started", args);
        const merchantId = getMerchantIdForListQuery(context, args.merchantId);
        const variant = { table: "variant", id: args.variantId, merchantId } as const;
        await requireObjectNamedInFilterExists(context, "variantId", variant);
        const market = { table: "market", id: args.marketId, merchantId } as const;
        await requireObjectNamedInFilterExists(context, "marketId", market);
        const query = buildPriceHistorySqlQuery(context.db, { ...args, merchantId });
        return loadGraphqlConnection(args, {
          db: context.db,
          query,
          loadPage: (page) => findPriceHistoryPage(query, page),
          cursor: priceCursorPattern,
        });
      },
    },
    ...createGraphqlConnectionTypeOptions("PriceHistoryEntry", "prices"),
  ),
}));
