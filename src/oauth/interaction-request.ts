/** One request of a person's on one interaction: what it is about, and the ways it may go on. */
import type * as Library from "oidc-provider";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { InteractionResults, Provider } from "oidc-provider";
import { findOauthClient, type OauthClientWithApp } from "#access/oauth/oauth-clients.ts";
import type { Database } from "#database/connect.ts";
import { type HtmlPage, pageHeaders, redirectFormAction, renderPage } from "#pages/shared/page.ts";
import { oauthMessagePage } from "./pages.ts";

type Interaction = Awaited<ReturnType<Provider["interactionDetails"]>>;

interface Messages {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export interface InteractionRequest extends Messages {
  readonly provider: Provider;
  readonly interaction: Interaction;
  readonly client: OauthClientWithApp;
  /** Where its answer leads in the end. */
  readonly leadsTo: string | undefined;
}

/** Undefined when its cookie is missing, its time is over, or its client is no more. */
export async function openInteractionRequest(
  provider: Provider,
  db: Database,
  messages: Messages,
): Promise<InteractionRequest | undefined> {
  const interaction = await findInteraction(provider, messages);
  if (
    interaction === undefined ||
    interaction.uid !== (messages.request.params as { readonly uid: string }).uid
  )
    return undefined;
  const client = await findOauthClient(db, String(interaction.params["client_id"]));
  if (client === undefined) return undefined;
  return {
    provider,
    interaction,
    client,
    leadsTo: redirectFormAction(String(interaction.params["redirect_uri"])),
    ...messages,
  };
}

async function findInteraction(
  provider: Provider,
  { request, reply }: Messages,
): Promise<Interaction | undefined> {
  const { errors } = await loadOidcProvider();
  try {
    return await provider.interactionDetails(request.raw, reply.raw);
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return undefined;
    throw error;
  }
}

/** Back to the authorization endpoint, which goes on from there. What was said before stays said. */
export async function finishInteraction(
  { provider, request, reply }: InteractionRequest,
  result: InteractionResults,
): Promise<FastifyReply> {
  return reply.redirect(await provider.interactionResult(request.raw, reply.raw, result), 303);
}

/** Who was signed in is not any more, and is asked again. */
export async function signOutAndRestart(exchange: InteractionRequest): Promise<FastifyReply> {
  const { provider, request, reply } = exchange;
  await destroyInteractionSession(exchange);
  return reply.redirect(
    await provider.interactionResult(request.raw, reply.raw, {}, { mergeWithLastSubmission: false }),
    303,
  );
}

/** The interaction goes on without the session that it began in. */
export async function destroyInteractionSession({
  provider,
  interaction,
}: InteractionRequest): Promise<void> {
  if (interaction.session === undefined) return;
  const session = await provider.Session.findByUid(interaction.session.uid);
  delete interaction.session;
  await interaction.persist();
  await session?.destroy();
}

export function sendOauthPage(reply: FastifyReply, page: HtmlPage): FastifyReply {
  return reply.headers(pageHeaders(page)).send(renderPage(page));
}

export function sendSignInEndedPage(reply: FastifyReply): FastifyReply {
  return sendOauthPage(
    reply.code(400),
    oauthMessagePage("This sign-in has ended", "Go back to the app and start again."),
  );
}

/** oidc-provider, loaded when the authorization server starts: no command needs it. */
export type OidcProviderModule = typeof Library;

let loading: Promise<OidcProviderModule> | undefined;

export function loadOidcProvider(): Promise<OidcProviderModule> {
  loading ??= loadQuietly();
  return loading;
}

/**
 * It calls every runtime without an LTS name unsupported, which the pinned Node is because it comes as a
 * package: that line would stand in every log.
 */
async function loadQuietly(): Promise<OidcProviderModule> {
  const output = globalThis.console;
  const { warn } = output;
  output.warn = () => undefined;
  try {
    return await import("oidc-provider");
  } finally {
    output.warn = warn;
  }
}
