/** GraphQL documents and result types of the webhook endpoint pages. */
import { createConsoleGraphqlDocument } from "#pages/console/browser/graph/documents.ts";
import type { GraphqlVariablesWithIdempotencyKey } from "#pages/console/browser/graph/hooks.ts";

export type ConsoleEndpointStatus = "ENABLED" | "DISABLED" | "AUTO_DISABLED";
export type ConsoleWebhookPayloadMode = "SNAPSHOT" | "THIN";
export type ConsoleDeliveryOrder = "ANY" | "SUBJECT";

export interface ConsoleEventFieldFilter {
  readonly eventType: string;
  readonly fields: readonly string[];
}

export interface ConsoleWebhookEndpoint {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
  readonly status: ConsoleEndpointStatus;
  readonly disabledReason: string | null;
  readonly disabledAt: string | null;
  readonly eventTypes: readonly string[];
  readonly payloadMode: ConsoleWebhookPayloadMode;
  readonly fieldFilters: readonly ConsoleEventFieldFilter[];
  readonly deliveryOrder: ConsoleDeliveryOrder;
  readonly version: number;
  readonly createdAt: string;
  readonly secrets: readonly {
    readonly version: number;
    readonly hint: string;
    readonly expiresAt: string | null;
  }[];
  readonly health: {
    readonly state: "UNKNOWN" | "HEALTHY" | "DEGRADED" | "FAILING";
    readonly consecutiveFailures: number;
    readonly successRate24h: number | null;
    readonly lastSuccessAt: string | null;
    readonly lastFailureAt: string | null;
    readonly lastFailure: { readonly code: string; readonly httpStatus: number | null } | null;
    /**
     * The end of the pause in deliveries to the endpoint after repeated failures (circuit breaker open); null
     * if deliveries are not paused.
     */
    readonly pausedUntil: string | null;
  };
}

const fields = `
  id url description status disabledReason disabledAt eventTypes payloadMode version createdAt
  fieldFilters { eventType fields } deliveryOrder
  secrets { version hint expiresAt }
  health { state consecutiveFailures successRate24h lastSuccessAt lastFailureAt lastFailure { code httpStatus }
    pausedUntil }
`;
/** Returns the GraphQL selection of a webhook endpoint's fields, for the documents of several pages. */
export const getEndpointGraphqlFieldSelection = (): string => fields;

interface EndpointsAnswer {
  readonly installation: {
    readonly webhookEndpointList: {
      readonly endpoints: readonly ConsoleWebhookEndpoint[];
      readonly total: number;
      readonly limit: number;
    };
  } | null;
}

export const endpointsDocument = createConsoleGraphqlDocument<EndpointsAnswer, { installationId: string }>(`
  query ConsoleEndpoints($installationId: ID!) {
    installation(id: $installationId) { webhookEndpointList { total limit endpoints { ${fields} } } }
  }
`);

export const endpointDocument = createConsoleGraphqlDocument<
  { webhookEndpoint: ConsoleWebhookEndpoint | null },
  { id: string }
>(`
  query ConsoleEndpoint($id: ID!) {
    webhookEndpoint(id: $id) { ${fields} }
  }
`);

export interface ConsoleEventType {
  readonly name: string;
  readonly group: string;
  readonly description: string;
}

export const eventTypesDocument = createConsoleGraphqlDocument<
  {
    installation: {
      webhookLog: { eventTypes: readonly (ConsoleEventType & { deprecated: boolean })[] };
    } | null;
  },
  { installationId: string }
>(`
  query ConsoleEventTypes($installationId: ID!) {
    installation(id: $installationId) { webhookLog { eventTypes { name group description deprecated } } }
  }
`);

export interface EndpointSecretMutationResult {
  readonly endpoint: ConsoleWebhookEndpoint;
  readonly secret: { readonly value: string };
}

/** The endpoint settings of the GraphQL input type `WebhookEndpointOptionsInput`. */
export interface ConsoleEndpointOptions {
  readonly fieldFilters: readonly ConsoleEventFieldFilter[];
  readonly deliveryOrder: ConsoleDeliveryOrder;
}

export interface ConsoleEndpointInput {
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly description: string | null;
  readonly payloadMode: ConsoleWebhookPayloadMode;
}

export const createEndpointDocument = createConsoleGraphqlDocument<
  { webhookEndpointCreate: EndpointSecretMutationResult },
  GraphqlVariablesWithIdempotencyKey & {
    installationId: string;
    input: ConsoleEndpointInput;
    options: ConsoleEndpointOptions;
  }
>(`
  mutation ConsoleEndpointCreate($idempotencyKey: String!, $installationId: ID!, $input:
  PublicWebhookCreateRequest!, $options: WebhookEndpointOptionsInput) {
    webhookEndpointCreate(idempotencyKey: $idempotencyKey, installationId: $installationId, input: $input,
    options: $options) {
      endpoint { ${fields} } secret { value }
    }
  }
`);

export const updateEndpointDocument = createConsoleGraphqlDocument<
  { webhookEndpointUpdate: ConsoleWebhookEndpoint },
  GraphqlVariablesWithIdempotencyKey & {
    endpointId: string;
    input: ConsoleEndpointInput & ConsoleEndpointOptions & { expectedVersion: number };
  }
>(`
  mutation ConsoleEndpointUpdate($idempotencyKey: String!, $endpointId: ID!, $input:
  WebhookEndpointUpdateInput!) {
    webhookEndpointUpdate(idempotencyKey: $idempotencyKey, endpointId: $endpointId, input: $input) { ${fields}
    }
  }
`);

type Transition = GraphqlVariablesWithIdempotencyKey & {
  endpointId: string;
  input: { expectedVersion?: number };
};

export const enableEndpointDocument = createConsoleGraphqlDocument<
  { webhookEndpointEnable: { id: string } },
  Transition
>(`
  mutation ConsoleEndpointEnable($idempotencyKey: String!, $endpointId: ID!, $input:
  WebhookEndpointTransitionInput!) {
    webhookEndpointEnable(idempotencyKey: $idempotencyKey, endpointId: $endpointId, input: $input) { id }
  }
`);

export const disableEndpointDocument = createConsoleGraphqlDocument<
  { webhookEndpointDisable: { id: string } },
  Transition
>(`
  mutation ConsoleEndpointDisable($idempotencyKey: String!, $endpointId: ID!, $input:
  WebhookEndpointTransitionInput!) {
    webhookEndpointDisable(idempotencyKey: $idempotencyKey, endpointId: $endpointId, input: $input) { id }
  }
`);

export const deleteEndpointDocument = createConsoleGraphqlDocument<
  { webhookEndpointDelete: { endpointId: string } },
  Transition
>(`
  mutation ConsoleEndpointDelete($idempotencyKey: String!, $endpointId: ID!, $input:
  WebhookEndpointTransitionInput!) {
    webhookEndpointDelete(idempotencyKey: $idempotencyKey, endpointId: $endpointId, input: $input) {
    endpointId }
  }
`);

export const testEndpointDocument = createConsoleGraphqlDocument<
  { webhookEndpointTest: { id: string } },
  Transition
>(`
  mutation ConsoleEndpointTest($idempotencyKey: String!, $endpointId: ID!, $input:
  WebhookEndpointTransitionInput!) {
    webhookEndpointTest(idempotencyKey: $idempotencyKey, endpointId: $endpointId, input: $input) { id }
  }
`);

export const rotateSecretDocument = createConsoleGraphqlDocument<
  { webhookSecretRotate: EndpointSecretMutationResult },
  GraphqlVariablesWithIdempotencyKey & { endpointId: string; input: { overlapHours: number } }
>(`
  mutation ConsoleSecretRotate($idempotencyKey: String!, $endpointId: ID!, $input: WebhookSecretRotateInput!)
  {
    webhookSecretRotate(idempotencyKey: $idempotencyKey, endpointId: $endpointId, input: $input) {
      endpoint { ${fields} } secret { value }
    }
  }
`);
