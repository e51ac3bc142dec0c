/** What the mutations of webhook endpoints take. The first is the body of a REST operation, by the name that the contract gives it. */
import { z } from "zod";
import { builder } from "#graph/builder.ts";
import { expectedVersion } from "#graph/catalog/inputs.ts";
import { endpointBounds as bounds } from "#webhooks/endpoints/endpoint-input.ts";
import { overlapHours } from "#webhooks/endpoints/endpoint-secrets.ts";
import { endpointUrlLengthMax } from "#webhooks/endpoint-url.ts";
import { PayloadModeEnum } from "./endpoints.ts";

const url = z.string().max(endpointUrlLengthMax);
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

export const EndpointCreateInput = builder.inputType("PublicWebhookCreateRequest", {
  description: "A new webhook endpoint.",
  fields: (t) => ({
    url: t.string({ required: true, description: `Where events are sent to: ${urlRule}`, validate: url }),
    eventTypes: t.stringList({ required: true, description: `What it listens to: ${eventTypesRule}`, validate: eventTypes }),
    description: t.string({ description: "What it is for. 200 characters at most.", validate: description }),
    payloadMode: t.field({ type: PayloadModeEnum, defaultValue: "snapshot", description: "Whether events carry the whole object or its id." }),
    enabled: t.boolean({ defaultValue: true, description: "Whether events are sent to it." }),
    maxPerSecond: t.int({ description: "At most this many events a second, 1 to 100. Default: 25.", validate: perSecond }),
    metadata: t.field({ type: "StringMap", description: `What shall be kept with it: ${metadataRule}`, validate: metadata }),
  }),
});

export const EndpointUpdateInput = builder.inputType("WebhookEndpointUpdateInput", {
  description: "What shall change of a webhook endpoint. Left out means that it stays as it is, null that there is none any more.",
  fields: (t) => ({
    expectedVersion: t.int({ description: expectedVersion }),
    url: t.string({ description: `Where events are sent to, those on their way included: ${urlRule}`, validate: url }),
    eventTypes: t.stringList({ description: `What it listens to: ${eventTypesRule}`, validate: eventTypes }),
    description: t.string({ description: "What it is for. 200 characters at most.", validate: description }),
    payloadMode: t.field({ type: PayloadModeEnum, description: "Whether events carry the whole object or its id." }),
    maxPerSecond: t.int({ description: "At most this many events a second, 1 to 100; null: 25.", validate: perSecond }),
    metadata: t.field({
      type: "StringMap",
      description: `What shall be kept with it, in place of what there is: ${metadataRule}`,
      validate: metadata,
    }),
  }),
});

export const EndpointTransitionInput = builder.inputType("WebhookEndpointTransitionInput", {
  description: "What the caller knows of a webhook endpoint.",
  fields: (t) => ({ expectedVersion: t.int({ description: expectedVersion }) }),
});

export const SecretRotateInput = builder.inputType("WebhookSecretRotateInput", {
  description: "A new secret for a webhook endpoint.",
  fields: (t) => ({
    expectedVersion: t.int({ description: expectedVersion }),
    overlapHours: t.int({
      defaultValue: overlapHours.usual,
      description: `So long the secret that there is signs beside the new one, 0 to ${overlapHours.max} hours; ${overlapHours.usual} unless told.`,
      validate: z.int32().min(0).max(overlapHours.max),
    }),
  }),
});
