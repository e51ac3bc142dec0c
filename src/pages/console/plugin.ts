/** The merchant's console with what it needs of the floors beside it: the limiters. */
import type { FastifyInstance } from "fastify";
import type { Log } from "#foundation/log.ts";
import { addressKey, createLoginLimit } from "#http/caller.ts";
import { type RateLimiter, takeOne } from "#http/rate-limiter.ts";
import { refuseOtherMethods } from "#http/server.ts";
import type { GraphServices } from "#graph/context.ts";
import { consoleRoutes, mountConsole } from "./mount-console.ts";

export interface ConsoleParts {
  readonly services: GraphServices;
  readonly limiter: RateLimiter;
  readonly log: Log;
}

export function mountMerchantConsole(server: FastifyInstance, { services: { db, clock, publicUrl }, limiter, log }: ConsoleParts): void {
  mountConsole(server, {
    db,
    clock,
    publicUrl,
    log,
    loginLimit: createLoginLimit(limiter),
    // What anonymous callers read with elsewhere.
    limitAddress: async (request, reply) => takeOne(limiter, reply, { bucket: "anon-read", key: addressKey(request.ip) }),
  });
  for (const [path, methods] of consoleRoutes) refuseOtherMethods(server, path, methods);
}
