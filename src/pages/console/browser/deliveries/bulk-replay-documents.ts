/**
 * The GraphQL documents for sending many webhook deliveries again (replay), and the texts that describe their
 * results.
 */
import { createConsoleGraphqlDocument } from "#pages/console/browser/graph/documents.ts";
import type { GraphqlVariablesWithIdempotencyKey } from "#pages/console/browser/graph/hooks.ts";

export type ReplayableDeliveryStatus = "EXHAUSTED" | "SKIPPED";

interface SkippedDeliveries {
  readonly reason: string;
  readonly count: number;
}

interface ReplayPeriod {
  readonly endpointId: string;
  readonly since: string;
  readonly until: string;
  readonly status: ReplayableDeliveryStatus;
  readonly after: string | null;
}

export interface BulkReplayPreviewCounts {
  readonly replayable: number;
  readonly limit: number;
  readonly hasMore: boolean;
  readonly skipped: readonly SkippedDeliveries[];
}

export const replayPreviewDocument = createConsoleGraphqlDocument<
  { webhookReplayPreview: BulkReplayPreviewCounts | null },
  ReplayPeriod
>(`
  query ConsoleReplayPreview($endpointId: ID!, $since: DateTime!, $until: DateTime!,
  $status: WebhookDeliveryLostStatus!, $after: String) {
    webhookReplayPreview(endpointId: $endpointId, since: $since, until: $until, status: $status, after: $after) {
      replayable limit hasMore skipped { reason count }
    }
  }
`);

export interface BulkReplayMutationResult {
  readonly webhookDeliveriesReplay: {
    readonly replayed: number;
    readonly hasMore: boolean;
    readonly endCursor: string | null;
    readonly skipped: readonly SkippedDeliveries[];
  };
}

export const bulkReplayDocument = createConsoleGraphqlDocument<
  BulkReplayMutationResult,
  GraphqlVariablesWithIdempotencyKey & { input: ReplayPeriod & { reason: string; note: string | null } }
>(`
  mutation ConsoleBulkReplay($idempotencyKey: String!, $input: WebhookDeliveriesReplayInput!) {
    webhookDeliveriesReplay(idempotencyKey: $idempotencyKey, input: $input) {
      replayed hasMore endCursor skipped { reason count }
    }
  }
`);

export interface UnfinishedDeliveryCountsByStatus {
  readonly pending: { readonly totalCount: number };
  readonly sending: { readonly totalCount: number };
  readonly retrying: { readonly totalCount: number };
}

export const openDeliveriesDocument = createConsoleGraphqlDocument<
  UnfinishedDeliveryCountsByStatus,
  { endpointId: string }
>(`
  query ConsoleOpenDeliveries($endpointId: ID!) {
    pending: webhookDeliveries(endpointId: $endpointId, status: PENDING, first: 1) { totalCount }
    sending: webhookDeliveries(endpointId: $endpointId, status: SENDING, first: 1) { totalCount }
    retrying: webhookDeliveries(endpointId: $endpointId, status: RETRYING, first: 1) { totalCount }
  }
`);

const skipTexts: Readonly<Record<string, string>> = {
  DELIVERY_IN_PROGRESS: "a replay is in progress",
  DELIVERY_ALREADY_SUCCEEDED: "a replay has already succeeded",
  DELIVERY_PAYLOAD_EXPIRED: "the body is no longer stored",
  DELIVERY_REPLAY_LIMIT_REACHED: "ten replays were made, which is the limit",
  WEBHOOK_ENDPOINT_NOT_FOUND: "the endpoint was deleted",
  WEBHOOK_ENDPOINT_DISABLED: "the endpoint is disabled",
};

const deliveriesAre = (count: number): string =>
  count === 1 ? "1 delivery is" : `${count.toLocaleString()} deliveries are`;

/**
 * Returns one sentence per reason why the replay leaves deliveries out, for example “3 deliveries are left
 * out: a replay is in progress.”
 */
export const describeSkippedDeliveries = (skipped: readonly SkippedDeliveries[]): readonly string[] =>
  skipped.map(({ reason, count }) => {
    const words = skipTexts[reason] ?? reason.toLowerCase().replaceAll("_", " ");
    return `${deliveriesAre(count)} left out: ${words}.`;
  });

/** Returns a sentence that says, before the replay starts, how many deliveries it will send again. */
export function describeBulkReplaySize({ replayable, limit, hasMore }: BulkReplayPreviewCounts): string {
  const bound = `One replay goes through at most ${limit.toLocaleString()} deliveries, the oldest first`;
  const count =
    replayable === 0 ? "No delivery can be replayed." : `Exactly ${deliveriesAre(replayable)} sent again.`;
  return `${count} ${bound}${hasMore ? "; more match, and you can continue with them afterwards" : ""}.`;
}
