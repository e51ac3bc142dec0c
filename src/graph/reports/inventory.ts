/** The GraphQL query for the report on the inventory. */
import { z } from "zod";
import {
  type InventoryReport,
  type InventoryReportRow,
  readInventoryReport,
} from "#commerce/reports/inventory-report.ts";
import { builder } from "#graph/builder.ts";
import { getMerchantIdForListQuery, merchantReaders } from "#graph/context.ts";
import {
  computeListReportCost,
  listLengthArgs,
  reportListCost,
  requireReportListLengthWithinLimit,
  reportTotalsCost,
} from "./report-period.ts";

const [daysMax, coverDaysBound] = [365, 3650];

const reservedDescription =
  "The number of units that running checkouts have reserved, and of units that orders wait for because too " +
  "few were on hand when the orders were placed. All other ordered units were already subtracted from the " +
  "units on hand.";

const InventoryTotalsType = builder.objectRef<InventoryReport["totals"]>("InventoryTotals").implement({
  description: "The stock of all variants that are not discontinued.",
  fields: (t) => ({
    variants: t.exposeInt("variants", { description: "The number of variants that are not discontinued." }),
    outOfStockVariants: t.exposeInt("outOfStock", {
      description: "The number of variants that are not discontinued and have no free unit.",
    }),
    onHandUnits: t.exposeInt("onHand", { description: "The number of units on hand." }),
    reservedUnits: t.exposeInt("reserved", {
      description: reservedDescription,
    }),
  }),
});

const InventoryReportRowType = builder.objectRef<InventoryReportRow>("InventoryReportRow").implement({
  description:
    "The stock of one variant that was sold in the last `days` days, and for how many days this stock lasts.",
  fields: (t) => ({
    variantId: t.exposeID("variantId", { description: "The id of the variant, `var_…`." }),
    sku: t.exposeString("sku", { description: "The variant's SKU." }),
    title: t.exposeString("title", {
      nullable: true,
      description:
        "The title of the variant's product, in the merchant's default locale if the product has a title " +
        "in it.",
    }),
    onHandUnits: t.exposeInt("onHand", { description: "The number of units on hand." }),
    reservedUnits: t.exposeInt("reserved", {
      description: reservedDescription,
    }),
    freeUnits: t.exposeInt("free", {
      description:
        "The number of units on hand that are not reserved; 0 if more units are reserved than are on hand.",
    }),
    soldUnits: t.exposeInt("soldUnits", {
      description: "The number of units that were ordered in the last `days` days, less canceled units.",
    }),
    coverDays: t.exposeInt("coverDays", {
      description:
        "For how many whole days the free units last if as many units are sold per day as in the last `days` days; " +
        "0 if no unit is free.",
    }),
  }),
});

const InventoryReportType = builder.objectRef<InventoryReport>("InventoryReport").implement({
  description: "A report on the stock and on the variants that will run out of stock soon.",
  fields: (t) => ({
    totals: t.field({
      type: InventoryTotalsType,
      description: "The stock of all variants.",
      complexity: reportTotalsCost,
      resolve: ({ totals }) => totals,
    }),
    rows: t.field({
      type: [InventoryReportRowType],
      description:
        "The variants that were sold in the last `days` days. The variant that will run out first is the " +
        "first row.",
      complexity: reportListCost,
      resolve: ({ rows }) => rows,
    }),
  }),
});

builder.queryField("inventoryReport", (t) =>
  t.field({
    type: InventoryReportType,
    description:
      "Reports the present stock and for how many days the stock lasts, for example which variants run out " +
      "within two weeks.",
    authScopes: { callers: merchantReaders },
    complexity: computeListReportCost,
    args: {
      merchantId: t.arg.id({
        description:
          "The id of the merchant, `mer_…`. By default the merchant of the caller's token; a token of the " +
          "platform gets a report on all merchants.",
      }),
      days: t.arg.int({
        required: true,
        defaultValue: 30,
        description: `The number of past days whose sales the report counts, 1 to ${daysMax}.`,
        validate: z.int().min(1).max(daysMax),
      }),
      coverDaysMax: t.arg.int({
        description:
          "Returns only variants whose stock lasts for at most this number of days, 0 to " +
          `${coverDaysBound}.`,
        validate: z.int().min(0).max(coverDaysBound),
      }),
      ...listLengthArgs,
    },
    resolve: (_root, { merchantId, days, coverDaysMax, first }, context) => {
      requireReportListLengthWithinLimit(context, first);
      const owner = getMerchantIdForListQuery(context, merchantId);
      const now = context.clock.now();
      return context.services.readOnly((reader) =>
        readInventoryReport(reader, {
          merchantId: owner,
          days,
          coverDaysMax: coverDaysMax ?? null,
          first,
          now,
        }),
      );
    },
  }),
);
