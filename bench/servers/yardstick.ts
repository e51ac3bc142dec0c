/**
 * The yardstick: a hand-written server with node:http and pg, against which the other servers are compared.
 * Supports only the measured URLs, and has no metrics, no log and few checks. A read is one prepared
 * statement, PostgreSQL creates JSON where possible, and API keys are looked up by their digest in memory.
 * With the argument `--batched`, the carts, orders and products that are requested together are read by one
 * statement.
 */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { Pool, types } from "pg";
import { parseRequestedLocales } from "./locales.ts";
import { cartStatement } from "./yardstick-cart.ts";
import { type CartRow, toCartPage } from "./yardstick-cart-page.ts";
import { orderStatement } from "./yardstick-order.ts";
import { type OrderRow, toOrderPage } from "./yardstick-order-page.ts";
import { createProductStatement } from "./yardstick-product.ts";
import { type ProductRow, toProductPage } from "./yardstick-product-page.ts";
import { applyPromotion } from "./yardstick-promotion.ts";
import { createBatchedRowReaders, createSingleRowReaders } from "./yardstick-rows.ts";
import { createSearchHandler } from "./yardstick-search.ts";

const { PORT: port, DATABASE_URL: connectionString, PUBLIC_URL: publicUrl = "" } = process.env;

types.setTypeParser(types.builtins.INT8, Number);
const pool = new Pool({ connectionString, max: 10 });
interface Holder {
  readonly merchantId: string;
  readonly installationId: string;
}

const { rows: keyRows } = await pool.query<Holder & { digest: Buffer }>(
  `select digest, merchant_id as "merchantId", installation_id as "installationId" from api_key
   where revoked_at is null and (expires_at is null or expires_at > now())`,
);
const holders = new Map(keyRows.map(({ digest, ...holder }) => [digest.toString("base64"), holder]));
const search = createSearchHandler(pool, publicUrl);
const createReader = process.argv.includes("--batched")
  ? createBatchedRowReaders(pool)
  : createSingleRowReaders(pool);
const readProduct = createReader<ProductRow>(createProductStatement(publicUrl));
const readCart = createReader<CartRow>(cartStatement);
const readOrder = createReader<OrderRow>(orderStatement);

const holderOf = (authorization: string): Holder | undefined =>
  holders.get(createHash("sha256").update(authorization.replace("Bearer ", "")).digest("base64"));

const productPath = /^\/api\/v1\/catalog\/merchants\/([^/?]+)\/products\/([^/?]+)$/;
const cartPath = /^\/api\/v1\/open\/storefront\/carts\/([^/?]+)(\/promotion)?$/;
const orderPath = /^\/api\/v1\/open\/storefront\/orders\/([^/?]+)$/;
const searchPath = "/api/v1/search?";

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url = "", headers } = request;
  const { authorization } = headers;
  const holder = authorization === undefined ? null : holderOf(authorization);
  if (holder === undefined) return send(response, 401, "{}");
  const [, merchantSlug, productSlug] = productPath.exec(url) ?? [];
  if (merchantSlug !== undefined && productSlug !== undefined)
    return sendProduct(request, response, { merchantSlug, productSlug });
  if (url.startsWith(searchPath))
    return send(response, 200, await search(new URLSearchParams(url.slice(searchPath.length))));
  return holder === null ? send(response, 404, "{}") : answerHolder(request, response, holder);
}

async function answerHolder(
  request: IncomingMessage,
  response: ServerResponse,
  holder: Holder,
): Promise<void> {
  const { url = "" } = request;
  const [, cartId, change] = cartPath.exec(url) ?? [];
  if (cartId === undefined) return sendOrder(response, orderPath.exec(url)?.[1] ?? "", holder);
  return change === undefined
    ? sendCart(response, cartId, holder)
    : changeCart(request, response, { cartId, ...holder });
}

interface Slugs {
  readonly merchantSlug: string;
  readonly productSlug: string;
}

async function sendProduct(
  { headers }: IncomingMessage,
  response: ServerResponse,
  { merchantSlug, productSlug }: Slugs,
): Promise<void> {
  const row = await readProduct(decodeURIComponent(merchantSlug), decodeURIComponent(productSlug));
  if (row === null) return send(response, 404, "{}");
  const { locale, body } = toProductPage(row, parseRequestedLocales(headers["accept-language"]));
  response.setHeader("content-language", locale);
  send(response, 200, body);
}

async function sendCart(response: ServerResponse, cartId: string, { merchantId }: Holder): Promise<void> {
  const row = await readCart(cartId, merchantId);
  if (row === null) return send(response, 404, "{}");
  send(response, 200, JSON.stringify({ data: toCartPage(row, publicUrl) }));
}

async function sendOrder(response: ServerResponse, orderId: string, { merchantId }: Holder): Promise<void> {
  const row = await readOrder(orderId, merchantId);
  if (row === null) return send(response, 404, "{}");
  send(response, 200, JSON.stringify({ data: toOrderPage(row, publicUrl) }));
}

async function changeCart(
  request: IncomingMessage,
  response: ServerResponse,
  of: Holder & { readonly cartId: string },
): Promise<void> {
  const { "idempotency-key": key } = request.headers;
  const { code } = (await json(request)) as { readonly code?: unknown };
  if (request.method !== "PUT" || typeof key !== "string" || typeof code !== "string")
    return send(response, 400, "{}");
  const { status, body } = await applyPromotion(pool, { ...of, key, code, publicUrl });
  send(response, status, body);
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
  });
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
