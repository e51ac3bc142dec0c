/**
 * The Fastify plugin of the REST API: the operations of `schema/operations`, and `/openapi.json`, which
 * describes them.
 */
import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import type { CredentialVerifier } from "#access/credentials.ts";
import type { ApiRequestLog } from "#access/request-log.ts";
import type { Log } from "#foundation/log.ts";
import type { GraphqlServices } from "#graph/context.ts";
import type { RateLimiter } from "#http/rate-limiter.ts";
import type { GraphqlDocumentRunner } from "#mesh/run.ts";
import { oauthPaths } from "#access/authorization.ts";
import type { RestOperationsAndOpenApiDocument } from "./api-description.ts";
import type { ResponseCache } from "./response-cache.ts";
import { createRestOperationExecutor, registerRestOperationRoutes } from "./operations.ts";
import { createReplicaReadRunnerWithFallback } from "./replica-fallback.ts";

/** The options of `restGatewayPlugin`. */
export interface RestGatewayPluginOptions {
  readonly api: RestOperationsAndOpenApiDocument;
  readonly run: GraphqlDocumentRunner;
  readonly services: GraphqlServices;
  readonly limiter: RateLimiter;
  readonly credentials: CredentialVerifier;
  readonly requests: Pick<ApiRequestLog, "add">;
  readonly log: Log;
  /** The response cache, which keeps answers in memory; undefined if the cache is switched off. */
  readonly responseCache: ResponseCache | undefined;
}

export const restGatewayPlugin: FastifyPluginAsync<RestGatewayPluginOptions> = async (
  server,
  { api, run, services, limiter, credentials, requests, log, responseCache },
) => {
  const { db, clock, publicUrl, events } = services;
  const execute = createRestOperationExecutor(
    run,
    services,
    createReplicaReadRunnerWithFallback(services, { clock, log }),
  );
  registerRestOperationRoutes(
    server,
    {
      db,
      clock,
      publicUrl,
      events,
      responseCache,
      hasReplica: services.replica !== undefined,
      limiter,
      credentials,
      logRequest: requests.add,
      execute,
    },
    api.operations,
  );
  mountDocument(server, () => JSON.stringify(addPublicUrlToOpenApi(api.document, publicUrl), null, 2));
};

/** Serves the OpenAPI document, which the first request creates. */
function mountDocument(server: FastifyInstance, create: () => string): void {
  let document: string | undefined;
  server.get("/openapi.json", (_request, reply) =>
    reply
      .header("access-control-allow-origin", "*")
      .header("cache-control", "public, max-age=60")
      .type("application/json; charset=utf-8")
      .send((document ??= create())),
  );
}

type Part = Readonly<Record<string, unknown>>;

const oauthPathSet: ReadonlySet<string> = new Set(Object.values(oauthPaths));

/** Completes the relative URLs of an OpenAPI document with the public URL of this service. */
export function addPublicUrlToOpenApi(document: Part, publicUrl: string): Part {
  const complete = (part: unknown, name = ""): unknown => {
    if (typeof part === "string") return isRelativeUrl(part, name) ? publicUrl + part : part;
    if (Array.isArray(part)) return part.map((item) => complete(item));
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, complete(value, key)]));
  };
  return { ...(complete(document) as Part), servers: [{ url: publicUrl, description: "This service." }] };
}

const isRelativeUrl = (text: string, name: string): boolean =>
  (name === "url" && (text === "/docs" || text.startsWith("/docs/"))) ||
  (name.endsWith("Url") && oauthPathSet.has(text));
