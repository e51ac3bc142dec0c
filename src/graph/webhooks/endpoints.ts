/** Webhook endpoints: the addresses that an installation wants to be told at. */
import { isIntegrator } from "#access/viewer.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { type GraphContext, integrators, readers } from "#graph/context.ts";
import { InstallationRef, WebhookEndpointRef } from "#graph/refs.ts";
import type { Health, SecretHint, WebhookEndpoint } from "#webhooks/endpoints/endpoint-aggregate.ts";
import { endpointsMax } from "#webhooks/endpoints/change-endpoint.ts";

const EndpointStatusEnum = defineEnum("WebhookEndpointStatus", {
  description: "Whether an endpoint is told anything.",
  values: {
    enabled: "It is.",
    disabled: "It was switched off. What happens meanwhile is skipped.",
    auto_disabled: "It was switched off because it did not work. What happens meanwhile is skipped.",
  },
});

const DisabledReasonEnum = defineEnum("WebhookEndpointDisabledReason", {
  description: "Why an endpoint is off.",
  values: {
    manual: "Somebody switched it off.",
    gone: "It answered 410.",
    failing: "Nothing arrived for five days.",
  },
});

export const PayloadModeEnum = defineEnum("WebhookPayloadMode", {
  description: "How much an event says of the thing it is about.",
  values: { snapshot: "All of it, as it was then.", thin: "Its id alone." },
});

const HealthStateEnum = defineEnum("WebhookEndpointHealthState", {
  description: "How an endpoint fares.",
  values: {
    unknown: "Nothing was sent to it yet, or since it was switched on again.",
    healthy: "What it was sent has arrived, but for what failed within a day and is tried again.",
    degraded: "Nothing has arrived for a day.",
    failing:
      "Twenty attempts in a row have not arrived, so that it is asked once a minute; or it was switched off for that.",
  },
});

const WebhookSecret = builder.objectRef<SecretHint>("WebhookSecret").implement({
  description:
    "A secret that signs what is sent to an endpoint. The secret itself was shown once, when it was made.",
  fields: (t) => ({
    version: t.exposeInt("version", { description: "Counts the endpoint's secrets, from 1." }),
    hint: t.exposeString("hint", { description: "`…` and its last four characters." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was made." }),
    expiresAt: t.expose("expiresAt", {
      type: "DateTime",
      nullable: true,
      description: "Until when it signs beside the one that takes its place; null: it is the current one.",
    }),
  }),
});

const LastFailure = builder
  .objectRef<NonNullable<Health["lastFailure"]>>("WebhookEndpointFailure")
  .implement({
    description: "Why something did not arrive.",
    fields: (t) => ({
      code: t.exposeString("code", {
        description: "timeout, dns, tls, connection, http_status, blocked_address or redirect.",
      }),
      httpStatus: t.exposeInt("httpStatus", {
        nullable: true,
        description: "What it answered; null: nothing.",
      }),
    }),
  });

const EndpointHealth = builder.objectRef<Health>("WebhookEndpointHealth").implement({
  description: "How an endpoint fares. It changes without the endpoint's version.",
  fields: (t) => ({
    state: t.expose("state", { type: HealthStateEnum, description: "In a word." }),
    consecutiveFailures: t.exposeInt("consecutiveFailures", {
      description: "Attempts that did not arrive since the last that did.",
    }),
    successRate24h: t.exposeFloat("successRate24h", {
      nullable: true,
      description: "Of the attempts of the last 24 hours, how many arrived, 0 to 1; null: there were none.",
    }),
    lastSuccessAt: t.expose("lastSuccessAt", {
      type: "DateTime",
      nullable: true,
      description: "When something last arrived, to the second.",
    }),
    lastFailureAt: t.expose("lastFailureAt", {
      type: "DateTime",
      nullable: true,
      description: "When something last did not arrive.",
    }),
    lastFailure: t.expose("lastFailure", {
      type: LastFailure,
      nullable: true,
      description: "Why it did not; null: everything has arrived.",
    }),
  }),
});

WebhookEndpointRef.implement({
  description: "An address that an installation is told at of what happens.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The endpoint's id, `whe_…`." }),
    url: t.expose("url", { type: "URL", description: "Where events are sent to." }),
    description: t.exposeString("description", {
      nullable: true,
      description: "What it is for, in the words of who made it.",
    }),
    status: t.expose("status", { type: EndpointStatusEnum, description: "Whether it is told anything." }),
    disabledReason: t.expose("disabledReason", {
      type: DisabledReasonEnum,
      nullable: true,
      description: "Why it is off; null: it is on.",
    }),
    disabledAt: t.expose("disabledAt", {
      type: "DateTime",
      nullable: true,
      description: "When it was switched off; null: it is on.",
    }),
    eventTypes: t.stringList({
      description: "What it listens to: names of the catalogue, `group.*`, or `*` alone.",
      resolve: ({ eventTypes }) => [...eventTypes],
    }),
    payloadMode: t.expose("payloadMode", {
      type: PayloadModeEnum,
      description: "Whether events carry the whole object or its id.",
    }),
    apiVersion: t.string({
      description: "The version of the contract that events follow.",
      resolve: () => "v1",
    }),
    maxPerSecond: t.exposeInt("maxPerSecond", {
      nullable: true,
      description: "At most this many events a second; null: 25.",
    }),
    secrets: t.field({
      type: [WebhookSecret],
      description: "The secrets that sign now, the newest first: two while one is replaced.",
      complexity: { multiplier: 2 },
      resolve: ({ secrets }) => secrets,
    }),
    health: t.expose("health", { type: EndpointHealth, description: "How it fares." }),
    metadata: t.expose("metadata", {
      type: "StringMap",
      description: "What its installation keeps with it.",
    }),
    version: t.exposeInt("version", { description: "Rises by one with every change." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was made." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When it last changed." }),
  }),
});

const EndpointList = builder.objectRef<readonly WebhookEndpoint[]>("WebhookEndpointList").implement({
  description: "The endpoints of an installation.",
  fields: (t) => ({
    endpoints: t.field({
      type: [WebhookEndpointRef],
      description: "All of them, the oldest first.",
      complexity: { multiplier: endpointsMax },
      resolve: (endpoints) => endpoints,
    }),
    total: t.int({ description: "How many there are.", resolve: ({ length }) => length }),
    limit: t.int({ description: "How many there may be.", resolve: () => endpointsMax }),
  }),
});

builder.objectField(InstallationRef, "webhookEndpointList", (t) =>
  t.field({
    type: EndpointList,
    description: "Where it wants to be told of what happens.",
    resolve: ({ id }, _args, { loaders }) => loaders.endpointsOfInstallations.load(id),
  }),
);

/** An installation sees its own, a merchant those of all of its installations. */
function isVisible({ merchantId, installationId }: WebhookEndpoint, { viewer }: GraphContext): boolean {
  if (viewer.kind === "anonymous") return false;
  if (isIntegrator(viewer)) return installationId === viewer.installationId;
  return viewer.merchantId === null || merchantId === viewer.merchantId;
}

builder.queryField("webhookEndpoint", (t) =>
  t.field({
    type: WebhookEndpointRef,
    nullable: true,
    description: "A webhook endpoint by its id; null when there is none. Over REST a 404.",
    authScopes: { callers: [...integrators, "system", ...readers] },
    args: { id: t.arg.id({ required: true, description: "The endpoint's id, `whe_…`." }) },
    resolve: async (_root, { id }, context) => {
      const endpoint = await context.loaders.webhookEndpoints.load(id);
      return endpoint === null || !isVisible(endpoint, context) ? null : endpoint;
    },
  }),
);
