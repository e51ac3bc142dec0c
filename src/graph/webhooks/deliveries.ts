/**
 * The GraphQL types of webhook deliveries: their states, their attempts, and the reasons of failures and
 * replays.
 */
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { hideFromAnalysts } from "#graph/context.ts";
import { InstallationRef, WebhookDeliveryRef, WebhookEventRef } from "#graph/refs.ts";
import type { DeliveryAttemptView } from "#webhooks/delivery-log.ts";
import type { DeliveryStatus, DeliveryReplayReason } from "#webhooks/delivery-rules.ts";

/** The GraphQL enum of webhook delivery statuses, the same for apps and for the merchant's staff. */
export const DeliveryStatusEnum = defineGraphqlEnum<DeliveryStatus>("WebhookDeliveryStatus", {
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

export const ReplayReasonEnum = defineGraphqlEnum<DeliveryReplayReason>("WebhookReplayReason", {
  description: "Why a delivery is replayed.",
  values: {
    receiver_outage: "The receiver was down.",
    receiver_bug: "The receiver processed the event incorrectly.",
    testing: "The replay tests the receiver.",
    other: "Another reason, given in the note.",
  },
});

export const ErrorCodeEnum = defineGraphqlEnum<NonNullable<DeliveryAttemptView["errorCode"]>>(
  "WebhookErrorCode",
  {
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
  },
);

const AttemptRef = builder.objectRef<DeliveryAttemptView>("WebhookAttempt").implement({
  description: "One attempt to send a delivery. The body of the receiver's answer is not stored.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The attempt's id, `wha_…`." }),
    number: t.exposeInt("number", {
      description: "The number of this attempt within its delivery, from 1 to 10.",
    }),
    at: t.expose("startedAt", { type: "DateTime", description: "When the attempt began." }),
    httpStatus: t.exposeInt("httpStatus", {
      nullable: true,
      description: "The HTTP status of the receiver's answer; null if the receiver did not answer.",
    }),
    errorCode: t.expose("errorCode", {
      type: ErrorCodeEnum,
      nullable: true,
      description: "Why the attempt failed; null if the attempt succeeded.",
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
    attemptCount: t.exposeInt("attemptCount", {
      description: "The number of attempts to send the delivery that were made so far.",
    }),
    nextAttemptAt: t.expose("nextAttemptAt", {
      type: "DateTime",
      nullable: true,
      description:
        "When the next attempt is due. Null if no further attempt is scheduled, if an attempt is in " +
        "progress, or if the delivery waits for an earlier delivery about the same subject (see " +
        "`deliveryOrder` of the endpoint).",
    }),
    lastAttempt: t.expose("lastAttempt", {
      type: AttemptRef,
      nullable: true,
      description: "The last finished attempt; null if no attempt has finished.",
    }),
    replayOf: t.exposeID("replayOf", {
      nullable: true,
      description:
        "The id of the original delivery that this delivery replays; null if this delivery is the original " +
        "one.",
    }),
    replayable: t.exposeBoolean("isReplayable", {
      description:
        "Whether the delivery can be replayed: the delivery has finished, its body is still stored and it " +
        "was replayed fewer than ten times. To replay a succeeded delivery, `force` must be true; to " +
        "replay a delivery to a deleted endpoint, another endpoint must be given.",
    }),
    payloadExpiresAt: t.expose("payloadExpiresAt", {
      type: "DateTime",
      description: "When the stored body is deleted: 30 days after the event.",
    }),
    replayReason: t.expose("replayReason", {
      type: ReplayReasonEnum,
      nullable: true,
      description: "Why the delivery was replayed; null if this delivery is the original one.",
    }),
    replayNote: t.string({
      nullable: true,
      description: "The note that was given with the replay; null if there is none. Hidden from analysts.",
      resolve: ({ replayNote }, _args, context) => hideFromAnalysts(replayNote, context),
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the delivery was created." }),
    finishedAt: t.expose("finishedAt", {
      type: "DateTime",
      nullable: true,
      description: "When the delivery finished; null if the delivery has not finished yet.",
    }),
  }),
});

builder.objectFields(WebhookDeliveryRef, (t) => ({
  attempts: t.field({
    type: [AttemptRef],
    description: "All attempts of the delivery, oldest first.",
    complexity: { multiplier: 10 },
    resolve: ({ id }, _args, { loaders }) => loaders.webhookAttempts.load(id),
  }),
  body: t.string({
    nullable: true,
    description:
      "The JSON text that the service sends as the body of the delivery, in the endpoint's present payload " +
      "mode. Hidden from analysts.",
    resolve: async ({ id }, _args, context) => {
      const shownId = hideFromAnalysts(id, context);
      return shownId === null ? null : ((await context.loaders.webhookBodies.load(shownId))?.body ?? null);
    },
  }),
  event: t.field({
    type: WebhookEventRef,
    description: "The event that is delivered.",
    resolve: async ({ installationId, eventId }, _args, { loaders }) => {
      const event = await loaders.webhookEvents.load({ installationId, eventId });
      if (event === null) throw new Error(`There is no event ${eventId}.`);
      return event;
    },
  }),
  installation: t.field({
    type: InstallationRef,
    description: "The installation that receives the event.",
    resolve: ({ installationId }, _args, { loaders }) => loaders.installations.load(installationId),
  }),
}));
