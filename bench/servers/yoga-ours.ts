/**
 * A GraphQL Yoga server with the schema, resolvers and loaders of this service, but without the gateway,
 * compiled documents and REST. POST /graphql returns exactly the fields of the REST operations. Yoga caches
 * parsed and validated documents. API keys are verified as in this service. A change is one transaction with
 * its event, without a stored answer.
 */
import { stripeApiBase } from "#commerce/payments/stripe/stripe-client.ts";
import { createInProcessEventEmitter } from "#foundation/events.ts";
import { createServer } from "node:http";
import { createYoga } from "graphql-yoga";
import { verifyApiKey } from "#access/keys/verify-keys.ts";
import { anonymousViewer, type Viewer } from "#access/viewer.ts";
import { createGraphqlServices, createEventSubjectRenderer } from "#app/services.ts";
import { openDatabase } from "#database/connect.ts";
import { createIdempotentRequestRunner } from "#database/idempotency.ts";
import { createReportQueryRunner } from "#database/read-only.ts";
import { systemClock } from "#foundation/clock.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import { parseAcceptLanguage } from "#foundation/text.ts";
import { createGraphqlContext, type GraphqlServices } from "#graph/context.ts";
import { createLowerCaseEnumSchema } from "#mesh/contract-schema.ts";
import { openGraphqlMesh } from "#mesh/open-mesh.ts";
import { createEndpointHostNameChecker } from "#webhooks/endpoint-url.ts";

const { PORT: port, DATABASE_URL: url, PUBLIC_URL: publicUrl = "" } = process.env;

const { db } = await openDatabase({ url });
// The schema spells enum values as REST does, so that the answers can be compared.
const mesh = await openGraphqlMesh();
const schema = createLowerCaseEnumSchema(mesh.schema, "declared");
const keyring = createEncryptionKeyring([{ id: "bench", key: Buffer.alloc(32, 7) }]);
const services: GraphqlServices = createGraphqlServices(
  {
    db,
    readOnly: createReportQueryRunner(db),
    clock: systemClock,
    publicUrl,
    rateLimitScale: 0,
    cartRetentionDays: 731,
    keyring,
    doOnce: createIdempotentRequestRunner({ db, keyring, clock: systemClock }),
    events: createInProcessEventEmitter(),
    resolvedNames: createEndpointHostNameChecker(),
    isLoopbackAllowed: false,
    stripeApiBase,
  },
  createEventSubjectRenderer(mesh),
);

async function viewerOf(authorization: string | null): Promise<Viewer> {
  return authorization === null
    ? anonymousViewer
    : verifyApiKey(db, authorization.replace("Bearer ", ""), systemClock.now());
}

const yoga = createYoga({
  schema,
  context: async ({ request: { headers } }) =>
    createGraphqlContext(services, {
      viewer: await viewerOf(headers.get("authorization")),
      requestId: "",
      languages: parseAcceptLanguage(headers.get("accept-language") ?? undefined),
    }),
  logging: false,
  graphiql: false,
  landingPage: false,
});

// eslint-disable-next-line typescript/no-misused-promises -- Yoga also sends the answers to errors.
const server = createServer(yoga);
server.keepAliveTimeout = 60_000;
server.listen(Number(port), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
