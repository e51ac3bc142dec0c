/**
 * Serves the pictures of the demo catalog. Each picture is drawn from its name, so the same name always gives
 * the same picture.
 */
import type { FastifyPluginAsync } from "fastify";
import { renderDemoPicture } from "#demo/pictures/pictures.ts";
import { createFailure } from "#foundation/failure.ts";
import { isSlug } from "#foundation/text.ts";

export const demoPicturesPlugin: FastifyPluginAsync = async (server) => {
  server.get<{ Params: { file: string } }>("/media/demo/:file", (request, reply) => {
    const { file } = request.params;
    const name = file.endsWith(".svg") ? file.slice(0, -".svg".length) : "";
    if (!isSlug(name)) throw createFailure("route_not_found");
    return reply
      .header("cache-control", "public, max-age=31536000, immutable")
      .header("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'")
      .type("image/svg+xml")
      .send(renderDemoPicture(name));
  });
};
