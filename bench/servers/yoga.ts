/**
 * A GraphQL Yoga server with the plain schema, as many projects have: Pothos and Kysely, a resolver for each
 * field, and a DataLoader with one statement for each relation. POST /graphql returns exactly the fields of
 * the REST operations. Yoga caches parsed and validated documents.
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

// eslint-disable-next-line typescript/no-misused-promises -- Yoga also sends the answers to errors.
const server = createServer(yoga);
server.keepAliveTimeout = 60_000;
server.listen(Number(port), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
