/**
 * The GraphQL mutations of webhook endpoints and their input types. An endpoint can also be created over
 * REST; `PublicWebhookCreateRequest` is the body of that request.
 */
import { z } from "zod";
import { isApiKeyOrOauthViewer } from "#access/viewer.ts";
import { createFailureWithDetail, type FailureDetail } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import { integratorsAndStaff } from "#graph/context.ts";
import { endpointMutationKind, existingEndpointMutationKind } from "#graph/mutation-kinds.ts";
import type { WorkBeforeMutationTransaction } from "#graph/mutation-options.ts";
import { defineMutation } from "#graph/mutation.ts";
import { WebhookEndpointRef } from "#graph/refs.ts";
import {
  createEndpoint,
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  sendTestPingToEndpoint,
  updateEndpoint,
} from "#webhooks/endpoints/endpoint-commands.ts";
import {
  type EndpointWithNewSecret,
  secretOverlapHours,
  rotateWebhookSecret,
  type NewWebhookSecret,
} from "#webhooks/endpoints/endpoint-secrets.ts";
import { expectedVersionDescription } from "#graph/catalog/inputs.ts";
import { endpointInputLimits as bounds } from "#webhooks/endpoints/endpoint-input.ts";
import { endpointUrlLengthMax } from "#webhooks/endpoint-url.ts";
import { createWebhookEndpointOptionInputFields, EndpointOptionsInput } from "./endpoint-options.ts";
import { PayloadModeEnum } from "./endpoints.ts";

const urlShape = z.string().max(endpointUrlLengthMax);
const eventTypes = z.array(z.string()).min(1).max(bounds.eventTypesMax).meta({ uniqueItems: true });
const description = z.string().max(bounds.descriptionMax);
const perSecond = z.int32().min(1).max(bounds.perSecondMax);
const metadata = z
  .record(z.string().min(1).max(bounds.metadataKeyMax), z.string().max(bounds.metadataValueMax))
  .meta({ maxProperties: bounds.metadataKeysMax });

const urlRule =
  "https, port 443 or 1024 and higher, a public host name in normalized form, no user name, no " +
  "fragment; at most 2048 characters.";
const eventTypesRule = "1 to 100 different names of the event catalogue or `group.*`, or `*` alone.";
const metadataRule =
  "at most 20 entries, with names of 1 to 40 characters and values of at most 500 characters.";

const EndpointCreateInput = builder.inputType("PublicWebhookCreateRequest", {
  description: "The settings of a new webhook endpoint.",
  fields: (t) => ({
    url: t.string({
      required: true,
      description: `The URL that events are sent to: ${urlRule}`,
      validate: urlShape,
    }),
    eventTypes: t.stringList({
      required: true,
      description: `The event types that the endpoint receives: ${eventTypesRule}`,
      validate: eventTypes,
    }),
    description: t.string({
      description: "A note on the endpoint's purpose, at most 200 characters.",
      validate: description,
    }),
    payloadMode: t.field({
      type: PayloadModeEnum,
      defaultValue: "snapshot",
      description: "Whether events contain the whole object or only its id.",
    }),
    enabled: t.boolean({
      defaultValue: true,
      description: "Whether events are delivered to the endpoint from the start.",
    }),
    maxPerSecond: t.int({
      description:
        "The highest number of events that are sent to the endpoint per second, 1 to 100. Default: 25.",
      validate: perSecond,
    }),
    metadata: t.field({
      type: "StringMap",
      description: `Key-value pairs to store with the endpoint: ${metadataRule}`,
      validate: metadata,
    }),
  }),
});

const EndpointUpdateInput = builder.inputType("WebhookEndpointUpdateInput", {
  description:
    "The changes of a webhook endpoint. A field that is left out stays as it is; null removes the field's " +
    "value.",
  fields: (t) => ({
    expectedVersion: t.int({ description: expectedVersionDescription }),
    url: t.string({
      description: `The URL that events are sent to, including deliveries that are waiting: ${urlRule}`,
      validate: urlShape,
    }),
    eventTypes: t.stringList({
      description: `The event types that the endpoint receives: ${eventTypesRule}`,
      validate: eventTypes,
    }),
    description: t.string({
      description: "A note on the endpoint's purpose, at most 200 characters.",
      validate: description,
    }),
    payloadMode: t.field({
      type: PayloadModeEnum,
      description: "Whether events contain the whole object or only its id.",
    }),
    maxPerSecond: t.int({
      description:
        "The highest number of events that are sent to the endpoint per second, 1 to 100; null for the " +
        "default of 25.",
      validate: perSecond,
    }),
    metadata: t.field({
      type: "StringMap",
      description: `Key-value pairs that replace all stored key-value pairs of the endpoint: ${metadataRule}`,
      validate: metadata,
    }),
    ...createWebhookEndpointOptionInputFields(t),
  }),
});

const EndpointTransitionInput = builder.inputType("WebhookEndpointTransitionInput", {
  description: "The expected version of the webhook endpoint that is to be enabled, disabled or deleted.",
  fields: (t) => ({ expectedVersion: t.int({ description: expectedVersionDescription }) }),
});

const SecretRotateInput = builder.inputType("WebhookSecretRotateInput", {
  description: "How a webhook endpoint's secret is replaced.",
  fields: (t) => ({
    expectedVersion: t.int({ description: expectedVersionDescription }),
    overlapHours: t.int({
      defaultValue: secretOverlapHours.usual,
      description:
        "The number of hours during which requests are signed with both the old and the new secret, 0 to " +
        `${secretOverlapHours.max}. Default: ${secretOverlapHours.usual}.`,
      validate: z.int32().min(0).max(secretOverlapHours.max),
    }),
  }),
});

const SecretValue = builder.objectRef<NewWebhookSecret>("WebhookSecretValue").implement({
  description: "A webhook secret in full, which is returned only in this answer.",
  fields: (t) => ({
    version: t.exposeInt("version", {
      description: "The number of this secret among the endpoint's secrets, counted from 1.",
    }),
    value: t.exposeString("value", {
      description:
        "The secret in the format of Standard Webhooks libraries: `whsec_` and 32 bytes in base64.",
    }),
    shownOnce: t.boolean({
      description: "Whether this answer is the only one with the secret. Always true.",
      resolve: () => true,
    }),
  }),
});

const WithSecret = builder.objectRef<EndpointWithNewSecret>("WebhookEndpointWithSecret").implement({
  description: "A webhook endpoint and the secret created for it.",
  fields: (t) => ({
    endpoint: t.expose("endpoint", {
      type: WebhookEndpointRef,
      description: "The webhook endpoint that the secret belongs to.",
    }),
    secret: t.expose("secret", { type: SecretValue, description: "The new secret of the webhook endpoint." }),
  }),
});

const EndpointDeleted = builder
  .objectRef<{ readonly endpointId: string }>("WebhookEndpointDeleted")
  .implement({
    description: "The deleted webhook endpoint.",
    fields: (t) => ({
      endpointId: t.exposeID("endpointId", { description: "The id of the deleted endpoint." }),
    }),
  });

/**
 * Resolves the host name in a webhook endpoint's URL. Returns a fault if one of its IP addresses is not
 * allowed.
 */
const findUrlFaults: WorkBeforeMutationTransaction<
  { readonly url?: string | null | undefined },
  readonly FailureDetail[]
> = async ({ url }, { resolvedNames }) => (typeof url === "string" ? resolvedNames.faultsOf(url) : []);

defineMutation({
  ...endpointMutationKind,
  name: "webhookEndpointCreate",
  description:
    "Registers a webhook endpoint and sends a ping to it. Only this answer contains the endpoint's secret.",
  failures: [
    "webhook_url_not_allowed",
    "unknown_event_type",
    "resource_not_found",
    "webhook_endpoint_duplicate",
    "webhook_endpoint_limit_reached",
    "invalid_state",
  ],
  callers: integratorsAndStaff,
  idempotency: "required_or_header",
  optionalTarget: {
    installationId:
      "The installation that owns the endpoint; ignored with an API key, required with an internal token.",
  },
  input: EndpointCreateInput,
  inputDescription: "The webhook endpoint to create.",
  options: {
    input: EndpointOptionsInput,
    description: "Further settings of the endpoint, which only GraphQL offers.",
  },
  type: WithSecret,
  check: ({ viewer }, { installationId }) => {
    if (!isApiKeyOrOauthViewer(viewer)) requireInstallation(installationId);
  },
  prepare: findUrlFaults,
  run: (transaction, context, { prepared, options, ...input }) =>
    createEndpoint(
      transaction,
      { ...context, resolvedFaults: prepared },
      {
        ...input,
        ...options,
        installationId: context.installationId ?? requireInstallation(input.installationId),
      },
    ),
});

function requireInstallation(installationId: string | null | undefined): string {
  if (typeof installationId === "string") return installationId;
  throw createFailureWithDetail("missing_field", {
    in: "body",
    field: "/installationId",
    code: "required",
    message: "installationId is required with an internal token.",
  });
}

defineMutation({
  ...existingEndpointMutationKind,
  name: "webhookEndpointUpdate",
  description: "Changes a webhook endpoint.",
  failures: [
    ...existingEndpointMutationKind.failures,
    "webhook_url_not_allowed",
    "unknown_event_type",
    "resource_not_found",
    "webhook_endpoint_duplicate",
    "webhook_endpoint_limit_reached",
  ],
  input: EndpointUpdateInput,
  type: WebhookEndpointRef,
  prepare: findUrlFaults,
  run: (transaction, context, { prepared, ...input }) =>
    updateEndpoint(transaction, { ...context, resolvedFaults: prepared }, input),
});

defineMutation({
  ...existingEndpointMutationKind,
  name: "webhookEndpointEnable",
  description: "Enables a webhook endpoint. The service first sends a ping, then the deliveries that wait.",
  failures: [...existingEndpointMutationKind.failures, "invalid_state"],
  input: EndpointTransitionInput,
  type: WebhookEndpointRef,
  run: enableEndpoint,
});

defineMutation({
  ...existingEndpointMutationKind,
  name: "webhookEndpointDisable",
  description:
    "Disables a webhook endpoint. Deliveries that were already attempted wait; deliveries that were not " +
    "yet attempted are skipped, and so are events that occur while the endpoint is disabled.",
  failures: [...existingEndpointMutationKind.failures, "invalid_state"],
  input: EndpointTransitionInput,
  type: WebhookEndpointRef,
  run: disableEndpoint,
});

defineMutation({
  ...existingEndpointMutationKind,
  name: "webhookEndpointDelete",
  description:
    "Deletes a webhook endpoint permanently, cancels the deliveries that wait and erases the endpoint's " +
    "secrets.",
  input: EndpointTransitionInput,
  type: EndpointDeleted,
  run: deleteEndpoint,
  answer: (_request, endpointId) => ({ endpointId }),
});

defineMutation({
  ...existingEndpointMutationKind,
  name: "webhookEndpointTest",
  description: "Sends a ping to an enabled webhook endpoint.",
  failures: [...existingEndpointMutationKind.failures, "webhook_endpoint_disabled"],
  input: EndpointTransitionInput,
  type: WebhookEndpointRef,
  run: sendTestPingToEndpoint,
});

defineMutation({
  ...existingEndpointMutationKind,
  name: "webhookSecretRotate",
  description:
    "Creates a new secret for a webhook endpoint. Until the overlap ends, requests are signed with the new " +
    "and the previous secret; an even older secret is no longer used at once. Only this answer contains " +
    "the new secret.",
  input: SecretRotateInput,
  type: WithSecret,
  run: rotateWebhookSecret,
});
