/** The GraphQL query for the report on the funnel from cart to checkout, submission and order. */
import {
  type CheckoutFunnelFigures,
  type CheckoutFunnelReport,
  readCheckoutFunnelReport,
  type CheckoutSessionOutcomeCount,
} from "#commerce/reports/shopping-report.ts";
import type { PeriodBucket, Period } from "#foundation/period.ts";
import { builder } from "#graph/builder.ts";
import { SessionCancelReasonEnum, SessionStatusEnum } from "#graph/checkout/session-types.ts";
import { merchantReaders } from "#graph/context.ts";
import {
  computeBucketedReportCost,
  intervalArgs,
  marketArgs,
  readReportInReadOnlyTransaction,
  reportArgs,
  ReportBucketRef,
  reportListCost,
  ReportPeriodRef,
  reportTotalsCost,
} from "./report-period.ts";

const FunnelOutcome = builder.objectRef<CheckoutSessionOutcomeCount>("FunnelOutcome").implement({
  description: "The number of checkout sessions that have the same status and cancellation reason.",
  fields: (t) => ({
    status: t.expose("status", {
      type: SessionStatusEnum,
      description:
        "The status of the checkout sessions. COMPLETED sessions became an order; CANCELED and EXPIRED " +
        "sessions ended without an order; OPEN and PROCESSING sessions have not ended.",
    }),
    reason: t.expose("reason", {
      type: SessionCancelReasonEnum,
      nullable: true,
      description: "The reason for canceling the checkout sessions; null if the sessions were not canceled.",
    }),
    sessions: t.exposeInt("sessions", {
      description: "The number of checkout sessions with the status and the cancellation reason.",
    }),
  }),
});

const FunnelFiguresType = builder.interfaceRef<CheckoutFunnelFigures>("FunnelFigures").implement({
  description:
    "Figures about how many carts reached a checkout, a submission and an order. A cart counts in the " +
    "period in which it was created, with all its later checkouts and orders, so past figures can change. " +
    "Carts that were merged into another cart do not count.",
  fields: (t) => ({
    carts: t.exposeInt("carts", { description: "The number of carts that were created in the period." }),
    checkouts: t.exposeInt("checkouts", {
      description:
        "The number of carts, of those created in the period, that had at least one checkout session.",
    }),
    submittedCheckouts: t.exposeInt("submittedCheckouts", {
      description:
        "The number of carts, of those created in the period, of which a checkout session was submitted, " +
        "including sessions whose payment failed.",
    }),
    orders: t.exposeInt("orders", {
      description:
        "The number of carts, of those created in the period, that became an order, including orders that " +
        "were canceled later.",
    }),
    sessions: t.exposeInt("sessions", {
      description:
        "The number of checkout sessions of the carts that were created in the period. A cart can have " +
        "several sessions.",
    }),
    conversionRate: t.exposeFloat("conversionRate", {
      nullable: true,
      description: "The conversion rate: `orders` divided by `carts`, 0 to 1; null if there were no carts.",
    }),
    outcomes: t.field({
      type: [FunnelOutcome],
      description:
        "The checkout sessions by status and cancellation reason, most sessions first. " +
        "Combinations that did not occur are left out.",
      complexity: { multiplier: 3 },
      resolve: ({ outcomes }) => outcomes,
    }),
  }),
});

const FunnelTotals = builder.objectRef<CheckoutFunnelFigures>("FunnelTotals").implement({
  description: "Funnel figures of the whole period.",
  interfaces: [FunnelFiguresType],
});

const FunnelBucket = builder.objectRef<CheckoutFunnelFigures & PeriodBucket>("FunnelBucket").implement({
  description: "Funnel figures of one bucket (an hour, day, week or month) of the period.",
  interfaces: [ReportBucketRef, FunnelFiguresType],
});

const FunnelReportType = builder
  .objectRef<CheckoutFunnelReport & { readonly period: Period }>("FunnelReport")
  .implement({
    description: "A report on the funnel from cart to checkout, submission and order.",
    fields: (t) => ({
      period: t.expose("period", {
        type: ReportPeriodRef,
        complexity: reportTotalsCost,
        description: "The period in which the carts were created.",
      }),
      totals: t.expose("totals", {
        type: FunnelTotals,
        complexity: reportTotalsCost,
        description: "The figures about the whole period of the report.",
      }),
      buckets: t.field({
        type: [FunnelBucket],
        description: "The figures of each bucket in chronological order, including buckets without carts.",
        complexity: reportListCost,
        resolve: ({ buckets }) => buckets,
      }),
    }),
  });

builder.queryField("funnelReport", (t) =>
  t.field({
    type: FunnelReportType,
    description:
      "Reports how many carts reached a checkout, a submission and an order, by hour, day, week or month, " +
      "and why checkouts ended. A cart counts in the period in which it was created.",
    authScopes: { callers: merchantReaders },
    complexity: computeBucketedReportCost,
    args: { ...reportArgs, ...intervalArgs, ...marketArgs },
    resolve: (_root, args, context) =>
      readReportInReadOnlyTransaction(context, args, (reader, scope) =>
        readCheckoutFunnelReport(reader, { ...scope, now: context.clock.now() }),
      ),
  }),
);
