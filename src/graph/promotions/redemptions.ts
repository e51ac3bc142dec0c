/** The GraphQL list of redemptions, which are the uses of promotions by orders. */
import {
  type PromotionRedemptionRow,
  buildPromotionRedemptionSqlQuery,
} from "#commerce/promotions/list-redemptions.ts";
import { builder } from "#graph/builder.ts";
import {
  computeConnectionCost,
  createGraphqlConnectionTypeOptions,
  loadGraphqlConnection,
  timedCursorPattern,
} from "#graph/connections.ts";
import { getMerchantIdForListQuery, hideFromAnalysts, merchantReaders } from "#graph/context.ts";
import { requireObjectNamedInFilterExists } from "#graph/filter-objects.ts";
import { listMerchantArgs, requirePeriodStartBeforeEnd } from "#graph/list-arguments.ts";

const PromotionRedemptionType = builder.objectRef<PromotionRedemptionRow>("PromotionRedemption").implement({
  description: "The record of one use of a promotion by an order.",
  fields: (t) => ({
    id: t.exposeID("id", {
      description: "The number of the promotion use, unique among all promotion uses.",
    }),
    promotionId: t.exposeID("promotionId", { description: "The id of the promotion, `prm_…`." }),
    code: t.exposeString("code", {
      nullable: true,
      description: "The promotion code that the buyer entered; null if the promotion applied automatically.",
    }),
    orderId: t.exposeID("orderId", { description: "The id of the order, `ord_…`." }),
    buyerReference: t.string({
      nullable: true,
      description:
        "The frontend's reference of the buyer; null if the buyer is a guest. Hidden from analysts.",
      resolve: ({ buyerReference }, _args, context) => hideFromAnalysts(buyerReference, context),
    }),
    redeemedAt: t.expose("redeemedAt", { type: "DateTime", description: "When the order was placed." }),
    restoredAt: t.expose("restoredAt", {
      type: "DateTime",
      nullable: true,
      description:
        "When the use stopped counting, because the whole order was canceled; null if the use still counts.",
    }),
  }),
});

builder.queryField("promotionRedemptions", (t) =>
  t.connection(
    {
      type: PromotionRedemptionType,
      description: "Lists uses of promotions by orders, newest first.",
      authScopes: { callers: merchantReaders },
      complexity: computeConnectionCost,
      args: {
        ...listMerchantArgs,
        promotionId: t.arg.id({ description: "Lists only uses of the promotion with this id, `prm_…`." }),
        orderId: t.arg.id({ description: "Lists only uses by the order with this id, `ord_…`." }),
        redeemedFrom: t.arg({
          type: "DateTime",
          description: "Lists only uses by orders that were placed at this time or later.",
        }),
        redeemedTo: t.arg({
          type: "DateTime",
          description:
            "Lists only uses by orders that were placed before this time, which must be after " +
            "`redeemedFrom`.",
        }),
      },
      resolve: async (_root, args, context) => {
        requirePeriodStartBeforeEnd("redeemed", args);
        const merchantId = getMerchantIdForListQuery(context, args.merchantId);
        const promotion = { table: "promotion", id: args.promotionId, merchantId } as const;
        await requireObjectNamedInFilterExists(context, "promotionId", promotion);
        const order = { table: "sales_order", id: args.orderId, merchantId } as const;
        await requireObjectNamedInFilterExists(context, "orderId", order);
        return loadGraphqlConnection(args, {
          db: context.db,
          query: buildPromotionRedemptionSqlQuery(context.db, { ...args, merchantId }),
          column: "promotion_use.id",
          sortColumn: "promotion_use.redeemed_at",
          sortType: "time",
          isDescending: true,
          cursor: timedCursorPattern,
        });
      },
    },
    ...createGraphqlConnectionTypeOptions("PromotionRedemption", "redemptions"),
  ),
);
