/** The report on how webhooks arrive, which the console draws. */
import { bucketsOf, type Bucket, type Period } from "#foundation/period.ts";
import { builder } from "#graph/builder.ts";
import { listedOwner, readers } from "#graph/context.ts";
import { WebhookEndpointRef } from "#graph/refs.ts";
import { ErrorCodeEnum } from "#graph/webhooks/event-log.ts";
import {
  endpointsShownMax,
  type HealthFigures,
  type HealthReport,
  readHealth,
} from "#webhooks/health-report.ts";
import {
  ReportBucketRef,
  reportListCost,
  ReportPeriodRef,
  parseReportPeriod,
  bucketedReportCost,
  reportTotalsCost,
  intervalArgs,
  reportArgs,
  timeZoneArgs,
} from "./report-period.ts";

const FailureCount = builder
  .objectRef<HealthFigures["failuresByCode"][number]>("WebhookFailureCount")
  .implement({
    description: "How often something did not arrive for one reason.",
    fields: (t) => ({
      code: t.expose("code", { type: ErrorCodeEnum, description: "Why it did not arrive." }),
      count: t.exposeInt("count", { description: "How many attempts." }),
    }),
  });

const Figures = builder.interfaceRef<HealthFigures>("WebhookHealthFigures").implement({
  description: "How attempts to deliver fared. An attempt counts when it began, replays and tests included.",
  fields: (t) => ({
    attempts: t.exposeInt("attempts", { description: "Attempts that have an end." }),
    successes: t.exposeInt("successes", { description: "Attempts that arrived: the answer was 2xx." }),
    failures: t.exposeInt("failures", {
      description: "Attempts that did not arrive: attempts less successes.",
    }),
    successRate: t.exposeFloat("successRate", {
      nullable: true,
      description: "Successes of all attempts, 0 to 1; null: there were no attempts.",
    }),
    failuresByCode: t.field({
      type: [FailureCount],
      description:
        "The failures by their reason, the most frequent first; reasons that did not occur are left out.",
      complexity: { multiplier: 3 },
      resolve: ({ failuresByCode }) => failuresByCode,
    }),
    p50DurationMs: t.exposeInt("p50DurationMs", {
      nullable: true,
      description:
        "Half of the attempts took no longer, in milliseconds, failures included; null: there were no attempts.",
    }),
    p95DurationMs: t.exposeInt("p95DurationMs", {
      nullable: true,
      description:
        "Of twenty attempts nineteen took no longer, in milliseconds, failures included; null: there were no attempts.",
    }),
  }),
});

const Totals = builder.objectRef<HealthFigures>("WebhookHealthTotals").implement({
  description: "How attempts fared in the whole time.",
  interfaces: [Figures],
});

const HealthBucket = builder.objectRef<HealthFigures & Bucket>("WebhookHealthBucket").implement({
  description: "How attempts fared in a piece of the time.",
  interfaces: [ReportBucketRef, Figures],
});

const OfEndpoint = builder.objectRef<HealthReport["endpoints"][number]>("WebhookHealthOfEndpoint").implement({
  description: "How attempts at one endpoint fared in the whole time.",
  interfaces: [Figures],
  fields: (t) => ({
    endpointId: t.exposeID("endpointId", {
      description: "The endpoint, `whe_…`; it may have been deleted since.",
    }),
    endpoint: t.field({
      type: WebhookEndpointRef,
      nullable: true,
      description: "The endpoint itself; null: it was deleted.",
      resolve: ({ endpointId }, _args, { loaders }) => loaders.webhookEndpoints.load(endpointId),
    }),
  }),
});

const Report = builder
  .objectRef<HealthReport & { readonly period: Period }>("WebhookHealthReport")
  .implement({
    description:
      "How the deliveries of webhooks fared. Attempts are kept for as long as their event: what is more than 30 days ago is not known any more.",
    fields: (t) => ({
      period: t.expose("period", {
        type: ReportPeriodRef,
        complexity: reportTotalsCost,
        description: "The time that it is about.",
      }),
      totals: t.expose("totals", {
        type: Totals,
        complexity: reportTotalsCost,
        description: "All attempts together.",
      }),
      buckets: t.field({
        type: [HealthBucket],
        description: "Each piece of the time, in order, also where there were no attempts.",
        complexity: reportListCost,
        resolve: ({ buckets }) => buckets,
      }),
      endpoints: t.field({
        type: [OfEndpoint],
        description: `Each endpoint with attempts, the most failures first, ${endpointsShownMax} at most.`,
        complexity: reportListCost,
        resolve: ({ endpoints }) => endpoints,
      }),
    }),
  });

builder.queryField("webhookHealthReport", (t) =>
  t.field({
    type: Report,
    description:
      "How the deliveries of webhooks fared: attempts, failures by their reason and durations, over time and by endpoint.",
    authScopes: { callers: readers },
    complexity: bucketedReportCost,
    args: {
      ...reportArgs,
      ...timeZoneArgs,
      ...intervalArgs,
      endpointId: t.arg.id({
        description: "Only this endpoint, `whe_…`; one that there is not has no attempts.",
      }),
      installationId: t.arg.id({
        description:
          "Only the endpoints of this installation, `ins_…`; one that there is not has no attempts.",
      }),
    },
    resolve: async (_root, { endpointId = null, installationId = null, ...args }, context) => {
      const period = parseReportPeriod(args);
      const buckets = bucketsOf(period, args.interval);
      const asked = {
        merchantId: listedOwner(context, args.merchantId),
        endpointId,
        installationId,
        period,
        buckets,
      };
      return { period, ...(await context.services.readOnly((reader) => readHealth(reader, asked))) };
    },
  }),
);
