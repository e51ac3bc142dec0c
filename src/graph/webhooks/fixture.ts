/** What a developer tests a verifier of signatures with. */
import { fail } from "#foundation/failure.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { integratorsAndStaff } from "#graph/context.ts";
import { WebhookEndpointRef } from "#graph/refs.ts";
import { openFixture } from "#webhooks/endpoints/endpoint-secrets.ts";
import {
  type FixtureRequest,
  type LiveFixture,
  type RejectReason,
  signatureFixture,
  type SignatureFixture,
  type SignatureVector,
} from "#webhooks/signature-fixture.ts";

const ExpectEnum = defineEnum<SignatureVector["expect"]>("SignatureExpectation", {
  description: "What a verifier shall do.",
  values: { accept: "Take the request.", reject: "Refuse the request." },
});

const RejectReasonEnum = defineEnum<RejectReason>("SignatureRejectReason", {
  description: "Why a request is refused.",
  values: {
    missing_header: "One of the three headers is missing or empty.",
    malformed_timestamp: "The timestamp is no whole number.",
    timestamp_too_old: "The timestamp lies further back than the tolerance.",
    timestamp_too_new: "The timestamp lies further ahead than the tolerance.",
    no_matching_signature: "None of the signatures is the one that the secret makes.",
  },
});

const HeaderNames = builder.objectRef<SignatureFixture["headers"]>("SignatureHeaders").implement({
  description: "The headers that signing takes.",
  fields: (t) => ({
    id: t.exposeString("id", { description: "Has the event's id." }),
    timestamp: t.exposeString("timestamp", { description: "Has the time of the attempt, in Unix seconds." }),
    signature: t.exposeString("signature", { description: "Has the signatures, with a space between them." }),
  }),
});

const Request = builder.objectRef<FixtureRequest>("SignatureRequest").implement({
  description: "A request as a receiver gets it.",
  fields: (t) => ({
    method: t.exposeString("method", { description: "POST." }),
    headers: t.expose("headers", { type: "StringMap", description: "Its headers, in lower case." }),
    bodyUtf8: t.exposeString("bodyUtf8", { description: "Its body as text." }),
    bodyBase64: t.exposeString("bodyBase64", {
      description: "The bytes of its body, in base64: what is signed.",
    }),
  }),
});

const Live = builder.objectRef<LiveFixture>("SignatureLiveFixture").implement({
  description: "A request signed now with the endpoint's own secrets. It triggers nothing.",
  fields: (t) => ({
    secretVersions: t.field({
      type: ["Int"],
      description: "The versions of the secrets that signed it, in the order of the signatures.",
      complexity: { multiplier: 2 },
      resolve: ({ secretVersions }) => secretVersions,
    }),
    request: t.expose("request", { type: Request, description: "The request." }),
    expires: t.expose("expires", { type: "DateTime", description: "When its timestamp is too old." }),
  }),
});

const Vector = builder.objectRef<SignatureVector>("SignatureVector").implement({
  description:
    "A request under a public test secret, and what a verifier shall do with it. The same for everyone and every version.",
  fields: (t) => ({
    name: t.exposeString("name", { description: "Its name." }),
    purpose: t.exposeString("purpose", { description: "What it shows." }),
    secret: t.exposeString("secret", { description: "What the verifier is configured with." }),
    now: t.exposeInt("now", { description: "What the verifier's clock says, in Unix seconds." }),
    headers: t.expose("headers", { type: "StringMap", description: "The request's headers, in lower case." }),
    bodyUtf8: t.exposeString("bodyUtf8", { description: "Its body as text." }),
    bodyBase64: t.exposeString("bodyBase64", { description: "The bytes of its body, in base64." }),
    bodySha256Hex: t.exposeString("bodySha256Hex", {
      description: "SHA-256 of those bytes, in hexadecimal.",
    }),
    signedContentBase64: t.exposeString("signedContentBase64", {
      description: "What the verifier computes the signature of, in base64.",
    }),
    expectedHmacHex: t.exposeString("expectedHmacHex", {
      description: "The HMAC it then has, in hexadecimal.",
    }),
    expectedSignature: t.exposeString("expectedSignature", {
      description: "The signature it then looks for.",
    }),
    expect: t.expose("expect", { type: ExpectEnum, description: "What it shall do." }),
    rejectReason: t.expose("rejectReason", {
      type: RejectReasonEnum,
      nullable: true,
      description: "Why it refuses; null: it accepts.",
    }),
  }),
});

const Fixture = builder.objectRef<SignatureFixture>("SignatureFixture").implement({
  description: "How webhooks are signed, with requests to test a verifier with.",
  fields: (t) => ({
    endpointId: t.exposeID("endpointId", { description: "The endpoint, `whe_…`." }),
    algorithm: t.exposeString("algorithm", { description: "HMAC-SHA256." }),
    scheme: t.exposeString("scheme", { description: "Standard Webhooks 1.0.0." }),
    signedContentTemplate: t.exposeString("signedContentTemplate", { description: "What is signed." }),
    secretEncoding: t.exposeString("secretEncoding", { description: "How a secret is written." }),
    signatureEncoding: t.exposeString("signatureEncoding", { description: "How a signature is written." }),
    toleranceSeconds: t.exposeInt("toleranceSeconds", {
      description: "So many seconds a timestamp may be off.",
    }),
    serverTime: t.expose("serverTime", { type: "DateTime", description: "The server's clock." }),
    headers: t.expose("headers", { type: HeaderNames, description: "The headers that signing takes." }),
    live: t.expose("live", { type: Live, description: "A request signed with the endpoint's own secrets." }),
    vectors: t.field({
      type: [Vector],
      description: "Requests under public test secrets.",
      complexity: { multiplier: 16 },
      resolve: ({ vectors }) => vectors,
    }),
  }),
});

builder.objectField(WebhookEndpointRef, "signatureFixture", (t) =>
  t.field({
    type: Fixture,
    description: "What a verifier of its signatures is tested with; also while it is off.",
    authScopes: { callers: integratorsAndStaff },
    resolve: async ({ id }, _args, { loaders, services, clock }) => {
      const sealed = await loaders.signatureFixtures.load(id);
      if (sealed === null) throw fail("webhook_endpoint_not_found");
      return signatureFixture(openFixture(sealed, services.keyring, clock.now()));
    },
  }),
);
