/**
 * What the others are measured against: node:http and pg written by hand for just these addresses. One named prepared statement for a request,
 * JSON written by PostgreSQL where it can, keys checked by their digest in memory. It neither counts nor logs requests, nor does it check much.
 */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Pool, types } from "pg";
import { askedChain } from "./locales.ts";
import { readProductPage } from "./yardstick-product.ts";
import { createSearch } from "./yardstick-search.ts";

const { PORT: port, DATABASE_URL: connectionString, PUBLIC_URL: publicUrl = "" } = process.env;

types.setTypeParser(types.builtins.INT8, Number);
const pool = new Pool({ connectionString, max: 10 });
const { rows: keyRows } = await pool.query<{ digest: Buffer }>(
  "select digest from api_key where revoked_at is null and (expires_at is null or expires_at > now())",
);
const digests = new Set(keyRows.map(({ digest }) => digest.toString("base64")));
const search = createSearch(pool, publicUrl);

const isKnown = (key: string): boolean => digests.has(createHash("sha256").update(key).digest("base64"));

const productPath = /^\/api\/v1\/catalog\/merchants\/([^/?]+)\/products\/([^/?]+)$/;
const searchPath = "/api/v1/search?";

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url = "", headers } = request;
  if (headers.authorization !== undefined && !isKnown(headers.authorization.replace("Bearer ", ""))) return send(response, 401, "{}");
  const [, merchantSlug, productSlug] = productPath.exec(url) ?? [];
  if (merchantSlug !== undefined && productSlug !== undefined) {
    const page = await readProductPage(pool, {
      merchantSlug: decodeURIComponent(merchantSlug),
      productSlug: decodeURIComponent(productSlug),
      chain: askedChain(headers["accept-language"]),
      publicUrl,
    });
    if (page === undefined) return send(response, 404, "{}");
    response.setHeader("content-language", page.locale);
    return send(response, 200, page.body);
  }
  if (url.startsWith(searchPath)) return send(response, 200, await search(new URLSearchParams(url.slice(searchPath.length))));
  send(response, 404, "{}");
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", "content-length": Buffer.byteLength(body) });
  response.end(body);
}

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    send(response, 500, "{}");
  });
});
server.keepAliveTimeout = 60_000;
server.listen(Number(port), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
