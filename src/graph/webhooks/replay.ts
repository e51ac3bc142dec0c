/**
 * Sends what was sent before once more. One at a time is a REST operation; many at once is for who runs a
 * merchant.
 */
import { z } from "zod";
import { fail } from "#foundation/failure.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { integratorsAndStaff } from "#graph/context.ts";
import { replayChange } from "#graph/change-kinds.ts";
import { changeMutation, loadAnew } from "#graph/mutation.ts";
import { WebhookDeliveryRef } from "#graph/refs.ts";
import type { DeliveryView } from "#webhooks/delivery-log.ts";
import {
  type BulkReplayed,
  bulkMax,
  type LostStatus,
  type PassedOver,
  replayDeliveries,
  windowDaysMax,
} from "#webhooks/replay-deliveries.ts";
import { type Replayed, replayDelivery, replayNoteMax } from "#webhooks/replay-delivery.ts";
import { DeliveryStatusEnum, ReplayReasonEnum } from "./event-log.ts";

const note = z.string().max(replayNoteMax);

const ReplayInput = builder.inputType("PublicWebhookReplayRequest", {
  description: "Why a delivery is sent once more, and where to.",
  fields: (t) => ({
    reason: t.field({ type: ReplayReasonEnum, required: true, description: "Why it is sent once more." }),
    endpointId: t.id({
      description: "Another endpoint of the same installation, `whe_…`; without it the one it went to.",
    }),
    force: t.boolean({ defaultValue: false, description: "Also where it succeeded." }),
    note: t.string({
      description: `For whoever reads it later; nothing personal. ${replayNoteMax} characters at most.`,
      validate: note,
    }),
  }),
});

const Original = builder.objectRef<Replayed["original"]>("WebhookDeliveryOriginal").implement({
  description: "The first delivery of an event to an endpoint. Its replays leave it as it is.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The delivery's id, `whd_…`." }),
    status: t.expose("status", { type: DeliveryStatusEnum, description: "Where it is." }),
  }),
});

interface ReplayShown {
  readonly delivery: DeliveryView;
  readonly original: Replayed["original"];
}

const Replay = builder.objectRef<ReplayShown>("WebhookDeliveryReplay").implement({
  description: "A delivery that is made once more.",
  fields: (t) => ({
    delivery: t.expose("delivery", { type: WebhookDeliveryRef, description: "The new delivery." }),
    original: t.expose("original", { type: Original, description: "What it is a replay of." }),
  }),
});

changeMutation({
  ...replayChange,
  name: "webhookDeliveryReplay",
  description:
    "Sends a delivery once more, with the same id and body, signed anew, to the endpoint's address as it is now. For 30 days after the event, ten times at most.",
  callers: integratorsAndStaff,
  idempotency: "required_or_header",
  target: { deliveryId: "The delivery, `whd_…`." },
  input: ReplayInput,
  inputDescription: "Why, and where to.",
  type: Replay,
  run: replayDelivery,
  answer: async ({ loaders }, { deliveryId, original }) => {
    const delivery = await loadAnew(loaders.webhookDeliveries, deliveryId);
    if (delivery === null) throw fail("webhook_delivery_not_found");
    return { delivery, original };
  },
});

const LostStatusEnum = defineEnum<LostStatus>("WebhookDeliveryLostStatus", {
  description: "How deliveries end that did not arrive.",
  values: {
    exhausted: "They were sent ten times, or the receiver said that it is gone.",
    skipped: "The endpoint was off.",
    canceled: "The endpoint was deleted; they need another one.",
  },
});

const BulkInput = builder.inputType("WebhookDeliveriesReplayInput", {
  description: "Which deliveries are sent once more, and why.",
  fields: (t) => ({
    endpointId: t.id({
      description:
        "Those of this endpoint, `whe_…`, deleted or not. Either it or the installation is needed.",
    }),
    installationId: t.id({ description: "Those of all endpoints of this installation, `ins_…`." }),
    since: t.field({
      type: "DateTime",
      required: true,
      description: "Of events that happened then or later.",
    }),
    until: t.field({
      type: "DateTime",
      required: true,
      description: `Of events that happened before. ${windowDaysMax} days after since at most.`,
    }),
    status: t.field({ type: LostStatusEnum, required: true, description: "Those that ended like this." }),
    reason: t.field({ type: ReplayReasonEnum, required: true, description: "Why they are sent once more." }),
    note: t.string({
      description: `For whoever reads it later; nothing personal. ${replayNoteMax} characters at most.`,
      validate: note,
    }),
    toEndpointId: t.id({
      description:
        "Another endpoint of the installation, for all of them; without it each goes where it went.",
    }),
    after: t.string({ description: "The endCursor of the call before." }),
  }),
});

const PassedOverEnum = defineEnum<PassedOver>("WebhookReplayRefusal", {
  description: "Why a delivery was not sent once more.",
  values: {
    delivery_in_progress: "A replay of it is under way.",
    delivery_already_succeeded: "A replay of it has arrived.",
    delivery_payload_expired: "Its body is not kept any more.",
    delivery_replay_limit_reached: "It was replayed ten times.",
    webhook_endpoint_not_found: "Its endpoint is not there.",
    webhook_endpoint_disabled: "Its endpoint is off, or the installation is suspended.",
  },
});

const PassedOverCount = builder
  .objectRef<BulkReplayed["passedOver"][number]>("WebhookReplaySkipped")
  .implement({
    description: "Deliveries that were not sent once more.",
    fields: (t) => ({
      reason: t.expose("reason", { type: PassedOverEnum, description: "Why not." }),
      count: t.exposeInt("count", { description: "How many." }),
    }),
  });

const BulkReplay = builder.objectRef<BulkReplayed>("WebhookDeliveriesReplay").implement({
  description: "What was sent once more.",
  fields: (t) => ({
    replayed: t.exposeInt("replayed", { description: "How many deliveries were made once more." }),
    skipped: t.field({
      type: [PassedOverCount],
      description: "How many were passed over, by reason.",
      complexity: { multiplier: 6 },
      resolve: ({ passedOver }) => passedOver,
    }),
    hasMore: t.exposeBoolean("hasMore", { description: "Whether more match: call again with `after`." }),
    endCursor: t.exposeString("endCursor", {
      nullable: true,
      description: "Where this call ended; null: nothing matched.",
    }),
  }),
});

changeMutation({
  ...replayChange,
  name: "webhookDeliveriesReplay",
  description: `Sends what did not arrive in a window of time once more: looks at ${bulkMax} deliveries at most, oldest event first, and passes over those that may not be.`,
  input: BulkInput,
  inputDescription: "Which, and why.",
  type: BulkReplay,
  run: replayDeliveries,
});
