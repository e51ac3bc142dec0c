/** GraphQL documents and result types of the delivery pages. */
import {
  type GraphqlConnection,
  createConsoleGraphqlDocument,
} from "#pages/console/browser/graph/documents.ts";
import type { GraphqlVariablesWithIdempotencyKey } from "#pages/console/browser/graph/hooks.ts";

export const deliveryStatuses = [
  "PENDING",
  "SENDING",
  "SUCCEEDED",
  "RETRYING",
  "EXHAUSTED",
  "SKIPPED",
  "CANCELED",
] as const;
export type ConsoleDeliveryStatus = (typeof deliveryStatuses)[number];

export interface ConsoleDeliveryAttempt {
  readonly id: string;
  readonly number: number;
  readonly at: string;
  readonly httpStatus: number | null;
  readonly errorCode: string | null;
  readonly durationMs: number;
}

export interface ConsoleWebhookDelivery {
  readonly id: string;
  readonly endpointId: string;
  readonly status: ConsoleDeliveryStatus;
  readonly attemptCount: number;
  readonly nextAttemptAt: string | null;
  readonly lastAttempt: ConsoleDeliveryAttempt | null;
  readonly replayOf: string | null;
  readonly replayable: boolean;
  readonly createdAt: string;
  readonly event: { readonly id: string; readonly type: string; readonly occurredAt: string };
}

const attemptFields = "id number at httpStatus errorCode durationMs";
const fields = `
  id endpointId status attemptCount nextAttemptAt replayOf replayable createdAt
  lastAttempt { ${attemptFields} } event { id type occurredAt }
`;

export interface DeliveryListQueryResult {
  readonly webhookDeliveries: GraphqlConnection<ConsoleWebhookDelivery>;
}

interface DeliveriesAsked {
  readonly endpointId: string;
  readonly status: ConsoleDeliveryStatus | null;
  readonly last: number;
  readonly before: string | null;
}

export const deliveriesDocument = createConsoleGraphqlDocument<DeliveryListQueryResult, DeliveriesAsked>(`
  query ConsoleDeliveries($endpointId: ID!, $status: WebhookDeliveryStatus, $last: Int!, $before: String) {
    webhookDeliveries(endpointId: $endpointId, status: $status, last: $last, before: $before) {
      edges { node { ${fields} } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

export interface ConsoleWebhookDeliveryDetails extends ConsoleWebhookDelivery {
  readonly attempts: readonly ConsoleDeliveryAttempt[];
  readonly payloadExpiresAt: string;
  readonly finishedAt: string | null;
  readonly replayReason: string | null;
  readonly replayNote: string | null;
  /** The JSON text that the delivery sends to the receiver; null if the text is not available. */
  readonly body: string | null;
  readonly installation: { readonly id: string };
  readonly event: ConsoleWebhookDelivery["event"] & {
    readonly subject: { readonly type: string; readonly id: string; readonly version: number };
    readonly deliveries: readonly Pick<
      ConsoleWebhookDelivery,
      "id" | "endpointId" | "status" | "replayOf" | "createdAt"
    >[];
  };
}

export const deliveryDocument = createConsoleGraphqlDocument<
  { webhookDelivery: ConsoleWebhookDeliveryDetails | null },
  { id: string }
>(`
  query ConsoleDelivery($id: ID!) {
    webhookDelivery(id: $id) {
      ${fields} payloadExpiresAt finishedAt replayReason replayNote body installation { id }
      attempts { ${attemptFields} }
      event { subject { type id version } deliveries { id endpointId status replayOf createdAt } }
    }
  }
`);

export const retryDocument = createConsoleGraphqlDocument<
  { webhookDeliveryRetry: { readonly id: string } },
  GraphqlVariablesWithIdempotencyKey & { deliveryId: string; input: { expectedAttemptCount: number } }
>(`
  mutation ConsoleRetry($idempotencyKey: String!, $deliveryId: ID!, $input: WebhookDeliveryRetryInput!) {
    webhookDeliveryRetry(idempotencyKey: $idempotencyKey, deliveryId: $deliveryId, input: $input) { id }
  }
`);

export interface ReplayDeliveryMutationResult {
  readonly webhookDeliveryReplay: { readonly delivery: { readonly id: string } };
}

export interface ConsoleReplayDeliveryInput {
  readonly reason: string;
  readonly note: string | null;
  readonly force: boolean;
}

export const replayDocument = createConsoleGraphqlDocument<
  ReplayDeliveryMutationResult,
  GraphqlVariablesWithIdempotencyKey & { deliveryId: string; input: ConsoleReplayDeliveryInput }
>(`
  mutation ConsoleReplay($idempotencyKey: String!, $deliveryId: ID!, $input: PublicWebhookReplayRequest!) {
    webhookDeliveryReplay(idempotencyKey: $idempotencyKey, deliveryId: $deliveryId, input: $input) { delivery
    { id } }
  }
`);

interface DeliveryChanges {
  readonly deliveryChanged: {
    readonly deliveries: readonly ConsoleWebhookDelivery[];
    /**
     * True if more deliveries have changed than this subscription message contains, so that the page must
     * load the whole list again.
     */
    readonly readAnew: boolean;
  } | null;
}

export const deliveryChangedDocument = createConsoleGraphqlDocument<DeliveryChanges, { endpointId: string }>(`
  subscription ConsoleDeliveryChanged($endpointId: ID!) {
    deliveryChanged(endpointId: $endpointId) { readAnew deliveries { ${fields} } }
  }
`);
