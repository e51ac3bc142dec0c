/**
 * GraphQL as it comes: Yoga over the same graph, resolvers and loaders as ours, without a gateway, compiled documents or REST before it. It is
 * asked by POST /graphql for exactly the fields that REST answers with. Yoga keeps parsed and validated documents by itself.
 */
import { createServer } from "node:http";
import { createYoga } from "graphql-yoga";
import { openDatabase } from "#database/connect.ts";
import { systemClock } from "#foundation/clock.ts";
import { parseAcceptLanguage } from "#foundation/locales.ts";
import { respelledSchema } from "#gateway/spelling.ts";
import { createContext } from "#graph/context.ts";
import graph from "#graph/schema.ts";

const { PORT: port, DATABASE_URL: url, PUBLIC_URL: publicUrl = "" } = process.env;

const { db } = await openDatabase({ url });
const services = { db, clock: systemClock, publicUrl, rateLimitScale: 0 };
const yoga = createYoga({
  // Enums spelled as REST spells them, so that the answers can be compared.
  schema: respelledSchema(graph),
  context: ({ request }) =>
    createContext(services, { requestId: "", languages: parseAcceptLanguage(request.headers.get("accept-language") ?? undefined) }),
  logging: false,
  graphiql: false,
  landingPage: false,
});

// eslint-disable-next-line typescript/no-misused-promises -- Yoga answers by itself, errors included.
const server = createServer(yoga);
server.keepAliveTimeout = 60_000;
server.listen(Number(port), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
