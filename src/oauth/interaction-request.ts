/**
 * A browser request that belongs to an interaction (a sign-in with consent) of the authorization server, and
 * the responses that continue or end the interaction.
 */
import type * as Library from "oidc-provider";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { InteractionResults, Provider } from "oidc-provider";
import { findOauthAgentClientRow, getVerifiedHostOfMetadataUrl } from "#access/oauth/agent-clients.ts";
import { findOauthClient } from "#access/oauth/oauth-clients.ts";
import type { Database } from "#database/connect.ts";
import {
  type HtmlPage,
  getPageHttpHeaders,
  getUrlSchemeOfRedirectUri,
  renderHtmlPage,
} from "#pages/shared/page.ts";
import { renderOauthMessagePage } from "./pages.ts";

type Interaction = Awaited<ReturnType<Provider["interactionDetails"]>>;

interface HttpExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** The OAuth client that requests access, with the data that the pages show. */
export interface RequestingOauthClient {
  /** The OAuth client id that the client sends in its requests. */
  readonly id: string;
  /** The id of the client's app; null for an agent to which no merchant has granted access yet. */
  readonly appId: string | null;
  readonly appName: string;
  readonly publisher: string | null;
  /** Data that only clients of AI agents have; null for a client that an operator created. */
  readonly agent: RequestingAgent | null;
}

export interface RequestingAgent {
  readonly redirectUris: readonly string[];
  /**
   * The host of the URL of the agent's metadata document; null for an agent that registered itself and has no
   * such document.
   */
  readonly verifiedHost: string | null;
}

export interface OauthInteractionRequest extends HttpExchange {
  readonly provider: Provider;
  readonly interaction: Interaction;
  readonly client: RequestingOauthClient;
  /**
   * The origin or scheme of the app's redirect URI, to which the browser is sent at the end of the
   * interaction. The Content-Security-Policy of the page must allow this origin or scheme.
   */
  readonly leadsTo: string | undefined;
}

/**
 * Finds the interaction of a request. Returns undefined if the interaction's cookie is missing, the
 * interaction has expired, or its OAuth client no longer exists.
 */
export async function findOauthInteractionOfRequest(
  provider: Provider,
  db: Database,
  messages: HttpExchange,
): Promise<OauthInteractionRequest | undefined> {
  const interaction = await findInteraction(provider, messages);
  if (
    interaction === undefined ||
    interaction.uid !== (messages.request.params as { readonly uid: string }).uid
  )
    return undefined;
  const client = await findRequestingClient(provider, db, String(interaction.params["client_id"]));
  if (client === undefined) return undefined;
  return {
    provider,
    interaction,
    client,
    leadsTo: getUrlSchemeOfRedirectUri(String(interaction.params["redirect_uri"])),
    ...messages,
  };
}

/**
 * Finds the OAuth client that asked for a sign-in and consent; undefined if it no longer exists or was
 * disabled.
 */
async function findRequestingClient(
  provider: Provider,
  db: Database,
  id: string,
): Promise<RequestingOauthClient | undefined> {
  const operatorClient = await findOauthClient(db, id);
  if (operatorClient?.registration === "operator") return { ...operatorClient, agent: null };
  const { errors } = await loadOidcProviderModule();
  const [agent, row] = await Promise.all([
    provider.Client.find(id).catch((error: unknown) => {
      // oidc-provider throws this error if the agent's metadata document can no longer be fetched or is no
      // longer valid.
      if (error instanceof errors.OIDCProviderError) return undefined;
      throw error;
    }),
    findOauthAgentClientRow(db, id),
  ]);
  if (agent === undefined) return undefined;
  const verifiedHost = getVerifiedHostOfMetadataUrl(id);
  return {
    id,
    appId: row?.appId ?? null,
    appName: String(agent.clientName),
    publisher: verifiedHost,
    agent: { redirectUris: agent.redirectUris ?? [], verifiedHost },
  };
}

async function findInteraction(
  provider: Provider,
  { request, reply }: HttpExchange,
): Promise<Interaction | undefined> {
  const { errors } = await loadOidcProviderModule();
  try {
    return await provider.interactionDetails(request.raw, reply.raw);
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return undefined;
    throw error;
  }
}

/**
 * Adds a result to the results of an interaction and stores them. Then redirects to the authorization
 * endpoint, where oidc-provider continues with the stored results.
 */
export async function finishOauthInteraction(
  { provider, request, reply }: OauthInteractionRequest,
  result: InteractionResults,
): Promise<FastifyReply> {
  return reply.redirect(await provider.interactionResult(request.raw, reply.raw, result), 303);
}

/** Signs the staff member out and starts the interaction again with the sign-in page. */
export async function signOutStaffAndRestartInteraction(
  exchange: OauthInteractionRequest,
): Promise<FastifyReply> {
  const { provider, request, reply } = exchange;
  await destroyOauthInteractionSession(exchange);
  return reply.redirect(
    await provider.interactionResult(request.raw, reply.raw, {}, { mergeWithLastSubmission: false }),
    303,
  );
}

/**
 * Deletes the authorization server's session to which the interaction belongs. The interaction continues
 * without a session.
 */
export async function destroyOauthInteractionSession({
  provider,
  interaction,
}: OauthInteractionRequest): Promise<void> {
  if (interaction.session === undefined) return;
  const session = await provider.Session.findByUid(interaction.session.uid);
  delete interaction.session;
  await interaction.persist();
  await session?.destroy();
}

export function sendOauthPage(reply: FastifyReply, page: HtmlPage): FastifyReply {
  return reply.headers(getPageHttpHeaders(page)).send(renderHtmlPage(page));
}

export function sendOauthSignInEndedPage(reply: FastifyReply): FastifyReply {
  return sendOauthPage(
    reply.code(400),
    renderOauthMessagePage("This sign-in has ended", "Go back to the app and start again."),
  );
}

/**
 * The module oidc-provider, loaded only when the authorization server starts, because commands do not need
 * it.
 */
export type OidcProviderModule = typeof Library;

let loading: Promise<OidcProviderModule> | undefined;

export function loadOidcProviderModule(): Promise<OidcProviderModule> {
  loading ??= loadWithoutWarning();
  return loading;
}

/**
 * Loads oidc-provider without its warning about the Node version. It reports every Node version without an
 * LTS name as unsupported, including the version that this service uses.
 */
async function loadWithoutWarning(): Promise<OidcProviderModule> {
  const output = globalThis.console;
  const { warn } = output;
  output.warn = () => undefined;
  try {
    return await import("oidc-provider");
  } finally {
    output.warn = warn;
  }
}
