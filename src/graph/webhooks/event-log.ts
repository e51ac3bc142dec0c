/**
 * The GraphQL types of an installation's webhook events: the catalogue of event types, the events, and the
 * queries for deliveries.
 */
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import {
  type GraphqlContext,
  integratorCallers,
  getCallerMerchantId,
  getMerchantIdForListQuery,
  merchantReaders,
} from "#graph/context.ts";
import { listEventCatalogue, eventTypeNames, type EventTypeView } from "#webhooks/event-catalogue.ts";
import { isTextWithoutForbiddenCharacters } from "#foundation/text.ts";
import type { DefaultConnectionArguments } from "@pothos/plugin-relay";
import { createFailureWithDetail } from "#foundation/failure.ts";
import { blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import { createdPeriodArgs, listMerchantArgs, requirePeriodStartBeforeEnd } from "#graph/list-arguments.ts";
import { buildMerchantDeliveryIdSqlQuery } from "#webhooks/event-lists.ts";
import {
  loadGraphqlConnection,
  computeConnectionCost,
  type GraphqlConnectionPage,
  createGraphqlConnectionTypeOptions,
} from "#graph/connections.ts";
import { InstallationRef, WebhookDeliveryRef, WebhookEventRef } from "#graph/refs.ts";
import { type InstallationEventLog, type EventWithDeliveries } from "#webhooks/delivery-log.ts";
import { buildEndpointDeliveryIdSqlQuery, findWebhookDeliveriesPage } from "#webhooks/delivery-pages.ts";
import { type DeliveryStatus, eventRetentionDays } from "#webhooks/delivery-rules.ts";
import { DeliveryStatusEnum } from "./deliveries.ts";

const StabilityEnum = defineGraphqlEnum("EventStability", {
  description: "Whether an event type may still change in incompatible ways.",
  values: {
    stable: "The event type only gets additive changes within API version v1.",
    candidate: "The event type may change in incompatible ways, announced in the changelog 30 days before.",
  },
});

export const EventTypeRef = builder.objectRef<EventTypeView>("EventType").implement({
  description: "A type of event. Its schema only gains fields, which receivers may ignore.",
  fields: (t) => ({
    name: t.exposeString("name", {
      description: "The name of the event type, as used in an endpoint's `eventTypes`.",
    }),
    group: t.exposeString("group", {
      description:
        "The part of the event type's name before the dot. An endpoint subscribes to the whole group " +
        "with `group.*`.",
    }),
    description: t.exposeString("description", { description: "When events of this type occur." }),
    stability: t.expose("stability", {
      type: StabilityEnum,
      description: "Whether the event type may still change in incompatible ways.",
    }),
    schemaVersion: t.exposeInt("schemaVersion", { description: "The version of the event type's schema." }),
    payloadSchema: t.expose("payloadSchema", {
      type: "JSON",
      description:
        "The JSON Schema (2020-12) of the body of a webhook request. The OpenAPI document describes the " +
        "object that the body contains.",
    }),
    example: t.expose("example", {
      type: "JSON",
      description: "An example of the body of a webhook request, at most 4 KiB.",
    }),
    deprecated: t.exposeBoolean("deprecated", {
      description:
        "Whether the event type is deprecated, which means that it will be removed. False for every event " +
        "type of this version.",
    }),
  }),
});

export const EventSubjectRef = builder.objectRef<EventWithDeliveries["subject"]>("EventSubject").implement({
  description: "The object that an event is about.",
  fields: (t) => ({
    type: t.exposeString("type", { description: "The type of the object, for example cart or order." }),
    id: t.exposeID("id", { description: "The id of the object." }),
    version: t.exposeInt("version", { description: "The version of the object when the event occurred." }),
  }),
});

WebhookEventRef.implement({
  description: "An event, and its deliveries to the endpoints of one installation.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The event's id, `evt_…`, sent in the header webhook-id." }),
    type: t.exposeString("type", { description: "The event's type, a name of the event catalogue." }),
    occurredAt: t.expose("occurredAt", { type: "DateTime", description: "When the event occurred." }),
    subject: t.expose("subject", {
      type: EventSubjectRef,
      description: "The object that the event is about.",
    }),
    deliveries: t.field({
      type: [WebhookDeliveryRef],
      description:
        "The deliveries of the event to the installation's endpoints, oldest first, including replays.",
      complexity: { multiplier: 4 },
      resolve: ({ deliveries }) => deliveries,
    }),
  }),
});

builder.queryFields((t) => ({
  webhookDelivery: t.field({
    type: WebhookDeliveryRef,
    nullable: true,
    description: "The delivery with the given id; null if the caller can see no such delivery.",
    authScopes: { callers: merchantReaders },
    args: { id: t.arg.id({ required: true, description: "The delivery's id, `whd_…`." }) },
    resolve: async (_root, { id }, context) => {
      const delivery = isTextWithoutForbiddenCharacters(id)
        ? await context.loaders.webhookDeliveries.load(id)
        : null;
      const owner = getCallerMerchantId(context);
      return delivery === null || (owner !== null && owner !== delivery.merchantId) ? null : delivery;
    },
  }),
  webhookDeliveries: t.connection(
    {
      type: WebhookDeliveryRef,
      description:
        "Lists webhook deliveries, oldest first: those to one endpoint, which may have been deleted, or " +
        "those to all endpoints.",
      authScopes: { callers: merchantReaders },
      complexity: computeConnectionCost,
      args: {
        ...listMerchantArgs,
        ...createdPeriodArgs,
        endpointId: t.arg.id({
          description:
            "Lists only deliveries to the endpoint with this id, `whe_…`. Not allowed together with " +
            "`createdFrom` or `createdTo`.",
        }),
        status: t.arg({ type: DeliveryStatusEnum, description: "Returns only deliveries with this status." }),
      },
      resolve: async (_root, args, context) => {
        const { edges, ...rest } = await loadDeliveryIds(args, context);
        const deliveries = await Promise.all(
          edges.map(({ node }) => context.loaders.webhookDeliveries.load(node.id)),
        );
        return {
          ...rest,
          edges: edges.flatMap(({ cursor }, index) => {
            const node = deliveries[index];
            return node === null || node === undefined ? [] : [{ cursor, node }];
          }),
        };
      },
    },
    ...createGraphqlConnectionTypeOptions("WebhookDelivery", "deliveries"),
  ),
}));

interface DeliveryListArgs extends DefaultConnectionArguments {
  readonly merchantId?: string | null | undefined;
  readonly endpointId?: string | null | undefined;
  readonly status?: DeliveryStatus | null | undefined;
  readonly createdFrom?: Date | null | undefined;
  readonly createdTo?: Date | null | undefined;
}

/**
 * Loads the ids of one page of webhook deliveries: the deliveries to one endpoint if the arguments name one,
 * otherwise those to all endpoints of the merchant.
 */
function loadDeliveryIds(
  { endpointId, status, ...args }: DeliveryListArgs,
  context: GraphqlContext,
): Promise<GraphqlConnectionPage<{ readonly id: string }>> {
  requirePeriodStartBeforeEnd("created", args);
  const merchantId = getMerchantIdForListQuery(context, args.merchantId);
  if (typeof endpointId !== "string")
    return loadGraphqlConnection(args, {
      db: context.db,
      query: buildMerchantDeliveryIdSqlQuery(context.db, { ...args, merchantId, status: status ?? null }),
      column: "webhook_delivery.id",
      cursor: "webhookDelivery",
    });
  if (args.createdFrom instanceof Date || args.createdTo instanceof Date)
    throw createFailureWithDetail("invalid_field", {
      in: "body",
      field: "/endpointId",
      code: "not_allowed",
      message: '"endpointId" is not allowed together with "createdFrom" or "createdTo".',
    });
  const filter = {
    merchantId,
    endpointId: blankIdWithForbiddenCharacters(endpointId),
    status: status ?? null,
  };
  return loadGraphqlConnection(args, {
    db: context.db,
    query: buildEndpointDeliveryIdSqlQuery(context.db, filter),
    cursor: "webhookDelivery",
    loadPage: (page) => findWebhookDeliveriesPage(context.db, filter, page),
  });
}

const WebhookLog = builder.objectRef<{ readonly installationId: string }>("WebhookLog");

WebhookLog.implement({
  description:
    "The event catalogue of an installation, its newest events, and older events with unsuccessful " +
    "deliveries.",
  fields: (t) => ({
    eventTypes: t.field({
      type: [EventTypeRef],
      description: "All event types.",
      complexity: { multiplier: eventTypeNames.length },
      resolve: (_log, _args, { publicUrl }) => listEventCatalogue(publicUrl),
    }),
    events: t.field({
      type: [WebhookEventRef],
      description:
        "The newest 100 events that the installation may see, and up to 100 older events with a delivery " +
        "that is exhausted, retrying or skipped. The newest event comes first.",
      complexity: { multiplier: 200 },
      resolve: async ({ installationId }, _args, { loaders }) =>
        (await loaders.webhookLogs.load(installationId)).events,
    }),
    retentionDays: t.int({
      description: "The number of days for which events are stored.",
      resolve: () => eventRetentionDays,
    }),
    truncated: t.boolean({
      description: "Whether the service stores further events that are not in `events`.",
      resolve: async ({ installationId }, _args, { loaders }) =>
        (await loaders.webhookLogs.load(installationId)).isTruncated,
    }),
    oldestIncludedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "When the oldest event of `events` occurred; null if `events` is empty.",
      resolve: async ({ installationId }, _args, { loaders }) =>
        oldestOf(await loaders.webhookLogs.load(installationId)),
    }),
  }),
});

const oldestOf = ({ events }: InstallationEventLog): Date | null => events.at(-1)?.occurredAt ?? null;

builder.objectField(InstallationRef, "webhookEvent", (t) =>
  t.field({
    type: WebhookEventRef,
    nullable: true,
    description:
      "The event with the given id, with its deliveries to the installation's endpoints; null if the event " +
      "was sent to no endpoint of the installation.",
    authScopes: { callers: merchantReaders },
    args: { id: t.arg.id({ required: true, description: "The event's id, `evt_…`." }) },
    resolve: async ({ id: installationId }, { id: eventId }, { loaders }) => {
      if (!isTextWithoutForbiddenCharacters(eventId)) return null;
      const event = await loaders.webhookEvents.load({ installationId, eventId });
      return event === null || event.deliveries.length === 0 ? null : event;
    },
  }),
);

builder.objectField(InstallationRef, "webhookLog", (t) =>
  t.field({
    type: WebhookLog,
    description: "The recent events of the installation with their deliveries.",
    authScopes: { callers: [...integratorCallers, ...merchantReaders] },
    resolve: ({ id }) => ({ installationId: id }),
  }),
);
