/** The catalogue of events, as integrators read it. */
import { builder } from "#graph/builder.ts";
import { defineEnum } from "#graph/enums.ts";
import type { EventTypeView } from "#webhooks/event-catalogue.ts";

const StabilityEnum = defineEnum("EventStability", {
  description: "What may become of an event type.",
  values: { stable: "Only additive changes within v1.", candidate: "It may change; announced in the changelog 30 days ahead." },
});

export const EventTypeRef = builder.objectRef<EventTypeView>("EventType").implement({
  description: "A kind of event. Its schema is always the same; what is added to it is optional to read.",
  fields: (t) => ({
    name: t.exposeString("name", { description: "Its name, as endpoints listen to it." }),
    group: t.exposeString("group", { description: "What stands before the dot: endpoints listen to all of a group as `group.*`." }),
    description: t.exposeString("description", { description: "When it happens." }),
    stability: t.expose("stability", { type: StabilityEnum, description: "What may become of it." }),
    schemaVersion: t.exposeInt("schemaVersion", { description: "The version of its schema." }),
    payloadSchema: t.expose("payloadSchema", {
      type: "JSON",
      description: "JSON Schema (2020-12) of the body that is sent; the thing itself is described in the OpenAPI document.",
    }),
    example: t.expose("example", { type: "JSON", description: "A body as it is sent. 4 KiB at most." }),
    deprecated: t.exposeBoolean("deprecated", { description: "Whether it will go." }),
  }),
});
