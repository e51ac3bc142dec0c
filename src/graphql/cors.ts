/**
 * Sets the CORS headers of the answers of `/graphql`. Browsers use these headers to decide which pages may
 * read the answers.
 */
import type { FastifyReply, FastifyRequest } from "fastify";

/** Checks whether pages of an origin (scheme, host and port) may call `/graphql`. */
export type CorsOriginChecker = (origin: string) => Promise<boolean>;

/** Sets the CORS headers of the answer to a request. */
export type CorsHeaderSetter = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/**
 * Creates the function that sets the CORS headers of `/graphql`. Only scripts on pages of the allowed origins
 * may call `/graphql`, and only with a token. The headers never allow cookies or the console's header,
 * because the session cookie is only for pages of this service (`http/staff-session.ts`).
 */
export function createCorsHeaderSetter(isPageAllowed: CorsOriginChecker): CorsHeaderSetter {
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
