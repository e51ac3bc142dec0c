/**
 * GraphQL as most people write it: Yoga, Pothos and Kysely, a resolver for each field and a DataLoader with
 * one statement for each relation, asked by POST /graphql for exactly the fields that REST answers with. Yoga
 * keeps parsed and validated documents by itself.
 */
import { createServer } from "node:http";
import { createYoga } from "graphql-yoga";
import { createPool } from "./plain-database.ts";
import { createPlainContext, plainSchema } from "./plain-schema.ts";

const { PORT: port, DATABASE_URL: url, PUBLIC_URL: publicUrl = "" } = process.env;

const createContext = createPlainContext(createPool(url), publicUrl);
const yoga = createYoga({
  schema: plainSchema,
  context: ({ request }) => createContext(request.headers),
  logging: false,
  graphiql: false,
  landingPage: false,
});

// eslint-disable-next-line typescript/no-misused-promises -- Yoga answers by itself, errors included.
const server = createServer(yoga);
server.keepAliveTimeout = 60_000;
server.listen(Number(port), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
