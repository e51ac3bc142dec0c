/**
 * The GraphQL mutation that retries a waiting webhook delivery immediately. Also the query that previews a
 * bulk replay: it counts the deliveries that the replay would send or skip, and sends nothing.
 */
import { z } from "zod";
import { createFailure } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import { getCallerMerchantId, merchantReaders } from "#graph/context.ts";
import { replayMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation, reloadChangedRow } from "#graph/mutation.ts";
import { WebhookDeliveryRef } from "#graph/refs.ts";
import { attemptsMax } from "#webhooks/delivery-rules.ts";
import { previewBulkReplay, type BulkReplayPreview } from "#webhooks/preview-replay.ts";
import { bulkReplayDaysMax, bulkReplayPageSize } from "#webhooks/replay-selection.ts";
import { retryDelivery } from "#webhooks/retry-delivery.ts";
import { LostStatusEnum, SkippedDeliveryCount } from "./replay.ts";

const RetryInput = builder.inputType("WebhookDeliveryRetryInput", {
  description: "The number of attempts that the caller has read from the delivery.",
  fields: (t) => ({
    expectedAttemptCount: t.int({
      required: true,
      description:
        "The `attemptCount` of the delivery that the caller has read, 0 to 9. If the delivery has another " +
        "number of attempts now, nothing is changed and the error is version_conflict (409).",
      validate: z
        .int32()
        .min(0)
        .max(attemptsMax - 1),
    }),
  }),
});

defineMutation({
  ...replayMutationKind,
  name: "webhookDeliveryRetry",
  description:
    "Makes the next attempt of a delivery at once, without waiting for `nextAttemptAt`. If the endpoint is " +
    "paused, the attempt is made when the pause ends.",
  failures: ["webhook_delivery_not_found", "webhook_endpoint_disabled", "version_conflict"],
  target: { deliveryId: "The id of the waiting delivery, `whd_…`." },
  input: RetryInput,
  inputDescription: "The number of attempts that the caller has read from the delivery.",
  type: WebhookDeliveryRef,
  run: retryDelivery,
  answer: async ({ loaders }, deliveryId) => {
    const delivery = await reloadChangedRow(loaders.webhookDeliveries, deliveryId);
    if (delivery === null) throw createFailure("webhook_delivery_not_found");
    return delivery;
  },
});

const PreviewRef = builder.objectRef<BulkReplayPreview>("WebhookReplayPreview").implement({
  description: "What a call of the mutation `webhookDeliveriesReplay` would do at present.",
  fields: (t) => ({
    replayable: t.exposeInt("replayable", {
      description: "The number of deliveries that the call would replay.",
    }),
    skipped: t.field({
      type: [SkippedDeliveryCount],
      description: "The numbers of deliveries that the call would not replay, one entry for each reason.",
      complexity: { multiplier: 6 },
      resolve: ({ passedOver }) => passedOver,
    }),
    limit: t.exposeInt("limit", {
      description: `The highest number of deliveries that one call examines: ${bulkReplayPageSize}.`,
    }),
    hasMore: t.exposeBoolean("hasMore", {
      description: "Whether there are more deliveries to replay than one call examines.",
    }),
  }),
});

builder.queryField("webhookReplayPreview", (t) =>
  t.field({
    type: PreviewRef,
    nullable: true,
    description:
      "Counts the deliveries to an endpoint that `webhookDeliveriesReplay` would replay, without sending " +
      "anything. Null if the caller can see no such endpoint.",
    authScopes: { callers: merchantReaders },
    complexity: 50,
    args: {
      endpointId: t.arg.id({ required: true, description: "The endpoint's id, `whe_…`." }),
      since: t.arg({
        type: "DateTime",
        required: true,
        description: "The start of the period: only events at or after this time count.",
      }),
      until: t.arg({
        type: "DateTime",
        required: true,
        description:
          "The end of the period: only events before this time count. " +
          `At most ${bulkReplayDaysMax} days after \`since\`.`,
      }),
      status: t.arg({
        type: LostStatusEnum,
        required: true,
        description: "The final state of the deliveries to count.",
      }),
      after: t.arg.string({
        description: "The `endCursor` of an earlier replay; only the deliveries after this cursor count.",
      }),
    },
    resolve: (_root, filter, context) =>
      previewBulkReplay(
        context.db,
        { merchantId: getCallerMerchantId(context), now: context.clock.now() },
        filter,
      ),
  }),
);
