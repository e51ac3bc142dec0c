/**
 * The settings of webhook endpoints that only GraphQL can change: field filters and the order of deliveries.
 * The REST operation that creates an endpoint does not have them.
 */
import type { InputFieldBuilder } from "@pothos/core";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { WebhookEndpointRef } from "#graph/refs.ts";
import { type EventChangedFieldsFilter, filteredTypesMax } from "#webhooks/endpoints/field-filters.ts";

const DeliveryOrderEnum = defineGraphqlEnum("WebhookDeliveryOrder", {
  description: "The order in which the deliveries of an endpoint are sent.",
  values: {
    any: "Deliveries to the endpoint do not wait for each other.",
    subject:
      "Deliveries about the same subject, for example the same order, are sent one after the other in the " +
      "order of the changes. A delivery waits until all earlier deliveries about its subject have ended: " +
      "succeeded, exhausted after the last attempt, skipped or canceled. Replays do not wait.",
  },
});

const FieldFilterRef = builder.objectRef<EventChangedFieldsFilter>("WebhookFieldFilter").implement({
  description:
    "A filter for one event type: a webhook endpoint receives an event of the type only if one of the " +
    "given fields of the event's object has changed.",
  fields: (t) => ({
    eventType: t.exposeString("eventType", {
      description: "The event type to which the filter applies: a name of the event catalogue.",
    }),
    fields: t.stringList({
      description:
        "The names of fields of the event's object. The endpoint receives an event only if one of these " +
        "fields has changed.",
      resolve: ({ fields }) => [...fields],
    }),
  }),
});

builder.objectFields(WebhookEndpointRef, (t) => ({
  fieldFilters: t.field({
    type: [FieldFilterRef],
    description:
      "The event types for which the endpoint receives only events in which one of the given fields has " +
      "changed; empty if the endpoint receives all events of its types.",
    complexity: { multiplier: 10 },
    resolve: ({ fieldFilters }) =>
      Object.entries(fieldFilters ?? {}).map(([eventType, fields]) => ({ eventType, fields })),
  }),
  deliveryOrder: t.expose("deliveryOrder", {
    type: DeliveryOrderEnum,
    description: "The order in which the deliveries of the endpoint are sent.",
  }),
}));

const FieldFilterInput = builder.inputType("WebhookFieldFilterInput", {
  description:
    "A filter for one event type: a webhook endpoint receives an event of the type only if one of the " +
    "given fields of the event's object has changed.",
  fields: (t) => ({
    eventType: t.string({
      required: true,
      description: "The event type to filter: the name of any type of the event catalogue.",
    }),
    fields: t.stringList({
      required: true,
      description:
        "The names of fields of the event's object, 1 to 50 different ones. The endpoint receives an event " +
        "only if one of these fields has changed.",
    }),
  }),
});

const fieldFiltersDescription =
  "The event types for which the endpoint receives only events in which one of the given fields has " +
  `changed: at most ${filteredTypesMax} types, each at most once. An event without an earlier state of the ` +
  "object (`data.previous` is null) is always delivered.";

type OptionInputFieldBuilder = InputFieldBuilder<(typeof builder)["$inferSchemaTypes"], "InputObject">;

/**
 * The input fields for field filters and for the order of deliveries, shared by the input types for creating
 * and updating a webhook endpoint.
 */
// eslint-disable-next-line typescript/explicit-module-boundary-types -- Pothos infers the refs.
export const createWebhookEndpointOptionInputFields = (t: OptionInputFieldBuilder) => ({
  fieldFilters: t.field({
    type: [FieldFilterInput],
    description: `${fieldFiltersDescription} The list replaces all filters; an empty list removes them.`,
  }),
  deliveryOrder: t.field({
    type: DeliveryOrderEnum,
    description:
      "The order in which deliveries of events that occur from now on are sent. If left out, a new " +
      "endpoint has `ANY`. After a change to `ANY`, deliveries that wait for earlier ones are sent at once.",
  }),
});

/**
 * The GraphQL input type for the settings of a new webhook endpoint that REST does not have: field filters
 * and the order of deliveries.
 */
export const EndpointOptionsInput = builder.inputType("WebhookEndpointOptionsInput", {
  description: "Further settings of a new webhook endpoint, which only GraphQL offers.",
  fields: createWebhookEndpointOptionInputFields,
});
