/**
 * Webhook events of an installation: the catalogue of their types, the events themselves, and their
 * deliveries with attempts.
 */
import { builder, defineEnum } from "#graph/builder.ts";
import { integrators, ownerOf, readers, unlessAnalyst } from "#graph/context.ts";
import { eventCatalogue, eventNames, type EventTypeView } from "#webhooks/event-catalogue.ts";
import { isCleanText } from "#foundation/text.ts";
import { connectionOf, pageCost, listTypes } from "#graph/connections.ts";
import { InstallationRef, WebhookDeliveryRef, WebhookEventRef } from "#graph/refs.ts";
import {
  type AttemptView,
  deliveryList,
  type EventLog,
  type EventView,
  pageOfDeliveries,
} from "#webhooks/delivery-log.ts";
import { type DeliveryStatus, type ReplayReason, retentionDays } from "#webhooks/delivery-rules.ts";

const StabilityEnum = defineEnum("EventStability", {
  description: "Which changes of an event type are possible.",
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
        "The part of the event type's name before the dot. An endpoint subscribes to the whole group with `group.*`.",
    }),
    description: t.exposeString("description", { description: "When events of this type occur." }),
    stability: t.expose("stability", {
      type: StabilityEnum,
      description: "Which changes of the event type are possible.",
    }),
    schemaVersion: t.exposeInt("schemaVersion", { description: "The version of the event type's schema." }),
    payloadSchema: t.expose("payloadSchema", {
      type: "JSON",
      description:
        "JSON Schema (2020-12) of the request body. The OpenAPI document describes the object inside it.",
    }),
    example: t.expose("example", {
      type: "JSON",
      description: "An example of a request body, at most 4 KiB.",
    }),
    deprecated: t.exposeBoolean("deprecated", {
      description: "Whether the event type is deprecated and will be removed.",
    }),
  }),
});

/** The states of a delivery, shown to the installation and to the staff of its merchant. */
export const DeliveryStatusEnum = defineEnum<DeliveryStatus>("WebhookDeliveryStatus", {
  description: "The state of a webhook delivery.",
  values: {
    pending: "The first attempt has not begun yet.",
    sending: "An attempt is in progress.",
    succeeded: "The receiver accepted the delivery.",
    retrying: "The last attempt failed, and another attempt is scheduled.",
    exhausted: "The delivery failed, and no further attempt is made automatically.",
    skipped: "The endpoint was disabled when the delivery was due.",
    canceled: "The endpoint was deleted before the delivery succeeded.",
  },
});

export const ReplayReasonEnum = defineEnum<ReplayReason>("WebhookReplayReason", {
  description: "Why a delivery is replayed.",
  values: {
    receiver_outage: "The receiver was down.",
    receiver_bug: "The receiver processed the event incorrectly.",
    testing: "The replay tests the receiver.",
    other: "Another reason, given in the note.",
  },
});

export const ErrorCodeEnum = defineEnum<NonNullable<AttemptView["errorCode"]>>("WebhookErrorCode", {
  description: "Why a delivery attempt failed.",
  values: {
    timeout: "No answer within 15 seconds, or no connection within 5 seconds.",
    dns: "The host name of the URL could not be resolved.",
    tls: "The certificate is invalid, or the receiver does not support TLS 1.2.",
    connection: "The connection was refused or was interrupted.",
    http_status: "The status of the answer was not 2xx.",
    blocked_address: "The host name resolves to a blocked IP address, for example a private address.",
    redirect: "The answer was a redirect. Redirects are not followed.",
  },
});

const AttemptRef = builder.objectRef<AttemptView>("WebhookAttempt").implement({
  description: "One attempt to send a delivery. The body of the receiver's answer is not stored.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The attempt's id, `wha_…`." }),
    number: t.exposeInt("number", {
      description: "The number of this attempt within its delivery, from 1 to 10.",
    }),
    at: t.expose("startedAt", { type: "DateTime", description: "When the attempt began." }),
    httpStatus: t.exposeInt("httpStatus", {
      nullable: true,
      description: "The HTTP status of the answer; null if there was no answer.",
    }),
    errorCode: t.expose("errorCode", {
      type: ErrorCodeEnum,
      nullable: true,
      description: "Why the attempt failed; null if it succeeded.",
    }),
    durationMs: t.exposeInt("durationMs", { description: "The duration of the attempt in milliseconds." }),
  }),
});

WebhookDeliveryRef.implement({
  description: "The delivery of one event to one endpoint.",
  fields: (t) => ({
    id: t.exposeID("id", {
      description: "The delivery's id, `whd_…`, sent in the header webhook-delivery-id.",
    }),
    endpointId: t.exposeID("endpointId", {
      description: "The id of the receiving endpoint, `whe_…`. The endpoint may have been deleted since.",
    }),
    status: t.expose("status", { type: DeliveryStatusEnum, description: "The delivery's state." }),
    attemptCount: t.exposeInt("attemptCount", { description: "The number of attempts made so far." }),
    nextAttemptAt: t.expose("nextAttemptAt", {
      type: "DateTime",
      nullable: true,
      description:
        "When the next attempt is due; null if no further attempt is scheduled or an attempt is in progress.",
    }),
    lastAttempt: t.expose("lastAttempt", {
      type: AttemptRef,
      nullable: true,
      description: "The last finished attempt; null if no attempt has finished.",
    }),
    replayOf: t.exposeID("replayOf", {
      nullable: true,
      description: "The id of the original delivery that this one replays; null if this is the original.",
    }),
    replayable: t.exposeBoolean("isReplayable", {
      description:
        "Whether the delivery can be replayed: it has finished, its body is still stored and its replays are not used up. A succeeded delivery needs `force`; a delivery to a deleted endpoint needs another endpoint.",
    }),
    payloadExpiresAt: t.expose("payloadExpiresAt", {
      type: "DateTime",
      description: "When the stored body is deleted: 30 days after the event.",
    }),
    replayReason: t.expose("replayReason", {
      type: ReplayReasonEnum,
      nullable: true,
      description: "Why the delivery was replayed; null if this is the original delivery.",
    }),
    replayNote: t.string({
      nullable: true,
      description: "The note given with the replay; null if there is none. Hidden from analysts.",
      resolve: ({ replayNote }, _args, context) => unlessAnalyst(replayNote, context),
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the delivery was created." }),
    finishedAt: t.expose("finishedAt", {
      type: "DateTime",
      nullable: true,
      description: "When the delivery finished; null if it has not finished yet.",
    }),
    attempts: t.field({
      type: [AttemptRef],
      description: "All attempts of the delivery, oldest first.",
      complexity: { multiplier: 10 },
      resolve: ({ id }, _args, { loaders }) => loaders.webhookAttempts.load(id),
    }),
    event: t.field({
      type: WebhookEventRef,
      description: "The event that is delivered.",
      resolve: ({ installationId, eventId }, _args, { loaders }) =>
        loaders.webhookEvents.load({ installationId, eventId }),
    }),
    installation: t.field({
      type: InstallationRef,
      description: "The installation that receives the event.",
      resolve: ({ installationId }, _args, { loaders }) => loaders.installations.load(installationId),
    }),
  }),
});

const EventSubjectRef = builder.objectRef<EventView["subject"]>("EventSubject").implement({
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
    authScopes: { callers: readers },
    args: { id: t.arg.id({ required: true, description: "The delivery's id, `whd_…`." }) },
    resolve: async (_root, { id }, context) => {
      const delivery = isCleanText(id) ? await context.loaders.webhookDeliveries.load(id) : null;
      const owner = ownerOf(context);
      return delivery === null || (owner !== null && owner !== delivery.merchantId) ? null : delivery;
    },
  }),
  webhookDeliveries: t.connection(
    {
      type: WebhookDeliveryRef,
      description: "The deliveries to an endpoint, oldest first. Also works for deleted endpoints.",
      authScopes: { callers: readers },
      complexity: pageCost,
      args: {
        endpointId: t.arg.id({ required: true, description: "The endpoint's id, `whe_…`." }),
        status: t.arg({ type: DeliveryStatusEnum, description: "Only lists deliveries with this status." }),
      },
      resolve: async (_root, { endpointId, status, ...args }, context) => {
        const filter = {
          merchantId: ownerOf(context),
          endpointId: isCleanText(endpointId) ? endpointId : "",
          status: status ?? null,
        };
        const { edges, ...rest } = await connectionOf(args, {
          db: context.db,
          query: deliveryList(context.db, filter),
          pageOf: (page) => pageOfDeliveries(context.db, filter, page),
        });
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
    ...listTypes("WebhookDelivery", "deliveries"),
  ),
}));

const WebhookLog = builder.objectRef<{ readonly installationId: string }>("WebhookLog");

WebhookLog.implement({
  description:
    "The event catalogue of an installation, its newest events, and older events with unsuccessful deliveries.",
  fields: (t) => ({
    eventTypes: t.field({
      type: [EventTypeRef],
      description: "All event types.",
      complexity: { multiplier: eventNames.length },
      resolve: (_log, _args, { publicUrl }) => eventCatalogue(publicUrl),
    }),
    events: t.field({
      type: [WebhookEventRef],
      description:
        "The newest 100 events that the installation may see, and up to 100 older ones with a delivery that is exhausted, retrying or skipped. Newest first.",
      complexity: { multiplier: 200 },
      resolve: async ({ installationId }, _args, { loaders }) =>
        (await loaders.webhookLogs.load(installationId)).events,
    }),
    retentionDays: t.int({
      description: "The number of days for which events are stored.",
      resolve: () => retentionDays,
    }),
    truncated: t.boolean({
      description: "Whether stored events are missing from `events`.",
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

const oldestOf = ({ events }: EventLog): Date | null => events.at(-1)?.occurredAt ?? null;

builder.objectField(InstallationRef, "webhookLog", (t) =>
  t.field({
    type: WebhookLog,
    description: "What happened, and how the installation was told of it.",
    authScopes: { callers: [...integrators, ...readers] },
    resolve: ({ id }) => ({ installationId: id }),
  }),
);
