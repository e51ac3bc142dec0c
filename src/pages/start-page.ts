/**
 * Answers requests for `/`: browsers are sent to the documentation. Programs get 404 as for every unknown
 * path, with a link to the documentation.
 */
import type { FastifyPluginAsync } from "fastify";
import { fail } from "#foundation/failure.ts";
import { refuseOtherMethods } from "#http/server.ts";
import { basePathOf } from "#pages/shared/assets.ts";

export const startPagePlugin: FastifyPluginAsync<{ readonly publicUrl: string }> = async (
  server,
  { publicUrl },
) => {
  server.get("/", (request, reply) => {
    if (!(request.headers.accept ?? "").includes("text/html"))
      throw fail("route_not_found", {
        message: `No route has this path. The documentation is at ${publicUrl}/docs.`,
        headers: { vary: "Accept", link: `<${publicUrl}/docs>; rel="service-doc"` },
      });
    return reply
      .headers({ vary: "Accept", "cache-control": "no-store" })
      .redirect(`${basePathOf(publicUrl)}/docs`, 302);
  });
  refuseOtherMethods(server, "/", ["GET"]);
};
