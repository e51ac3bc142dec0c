/** What an installation may see of what happened, and how it was told. */
import { builder, integrators, readers } from "#graph/builder.ts";
import { InstallationRef, WebhookEventRef } from "#graph/refs.ts";
import type { EventLog } from "#webhooks/delivery-log.ts";
import { eventCatalogue, eventNames } from "#webhooks/event-catalogue.ts";
import { retentionDays } from "#webhooks/replay-rules.ts";
import { EventTypeRef } from "./catalogue.ts";

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
      resolve: async ({ installationId }, _args, { loaders }) => (await loaders.webhookLogs.load(installationId)).events,
    }),
    retentionDays: t.int({ description: "For so many days events are kept.", resolve: () => retentionDays }),
    truncated: t.boolean({
      description: "Whether more events are kept than are listed.",
      resolve: async ({ installationId }, _args, { loaders }) => (await loaders.webhookLogs.load(installationId)).isTruncated,
    }),
    oldestIncludedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "When the oldest event that is listed happened; null: none is.",
      resolve: async ({ installationId }, _args, { loaders }) => oldestOf(await loaders.webhookLogs.load(installationId)),
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
