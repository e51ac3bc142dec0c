/**
 * Serves the documentation at `/docs`. The pages are made from the OpenAPI document, the guides and the demo
 * data (if there is a demo). Browsers cache a page for a minute.
 */
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { readDemoJsonFile } from "#demo/demo-file.ts";
import { isEntityTagKnownToClient } from "#http/entity-tags.ts";
import { createFailure } from "#foundation/failure.ts";
import { getBasePathOfPublicUrl } from "#pages/shared/assets.ts";
import { isLoopbackRequest } from "#pages/shared/loopback.ts";
import { sendCompressedBody } from "#pages/shared/compressed.ts";
import { getPageHttpHeaders } from "#pages/shared/page.ts";
import type { OpenApiDocument } from "./api-document.ts";
import type { CachedDocsPage, DocsServices, DocsSite } from "./docs-site.ts";

export interface DocsPluginOptions {
  /** The OpenAPI document of the REST API. */
  readonly document: Readonly<Record<string, unknown>>;
  readonly publicUrl: string;
  readonly settings: { readonly demo: boolean; readonly dataDir: string };
  /**
   * Returns the names of all webhook event types, each with an example of the request body that the service
   * sends.
   */
  readonly listEventExamples: DocsServices["listEventExamples"];
}

export const docsPlugin: FastifyPluginAsync<DocsPluginOptions> = async (
  server,
  { document, publicUrl, settings, listEventExamples },
) => {
  mountDocs(server, {
    document: document as unknown as OpenApiDocument,
    publicUrl,
    listEventExamples,
    readDemo: () => (settings.demo ? readDemoJsonFile(settings.dataDir) : undefined),
    ask: askOf(server),
  });
  mountDemoKey(server, { publicUrl, settings });
};

/**
 * Creates a function that sends a request to the routes of this server without using the network. The
 * function returns undefined for every status except 200.
 */
function askOf(server: FastifyInstance): DocsServices["ask"] {
  return async (path, key) => {
    const { statusCode, body } = await server.inject({
      method: "GET",
      url: path,
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    });
    return statusCode === 200 ? (JSON.parse(body) as unknown) : undefined;
  };
}

const demoKeyPath = "/docs/demo-key";

/**
 * Adds the route with the demo's API key, for the forms with which readers try an operation. The route exists
 * only at a loopback address, which only the developer can reach. HTML pages never contain the key.
 */
function mountDemoKey(
  server: FastifyInstance,
  { publicUrl, settings }: Pick<DocsPluginOptions, "publicUrl" | "settings">,
): void {
  server.get(demoKeyPath, ({ headers }, reply) => {
    const isOpen = settings.demo && isLoopbackRequest(publicUrl, headers);
    const demo = isOpen ? readDemoJsonFile(settings.dataDir) : undefined;
    if (demo === undefined) throw createFailure("route_not_found");
    return reply.header("cache-control", "no-store").send({ key: demo.keys.full });
  });
}

/**
 * Registers the routes /docs and below. Every caller may read the pages, and browsers may cache them for a
 * minute.
 */
function mountDocs(server: FastifyInstance, services: DocsServices): void {
  let opened: Promise<DocsSite> | undefined;
  // The documentation is built at the first request and not at the start, because the demo data may not exist
  // yet when the server starts. Only then are its modules loaded, so that a process without readers of the
  // documentation needs no memory for them.
  const openSite = (): Promise<DocsSite> =>
    (opened ??= import("./docs-site.ts")
      .then(({ createDocsSite }) => createDocsSite(services))
      .catch((error: unknown) => {
        // The next request loads the modules again.
        opened = undefined;
        throw error;
      }));
  const show = async (request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> => {
    const site = await openSite();
    const page = await site.page(path);
    if (page !== undefined)
      return sendPage(request, reply, {
        page,
        site,
        canonical: `${services.publicUrl}/docs${path === "" ? "" : `/${path}`}`,
      });
    if (!(request.headers.accept ?? "").includes("text/html")) throw createFailure("route_not_found");
    return reply.code(404).headers(getPageHttpHeaders(site)).header("vary", "Accept").send(site.notFound());
  };
  server.get("/docs", (request, reply) => show(request, reply, ""));
  server.get("/docs/search.json", async (request, reply) => {
    const site = await openSite();
    const { etag, body } = await site.searchIndex();
    void reply.headers({
      "cache-control": "public, max-age=60",
      etag,
      vary: "Accept-Encoding",
      "x-content-type-options": "nosniff",
    });
    if (isEntityTagKnownToClient(request.headers["if-none-match"], etag)) return reply.code(304).send();
    return sendCompressedBody(request, reply.type("application/json; charset=utf-8"), body);
  });
  server.get<{ Params: { "*": string } }>("/docs/*", (request, reply) => {
    const path = request.params["*"];
    return path === ""
      ? reply.redirect(`${getBasePathOfPublicUrl(services.publicUrl)}/docs`, 308)
      : show(request, reply, path);
  });
}

interface Shown {
  readonly page: CachedDocsPage;
  readonly site: DocsSite;
  readonly canonical: string;
}

function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { page, site, canonical }: Shown,
): FastifyReply {
  void reply.headers({
    ...getPageHttpHeaders(site),
    "cache-control": "public, max-age=60",
    etag: page.etag,
    vary: "Accept-Encoding",
    link: `<${canonical}>; rel="canonical"`,
  });
  if (isEntityTagKnownToClient(request.headers["if-none-match"], page.etag)) return reply.code(304).send();
  return sendCompressedBody(request, reply, page.body);
}
