/**
 * Mutations of webhook endpoints and their input types. Creating one is also a REST operation
 * (`PublicWebhookCreateRequest` is its body).
 */
import { z } from "zod";
import { isIntegrator } from "#access/viewer.ts";
import { failAt, type FailureDetail } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import { integratorsAndStaff } from "#graph/context.ts";
import { anyEndpointChange, endpointChange } from "#graph/change-kinds.ts";
import { changeMutation, type MutationPreparation } from "#graph/mutation.ts";
import { WebhookEndpointRef } from "#graph/refs.ts";
import {
  createEndpoint,
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  testEndpoint,
  updateEndpoint,
} from "#webhooks/endpoints/endpoint-commands.ts";
import {
  type EndpointWithSecret,
  overlapHours,
  rotateSecret,
  type SecretShown,
} from "#webhooks/endpoints/endpoint-secrets.ts";
import { expectedVersionDescription } from "#graph/catalog/inputs.ts";
import { endpointBounds as bounds } from "#webhooks/endpoints/endpoint-input.ts";
import { endpointUrlLengthMax } from "#webhooks/endpoint-url.ts";
import { PayloadModeEnum } from "./endpoints.ts";

/**
 * What the mutations of webhook endpoints take. The first is the body of a REST operation, by the name that
 * the contract gives it.
 */
const urlShape = z.string().max(endpointUrlLengthMax);
const eventTypes = z.array(z.string()).min(1).max(bounds.eventTypesMax).meta({ uniqueItems: true });
const description = z.string().max(bounds.descriptionMax);
const perSecond = z.int32().min(1).max(bounds.perSecondMax);
const metadata = z
  .record(z.string().min(1).max(bounds.metadataKeyMax), z.string().max(bounds.metadataValueMax))
  .meta({ maxProperties: bounds.metadataKeysMax });

const urlRule =
  "https on port 443 or from 1024 up, a public name as the URL parser gives it back, neither user name nor fragment; 2048 characters at most.";
const eventTypesRule = "1 to 100 different names of the catalogue, `group.*`, or `*` alone.";
const metadataRule = "20 texts at most, by names of 1 to 40 characters; 500 characters each at most.";

const EndpointCreateInput = builder.inputType("PublicWebhookCreateRequest", {
  description: "A new webhook endpoint.",
  fields: (t) => ({
    url: t.string({
      required: true,
      description: `Where events are sent to: ${urlRule}`,
      validate: urlShape,
    }),
    eventTypes: t.stringList({
      required: true,
      description: `What it listens to: ${eventTypesRule}`,
      validate: eventTypes,
    }),
    description: t.string({ description: "What it is for. 200 characters at most.", validate: description }),
    payloadMode: t.field({
      type: PayloadModeEnum,
      defaultValue: "snapshot",
      description: "Whether events carry the whole object or its id.",
    }),
    enabled: t.boolean({ defaultValue: true, description: "Whether events are sent to it." }),
    maxPerSecond: t.int({
      description: "At most this many events a second, 1 to 100. Default: 25.",
      validate: perSecond,
    }),
    metadata: t.field({
      type: "StringMap",
      description: `What shall be kept with it: ${metadataRule}`,
      validate: metadata,
    }),
  }),
});

const EndpointUpdateInput = builder.inputType("WebhookEndpointUpdateInput", {
  description:
    "What shall change of a webhook endpoint. Left out means that it stays as it is, null that there is none any more.",
  fields: (t) => ({
    expectedVersion: t.int({ description: expectedVersionDescription }),
    url: t.string({
      description: `Where events are sent to, those on their way included: ${urlRule}`,
      validate: urlShape,
    }),
    eventTypes: t.stringList({ description: `What it listens to: ${eventTypesRule}`, validate: eventTypes }),
    description: t.string({ description: "What it is for. 200 characters at most.", validate: description }),
    payloadMode: t.field({
      type: PayloadModeEnum,
      description: "Whether events carry the whole object or its id.",
    }),
    maxPerSecond: t.int({
      description: "At most this many events a second, 1 to 100; null: 25.",
      validate: perSecond,
    }),
    metadata: t.field({
      type: "StringMap",
      description: `What shall be kept with it, in place of what there is: ${metadataRule}`,
      validate: metadata,
    }),
  }),
});

const EndpointTransitionInput = builder.inputType("WebhookEndpointTransitionInput", {
  description: "What the caller knows of a webhook endpoint.",
  fields: (t) => ({ expectedVersion: t.int({ description: expectedVersionDescription }) }),
});

const SecretRotateInput = builder.inputType("WebhookSecretRotateInput", {
  description: "A new secret for a webhook endpoint.",
  fields: (t) => ({
    expectedVersion: t.int({ description: expectedVersionDescription }),
    overlapHours: t.int({
      defaultValue: overlapHours.usual,
      description: `So long the secret that there is signs beside the new one, 0 to ${overlapHours.max} hours; ${overlapHours.usual} unless told.`,
      validate: z.int32().min(0).max(overlapHours.max),
    }),
  }),
});

const SecretValue = builder.objectRef<SecretShown>("WebhookSecretValue").implement({
  description: "A secret in full. It is in this answer and nowhere else.",
  fields: (t) => ({
    version: t.exposeInt("version", { description: "Counts the endpoint's secrets, from 1." }),
    value: t.exposeString("value", {
      description: "`whsec_` and 32 bytes in base64: what Standard Webhooks libraries take.",
    }),
    shownOnce: t.boolean({ description: "True: nobody can read it again.", resolve: () => true }),
  }),
});

const WithSecret = builder.objectRef<EndpointWithSecret>("WebhookEndpointWithSecret").implement({
  description: "A webhook endpoint and the secret that was made for it.",
  fields: (t) => ({
    endpoint: t.expose("endpoint", { type: WebhookEndpointRef, description: "The endpoint." }),
    secret: t.expose("secret", { type: SecretValue, description: "The new secret." }),
  }),
});

const EndpointDeleted = builder
  .objectRef<{ readonly endpointId: string }>("WebhookEndpointDeleted")
  .implement({
    description: "What was deleted.",
    fields: (t) => ({ endpointId: t.exposeID("endpointId", { description: "The endpoint that is gone." }) }),
  });

/** Resolves the host name of an endpoint's URL, and gives what is wrong with its addresses. */
const findUrlFaults: MutationPreparation<
  { readonly url?: string | null | undefined },
  readonly FailureDetail[]
> = async ({ url }, { resolvedNames }) => (typeof url === "string" ? resolvedNames.faultsOf(url) : []);

changeMutation({
  ...anyEndpointChange,
  name: "webhookEndpointCreate",
  description:
    "Registers a webhook endpoint. Its secret is in this answer and nowhere else; a ping is sent to it.",
  callers: integratorsAndStaff,
  idempotency: "required_or_header",
  optionalTarget: {
    installationId: "The installation it is for; ignored with an API key, needed with an internal token.",
  },
  input: EndpointCreateInput,
  inputDescription: "The endpoint.",
  type: WithSecret,
  check: ({ viewer }, { installationId }) => {
    if (!isIntegrator(viewer)) requireInstallation(installationId);
  },
  prepare: findUrlFaults,
  run: (transaction, context, { prepared, ...input }) =>
    createEndpoint(
      transaction,
      { ...context, resolvedFaults: prepared },
      { ...input, installationId: context.installationId ?? requireInstallation(input.installationId) },
    ),
});

function requireInstallation(installationId: string | null | undefined): string {
  if (typeof installationId === "string") return installationId;
  throw failAt("missing_field", {
    in: "body",
    field: "/installationId",
    code: "required",
    message: "installationId is required with an internal token.",
  });
}

changeMutation({
  ...endpointChange,
  name: "webhookEndpointUpdate",
  description: "Changes a webhook endpoint.",
  input: EndpointUpdateInput,
  type: WebhookEndpointRef,
  prepare: findUrlFaults,
  run: (transaction, context, { prepared, ...input }) =>
    updateEndpoint(transaction, { ...context, resolvedFaults: prepared }, input),
});

changeMutation({
  ...endpointChange,
  name: "webhookEndpointEnable",
  description: "Switches a webhook endpoint on. A ping is sent to it first, and then what has waited for it.",
  input: EndpointTransitionInput,
  type: WebhookEndpointRef,
  run: enableEndpoint,
});

changeMutation({
  ...endpointChange,
  name: "webhookEndpointDisable",
  description:
    "Switches a webhook endpoint off: what was tried waits, what was not is skipped, as is what happens meanwhile.",
  input: EndpointTransitionInput,
  type: WebhookEndpointRef,
  run: disableEndpoint,
});

changeMutation({
  ...endpointChange,
  name: "webhookEndpointDelete",
  description:
    "Takes a webhook endpoint away for good. What waits for it is canceled, its secrets are erased.",
  input: EndpointTransitionInput,
  type: EndpointDeleted,
  run: deleteEndpoint,
  answer: (_request, endpointId) => ({ endpointId }),
});

changeMutation({
  ...endpointChange,
  name: "webhookEndpointTest",
  description: "Sends a ping to a webhook endpoint that is on.",
  input: EndpointTransitionInput,
  type: WebhookEndpointRef,
  run: testEndpoint,
});

changeMutation({
  ...endpointChange,
  name: "webhookSecretRotate",
  description:
    "Gives a webhook endpoint a new secret; the one before signs beside it for a while. One that was already being replaced ends at once. The new secret is in this answer and nowhere else.",
  input: SecretRotateInput,
  type: WithSecret,
  run: rotateSecret,
});
