/** Connects the official MCP client to a test world, without a network. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { publicUrl, type World } from "#test/support/world.ts";

export type ProtocolEra = "2025-11-25" | "2026-07-28";

export interface McpClientOptions {
  /** Headers of every request, for example Authorization. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly era?: ProtocolEra;
}

/** Connects a client. The caller closes it. */
export async function connectMcpClient(
  world: World,
  { headers = {}, era = "2026-07-28" }: McpClientOptions = {},
): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { versionNegotiation: { mode: era === "2025-11-25" ? "legacy" : { pin: era } } },
  );
  const transport = new StreamableHTTPClientTransport(new URL(`${publicUrl}/mcp`), {
    requestInit: { headers },
    fetch: (_url, init) => sendToWorld(world, init),
  });
  await client.connect(transport);
  return client;
}

async function sendToWorld(world: World, init: RequestInit = {}): Promise<Response> {
  const answer = await world.app.server.inject({
    method: init.method === "GET" ? "GET" : init.method === "DELETE" ? "DELETE" : "POST",
    url: "/mcp",
    headers: { host: new URL(publicUrl).host, ...Object.fromEntries(new Headers(init.headers)) },
    ...(typeof init.body === "string" ? { payload: init.body } : {}),
  });
  const isWithoutBody = answer.statusCode === 202 || answer.statusCode === 204;
  return new Response(isWithoutBody ? null : answer.body, {
    status: answer.statusCode,
    headers: Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]),
  });
}
