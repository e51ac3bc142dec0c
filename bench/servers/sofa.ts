/**
 * A REST server that the library SOFA derives from the plain schema. Each query field has a URL, which is
 * configured to be the URL of the contract, and returns all fields of its type. SOFA creates the GraphQL
 * documents at the start; graphql-js executes a document for every request.
 */
import { createServer } from "node:http";
import { useSofa } from "sofa-api";
import { createPool } from "./plain-database.ts";
import { createPlainContext, plainSchema } from "./plain-schema.ts";

const { PORT: port, DATABASE_URL: url, PUBLIC_URL: publicUrl = "" } = process.env;

const createContext = createPlainContext(createPool(url), publicUrl);
const sofa = useSofa({
  schema: plainSchema,
  basePath: "/api/v1",
  routes: {
    "Query.publicProduct": { method: "GET", path: "/catalog/merchants/:merchantSlug/products/:productSlug" },
    "Query.cart": { method: "GET", path: "/open/storefront/carts/:id" },
    "Query.productSearch": { method: "GET", path: "/search" },
  },
  context: ({ request }: { readonly request: Request }) => createContext(request.headers),
});

// eslint-disable-next-line typescript/no-misused-promises -- SOFA also sends the answers to errors.
const server = createServer(sofa);
server.keepAliveTimeout = 60_000;
server.listen(Number(port), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
