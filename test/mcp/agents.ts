/** An AI agent as an OAuth client: it registers itself, a person allows access, and it gets bearer tokens. */
import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { createBrowser, createPerson, fetchIn, signInAndAllow } from "#test/oauth/people.ts";
import { type Answer, publicUrl, type World } from "#test/support/world.ts";

export const agentRedirectUri = "http://127.0.0.1:33418/callback";
export const mcpUrl = `${publicUrl}/mcp`;

export interface AgentOptions {
  /** The URL of the agent's metadata document; the agent registers itself if it is left out. */
  readonly metadataUrl?: string;
  readonly name?: string;
}

/** The state that an agent stores, as the SDK's client gives it. */
interface StoredState {
  client?: StoredOAuthClientInformation;
  tokens?: StoredOAuthTokens;
  discovery?: OAuthDiscoveryState;
  verifier?: string;
  address?: URL;
}

export interface ConnectedAgent {
  readonly client: Client;
  readonly clientId: string;
  readonly tokens: OAuthTokens;
}

/** Connects the SDK's client with its own OAuth flow. A person of the first merchant allows all scopes. */
export async function connectAgent(world: World, options: AgentOptions = {}): Promise<ConnectedAgent> {
  const stored: StoredState = {};
  const provider = createProvider(stored, options);
  const fetchHere = fetchIn(world);
  const open = (): StreamableHTTPClientTransport =>
    new StreamableHTTPClientTransport(new URL(mcpUrl), { authProvider: provider, fetch: fetchHere });
  const first = open();
  await connect(first)
    .then(
      (client) => client.callTool({ name: "getApiKeyIdentity", arguments: {} }),
      () => undefined,
    )
    .catch(() => undefined);
  const person = await createPerson(world);
  const answer = await signInAndAllow(createBrowser(world), stored.address?.href ?? "", {
    email: person.email,
    scopes: ["catalog:read", "checkout:quote", "webhooks:read", "webhooks:write"],
  });
  await first.finishAuth(answer.searchParams);
  if (stored.tokens === undefined) throw new Error(`The agent got no tokens: ${answer.href}`);
  return { client: await connect(open()), clientId: stored.client?.client_id ?? "", tokens: stored.tokens };
}

async function connect(transport: StreamableHTTPClientTransport): Promise<Client> {
  const client = new Client({ name: "agent", version: "1.0.0" });
  await client.connect(transport);
  return client;
}

function createProvider(stored: StoredState, { metadataUrl, name = "Agent <b>" }: AgentOptions) {
  const provider: OAuthClientProvider = {
    redirectUrl: agentRedirectUri,
    ...(metadataUrl === undefined ? {} : { clientMetadataUrl: metadataUrl }),
    clientMetadata: { client_name: name, redirect_uris: [agentRedirectUri] },
    state: () => "some-state",
    clientInformation: () => stored.client,
    saveClientInformation: (information) => {
      stored.client = information;
    },
    tokens: () => stored.tokens,
    saveTokens: (tokens) => {
      stored.tokens = tokens;
    },
    discoveryState: () => stored.discovery,
    saveDiscoveryState: (discovery) => {
      stored.discovery = discovery;
    },
    redirectToAuthorization: (address) => {
      stored.address = address;
    },
    saveCodeVerifier: (verifier) => {
      stored.verifier = verifier;
    },
    codeVerifier: () => stored.verifier ?? "",
  };
  return provider;
}

/** Registers an agent (RFC 7591). */
export const register = (world: World, metadata: object): Promise<Answer> =>
  world.send({ method: "POST", url: "/oauth/register", body: metadata });

/** The metadata document of an agent, and a function that answers requests for it. */
export const createMetadataDocument = (url: string, changed: object = {}): object => ({
  client_id: url,
  client_name: "Document agent",
  redirect_uris: [agentRedirectUri],
  token_endpoint_auth_method: "none",
  ...changed,
});

/** Calls a tool at /mcp with the given headers. */
export const callTool = (
  world: World,
  headers: Readonly<Record<string, string>>,
  name = "getApiKeyIdentity",
): Promise<Answer> =>
  world.send({
    method: "POST",
    url: "/mcp",
    headers: { accept: "application/json, text/event-stream", ...headers },
    body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {} } },
  });
