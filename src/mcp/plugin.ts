/**
 * The Model Context Protocol (MCP) at `/mcp`, with which AI agents use the REST operations as tools. The
 * transport is Streamable HTTP without sessions, for the protocol versions 2026-07-28 and 2025-11-25 and
 * earlier ones. Callers send the same credentials as over REST.
 */
import type { McpHttpHandler } from "@modelcontextprotocol/server";
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { WwwAuthenticateChallengeOptions } from "#access/authorization.ts";
import { getCredentialIdOfViewer, type ApiKeyOrOauthViewer } from "#access/viewer.ts";
import { createFailure } from "#foundation/failure.ts";
import type { RestOperationsAndOpenApiDocument } from "#gateway/api-description.ts";
import type { RestGatewayServices } from "#gateway/rest-call.ts";
import { authenticateApiKeyOrAccessToken } from "#gateway/steps/authorize.ts";
import { authenticateRequest, toClientAddressKey } from "#http/caller.ts";
import { countRequestAgainstQuota, requireRemainingQuota } from "#http/rate-limiter.ts";
import { isLoopbackRequest, isLoopbackUrl } from "#pages/shared/loopback.ts";
import type { McpRequestWithViewer } from "./call-operation.ts";
import { createMcpOperationTools, type RestOperationWithMcpTool } from "./operation-tools.ts";
import type { McpResourceContentSources } from "./resources.ts";

/** The options of `mcpPlugin`. */
export interface McpPluginOptions extends Pick<McpResourceContentSources, "listEventExamples"> {
  readonly api: RestOperationsAndOpenApiDocument;
  readonly services: McpServices;
}

type McpServices = Pick<RestGatewayServices, "publicUrl" | "limiter" | "credentials">;
type ToolMap = ReadonlyMap<string, RestOperationWithMcpTool>;

const mcpPath = "/mcp";

export const mcpPlugin: FastifyPluginAsync<McpPluginOptions> = async (
  server,
  { api, services, listEventExamples },
) => {
  const tools: ToolMap = new Map(createMcpOperationTools(api).map((entry) => [entry.operation.id, entry]));
  const callers = new WeakMap<Request, McpRequestWithViewer>();
  let opened: Promise<McpHttpHandler> | undefined;
  // The package of MCP is loaded at the first request, so that a process without such requests needs no memory
  // for it.
  const openHandler = (): Promise<McpHttpHandler> =>
    (opened ??= import("./mcp-server.ts")
      .then(({ createMcpRequestHandler }) =>
        createMcpRequestHandler({
          http: server,
          api,
          tools,
          callers,
          publicUrl: services.publicUrl,
          listEventExamples,
        }),
      )
      .catch((error: unknown) => {
        // The next request loads the package again.
        opened = undefined;
        throw error;
      }));
  server.addHook("onClose", async () => (await opened)?.close());
  mountMcp(server, { services, tools, openHandler, callers });
};

interface McpRoute {
  readonly services: McpServices;
  readonly tools: ToolMap;
  readonly openHandler: () => Promise<McpHttpHandler>;
  readonly callers: WeakMap<Request, McpRequestWithViewer>;
}

function mountMcp(server: FastifyInstance, { services, tools, openHandler, callers }: McpRoute): void {
  const { publicUrl } = services;
  server.post(mcpPath, async (request, reply) => {
    refuseOtherOrigins(request, publicUrl);
    const viewer = await identifyMcpCaller(request, reply, { services, tools });
    const message = new Request(new URL(mcpPath, publicUrl), {
      method: "POST",
      headers: toWebHeaders(request),
      body: JSON.stringify(request.body),
    });
    callers.set(message, { request, viewer });
    void reply.header("cache-control", "no-store");
    const handler = await openHandler();
    return reply.send(await handler.fetch(message, { parsedBody: request.body }));
  });
}

/**
 * Refuses requests that a browser sends from a page of another origin. On a loopback address, the Host header
 * must also be the service's own, as a protection against DNS rebinding.
 */
function refuseOtherOrigins({ headers }: FastifyRequest, publicUrl: string): void {
  const { origin } = headers;
  const { origin: ownOrigin } = new URL(publicUrl);
  if (origin !== undefined && origin !== ownOrigin)
    throw createFailure("origin_not_allowed", {
      message: `The Origin header must be ${ownOrigin}, or missing.`,
    });
  if (isLoopbackUrl(publicUrl) && !isLoopbackRequest(publicUrl, headers))
    throw createFailure("origin_not_allowed", {
      message: `The Host header must be ${new URL(publicUrl).host}.`,
    });
}

/**
 * Returns the verified owner of the request's credential; undefined if the caller sent no credential. A
 * caller without a credential who calls a tool that needs one gets a 401 answer with a challenge, from which
 * OAuth clients find the authorization server. Counts the request against the caller's rate limit. Tool calls
 * are not counted here, because the REST operation of the tool counts them.
 */
async function identifyMcpCaller(
  request: FastifyRequest,
  reply: FastifyReply,
  { services, tools }: Pick<McpRoute, "services" | "tools">,
): Promise<ApiKeyOrOauthViewer | undefined> {
  const { publicUrl, limiter, credentials } = services;
  const tool = findCalledTool(request.body, tools);
  const isAnonymous = request.headers.authorization === undefined;
  if (isAnonymous && (tool === undefined || tool.operation.security.kind === "anonymous")) {
    if (tool === undefined)
      await countRequestAgainstQuota(limiter, reply, {
        bucket: "anon-read",
        key: toClientAddressKey(request.ip),
      });
    return undefined;
  }
  const challenge: WwwAuthenticateChallengeOptions = {
    publicUrl,
    schemes: ["bearer", "dpop"],
    resource: "mcp",
  };
  const viewer = await authenticateRequest(request, undefined, {
    ...challenge,
    limiter,
    verify: (authorization) =>
      authenticateApiKeyOrAccessToken(request, authorization, {
        credentials,
        resource: "mcp",
        // The DPoP proof is stored only after the caller's rate limit was checked, so callers over their
        // quota store no proofs.
        admit: async (admitted) => {
          if (admitted.kind === "oauth") await requireRemainingQuota(limiter, reply, counterOf(admitted));
        },
      }),
  });
  if (tool === undefined) await countRequestAgainstQuota(limiter, reply, counterOf(viewer));
  return viewer;
}

const counterOf = (viewer: ApiKeyOrOauthViewer): { bucket: "default"; key: string } => ({
  bucket: "default",
  key: getCredentialIdOfViewer(viewer),
});

/** Returns the tool that a JSON-RPC message calls; undefined for other messages and unknown tools. */
function findCalledTool(body: unknown, tools: ToolMap): RestOperationWithMcpTool | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  const { method, params } = body as { method?: unknown; params?: { name?: unknown } | null };
  return method === "tools/call" && typeof params?.name === "string" ? tools.get(params.name) : undefined;
}

function toWebHeaders({ headers }: FastifyRequest): Headers {
  const result = new Headers();
  for (const name of ["accept", "content-type"] as const)
    if (headers[name] !== undefined) result.set(name, headers[name]);
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith("mcp-") && typeof value === "string") result.set(name, value);
  return result;
}
