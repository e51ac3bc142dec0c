/** The GraphQL query for the report on webhook deliveries, which the console shows as charts. */
import { dividePeriodIntoBuckets, type PeriodBucket, type Period } from "#foundation/period.ts";
import { builder } from "#graph/builder.ts";
import { getMerchantIdForListQuery, merchantReaders } from "#graph/context.ts";
import { WebhookEndpointRef } from "#graph/refs.ts";
import { ErrorCodeEnum } from "#graph/webhooks/deliveries.ts";
import {
  reportedEndpointsMax,
  type DeliveryHealthFigures,
  type DeliveryHealthReport,
  loadDeliveryHealthReport,
} from "#webhooks/health-report.ts";
import {
  ReportBucketRef,
  reportListCost,
  ReportPeriodRef,
  parseReportPeriod,
  computeBucketedReportCost,
  reportTotalsCost,
  intervalArgs,
  reportArgs,
  timeZoneArgs,
} from "./report-period.ts";

const FailureCount = builder
  .objectRef<DeliveryHealthFigures["failuresByCode"][number]>("WebhookFailureCount")
  .implement({
    description: "The number of failed delivery attempts with one error code.",
    fields: (t) => ({
      code: t.expose("code", { type: ErrorCodeEnum, description: "The error code of the failed attempts." }),
      count: t.exposeInt("count", { description: "The number of failed attempts." }),
    }),
  });

const HealthFiguresType = builder.interfaceRef<DeliveryHealthFigures>("WebhookHealthFigures").implement({
  description:
    "Figures about webhook delivery attempts, including replays and tests. An attempt " +
    "counts in the period in which it began.",
  fields: (t) => ({
    attempts: t.exposeInt("attempts", { description: "The number of delivery attempts that have finished." }),
    successes: t.exposeInt("successes", {
      description: "The number of successful delivery attempts: the endpoint answered with a 2xx status.",
    }),
    failures: t.exposeInt("failures", {
      description: "The number of failed delivery attempts: `attempts` less `successes`.",
    }),
    successRate: t.exposeFloat("successRate", {
      nullable: true,
      description:
        "The share of successful delivery attempts: `successes` divided by `attempts`, 0 to 1; null if " +
        "there were no attempts.",
    }),
    failuresByCode: t.field({
      type: [FailureCount],
      description:
        "The failed attempts by error code, most frequent first. Codes that did not occur are left out.",
      complexity: { multiplier: 3 },
      resolve: ({ failuresByCode }) => failuresByCode,
    }),
    p50DurationMs: t.exposeInt("p50DurationMs", {
      nullable: true,
      description:
        "The median duration of delivery attempts in milliseconds, including failed attempts; null if " +
        "there were no attempts.",
    }),
    p95DurationMs: t.exposeInt("p95DurationMs", {
      nullable: true,
      description:
        "The 95th percentile of the duration of delivery attempts in milliseconds, including failed " +
        "attempts; null if there were no attempts.",
    }),
  }),
});

const HealthTotalsType = builder.objectRef<DeliveryHealthFigures>("WebhookHealthTotals").implement({
  description: "Delivery figures of the whole period.",
  interfaces: [HealthFiguresType],
});

const HealthBucket = builder
  .objectRef<DeliveryHealthFigures & PeriodBucket>("WebhookHealthBucket")
  .implement({
    description: "Delivery figures of one bucket (an hour, day, week or month) of the period.",
    interfaces: [ReportBucketRef, HealthFiguresType],
  });

const EndpointHealthType = builder
  .objectRef<DeliveryHealthReport["endpoints"][number]>("WebhookHealthOfEndpoint")
  .implement({
    description: "Delivery figures of one endpoint in the whole period.",
    interfaces: [HealthFiguresType],
    fields: (t) => ({
      endpointId: t.exposeID("endpointId", {
        description: "The id of the endpoint, `whe_…`. The endpoint may have been deleted.",
      }),
      endpoint: t.field({
        type: WebhookEndpointRef,
        nullable: true,
        description: "The endpoint of the figures; null if the endpoint has been deleted.",
        resolve: ({ endpointId }, _args, { loaders }) => loaders.webhookEndpoints.load(endpointId),
      }),
    }),
  });

const HealthReportType = builder
  .objectRef<DeliveryHealthReport & { readonly period: Period }>("WebhookHealthReport")
  .implement({
    description:
      "A report on webhook deliveries. The attempts of an event are deleted together with the event, so " +
      "attempts that are older than 30 days are not included.",
    fields: (t) => ({
      period: t.expose("period", {
        type: ReportPeriodRef,
        complexity: reportTotalsCost,
        description: "The period of the report.",
      }),
      totals: t.expose("totals", {
        type: HealthTotalsType,
        complexity: reportTotalsCost,
        description: "The figures of all attempts in the period.",
      }),
      buckets: t.field({
        type: [HealthBucket],
        description: "The figures of each bucket in chronological order, including buckets without attempts.",
        complexity: reportListCost,
        resolve: ({ buckets }) => buckets,
      }),
      endpoints: t.field({
        type: [EndpointHealthType],
        description:
          `The endpoints to which deliveries were attempted, at most ${reportedEndpointsMax}. The endpoint ` +
          "with the most failures comes first.",
        complexity: reportListCost,
        resolve: ({ endpoints }) => endpoints,
      }),
    }),
  });

builder.queryField("webhookHealthReport", (t) =>
  t.field({
    type: HealthReportType,
    description:
      "Reports webhook deliveries in a period: attempts, failures by error code and " +
      "durations, over time and by endpoint.",
    authScopes: { callers: merchantReaders },
    complexity: computeBucketedReportCost,
    args: {
      ...reportArgs,
      ...timeZoneArgs,
      ...intervalArgs,
      endpointId: t.arg.id({
        description:
          "Limits the report to one webhook endpoint, by its id, `whe_…`. If there is no such endpoint, " +
          "the report has no attempts.",
      }),
      installationId: t.arg.id({
        description:
          "Limits the report to the webhook endpoints of one installation, by its id, `ins_…`. If there is " +
          "no such installation, the report has no attempts.",
      }),
    },
    resolve: async (_root, { endpointId = null, installationId = null, ...args }, context) => {
      const period = parseReportPeriod(args);
      const buckets = dividePeriodIntoBuckets(period, args.interval);
      const filter = {
        merchantId: getMerchantIdForListQuery(context, args.merchantId),
        endpointId,
        installationId,
        period,
        buckets,
      };
      return {
        period,
        ...(await context.services.readOnly((reader) => loadDeliveryHealthReport(reader, filter))),
      };
    },
  }),
);
