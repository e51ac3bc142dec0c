/** The GraphQL query for the report on refunds. */
import {
  readRefundReport,
  type RefundFigures,
  type RefundReport,
  type RefundReportRow,
} from "#commerce/reports/refund-report.ts";
import type { Period } from "#foundation/period.ts";
import { builder } from "#graph/builder.ts";
import { merchantReaders } from "#graph/context.ts";
import {
  marketArgs,
  readReportInReadOnlyTransaction,
  reportArgs,
  reportListCost,
  ReportPeriodRef,
  reportTotalsCost,
} from "./report-period.ts";
import { reportBaseCost } from "#graph/limits.ts";

const RefundFiguresType = builder.interfaceRef<RefundFigures>("RefundFigures").implement({
  description:
    "Figures about refunds in one currency. A refund counts in the period in which it was requested from the " +
    "payment provider.",
  fields: (t) => ({
    currency: t.expose("currency", { type: "CurrencyCode", description: "The currency of all amounts." }),
    refunds: t.exposeInt("refunds", {
      description: "The number of refunds that were requested in the period, with any status.",
    }),
    refundedMinor: t.expose("refundedMinor", {
      type: "MinorUnits",
      description: "The sum of the refunds that succeeded, of those requested in the period, in minor units.",
    }),
    pendingMinor: t.expose("pendingMinor", {
      type: "MinorUnits",
      description:
        "The sum of the refunds, of those requested in the period, that the payment provider has not " +
        "answered yet, in minor units.",
    }),
    failedMinor: t.expose("failedMinor", {
      type: "MinorUnits",
      description:
        "The sum of the refunds, of those requested in the period, that the payment provider refused, in " +
        "minor units.",
    }),
  }),
});

const RefundTotalsType = builder.objectRef<RefundFigures>("RefundTotals").implement({
  description: "Figures about all refunds in one currency.",
  interfaces: [RefundFiguresType],
});

const RefundReportRowType = builder.objectRef<RefundReportRow>("RefundReportRow").implement({
  description: "Figures about the refunds with one reason, in one currency.",
  interfaces: [RefundFiguresType],
  fields: (t) => ({
    reason: t.exposeString("reason", {
      description:
        "The reason of the refunds as a code: a value of the enum `RefundReason` in small letters, or " +
        "`order_canceled`, `order_returned` or `late_payment` for refunds that the service requests itself.",
    }),
  }),
});

const RefundReportType = builder
  .objectRef<RefundReport & { readonly period: Period }>("RefundReport")
  .implement({
    description: "A report on refunds, by reason and currency.",
    fields: (t) => ({
      period: t.expose("period", {
        type: ReportPeriodRef,
        complexity: reportTotalsCost,
        description: "The period of the report.",
      }),
      totals: t.field({
        type: [RefundTotalsType],
        description:
          "Figures about all refunds, one entry per currency. Amounts of different currencies are never added.",
        complexity: reportTotalsCost,
        resolve: ({ totals }) => totals,
      }),
      reasons: t.field({
        type: [RefundReportRowType],
        description:
          "Figures about the refunds with one reason, sorted by currency, and within a currency by the " +
          "highest refunded amount.",
        complexity: reportListCost,
        resolve: ({ reasons }) => reasons,
      }),
    }),
  });

builder.queryField("refundReport", (t) =>
  t.field({
    type: RefundReportType,
    description: "Reports the refunds that were requested in a period, by reason and currency.",
    authScopes: { callers: merchantReaders },
    complexity: { field: reportBaseCost, multiplier: 20 },
    args: { ...reportArgs, ...marketArgs },
    resolve: (_root, args, context) =>
      readReportInReadOnlyTransaction(context, args, (reader, scope) => readRefundReport(reader, scope)),
  }),
);
