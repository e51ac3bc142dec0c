/** What the pages about webhook endpoints ask of the graph. */
import { graph } from "#pages/console/browser/graph/documents.ts";
import type { Keyed } from "#pages/console/browser/graph/hooks.ts";

export type EndpointStatus = "ENABLED" | "DISABLED" | "AUTO_DISABLED";
export type PayloadMode = "SNAPSHOT" | "THIN";

export interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
  readonly status: EndpointStatus;
  readonly disabledReason: string | null;
  readonly disabledAt: string | null;
  readonly eventTypes: readonly string[];
  readonly payloadMode: PayloadMode;
  readonly version: number;
  readonly createdAt: string;
  readonly secrets: readonly {
    readonly version: number;
    readonly hint: string;
    readonly expiresAt: string | null;
  }[];
  readonly health: {
    readonly state: string;
    readonly consecutiveFailures: number;
    readonly successRate24h: number | null;
    readonly lastSuccessAt: string | null;
    readonly lastFailureAt: string | null;
    readonly lastFailure: { readonly code: string; readonly httpStatus: number | null } | null;
  };
}

const fields = `
  id url description status disabledReason disabledAt eventTypes payloadMode version createdAt
  secrets { version hint expiresAt }
  health { state consecutiveFailures successRate24h lastSuccessAt lastFailureAt lastFailure { code httpStatus } }
`;

interface EndpointsAnswer {
  readonly installation: {
    readonly webhookEndpointList: {
      readonly endpoints: readonly Endpoint[];
      readonly total: number;
      readonly limit: number;
    };
  } | null;
}

export const endpointsDocument = graph<EndpointsAnswer, { installationId: string }>(`
  query ConsoleEndpoints($installationId: ID!) {
    installation(id: $installationId) { webhookEndpointList { total limit endpoints { ${fields} } } }
  }
`);

export const endpointDocument = graph<{ webhookEndpoint: Endpoint | null }, { id: string }>(`
  query ConsoleEndpoint($id: ID!) {
    webhookEndpoint(id: $id) { ${fields} }
  }
`);

export interface EventType {
  readonly name: string;
  readonly group: string;
  readonly description: string;
}

export const eventTypesDocument = graph<
  { installation: { webhookLog: { eventTypes: readonly (EventType & { deprecated: boolean })[] } } | null },
  { installationId: string }
>(`
  query ConsoleEventTypes($installationId: ID!) {
    installation(id: $installationId) { webhookLog { eventTypes { name group description deprecated } } }
  }
`);

export interface EndpointWithSecret {
  readonly endpoint: Endpoint;
  readonly secret: { readonly value: string };
}

export interface EndpointInput {
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly description: string | null;
  readonly payloadMode: PayloadMode;
}

export const createEndpointDocument = graph<
  { webhookEndpointCreate: EndpointWithSecret },
  Keyed & { installationId: string; input: EndpointInput }
>(`
  mutation ConsoleEndpointCreate($idempotencyKey: String!, $installationId: ID!, $input: PublicWebhookCreateRequest!) {
    webhookEndpointCreate(idempotencyKey: $idempotencyKey, installationId: $installationId, input: $input) {
      endpoint { ${fields} } secret { value }
    }
  }
`);

export const updateEndpointDocument = graph<
  { webhookEndpointUpdate: Endpoint },
  Keyed & { endpointId: string; input: EndpointInput & { expectedVersion: number } }
>(`
  mutation ConsoleEndpointUpdate($idempotencyKey: String!, $endpointId: ID!, $input: WebhookEndpointUpdateInput!) {
    webhookEndpointUpdate(idempotencyKey: $idempotencyKey, endpointId: $endpointId, input: $input) { ${fields} }
  }
`);

type Transition = Keyed & { endpointId: string; input: { expectedVersion?: number } };

export const enableEndpointDocument = graph<{ webhookEndpointEnable: { id: string } }, Transition>(`
  mutation ConsoleEndpointEnable($idempotencyKey: String!, $endpointId: ID!, $input: WebhookEndpointTransitionInput!) {
    webhookEndpointEnable(idempotencyKey: $idempotencyKey, endpointId: $endpointId, input: $input) { id }
  }
`);

export const disableEndpointDocument = graph<{ webhookEndpointDisable: { id: string } }, Transition>(`
  mutation ConsoleEndpointDisable($idempotencyKey: String!, $endpointId: ID!, $input: WebhookEndpointTransitionInput!) {
    webhookEndpointDisable(idempotencyKey: $idempotencyKey, endpointId: $endpointId, input: $input) { id }
  }
`);

export const deleteEndpointDocument = graph<{ webhookEndpointDelete: { endpointId: string } }, Transition>(`
  mutation ConsoleEndpointDelete($idempotencyKey: String!, $endpointId: ID!, $input: WebhookEndpointTransitionInput!) {
    webhookEndpointDelete(idempotencyKey: $idempotencyKey, endpointId: $endpointId, input: $input) { endpointId }
  }
`);

export const testEndpointDocument = graph<{ webhookEndpointTest: { id: string } }, Transition>(`
  mutation ConsoleEndpointTest($idempotencyKey: String!, $endpointId: ID!, $input: WebhookEndpointTransitionInput!) {
    webhookEndpointTest(idempotencyKey: $idempotencyKey, endpointId: $endpointId, input: $input) { id }
  }
`);

export const rotateSecretDocument = graph<
  { webhookSecretRotate: EndpointWithSecret },
  Keyed & { endpointId: string; input: { overlapHours: number } }
>(`
  mutation ConsoleSecretRotate($idempotencyKey: String!, $endpointId: ID!, $input: WebhookSecretRotateInput!) {
    webhookSecretRotate(idempotencyKey: $idempotencyKey, endpointId: $endpointId, input: $input) {
      endpoint { ${fields} } secret { value }
    }
  }
`);
