/** The GraphQL types of an installation's webhook endpoints, with their secrets and their health. */
import { isApiKeyOrOauthViewer } from "#access/viewer.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { type GraphqlContext, integratorCallers, merchantReaders } from "#graph/context.ts";
import { InstallationRef, WebhookEndpointRef } from "#graph/refs.ts";
import type {
  EndpointHealthView,
  WebhookSecretHint,
  WebhookEndpoint,
} from "#webhooks/endpoints/endpoint-aggregate.ts";
import { endpointsPerInstallationMax } from "#webhooks/endpoints/change-endpoint.ts";

const EndpointStatusEnum = defineGraphqlEnum("WebhookEndpointStatus", {
  description: "Whether events are delivered to a webhook endpoint.",
  values: {
    enabled: "Events are delivered to the endpoint.",
    disabled: "A caller switched the endpoint off. Events that occur while the endpoint is off are skipped.",
    auto_disabled:
      "The service switched the endpoint off, because deliveries kept failing or the endpoint answered " +
      "HTTP 410 (Gone). Events that occur while the endpoint is off are skipped.",
  },
});

const DisabledReasonEnum = defineGraphqlEnum("WebhookEndpointDisabledReason", {
  description: "Why a webhook endpoint is disabled.",
  values: {
    manual: "A caller switched the endpoint off.",
    gone: "The endpoint answered HTTP 410 (Gone).",
    failing: "No delivery to the endpoint succeeded for five days.",
  },
});

export const PayloadModeEnum = defineGraphqlEnum("WebhookPayloadMode", {
  description: "How much of the object that an event is about is sent in the event's body.",
  values: {
    snapshot: "The body contains the whole object, as it was when the event occurred.",
    thin: "The body contains only the id of the object.",
  },
});

const HealthStateEnum = defineGraphqlEnum("WebhookEndpointHealthState", {
  description: "Whether deliveries to a webhook endpoint succeed.",
  values: {
    unknown:
      "No attempt has succeeded since the endpoint was created, or since the endpoint was enabled after " +
      "failures.",
    healthy:
      "Deliveries to the endpoint succeed, or have been failing for less than 24 hours. Failed deliveries " +
      "are retried.",
    degraded: "All attempts have failed for 24 hours or longer.",
    failing:
      "At least twenty attempts in a row failed, so the service makes only one attempt per minute; or the " +
      "service has disabled the endpoint.",
  },
});

const WebhookSecret = builder.objectRef<WebhookSecretHint>("WebhookSecret").implement({
  description:
    "A secret with which the requests to an endpoint are signed. The whole secret was returned only once, " +
    "when it was created.",
  fields: (t) => ({
    version: t.exposeInt("version", {
      description: "The number of this secret among the endpoint's secrets, counted from 1.",
    }),
    hint: t.exposeString("hint", { description: "`…` followed by the last four characters of the secret." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the secret was created." }),
    expiresAt: t.expose("expiresAt", {
      type: "DateTime",
      nullable: true,
      description:
        "When this replaced secret stops signing; until this time, requests are signed with both secrets. " +
        "Null if this is the current secret.",
    }),
  }),
});

const LastFailure = builder
  .objectRef<NonNullable<EndpointHealthView["lastFailure"]>>("WebhookEndpointFailure")
  .implement({
    description: "The cause of the last failed delivery attempt to an endpoint.",
    fields: (t) => ({
      code: t.exposeString("code", {
        description:
          "The error code: timeout, dns, tls, connection, http_status, blocked_address or redirect.",
      }),
      httpStatus: t.exposeInt("httpStatus", {
        nullable: true,
        description: "The HTTP status of the endpoint's answer; null if the endpoint did not answer.",
      }),
    }),
  });

const EndpointHealth = builder.objectRef<EndpointHealthView>("WebhookEndpointHealth").implement({
  description:
    "Statistics of the deliveries to an endpoint. A change of the statistics does not raise the endpoint's " +
    "version.",
  fields: (t) => ({
    state: t.expose("state", {
      type: HealthStateEnum,
      description: "The overall health of the endpoint, computed from its delivery attempts.",
    }),
    consecutiveFailures: t.exposeInt("consecutiveFailures", {
      description: "The number of failed attempts since the last successful attempt.",
    }),
    successRate24h: t.exposeFloat("successRate24h", {
      nullable: true,
      description:
        "The share of successful delivery attempts in the last 24 hours, from 0 to 1; null if there were " +
        "no attempts.",
    }),
    lastSuccessAt: t.expose("lastSuccessAt", {
      type: "DateTime",
      nullable: true,
      description: "When a delivery attempt last succeeded, to the second; null if no attempt has succeeded.",
    }),
    lastFailureAt: t.expose("lastFailureAt", {
      type: "DateTime",
      nullable: true,
      description: "When a delivery attempt last failed; null if no attempt has failed.",
    }),
    lastFailure: t.expose("lastFailure", {
      type: LastFailure,
      nullable: true,
      description: "Why the last failed attempt failed; null if no attempt has failed.",
    }),
    pausedUntil: t.expose("pausedUntil", {
      type: "DateTime",
      nullable: true,
      description:
        "When the next attempt may be made, because twenty attempts in a row failed; null if the service " +
        "does not hold deliveries back. If the time is in the past, the next due delivery is sent at once.",
    }),
  }),
});

WebhookEndpointRef.implement({
  description: "A URL that an installation has registered to receive events.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The endpoint's id, `whe_…`." }),
    url: t.expose("url", { type: "URL", description: "The URL that events are sent to." }),
    description: t.exposeString("description", {
      nullable: true,
      description:
        "A note on the endpoint's purpose, which its creator has written; null if there is no note.",
    }),
    status: t.expose("status", {
      type: EndpointStatusEnum,
      description: "Whether events are delivered to the endpoint.",
    }),
    disabledReason: t.expose("disabledReason", {
      type: DisabledReasonEnum,
      nullable: true,
      description: "Why the endpoint is disabled; null if the endpoint is enabled.",
    }),
    disabledAt: t.expose("disabledAt", {
      type: "DateTime",
      nullable: true,
      description: "When the endpoint was disabled; null if the endpoint is enabled.",
    }),
    eventTypes: t.stringList({
      description:
        "The event types that the endpoint receives: names of the event catalogue, `group.*` for a whole " +
        "group, or `*` alone for all events.",
      resolve: ({ eventTypes }) => [...eventTypes],
    }),
    payloadMode: t.expose("payloadMode", {
      type: PayloadModeEnum,
      description: "Whether events contain the whole object or only its id.",
    }),
    apiVersion: t.string({
      description: "The version of the API contract that the events follow.",
      resolve: () => "v1",
    }),
    maxPerSecond: t.exposeInt("maxPerSecond", {
      nullable: true,
      description:
        "The highest number of events that are sent to the endpoint per second; null for the default of 25.",
    }),
    secrets: t.field({
      type: [WebhookSecret],
      description:
        "The secrets with which requests are signed at present, newest first. There are two secrets while " +
        "one replaces the other.",
      complexity: { multiplier: 2 },
      resolve: ({ secrets }) => secrets,
    }),
    health: t.expose("health", { type: EndpointHealth, description: "Delivery statistics of the endpoint." }),
    metadata: t.expose("metadata", {
      type: "StringMap",
      description: "Key-value pairs that the installation has stored with the endpoint.",
    }),
    version: t.exposeInt("version", {
      description: "The version of the endpoint, which rises by one with every change.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the endpoint was created." }),
    updatedAt: t.expose("updatedAt", {
      type: "DateTime",
      description: "When the endpoint was last changed.",
    }),
  }),
});

const EndpointList = builder.objectRef<readonly WebhookEndpoint[]>("WebhookEndpointList").implement({
  description: "All webhook endpoints of an installation, with their number and the highest allowed number.",
  fields: (t) => ({
    endpoints: t.field({
      type: [WebhookEndpointRef],
      description: "All webhook endpoints of the installation, oldest first.",
      complexity: { multiplier: endpointsPerInstallationMax },
      resolve: (endpoints) => endpoints,
    }),
    total: t.int({
      description: "The number of webhook endpoints that the installation has.",
      resolve: ({ length }) => length,
    }),
    limit: t.int({
      description: "The highest number of webhook endpoints that an installation may have.",
      resolve: () => endpointsPerInstallationMax,
    }),
  }),
});

builder.objectField(InstallationRef, "webhookEndpointList", (t) =>
  t.field({
    type: EndpointList,
    description: "The installation's webhook endpoints.",
    resolve: ({ id }, _args, { loaders }) => loaders.endpointsOfInstallations.load(id),
  }),
);

/**
 * Returns whether the caller may read a webhook endpoint. An installation may read its own endpoints, and a
 * merchant the endpoints of all its installations.
 */
function isVisible({ merchantId, installationId }: WebhookEndpoint, { viewer }: GraphqlContext): boolean {
  if (viewer.kind === "anonymous") return false;
  if (isApiKeyOrOauthViewer(viewer)) return installationId === viewer.installationId;
  return viewer.merchantId === null || merchantId === viewer.merchantId;
}

builder.queryField("webhookEndpoint", (t) =>
  t.field({
    type: WebhookEndpointRef,
    nullable: true,
    description:
      "The webhook endpoint with the given id; null if the caller can see no such endpoint. REST answers " +
      "404 in that case.",
    authScopes: { callers: [...integratorCallers, "system", ...merchantReaders] },
    args: { id: t.arg.id({ required: true, description: "The endpoint's id, `whe_…`." }) },
    resolve: async (_root, { id }, context) => {
      const endpoint = await context.loaders.webhookEndpoints.load(id);
      return endpoint === null || !isVisible(endpoint, context) ? null : endpoint;
    },
  }),
);
