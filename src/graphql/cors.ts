/**
 * Sets the CORS headers of answers of `/graphql`, with which browsers decide which pages may read the
 * answers.
 */
import type { FastifyReply, FastifyRequest } from "fastify";

/** Returns whether pages of an origin may call `/graphql`. */
export type PageOriginChecker = (origin: string) => Promise<boolean>;

/** Sets the CORS headers of the answer to a request. */
export type CorsHeaderFunction = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/**
 * CORS: scripts may call `/graphql` only from pages of the allowed origins, and only with a token. The CORS
 * headers never allow cookies or the console's header. The session cookie works only for pages of this
 * service (`http/staff-session.ts`).
 */
export function createCorsHeaderFunction(isPageAllowed: PageOriginChecker): CorsHeaderFunction {
  return async (request, reply) => {
    void reply.header("vary", "Origin");
    const { origin } = request.headers;
    if (origin === undefined || !(await isPageAllowed(origin))) return;
    void reply.headers({
      "access-control-allow-origin": origin,
      "access-control-allow-methods": "GET, POST",
      "access-control-allow-headers": "authorization, content-type, accept-language, x-buyer-reference",
      "access-control-expose-headers":
        "x-request-id, idempotent-replayed, retry-after, ratelimit, ratelimit-policy",
      "access-control-max-age": "600",
    });
  };
}
