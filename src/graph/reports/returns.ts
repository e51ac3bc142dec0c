/** The GraphQL query for the report on returns. */
import { readReturnReport, type ReturnFigures, type ReturnReport } from "#commerce/reports/return-report.ts";
import type { Period } from "#foundation/period.ts";
import { ReturnReasonEnum } from "#graph/orders/eligibility-enums.ts";
import { builder } from "#graph/builder.ts";
import { merchantReaders } from "#graph/context.ts";
import { ReturnKindEnum } from "#graph/orders/order-enums.ts";
import { ReportPeriodRef, readReportInReadOnlyTransaction, marketArgs, reportArgs } from "./report-period.ts";
import { reportBaseCost } from "#graph/limits.ts";

const ReturnFiguresType = builder.interfaceRef<ReturnFigures>("ReturnFigures").implement({
  description:
    "Figures about returns that were requested in a period, in one currency. A return " +
    "counts in the period of its request, regardless of its later status.",
  fields: (t) => ({
    currency: t.expose("currency", {
      type: "CurrencyCode",
      description: "The currency of all amounts.",
    }),
    returns: t.exposeInt("returns", {
      description: "The number of returns that were requested in the period.",
    }),
    units: t.exposeInt("units", {
      description: "The number of units of the requested returns, including declined and canceled returns.",
    }),
    declined: t.exposeInt("declined", {
      description: "The number of requested returns that the merchant has declined.",
    }),
    canceled: t.exposeInt("canceled", { description: "The number of requested returns that were canceled." }),
    closed: t.exposeInt("closed", {
      description:
        "The number of requested returns that are settled and closed. Returns that are not closed, " +
        "declined or canceled are still in progress.",
    }),
    promisedMinor: t.expose("promisedMinor", {
      type: "MinorUnits",
      description:
        "The refunds that were promised when the returns were requested, less fees, in minor units. A " +
        "closed return counts with the amount that the buyer actually got. Declined and canceled returns " +
        "do not count.",
    }),
    feeMinor: t.expose("feeMinor", {
      type: "MinorUnits",
      description:
        "The return fees that were deducted from the refunds, in minor units. Declined and canceled " +
        "returns do not count.",
    }),
    refundedMinor: t.expose("refundedMinor", {
      type: "MinorUnits",
      description:
        "The refunds for the returns that were requested in the period, in minor units. Every successful " +
        "refund counts, also after the period.",
    }),
  }),
});

const ReturnTotalsType = builder.objectRef<ReturnFigures>("ReturnTotals").implement({
  description: "Figures about all returns in one currency.",
  interfaces: [ReturnFiguresType],
});

const ReturnReportRowType = builder.objectRef<ReturnReport["reasons"][number]>("ReturnReportRow").implement({
  description: "Figures about the returns of one kind and reason, in one currency.",
  interfaces: [ReturnFiguresType],
  fields: (t) => ({
    kind: t.expose("kind", {
      type: ReturnKindEnum,
      description: "What the buyers get for the returned units, for example a refund or an exchange.",
    }),
    reason: t.expose("reason", {
      type: ReturnReasonEnum,
      description: "The buyer's reason for the returns.",
    }),
  }),
});

const ReturnReportType = builder
  .objectRef<ReturnReport & { readonly period: Period }>("ReturnReport")
  .implement({
    description: "A report on returns: their number, amounts and reasons.",
    fields: (t) => ({
      period: t.expose("period", { type: ReportPeriodRef, description: "The period of the report." }),
      totals: t.field({
        type: [ReturnTotalsType],
        description:
          "Figures about all returns, one entry per currency. Amounts of different currencies " +
          "are never added.",
        complexity: { multiplier: 3 },
        resolve: ({ totals }) => totals,
      }),
      reasons: t.field({
        type: [ReturnReportRowType],
        description:
          "Figures about the returns of one kind and reason, one entry for each kind, reason and currency. " +
          "The entry with the most returns comes first.",
        complexity: { multiplier: 50 },
        resolve: ({ reasons }) => reasons,
      }),
    }),
  });

builder.queryField("returnReport", (t) =>
  t.field({
    type: ReturnReportType,
    description:
      "Reports the returns requested in a period, by kind, reason and currency. A return " +
      "counts in the period in which it was requested.",
    authScopes: { callers: merchantReaders },
    complexity: { field: reportBaseCost },
    args: { ...reportArgs, ...marketArgs },
    resolve: (_root, args, context) => readReportInReadOnlyTransaction(context, args, readReturnReport),
  }),
);
