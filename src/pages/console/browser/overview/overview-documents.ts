/**
 * GraphQL documents of the overview page, except those about app installations, which
 * `installation-documents.ts` contains.
 */
import { createConsoleGraphqlDocument } from "#pages/console/browser/graph/documents.ts";
import {
  type ConsoleWebhookEndpoint,
  getEndpointGraphqlFieldSelection,
} from "#pages/console/browser/endpoints/endpoint-documents.ts";
import type { ConsoleDeliveryStatus } from "#pages/console/browser/deliveries/delivery-documents.ts";

export interface DeliveryHealthBucket {
  readonly startsAt: string;
  readonly successes: number;
  readonly failures: number;
  readonly p50DurationMs: number | null;
  readonly p95DurationMs: number | null;
}

export interface DeliveryHealthReportVariables {
  /** The first day of the report as YYYY-MM-DD in the report's time zone; the field `to` is the last day. */
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
  readonly interval: "HOUR" | "DAY";
}

export const healthDocument = createConsoleGraphqlDocument<
  { webhookHealthReport: { buckets: readonly DeliveryHealthBucket[] } },
  DeliveryHealthReportVariables
>(`
  query ConsoleHealth($from: Date!, $to: Date!, $timeZone: String!, $interval: ReportInterval!) {
    webhookHealthReport(from: $from, to: $to, timeZone: $timeZone, interval: $interval) {
      buckets { startsAt successes failures p50DurationMs p95DurationMs }
    }
  }
`);

export interface EventWithDeliveryStatuses {
  readonly id: string;
  readonly type: string;
  readonly occurredAt: string;
  readonly deliveries: readonly {
    readonly id: string;
    readonly endpointId: string;
    readonly status: ConsoleDeliveryStatus;
    readonly replayOf: string | null;
  }[];
}

export interface NeedsAttentionQueryResult {
  readonly installation: {
    readonly webhookEndpointList: { readonly endpoints: readonly ConsoleWebhookEndpoint[] };
    readonly webhookLog: { readonly events: readonly EventWithDeliveryStatuses[] };
  } | null;
}

export const needsAttentionDocument = createConsoleGraphqlDocument<
  NeedsAttentionQueryResult,
  { installationId: string }
>(`
  query ConsoleAttention($installationId: ID!) {
    installation(id: $installationId) {
      webhookEndpointList { endpoints { ${getEndpointGraphqlFieldSelection()} } }
      webhookLog { events { id type occurredAt deliveries { id endpointId status replayOf } } }
    }
  }
`);
