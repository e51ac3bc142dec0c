/** The GraphQL query for the report on fulfillments. */
import {
  type CarrierShipmentFigures,
  type FulfillmentReport,
  readFulfillmentReport,
  type UnshippedOrdersByAge,
  type UnshippedOrder,
} from "#commerce/reports/fulfillment-report.ts";
import type { Period } from "#foundation/period.ts";
import { builder } from "#graph/builder.ts";
import { merchantReaders } from "#graph/context.ts";
import { OrderStatusEnum } from "#graph/orders/order-enums.ts";
import {
  computeListReportCost,
  listLengthArgs,
  requireReportListLengthWithinLimit,
  marketArgs,
  readReportInReadOnlyTransaction,
  reportArgs,
  reportListCost,
  ReportPeriodRef,
  reportTotalsCost,
} from "./report-period.ts";

const UnshippedAgeType = builder.objectRef<UnshippedOrdersByAge>("UnshippedAge").implement({
  description: "The orders that have been waiting for shipment for a similar number of days (an age group).",
  fields: (t) => ({
    fromDays: t.exposeInt("fromDays", {
      description: "The smallest number of full days since an order of the group was placed.",
    }),
    toDays: t.exposeInt("toDays", {
      nullable: true,
      description: "The number of days at which the next group of orders begins; null in the last group.",
    }),
    orders: t.exposeInt("orders", {
      description: "The number of orders of the group with units that are still to be shipped.",
    }),
    units: t.exposeInt("units", {
      description: "The number of units of the group's orders that are still to be shipped.",
    }),
  }),
});

const UnshippedOrderType = builder.objectRef<UnshippedOrder>("UnshippedOrder").implement({
  description: "An order with units that are still to be shipped.",
  fields: (t) => ({
    orderId: t.exposeID("orderId", { description: "The id of the order, `ord_…`." }),
    number: t.exposeString("number", { description: "The number of the order, as shown to the buyer." }),
    status: t.expose("status", { type: OrderStatusEnum, description: "The status of the order." }),
    placedAt: t.expose("placedAt", { type: "DateTime", description: "The time when the order was placed." }),
    ageDays: t.exposeInt("ageDays", { description: "The number of full days since the order was placed." }),
    units: t.exposeInt("units", { description: "The number of units that are still to be shipped." }),
  }),
});

const UnshippedOrdersType = builder.objectRef<FulfillmentReport["unshipped"]>("UnshippedOrders").implement({
  description:
    "The orders with units that are still to be shipped at the time of the query. Canceled and completed " +
    "orders do not count, but orders on hold do.",
  fields: (t) => ({
    ages: t.field({
      type: [UnshippedAgeType],
      description:
        "The waiting orders, grouped by the days since they were placed. Every group is listed, including " +
        "empty ones.",
      complexity: reportTotalsCost,
      resolve: ({ ages }) => ages,
    }),
    oldest: t.field({
      type: [UnshippedOrderType],
      description:
        "The orders that have been waiting longest, at most `first`. The order that has been waiting " +
        "longest comes first.",
      complexity: reportListCost,
      resolve: ({ oldest }) => oldest,
    }),
  }),
});

const CarrierFiguresType = builder.objectRef<CarrierShipmentFigures>("CarrierFigures").implement({
  description: "Parcels of one carrier that were shipped in a period.",
  fields: (t) => ({
    carrier: t.exposeString("carrier", {
      nullable: true,
      description: "The name of the carrier; null for parcels without a carrier.",
    }),
    parcels: t.exposeInt("parcels", { description: "The number of parcels that were shipped." }),
    delivered: t.exposeInt("delivered", {
      description: "The number of shipped parcels that were delivered.",
    }),
    failed: t.exposeInt("failed", {
      description: "The number of shipped parcels that were lost, damaged or returned to the sender.",
    }),
    late: t.exposeInt("late", {
      description:
        "The number of shipped parcels that were delivered after their estimated time of delivery.",
    }),
    medianDeliveryHours: t.float({
      nullable: true,
      description:
        "The median number of hours from the shipment of a parcel to its delivery; null if no parcel was " +
        "delivered.",
      resolve: ({ medianDeliveryHours }) => medianDeliveryHours,
    }),
  }),
});

const FulfillmentReportType = builder
  .objectRef<FulfillmentReport & { readonly period: Period }>("FulfillmentReport")
  .implement({
    description: "A report on the orders that wait for shipment and on the delivery times of carriers.",
    fields: (t) => ({
      period: t.expose("period", {
        type: ReportPeriodRef,
        complexity: reportTotalsCost,
        description: "The period in which the parcels of `carriers` were shipped.",
      }),
      unshipped: t.expose("unshipped", {
        type: UnshippedOrdersType,
        complexity: reportListCost,
        description: "The orders that are waiting for shipment now, whenever they were placed.",
      }),
      carriers: t.field({
        type: [CarrierFiguresType],
        description:
          "Figures about the parcels that were shipped in the period, by carrier, at most `first` " +
          "carriers. The carrier with the most parcels comes first.",
        complexity: reportListCost,
        resolve: ({ carriers }) => carriers,
      }),
    }),
  });

builder.queryField("fulfillmentReport", (t) =>
  t.field({
    type: FulfillmentReportType,
    description:
      "Reports how long orders have been waiting for shipment, and how fast carriers delivered the parcels " +
      "that were shipped in a period.",
    authScopes: { callers: merchantReaders },
    complexity: computeListReportCost,
    args: { ...reportArgs, ...marketArgs, ...listLengthArgs },
    resolve: (_root, { first, ...args }, context) => {
      requireReportListLengthWithinLimit(context, first);
      return readReportInReadOnlyTransaction(context, args, (reader, scope) =>
        readFulfillmentReport(reader, { ...scope, first, now: context.clock.now() }),
      );
    },
  }),
);
