/**
 * The GraphQL list of a merchant's webhook events, for all installations. Programs that must not miss an
 * event use the event feed (`event-feed.ts`) instead.
 */
import { getDisallowedValueErrors, requireNoInputFieldErrors } from "#foundation/faults.ts";
import { builder } from "#graph/builder.ts";
import {
  computeConnectionCost,
  createGraphqlConnectionTypeOptions,
  loadGraphqlConnection,
} from "#graph/connections.ts";
import { getMerchantIdForListQuery, hideFromAnalysts, merchantReaders } from "#graph/context.ts";
import { createdPeriodArgs, listMerchantArgs, requirePeriodStartBeforeEnd } from "#graph/list-arguments.ts";
import { WebhookDeliveryRef } from "#graph/refs.ts";
import { eventTypeNames } from "#webhooks/event-catalogue.ts";
import { type EventSummary, findEventSummaries, buildEventIdSqlQuery } from "#webhooks/event-lists.ts";
import { EventSubjectRef } from "./event-log.ts";

export const MerchantEventType = builder.objectRef<EventSummary>("MerchantEvent").implement({
  description: "An event about an object of a merchant. Events are stored for 30 days.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The event's id, `evt_…`, sent in the header webhook-id." }),
    merchantId: t.exposeID("merchantId", { description: "The id of the merchant, `mer_…`." }),
    type: t.exposeString("type", { description: "The event's type, a name of the event catalogue." }),
    occurredAt: t.expose("occurredAt", { type: "DateTime", description: "When the event occurred." }),
    subject: t.expose("subject", {
      type: EventSubjectRef,
      description: "The object that the event is about.",
    }),
    body: t.string({
      nullable: true,
      description:
        "The JSON text of the event, as an endpoint with the payload mode `SNAPSHOT` receives it. Hidden from " +
        "analysts.",
      resolve: async ({ id }, _args, context) => {
        const shownId = hideFromAnalysts(id, context);
        return shownId === null ? null : ((await context.loaders.eventBodies.load(shownId))?.body ?? null);
      },
    }),
    deliveries: t.field({
      type: [WebhookDeliveryRef],
      description:
        "The deliveries of the event to the endpoints of all installations, oldest first, including replays.",
      complexity: { multiplier: 10 },
      resolve: ({ id }, _args, { loaders }) => loaders.deliveriesOfEvents.load(id),
    }),
  }),
});

builder.queryField("events", (t) =>
  t.connection(
    {
      type: MerchantEventType,
      description:
        "Lists events, newest first, including events that no endpoint receives. This list is for people " +
        "who look for an event. A program that must not miss an event reads `eventFeed`, because an event " +
        "of a slow transaction can appear in this list behind newer events.",
      authScopes: { callers: merchantReaders },
      complexity: computeConnectionCost,
      args: {
        ...listMerchantArgs,
        ...createdPeriodArgs,
        type: t.arg.string({
          description:
            "Lists only events of this type, a name of the event catalogue such as `cart.updated`.",
        }),
        subjectId: t.arg.id({
          description: "Lists only events about the object with this id, for example a cart or an order.",
        }),
      },
      resolve: async (_root, args, context) => {
        requirePeriodStartBeforeEnd("created", args);
        if (typeof args.type === "string")
          requireNoInputFieldErrors(
            getDisallowedValueErrors("/type", args.type, { allowed: eventTypeNames, noun: "event type" }),
          );
        const page = await loadGraphqlConnection(args, {
          db: context.db,
          query: buildEventIdSqlQuery(context.db, {
            ...args,
            merchantId: getMerchantIdForListQuery(context, args.merchantId),
          }),
          column: "event.id",
          cursor: "event",
          isDescending: true,
        });
        const events = new Map(
          (
            await findEventSummaries(
              context.db,
              page.edges.map(({ node }) => node.id),
            )
          ).map((event) => [event.id, event]),
        );
        return {
          ...page,
          edges: page.edges.flatMap(({ cursor, node: { id } }) => {
            const node = events.get(id);
            return node === undefined ? [] : [{ cursor, node }];
          }),
        };
      },
    },
    ...createGraphqlConnectionTypeOptions("MerchantEvent", "events"),
  ),
);
