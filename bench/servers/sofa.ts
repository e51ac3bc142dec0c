/**
 * REST that SOFA derives from the plain schema. Each query is a URL, here with the URLs of the contract, and
 * returns all fields of its type. The documents are created once at start, and graphql-js executes them for
 * every request.
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
