/** Changes of webhook endpoints. Making one is a REST operation; all of them are for who runs a merchant. */
import { isIntegrator } from "#access/viewer.ts";
import { failAt } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import type { GraphContext } from "#graph/context.ts";
import { idempotencyKeyArgument, idempotencyKeyDescription, preparing } from "#graph/mutation.ts";
import { WebhookEndpointRef } from "#graph/refs.ts";
import { createEndpoint } from "#webhooks/endpoints/create-endpoint.ts";
import { type EndpointWithSecret, rotateSecret, type SecretShown } from "#webhooks/endpoints/endpoint-secrets.ts";
import { testEndpoint } from "#webhooks/endpoints/ping.ts";
import { deleteEndpoint, disableEndpoint, enableEndpoint } from "#webhooks/endpoints/switch-endpoint.ts";
import { updateEndpoint } from "#webhooks/endpoints/update-endpoint.ts";
import { EndpointCreateInput, EndpointTransitionInput, EndpointUpdateInput, SecretRotateInput } from "./endpoint-inputs.ts";
import { changeEndpointOf, endpointMutation, installationsAndStaff, requireOnce, resolveEndpointUrl } from "./endpoint-mutation.ts";

const SecretValue = builder.objectRef<SecretShown>("WebhookSecretValue").implement({
  description: "A secret in full. It is in this answer and nowhere else.",
  fields: (t) => ({
    version: t.exposeInt("version", { description: "Counts the endpoint's secrets, from 1." }),
    value: t.exposeString("value", { description: "`whsec_` and 32 bytes in base64: what Standard Webhooks libraries take." }),
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

const EndpointDeleted = builder.objectRef<{ readonly endpointId: string }>("WebhookEndpointDeleted").implement({
  description: "What was deleted.",
  fields: (t) => ({ endpointId: t.exposeID("endpointId", { description: "The endpoint that is gone." }) }),
});

/** An app's own, whatever it says. */
function installationOf({ viewer }: GraphContext, installationId: string | null | undefined): string {
  if (isIntegrator(viewer)) return viewer.installationId;
  if (typeof installationId === "string") return installationId;
  throw failAt("missing_field", {
    in: "body",
    field: "/installationId",
    code: "required",
    message: "installationId is required with an internal token.",
  });
}

builder.mutationField("webhookEndpointCreate", (t) =>
  t.field({
    type: WithSecret,
    description: "Registers a webhook endpoint. Its secret is in this answer and nowhere else; a ping is sent to it.",
    authScopes: { callers: installationsAndStaff },
    args: {
      merchantId: t.arg.id({ description: "The merchant; needed with a token of the platform." }),
      installationId: t.arg.id({ description: "The installation it is for; ignored with an API key, needed with an internal token." }),
      [idempotencyKeyArgument]: t.arg.string({ description: `${idempotencyKeyDescription} Needed with an internal token.` }),
      input: t.arg({ type: EndpointCreateInput, required: true, description: "The endpoint." }),
    },
    resolve: (_root, { merchantId, installationId, input }, context) => {
      requireOnce(context);
      const owner = installationOf(context, installationId);
      return changeEndpointOf(context, merchantId, (transaction, tenant) => createEndpoint(transaction, tenant, { ...input, installationId: owner }));
    },
    extensions: preparing(resolveEndpointUrl),
  }),
);

endpointMutation("webhookEndpointUpdate", {
  description: "Changes a webhook endpoint.",
  input: EndpointUpdateInput,
  type: WebhookEndpointRef,
  prepare: resolveEndpointUrl,
  change: updateEndpoint,
  answer: (endpoint) => endpoint,
});

endpointMutation("webhookEndpointEnable", {
  description: "Switches a webhook endpoint on. A ping is sent to it first, and then what has waited for it.",
  input: EndpointTransitionInput,
  type: WebhookEndpointRef,
  change: enableEndpoint,
  answer: (endpoint) => endpoint,
});

endpointMutation("webhookEndpointDisable", {
  description: "Switches a webhook endpoint off: what was tried waits, what was not is skipped, as is what happens meanwhile.",
  input: EndpointTransitionInput,
  type: WebhookEndpointRef,
  change: disableEndpoint,
  answer: (endpoint) => endpoint,
});

endpointMutation("webhookEndpointDelete", {
  description: "Takes a webhook endpoint away for good. What waits for it is canceled, its secrets are erased.",
  input: EndpointTransitionInput,
  type: EndpointDeleted,
  change: deleteEndpoint,
  answer: (endpointId) => ({ endpointId }),
});

endpointMutation("webhookEndpointTest", {
  description: "Sends a ping to a webhook endpoint that is on.",
  input: EndpointTransitionInput,
  type: WebhookEndpointRef,
  change: testEndpoint,
  answer: (endpoint) => endpoint,
});

endpointMutation("webhookSecretRotate", {
  description:
    "Gives a webhook endpoint a new secret; the one before signs beside it for a while. One that was already being replaced ends at once. The new secret is in this answer and nowhere else.",
  input: SecretRotateInput,
  type: WithSecret,
  change: rotateSecret,
  answer: (changed) => changed,
});
