/**
 * GraphiQL for people: one page that loads nothing from elsewhere. It asks for a token, keeps it for the tab, and opens with queries that run on
 * the demo data.
 */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, brotliCompress, gzip } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { fail } from "#foundation/failure.ts";
import { exampleQueries } from "./example-queries.ts";
import { cartWay, orderWay } from "./example-ways.ts";
import { reopenScript } from "./reopen-script.ts";
import { tokenScript } from "./token-script.ts";

interface Page {
  readonly etag: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
  readonly br: Buffer;
}

export function mountGraphiql(server: FastifyInstance): void {
  let page: Promise<Page> | undefined;
  server.get("/graphql", async (request, reply) => {
    if (!(request.headers.accept ?? "").includes("text/html")) throw fail("method_not_allowed", { headers: { allow: "POST" } });
    // Nine megabytes: loaded and made when somebody looks, compressed once.
    page ??= makePage();
    return sendPage(request, reply, await page);
  });
}

async function makePage(): Promise<Page> {
  const { renderGraphiQL } = await import("@graphql-yoga/render-graphiql");
  const html = renderGraphiQL({
    title: "Commerce Gateway – GraphiQL",
    defaultTabs: [...exampleQueries, cartWay, orderWay].map(({ query, variables = null }) => ({ query, variables })),
    shouldPersistHeaders: false,
  });
  const plain = Buffer.from(html.trimStart().replace("<head>", `<head>\n<script>${tokenScript}${reopenScript}</script>`));
  const [zipped, br] = await Promise.all([
    promisify(gzip)(plain),
    promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  ]);
  return { etag: `"${createHash("sha256").update(plain).digest("base64url")}"`, plain, gzip: zipped, br };
}

function sendPage(request: FastifyRequest, reply: FastifyReply, page: Page): FastifyReply {
  void reply.headers({
    "cache-control": "no-cache",
    etag: page.etag,
    vary: "Accept, Accept-Encoding",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
  });
  if (request.headers["if-none-match"] === page.etag) return reply.code(304).send();
  const accepted = request.headers["accept-encoding"] ?? "";
  const encoding = /\bbr\b/.test(accepted) ? "br" : /\bgzip\b/.test(accepted) ? "gzip" : undefined;
  if (encoding !== undefined) void reply.header("content-encoding", encoding);
  return reply.type("text/html; charset=utf-8").send(encoding === undefined ? page.plain : page[encoding]);
}
