/** The documentation's addresses: /docs and what is below it. Anybody may read it and keep it for a minute. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { fail } from "#foundation/failure.ts";
import { basePathOf } from "#pages/shared/assets.ts";
import { sendCompressed } from "#pages/shared/compressed.ts";
import { pageHeaders } from "#pages/shared/page.ts";
import { createDocsSite, type DocsServices, type DocsSite, type KeptPage } from "./docs-site.ts";

export function mountDocs(server: FastifyInstance, services: DocsServices): void {
  let site: DocsSite | undefined;
  // Made when somebody looks: by then the demo is there.
  const show = async (request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> => {
    site ??= createDocsSite(services);
    const page = await site.page(path);
    if (page !== undefined) return sendPage(request, reply, { page, site, canonical: `${services.publicUrl}/docs${path === "" ? "" : `/${path}`}` });
    if (!(request.headers.accept ?? "").includes("text/html")) throw fail("route_not_found");
    return reply.code(404).headers(pageHeaders(site)).header("vary", "Accept").send(site.notFound());
  };
  server.get("/docs", (request, reply) => show(request, reply, ""));
  server.get<{ Params: { "*": string } }>("/docs/*", (request, reply) => {
    const path = request.params["*"];
    return path === "" ? reply.redirect(`${basePathOf(services.publicUrl)}/docs`, 308) : show(request, reply, path);
  });
}

interface Shown {
  readonly page: KeptPage;
  readonly site: DocsSite;
  readonly canonical: string;
}

function sendPage(request: FastifyRequest, reply: FastifyReply, { page, site, canonical }: Shown): FastifyReply {
  void reply.headers({
    ...pageHeaders(site),
    "cache-control": "public, max-age=60",
    etag: page.etag,
    vary: "Accept-Encoding",
    link: `<${canonical}>; rel="canonical"`,
  });
  if (isKnown(request.headers["if-none-match"], page.etag)) return reply.code(304).send();
  return sendCompressed(request, reply, page.body);
}

const opaque = (tag: string): string => tag.trim().replace(/^W\//, "");

/** By the weak comparison of RFC 9110: the encodings of a page differ in their bytes and in nothing else. */
function isKnown(header: string | undefined, etag: string): boolean {
  return (header ?? "").split(",").some((tag) => tag.trim() === "*" || opaque(tag) === opaque(etag));
}
