/**
 * Answers requests for `/`. Browsers get the landing page. Other programs get the same answer as for every
 * unknown path: status 404 and a link to the documentation.
 */
import type { FastifyPluginAsync } from "fastify";
import { readDemoJsonFile } from "#demo/demo-file.ts";
import { createFailure } from "#foundation/failure.ts";
import { getBasePathOfPublicUrl, getPageScriptAndStylePaths } from "#pages/shared/assets.ts";
import { isLoopbackRequest } from "#pages/shared/loopback.ts";
import { getPageHttpHeaders, renderHtmlPage } from "#pages/shared/page.ts";
import { createLandingPage } from "./landing-page.ts";

export interface LandingPluginOptions {
  readonly publicUrl: string;
  readonly settings: { readonly demo: boolean; readonly dataDir: string };
}

export const landingPagePlugin: FastifyPluginAsync<LandingPluginOptions> = async (
  server,
  { publicUrl, settings },
) => {
  server.get("/", (request, reply) => {
    if (!(request.headers.accept ?? "").includes("text/html"))
      throw createFailure("route_not_found", {
        message: `No route has this path. The documentation is at ${publicUrl}/docs.`,
        headers: { vary: "Accept", link: `<${publicUrl}/docs>; rel="service-doc"` },
      });
    const page = createLandingPage({
      basePath: getBasePathOfPublicUrl(publicUrl),
      publicUrl,
      demo: settings.demo ? readDemoJsonFile(settings.dataDir) : undefined,
      hasSecrets: isLoopbackRequest(publicUrl, request.headers),
      asset: getPageScriptAndStylePaths("landing", publicUrl),
    });
    return reply.headers({ ...getPageHttpHeaders(page), vary: "Accept" }).send(renderHtmlPage(page));
  });
};
