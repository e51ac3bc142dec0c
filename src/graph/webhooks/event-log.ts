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
  description: "What may become of an event type.",
  values: {
    stable: "Only additive changes within v1.",
    candidate: "It may change; announced in the changelog 30 days ahead.",
  },
});

export const EventTypeRef = builder.objectRef<EventTypeView>("EventType").implement({
  description: "A kind of event. Its schema is always the same; what is added to it is optional to read.",
  fields: (t) => ({
    name: t.exposeString("name", { description: "Its name, as endpoints listen to it." }),
    group: t.exposeString("group", {
      description: "What stands before the dot: endpoints listen to all of a group as `group.*`.",
    }),
    description: t.exposeString("description", { description: "When it happens." }),
    stability: t.expose("stability", { type: StabilityEnum, description: "What may become of it." }),
    schemaVersion: t.exposeInt("schemaVersion", { description: "The version of its schema." }),
    payloadSchema: t.expose("payloadSchema", {
      type: "JSON",
      description:
        "JSON Schema (2020-12) of the body that is sent; the thing itself is described in the OpenAPI document.",
    }),
    example: t.expose("example", { type: "JSON", description: "A body as it is sent. 4 KiB at most." }),
    deprecated: t.exposeBoolean("deprecated", { description: "Whether it will go." }),
  }),
});

/**
 * Events and what was sent of them: each delivery with its attempts, for the installation and for who runs
 * the merchant.
 */
export const DeliveryStatusEnum = defineEnum<DeliveryStatus>("WebhookDeliveryStatus", {
  description: "Where a delivery is.",
  values: {
    pending: "It is about to be sent.",
    sending: "It is being sent.",
    succeeded: "It has arrived.",
    retrying: "It has not arrived, and is sent again.",
    exhausted: "It has not arrived, and is not sent again by itself.",
    skipped: "The endpoint was off when it was to be sent.",
    canceled: "The endpoint was deleted before it arrived.",
  },
});

export const ReplayReasonEnum = defineEnum<ReplayReason>("WebhookReplayReason", {
  description: "Why something is sent once more.",
  values: {
    receiver_outage: "The receiver was down.",
    receiver_bug: "The receiver did the wrong thing with it.",
    testing: "To see what the receiver does.",
    other: "Something else; the note says what.",
  },
});

export const ErrorCodeEnum = defineEnum<NonNullable<AttemptView["errorCode"]>>("WebhookErrorCode", {
  description: "Why an attempt did not arrive.",
  values: {
    timeout: "No answer in 15 seconds, or no connection in 5.",
    dns: "The name leads nowhere.",
    tls: "The certificate is not good, or the receiver speaks no TLS 1.2.",
    connection: "The connection was refused or broke off.",
    http_status: "The answer was none of 2xx.",
    blocked_address: "The name leads to an address that nothing is sent to.",
    redirect: "The answer was a redirect: they are not followed.",
  },
});

const AttemptRef = builder.objectRef<AttemptView>("WebhookAttempt").implement({
  description: "One time that a delivery was sent. What the receiver answered with is not kept.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The attempt's id, `wha_…`." }),
    number: t.exposeInt("number", { description: "Counts the attempts of the delivery, from 1 to 10." }),
    at: t.expose("startedAt", { type: "DateTime", description: "When it began." }),
    httpStatus: t.exposeInt("httpStatus", {
      nullable: true,
      description: "The status of the answer; null: there was none.",
    }),
    errorCode: t.expose("errorCode", {
      type: ErrorCodeEnum,
      nullable: true,
      description: "Why it did not arrive; null: it did.",
    }),
    durationMs: t.exposeInt("durationMs", { description: "How long it took, in milliseconds." }),
  }),
});

WebhookDeliveryRef.implement({
  description: "An event on its way to an endpoint.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The delivery's id, `whd_…`: the header webhook-delivery-id." }),
    endpointId: t.exposeID("endpointId", {
      description: "The endpoint it goes to, `whe_…`; it may have been deleted since.",
    }),
    status: t.expose("status", { type: DeliveryStatusEnum, description: "Where it is." }),
    attemptCount: t.exposeInt("attemptCount", { description: "How often it was sent." }),
    nextAttemptAt: t.expose("nextAttemptAt", {
      type: "DateTime",
      nullable: true,
      description: "When it is sent next; null: not again, or it is being sent.",
    }),
    lastAttempt: t.expose("lastAttempt", {
      type: AttemptRef,
      nullable: true,
      description: "The last attempt that has an end; null: there is none.",
    }),
    replayOf: t.exposeID("replayOf", {
      nullable: true,
      description: "The first delivery, which this one makes once more; null: it is the first.",
    }),
    replayable: t.exposeBoolean("isReplayable", {
      description:
        "Whether it may be sent once more: it has an end, its body is kept and its replays are not used up. One that succeeded needs `force`, one of a deleted endpoint another endpoint.",
    }),
    payloadExpiresAt: t.expose("payloadExpiresAt", {
      type: "DateTime",
      description: "Until when its body is kept: 30 days after the event.",
    }),
    replayReason: t.expose("replayReason", {
      type: ReplayReasonEnum,
      nullable: true,
      description: "Why it is sent once more; null: it is the first.",
    }),
    replayNote: t.string({
      nullable: true,
      description: "What was noted with that. Analysts are not told.",
      resolve: ({ replayNote }, _args, context) => unlessAnalyst(replayNote, context),
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was made." }),
    finishedAt: t.expose("finishedAt", {
      type: "DateTime",
      nullable: true,
      description: "When it came to its end; null: it has none yet.",
    }),
    attempts: t.field({
      type: [AttemptRef],
      description: "All of its attempts, the first one first.",
      complexity: { multiplier: 10 },
      resolve: ({ id }, _args, { loaders }) => loaders.webhookAttempts.load(id),
    }),
    event: t.field({
      type: WebhookEventRef,
      description: "What happened.",
      resolve: ({ installationId, eventId }, _args, { loaders }) =>
        loaders.webhookEvents.load({ installationId, eventId }),
    }),
    installation: t.field({
      type: InstallationRef,
      description: "The installation that is told.",
      resolve: ({ installationId }, _args, { loaders }) => loaders.installations.load(installationId),
    }),
  }),
});

const EventSubjectRef = builder.objectRef<EventView["subject"]>("EventSubject").implement({
  description: "The thing that an event is about.",
  fields: (t) => ({
    type: t.exposeString("type", { description: "What it is: cart, order and so on." }),
    id: t.exposeID("id", { description: "Its id." }),
    version: t.exposeInt("version", { description: "Its version when it happened." }),
  }),
});

WebhookEventRef.implement({
  description: "Something that happened, and what an installation was sent of it.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The event's id, `evt_…`: the header webhook-id." }),
    type: t.exposeString("type", { description: "Its type, a name of the catalogue." }),
    occurredAt: t.expose("occurredAt", { type: "DateTime", description: "When it happened." }),
    subject: t.expose("subject", { type: EventSubjectRef, description: "The thing it is about." }),
    deliveries: t.field({
      type: [WebhookDeliveryRef],
      description: "What the installation's endpoints were sent of it, oldest first, replays included.",
      complexity: { multiplier: 4 },
      resolve: ({ deliveries }) => deliveries,
    }),
  }),
});

builder.queryFields((t) => ({
  webhookDelivery: t.field({
    type: WebhookDeliveryRef,
    nullable: true,
    description: "A delivery by its id; null when there is none.",
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
      description: "What was sent to an endpoint, deleted or not, oldest first.",
      authScopes: { callers: readers },
      complexity: pageCost,
      args: {
        endpointId: t.arg.id({ required: true, description: "The endpoint, `whe_…`." }),
        status: t.arg({ type: DeliveryStatusEnum, description: "Only those in this status." }),
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

/** What an installation may see of what happened, and how it was told. */
const WebhookLog = builder.objectRef<{ readonly installationId: string }>("WebhookLog");

WebhookLog.implement({
  description: "The catalogue of events, the newest events, and older ones that did not arrive.",
  fields: (t) => ({
    eventTypes: t.field({
      type: [EventTypeRef],
      description: "Every type there is.",
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
    retentionDays: t.int({ description: "For so many days events are kept.", resolve: () => retentionDays }),
    truncated: t.boolean({
      description: "Whether more events are kept than are listed.",
      resolve: async ({ installationId }, _args, { loaders }) =>
        (await loaders.webhookLogs.load(installationId)).isTruncated,
    }),
    oldestIncludedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "When the oldest event that is listed happened; null: none is.",
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
