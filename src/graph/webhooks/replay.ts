/**
 * The GraphQL mutations that send webhook deliveries again (replay). Replaying a single delivery is also a
 * REST operation; only a merchant's staff can replay many at once.
 */
import { z } from "zod";
import { createFailure } from "#foundation/failure.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { integratorsAndStaff } from "#graph/context.ts";
import { replayMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation, reloadChangedRow } from "#graph/mutation.ts";
import { WebhookDeliveryRef } from "#graph/refs.ts";
import type { DeliveryView } from "#webhooks/delivery-log.ts";
import { type BulkReplayResult, replayDeliveries } from "#webhooks/replay-deliveries.ts";
import {
  bulkReplayDaysMax,
  bulkReplayPageSize,
  type FailedDeliveryStatus,
  type BulkReplaySkipReason,
} from "#webhooks/replay-selection.ts";
import { type DeliveryReplayResult, replayDelivery, replayNoteLengthMax } from "#webhooks/replay-delivery.ts";
import { DeliveryStatusEnum, ReplayReasonEnum } from "./deliveries.ts";

const note = z.string().max(replayNoteLengthMax);

const ReplayInput = builder.inputType("PublicWebhookReplayRequest", {
  description: "The reason for the replay of a delivery, and the endpoint that receives it.",
  fields: (t) => ({
    reason: t.field({ type: ReplayReasonEnum, required: true, description: "Why the delivery is replayed." }),
    endpointId: t.id({
      description:
        "The receiving endpoint of the same installation, `whe_…`. Default: the endpoint of the original " +
        "delivery.",
    }),
    force: t.boolean({
      defaultValue: false,
      description: "Whether to replay the delivery even if the delivery has succeeded.",
    }),
    note: t.string({
      description: `A note for later readers, without personal data, at most ${replayNoteLengthMax} characters.`,
      validate: note,
    }),
  }),
});

const Original = builder.objectRef<DeliveryReplayResult["original"]>("WebhookDeliveryOriginal").implement({
  description:
    "The first delivery of an event to an endpoint. A replay is a delivery of its own and does not change " +
    "the original delivery.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The delivery's id, `whd_…`." }),
    status: t.expose("status", {
      type: DeliveryStatusEnum,
      description: "The state of the original delivery.",
    }),
  }),
});

interface ReplayShown {
  readonly delivery: DeliveryView;
  readonly original: DeliveryReplayResult["original"];
}

const Replay = builder.objectRef<ReplayShown>("WebhookDeliveryReplay").implement({
  description: "A replay of a delivery, together with the original delivery.",
  fields: (t) => ({
    delivery: t.expose("delivery", {
      type: WebhookDeliveryRef,
      description: "The new delivery, which replays the original delivery.",
    }),
    original: t.expose("original", { type: Original, description: "The original delivery." }),
  }),
});

defineMutation({
  ...replayMutationKind,
  name: "webhookDeliveryReplay",
  description:
    "Replays a delivery with the same event id and body and a new signature, to the endpoint's present " +
    "URL. A delivery can be replayed until 30 days after the event, at most ten times.",
  failures: [
    "webhook_endpoint_not_found",
    "webhook_delivery_not_found",
    "webhook_endpoint_disabled",
    "delivery_in_progress",
    "delivery_already_succeeded",
    "delivery_payload_expired",
    "delivery_replay_limit_reached",
  ],
  callers: integratorsAndStaff,
  idempotency: "required_or_header",
  target: { deliveryId: "The id of the delivery to replay, `whd_…`." },
  input: ReplayInput,
  inputDescription: "The reason for the replay, and the receiving endpoint.",
  type: Replay,
  run: replayDelivery,
  answer: async ({ loaders }, { deliveryId, original }) => {
    const delivery = await reloadChangedRow(loaders.webhookDeliveries, deliveryId);
    if (delivery === null) throw createFailure("webhook_delivery_not_found");
    return { delivery, original };
  },
});

export const LostStatusEnum = defineGraphqlEnum<FailedDeliveryStatus>("WebhookDeliveryLostStatus", {
  description: "The final states of deliveries that did not succeed.",
  values: {
    exhausted: "All ten attempts failed, or the receiver answered HTTP 410 (Gone).",
    skipped: "The endpoint was disabled when the delivery was due.",
    canceled: "The endpoint was deleted. A replay needs another endpoint.",
  },
});

const BulkInput = builder.inputType("WebhookDeliveriesReplayInput", {
  description:
    "The deliveries to replay, selected by endpoint or installation, period and state, and the reason for " +
    "the replay.",
  fields: (t) => ({
    endpointId: t.id({
      description:
        "The id of the endpoint whose deliveries are replayed, `whe_…`; the endpoint may have been " +
        "deleted. Either `endpointId` or `installationId` is required.",
    }),
    installationId: t.id({
      description:
        "The id of the installation, `ins_…`, to whose endpoints the replayed deliveries went. Either " +
        "`endpointId` or `installationId` is required.",
    }),
    since: t.field({
      type: "DateTime",
      required: true,
      description: "The start of the period: only events at or after this time are replayed.",
    }),
    until: t.field({
      type: "DateTime",
      required: true,
      description:
        "The end of the period: only events before this time are replayed. " +
        `At most ${bulkReplayDaysMax} days after \`since\`.`,
    }),
    status: t.field({
      type: LostStatusEnum,
      required: true,
      description: "The final state of the deliveries to replay.",
    }),
    reason: t.field({
      type: ReplayReasonEnum,
      required: true,
      description: "Why the deliveries are replayed.",
    }),
    note: t.string({
      description: `A note for later readers, without personal data, at most ${replayNoteLengthMax} characters.`,
      validate: note,
    }),
    toEndpointId: t.id({
      description:
        "The endpoint of the installation that receives all replays. Default: each delivery's original " +
        "endpoint.",
    }),
    after: t.string({
      description: "The `endCursor` of the previous call, if this call continues the replay after it.",
    }),
  }),
});

const PassedOverEnum = defineGraphqlEnum<BulkReplaySkipReason>("WebhookReplayRefusal", {
  description: "Why a delivery was not replayed.",
  values: {
    delivery_in_progress: "A replay of the delivery is in progress.",
    delivery_already_succeeded: "A replay of the delivery has succeeded.",
    delivery_payload_expired: "The body of the delivery is no longer stored.",
    delivery_replay_limit_reached: "The delivery was already replayed ten times.",
    webhook_endpoint_not_found: "The endpoint that would receive the replay does not exist.",
    webhook_endpoint_disabled:
      "The endpoint that would receive the replay is disabled, or its installation is suspended.",
  },
});

export const SkippedDeliveryCount = builder
  .objectRef<BulkReplayResult["passedOver"][number]>("WebhookReplaySkipped")
  .implement({
    description: "The number of deliveries that were not replayed, for one of the reasons.",
    fields: (t) => ({
      reason: t.expose("reason", {
        type: PassedOverEnum,
        description: "Why the deliveries were not replayed.",
      }),
      count: t.exposeInt("count", {
        description: "The number of deliveries that were not replayed for this reason.",
      }),
    }),
  });

const BulkReplay = builder.objectRef<BulkReplayResult>("WebhookDeliveriesReplay").implement({
  description: "The result of a replay of many deliveries.",
  fields: (t) => ({
    replayed: t.exposeInt("replayed", { description: "The number of deliveries replayed by this call." }),
    skipped: t.field({
      type: [SkippedDeliveryCount],
      description: "The numbers of deliveries that were not replayed, one entry for each reason.",
      complexity: { multiplier: 6 },
      resolve: ({ passedOver }) => passedOver,
    }),
    hasMore: t.exposeBoolean("hasMore", {
      description:
        "Whether there are more deliveries to replay after `endCursor`. If true, call the mutation again " +
        "with `endCursor` as `after`.",
    }),
    endCursor: t.exposeString("endCursor", {
      nullable: true,
      description: "The cursor of the last delivery that this call examined; null if no delivery matched.",
    }),
  }),
});

defineMutation({
  ...replayMutationKind,
  name: "webhookDeliveriesReplay",
  description:
    `Replays the unsuccessful deliveries of a period. One call examines at most ${bulkReplayPageSize} ` +
    "deliveries, in the order of their events, the oldest first, and skips deliveries that cannot be " +
    "replayed.",
  failures: ["webhook_endpoint_not_found", "resource_not_found", "webhook_endpoint_disabled"],
  input: BulkInput,
  inputDescription:
    "The deliveries to replay, selected by endpoint or installation, period and state, and the reason for " +
    "the replay.",
  type: BulkReplay,
  run: replayDeliveries,
});
