/**
 * The REST API: the twenty operations of `schema/operations` with their policies, and the OpenAPI document
 * that describes them.
 */
import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import type { CredentialVerifier } from "#access/credentials.ts";
import type { RequestLog } from "#access/request-log.ts";
import type { Log } from "#foundation/log.ts";
import type { GraphServices } from "#graph/context.ts";
import type { RateLimiter } from "#http/rate-limiter.ts";
import { refuseOtherMethods } from "#http/server.ts";
import type { RunDocument } from "#mesh/run.ts";
import { oauthPaths } from "#access/authorization.ts";
import type { ApiDescription } from "./api-description.ts";
import { createOperationExecutor, mountRestOperations } from "./operations.ts";
import { createReplicaFallback } from "./replica-fallback.ts";

export interface GatewayOptions {
  readonly api: ApiDescription;
  readonly run: RunDocument;
  readonly services: GraphServices;
  readonly limiter: RateLimiter;
  readonly credentials: CredentialVerifier;
  readonly requests: Pick<RequestLog, "add">;
  readonly log: Log;
}

export const gatewayPlugin: FastifyPluginAsync<GatewayOptions> = async (
  server,
  { api, run, services, limiter, credentials, requests, log },
) => {
  const { db, clock, publicUrl } = services;
  const execute = createOperationExecutor(run, services, createReplicaFallback(services, { clock, log }));
  mountRestOperations(
    server,
    { db, clock, publicUrl, limiter, credentials, noteRequest: requests.add, execute },
    api.operations,
  );
  mountDocument(server, JSON.stringify(withPublicUrl(api.document, publicUrl), null, 2));
};

function mountDocument(server: FastifyInstance, document: string): void {
  server.get("/openapi.json", (_request, reply) =>
    reply
      .header("access-control-allow-origin", "*")
      .header("cache-control", "public, max-age=60")
      .type("application/json; charset=utf-8")
      .send(document),
  );
  refuseOtherMethods(server, "/openapi.json", ["GET"]);
}

type Part = Readonly<Record<string, unknown>>;

const own: ReadonlySet<string> = new Set(Object.values(oauthPaths));

/**
 * Completes the addresses of the OpenAPI document, which names no host, with the public URL of this service
 * and its path.
 */
export function withPublicUrl(document: Part, publicUrl: string): Part {
  const complete = (part: unknown, name = ""): unknown => {
    if (typeof part === "string") return isAddress(part, name) ? publicUrl + part : part;
    if (Array.isArray(part)) return part.map((item) => complete(item));
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, complete(value, key)]));
  };
  return { ...(complete(document) as Part), servers: [{ url: publicUrl, description: "This service." }] };
}

const isAddress = (text: string, name: string): boolean =>
  (name === "url" && (text === "/docs" || text.startsWith("/docs/"))) ||
  (name.endsWith("Url") && own.has(text));
