/** The report on what comes back. */
import { readReturnReport, type ReturnFigures, type ReturnReport } from "#commerce/reports/return-report.ts";
import type { Period } from "#foundation/period.ts";
import { ReturnReasonEnum } from "#graph/orders/after-sales-eligibility.ts";
import { builder } from "#graph/builder.ts";
import { readers } from "#graph/context.ts";
import { ReturnKindEnum } from "#graph/orders/order-enums.ts";
import { ReportPeriodRef, readShopReport, reportBaseCost, marketArgs, reportArgs } from "./report-period.ts";

const Figures = builder.interfaceRef<ReturnFigures>("ReturnFigures").implement({
  description:
    "Returns that were asked for in a time, in one currency. A return counts when it was asked for, whatever becomes of it later.",
  fields: (t) => ({
    currency: t.expose("currency", {
      type: "CurrencyCode",
      description: "The currency of all of its amounts.",
    }),
    returns: t.exposeInt("returns", { description: "Returns that were asked for." }),
    units: t.exposeInt("units", {
      description: "Units that were to come back, of declined and canceled returns too.",
    }),
    declined: t.exposeInt("declined", {
      description: "Of the returns, those that the merchant has declined.",
    }),
    canceled: t.exposeInt("canceled", { description: "Of the returns, those that were called off." }),
    closed: t.exposeInt("closed", {
      description: "Of the returns, those that are settled; what is left is under way.",
    }),
    promisedMinor: t.expose("promisedMinor", {
      type: "MinorUnits",
      description:
        "What was promised to be given back when they were asked for, fees taken off, in minor units; of settled returns what they came to, also where that was given as store credit. Without declined and canceled returns.",
    }),
    feeMinor: t.expose("feeMinor", {
      type: "MinorUnits",
      description:
        "The fees that were taken off for returning, in minor units; without declined and canceled returns.",
    }),
    refundedMinor: t.expose("refundedMinor", {
      type: "MinorUnits",
      description:
        "What was given back for them in money, in minor units: refunds of these returns that succeeded, whenever; without store credit.",
    }),
  }),
});

const Totals = builder
  .objectRef<ReturnFigures>("ReturnTotals")
  .implement({ description: "All returns of one currency.", interfaces: [Figures] });

const OfReason = builder.objectRef<ReturnReport["reasons"][number]>("ReturnReportRow").implement({
  description: "The returns of one kind, for one reason, in one currency.",
  interfaces: [Figures],
  fields: (t) => ({
    kind: t.expose("kind", { type: ReturnKindEnum, description: "What is to become of it." }),
    reason: t.expose("reason", { type: ReturnReasonEnum, description: "Why it was asked for." }),
  }),
});

const Report = builder.objectRef<ReturnReport & { readonly period: Period }>("ReturnReport").implement({
  description: "What came back, and why.",
  fields: (t) => ({
    period: t.expose("period", { type: ReportPeriodRef, description: "The time that it is about." }),
    totals: t.field({
      type: [Totals],
      description: "All returns, by currency; amounts of two currencies are never added.",
      complexity: { multiplier: 3 },
      resolve: ({ totals }) => totals,
    }),
    reasons: t.field({
      type: [OfReason],
      description: "By kind, reason and currency, the most frequent first.",
      complexity: { multiplier: 50 },
      resolve: ({ reasons }) => reasons,
    }),
  }),
});

builder.queryField("returnReport", (t) =>
  t.field({
    type: Report,
    description:
      "What came back in a time, by kind, reason and currency. A return counts when it was asked for.",
    authScopes: { callers: readers },
    complexity: { field: reportBaseCost },
    args: { ...reportArgs, ...marketArgs },
    resolve: (_root, args, context) => readShopReport(context, args, readReturnReport),
  }),
);
