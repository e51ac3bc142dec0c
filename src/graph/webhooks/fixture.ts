/**
 * The GraphQL types of the signature fixture: signed example requests with which integrators test their
 * signature verification.
 */
import { createFailure } from "#foundation/failure.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { integratorsAndStaff } from "#graph/context.ts";
import { WebhookEndpointRef } from "#graph/refs.ts";
import { decryptEndpointSecrets } from "#webhooks/endpoints/endpoint-secrets.ts";
import {
  type WebhookSignatureFixtureRequest,
  type SignedExampleWebhookRequest,
  createWebhookSignatureFixture,
  type SignatureFixture,
} from "#webhooks/signature-fixture.ts";
import { type SignatureRejectReason, type WebhookSignatureTestVector } from "#webhooks/signature-vectors.ts";

const ExpectEnum = defineGraphqlEnum<WebhookSignatureTestVector["expect"]>("SignatureExpectation", {
  description: "The result expected of a signature verifier.",
  values: {
    accept: "The verifier must accept the request.",
    reject: "The verifier must reject the request.",
  },
});

const RejectReasonEnum = defineGraphqlEnum<SignatureRejectReason>("SignatureRejectReason", {
  description: "Why a signature verifier must reject a request.",
  values: {
    missing_header: "One of the three signing headers (event id, timestamp, signatures) is missing or empty.",
    malformed_timestamp: "The timestamp is not a whole number.",
    timestamp_too_old: "The timestamp is older than the tolerance allows.",
    timestamp_too_new: "The timestamp is further in the future than the tolerance allows.",
    no_matching_signature: "None of the signatures matches the signature computed with the secret.",
  },
});

const HeaderNames = builder.objectRef<SignatureFixture["headers"]>("SignatureHeaders").implement({
  description: "The names of the HTTP headers that are used for signing webhook requests.",
  fields: (t) => ({
    id: t.exposeString("id", { description: "The name of the header with the event's id." }),
    timestamp: t.exposeString("timestamp", {
      description: "The name of the header with the time of the attempt in Unix seconds.",
    }),
    signature: t.exposeString("signature", {
      description: "The name of the header with the signatures, which are separated by spaces.",
    }),
  }),
});

const Request = builder.objectRef<WebhookSignatureFixtureRequest>("SignatureRequest").implement({
  description: "A webhook request as the receiver gets it.",
  fields: (t) => ({
    method: t.exposeString("method", { description: "The HTTP method, always POST." }),
    headers: t.expose("headers", {
      type: "StringMap",
      description: "The request's headers, with names in lower case.",
    }),
    bodyUtf8: t.exposeString("bodyUtf8", { description: "The request's body as UTF-8 text." }),
    bodyBase64: t.exposeString("bodyBase64", {
      description: "The bytes of the request's body in base64. The signature is computed over these bytes.",
    }),
  }),
});

const Live = builder.objectRef<SignedExampleWebhookRequest>("SignatureLiveFixture").implement({
  description:
    "An example request that is signed with the endpoint's secrets at the time of the query. The service " +
    "sends nothing to the endpoint.",
  fields: (t) => ({
    secretVersions: t.field({
      type: ["Int"],
      description:
        "The versions of the secrets with which the request is signed, in the order of the signatures.",
      complexity: { multiplier: 2 },
      resolve: ({ secretVersions }) => secretVersions,
    }),
    request: t.expose("request", { type: Request, description: "The signed webhook request." }),
    expires: t.expose("expires", {
      type: "DateTime",
      description: "When the request's timestamp becomes too old to be accepted.",
    }),
  }),
});

const Vector = builder.objectRef<WebhookSignatureTestVector>("SignatureVector").implement({
  description:
    "A request signed with a public test secret, and the result that a signature verifier must return for " +
    "it. The test vectors are the same for all endpoints and versions.",
  fields: (t) => ({
    name: t.exposeString("name", { description: "The name of the test vector." }),
    purpose: t.exposeString("purpose", {
      description: "The property of a signature verifier that the test vector tests.",
    }),
    secret: t.exposeString("secret", {
      description: "The webhook secret to configure in the verifier for this test.",
    }),
    now: t.exposeInt("now", { description: "The time to set as the verifier's clock, in Unix seconds." }),
    headers: t.expose("headers", {
      type: "StringMap",
      description: "The request's headers, with names in lower case.",
    }),
    bodyUtf8: t.exposeString("bodyUtf8", { description: "The request's body as UTF-8 text." }),
    bodyBase64: t.exposeString("bodyBase64", { description: "The bytes of the request's body in base64." }),
    bodySha256Hex: t.exposeString("bodySha256Hex", {
      description: "SHA-256 of the body's bytes in hexadecimal.",
    }),
    signedContentBase64: t.exposeString("signedContentBase64", {
      description: "The content over which the verifier computes the signature, in base64.",
    }),
    expectedHmacHex: t.exposeString("expectedHmacHex", {
      description: "The HMAC that the verifier must compute, in hexadecimal.",
    }),
    expectedSignature: t.exposeString("expectedSignature", {
      description: "The signature that the verifier must look for in the header.",
    }),
    expect: t.expose("expect", {
      type: ExpectEnum,
      description: "Whether the verifier must accept or reject the request.",
    }),
    rejectReason: t.expose("rejectReason", {
      type: RejectReasonEnum,
      nullable: true,
      description: "Why the verifier must reject the request; null if the verifier must accept the request.",
    }),
  }),
});

const Fixture = builder.objectRef<SignatureFixture>("SignatureFixture").implement({
  description: "How webhook requests are signed, with example requests for testing a signature verifier.",
  fields: (t) => ({
    endpointId: t.exposeID("endpointId", { description: "The endpoint's id, `whe_…`." }),
    algorithm: t.exposeString("algorithm", { description: "The signature algorithm, HMAC-SHA256." }),
    scheme: t.exposeString("scheme", { description: "The signature scheme, Standard Webhooks 1.0.0." }),
    signedContentTemplate: t.exposeString("signedContentTemplate", {
      description: "The template of the text that is signed: `{webhook-id}.{webhook-timestamp}.{body}`.",
    }),
    secretEncoding: t.exposeString("secretEncoding", {
      description: "How a webhook secret is encoded: base64 after the prefix `whsec_`.",
    }),
    signatureEncoding: t.exposeString("signatureEncoding", {
      description: "How signatures are encoded in the header: base64.",
    }),
    toleranceSeconds: t.exposeInt("toleranceSeconds", {
      description: "The number of seconds by which a timestamp may differ from the verifier's clock.",
    }),
    serverTime: t.expose("serverTime", { type: "DateTime", description: "The present time of the server." }),
    headers: t.expose("headers", { type: HeaderNames, description: "The names of the signing headers." }),
    live: t.expose("live", {
      type: Live,
      description: "An example request signed with the endpoint's secrets.",
    }),
    vectors: t.field({
      type: [Vector],
      description: "Test requests signed with public test secrets.",
      complexity: { multiplier: 16 },
      resolve: ({ vectors }) => vectors,
    }),
  }),
});

builder.objectField(WebhookEndpointRef, "signatureFixture", (t) =>
  t.field({
    type: Fixture,
    description:
      "Signed example requests for testing a signature verifier. Also available while the endpoint is " +
      "disabled.",
    authScopes: { callers: integratorsAndStaff },
    resolve: async ({ id }, _args, { loaders, services, clock }) => {
      const sealed = await loaders.signatureFixtures.load(id);
      if (sealed === null) throw createFailure("webhook_endpoint_not_found");
      return createWebhookSignatureFixture(decryptEndpointSecrets(sealed, services.keyring, clock.now()));
    },
  }),
);
