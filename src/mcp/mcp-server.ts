/**
 * Answers MCP requests. Each request gets an MCP server of its own, with the tools, resources and prompts.
 * Servers keep no state between requests, so any process can answer any request.
 */
import {
  createMcpHandler,
  INVALID_PARAMS,
  type McpHttpHandler,
  ProtocolError,
  Server,
} from "@modelcontextprotocol/server";
import type { FastifyInstance } from "fastify";
import type { RestOperationsAndOpenApiDocument } from "#gateway/api-description.ts";
import { addPublicUrlToOpenApi } from "#gateway/plugin.ts";
import { callRestOperationForMcp, type McpRequestWithViewer } from "./call-operation.ts";
import type { RestOperationWithMcpTool } from "./operation-tools.ts";
import { listMcpPrompts, renderMcpPrompt } from "./prompts.ts";
import { createMcpResources, type McpResourceContentSources, type McpResources } from "./resources.ts";

const instructions =
  "Tools of a commerce platform's API, for one merchant's installation of an app. Every tool is one operation " +
  "of the REST API, with the same arguments, errors, scopes and rate limits. Amounts of money are integers in " +
  "the minor unit of their currency. Tools that change something need an idempotencyKey: use a new random " +
  "value for each change, and the same value to repeat a call whose answer was lost. The resources explain " +
  "errors, events and common tasks.";

interface McpServerOptions {
  /** The HTTP server of this process, to which tool calls are sent as REST requests. */
  readonly http: FastifyInstance;
  /** The version of this service, as the MCP server reports it. */
  readonly version: string;
  readonly tools: ReadonlyMap<string, RestOperationWithMcpTool>;
  readonly resources: McpResources;
}

export interface McpRequestHandlerOptions
  extends Pick<McpServerOptions, "http" | "tools">, Omit<McpResourceContentSources, "document"> {
  readonly api: RestOperationsAndOpenApiDocument;
  /** The caller of each MCP request that is passed to the handler. */
  readonly callers: WeakMap<Request, McpRequestWithViewer>;
}

/** Creates the function that answers all MCP requests of this process, each with a server of its own. */
export function createMcpRequestHandler({
  http,
  api,
  tools,
  callers,
  publicUrl,
  listEventExamples,
}: McpRequestHandlerOptions): McpHttpHandler {
  const resources = createMcpResources({
    publicUrl,
    document: addPublicUrlToOpenApi(api.document, publicUrl),
    listEventExamples,
  });
  return createMcpHandler(
    ({ requestInfo }) => {
      const caller = requestInfo === undefined ? undefined : callers.get(requestInfo);
      if (caller === undefined) throw new Error("An MCP request has no caller.");
      return createMcpServer({ http, version: api.version, tools, resources }, caller);
    },
    // The server offers no subscriptions to tools, resources and prompts, because these never change while
    // the process runs.
    { maxSubscriptions: 0 },
  );
}

function createMcpServer(
  { http, version, tools, resources }: McpServerOptions,
  caller: McpRequestWithViewer,
): Server {
  const server = new Server(
    { name: "commerce-gateway", title: "Commerce Gateway", version },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions },
  );
  server.setRequestHandler("tools/list", () => ({ tools: [...tools.values()].map(({ tool }) => tool) }));
  server.setRequestHandler("tools/call", ({ params }) => {
    const tool = tools.get(params.name);
    if (tool === undefined)
      throw new ProtocolError(
        INVALID_PARAMS,
        `There is no tool "${params.name}". Tools: ${[...tools.keys()].join(", ")}.`,
      );
    return callRestOperationForMcp(http, tool, { caller, args: params.arguments ?? {} });
  });
  server.setRequestHandler("resources/list", () => ({ resources: resources.list() }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
  server.setRequestHandler("resources/read", ({ params }) => ({ contents: [resources.read(params.uri)] }));
  server.setRequestHandler("prompts/list", () => ({ prompts: listMcpPrompts() }));
  server.setRequestHandler("prompts/get", ({ params }) => {
    const { description, text } = renderMcpPrompt(params.name, params.arguments ?? {});
    return { description, messages: [{ role: "user", content: { type: "text", text } }] };
  });
  return server;
}
