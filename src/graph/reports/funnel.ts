/** The report on how far carts come. */
import { type FunnelFigures, type FunnelReport, readFunnel, type SessionOutcome } from "#commerce/reports/funnel-report.ts";
import type { Bucket, Period } from "#foundation/period.ts";
import { builder, readers } from "#graph/builder.ts";
import { CancelReasonEnum, SessionStatusEnum } from "#graph/checkout/session-enums.ts";
import { BucketRef, bucketsCost, intervalArgs, marketArgs, PeriodRef, readShopReport, reportArgs, spreadCost, totalsCost } from "./report-period.ts";

const Outcome = builder.objectRef<SessionOutcome>("FunnelOutcome").implement({
  description: "Where checkout sessions are, and why they ended.",
  fields: (t) => ({
    status: t.expose("status", {
      type: SessionStatusEnum,
      description: "COMPLETED: there is an order. CANCELED and EXPIRED: it ended without one. OPEN and PROCESSING: it has no end yet.",
    }),
    reason: t.expose("reason", { type: CancelReasonEnum, nullable: true, description: "Why it was canceled; null: it was not." }),
    sessions: t.exposeInt("sessions", { description: "How many sessions." }),
  }),
});

const Figures = builder.interfaceRef<FunnelFigures>("FunnelFigures").implement({
  description:
    "How far carts came. A cart counts when it was made, with all that becomes of it later, so figures of the past change; carts that were merged into another are left out.",
  fields: (t) => ({
    carts: t.exposeInt("carts", { description: "Carts that were made." }),
    checkouts: t.exposeInt("checkouts", { description: "Of them, those with a checkout session, or several." }),
    submittedCheckouts: t.exposeInt("submittedCheckouts", {
      description: "Of them, those with a session that was submitted, also where its payment failed then.",
    }),
    orders: t.exposeInt("orders", { description: "Of them, those that became an order, canceled since or not." }),
    sessions: t.exposeInt("sessions", { description: "Checkout sessions of these carts; a cart may have had several." }),
    conversionRate: t.exposeFloat("conversionRate", { nullable: true, description: "Orders of all carts, 0 to 1; null: there were no carts." }),
    outcomes: t.field({
      type: [Outcome],
      description: "The sessions by where they are and why they ended, the most frequent first; what did not occur is left out.",
      complexity: { multiplier: 3 },
      resolve: ({ outcomes }) => outcomes,
    }),
  }),
});

const Totals = builder.objectRef<FunnelFigures>("FunnelTotals").implement({
  description: "How far the carts of the whole time came.",
  interfaces: [Figures],
});

const FunnelBucket = builder.objectRef<FunnelFigures & Bucket>("FunnelBucket").implement({
  description: "How far the carts of a piece of the time came.",
  interfaces: [BucketRef, Figures],
});

const Report = builder.objectRef<FunnelReport & { readonly period: Period }>("FunnelReport").implement({
  description: "How far carts came: to a checkout, to its submission, to an order.",
  fields: (t) => ({
    period: t.expose("period", {
      type: PeriodRef,
      complexity: totalsCost,
      description: "The time that it is about: that in which the carts were made.",
    }),
    totals: t.expose("totals", { type: Totals, complexity: totalsCost, description: "The whole time." }),
    buckets: t.field({
      type: [FunnelBucket],
      description: "Each piece of the time, in order, also where no cart was made.",
      complexity: bucketsCost,
      resolve: ({ buckets }) => buckets,
    }),
  }),
});

builder.queryField("funnelReport", (t) =>
  t.field({
    type: Report,
    description: "How far carts came, over time: carts, checkouts, submissions, orders; and why checkouts ended. A cart counts when it was made.",
    authScopes: { callers: readers },
    complexity: spreadCost,
    args: { ...reportArgs, ...intervalArgs, ...marketArgs },
    resolve: (_root, args, context) => readShopReport(context, args, (reader, scope) => readFunnel(reader, { ...scope, now: context.clock.now() })),
  }),
);
