/**
 * The pages between an app's authorization request and the answer: sign-in, then consent. A cookie identifies
 * the interaction. Browsers do not send the cookie with forms of other sites. The request is stored encrypted
 * under the interaction's id.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Provider } from "oidc-provider";
import {
  createStaffSignInFunction,
  emptySignInPageError,
  type StaffSignInFunction,
  type SignInPageError,
  createSignInPageError,
  parseSignInForm,
} from "#access/people/staff-sessions.ts";
import { getSubmittedForm, isSameOriginRequest, acceptOnlyFormBodies } from "#http/body.ts";
import { acceptConsent, denyConsent, sendConsentPage } from "./consent.ts";
import {
  type InteractionRequest,
  finishInteraction,
  destroyInteractionSession,
  findInteractionRequest,
  sendSignInEndedPage,
  sendOauthPage,
  signOutAndRestart,
} from "./interaction-request.ts";
import { createErrorPageHandler } from "./error-handlers.ts";
import type { OauthServices } from "./oauth-services.ts";
import { toLoginResult, renderOauthSignInPage } from "./pages.ts";

export const interactionRoute = "/oauth/interaction/:uid";

type InteractionHandler = (exchange: InteractionRequest) => Promise<FastifyReply> | FastifyReply;

export function registerInteractionRoutes(
  server: FastifyInstance,
  services: OauthServices,
  currentProvider: () => Promise<Provider>,
): void {
  const signIn = createStaffSignInFunction(services);
  const { origin } = new URL(services.publicUrl);
  const handleInteraction =
    (handle: InteractionHandler) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const exchange = await findInteractionRequest(await currentProvider(), services.db, { request, reply });
      return exchange === undefined ? sendSignInEndedPage(reply) : handle(exchange);
    };
  const handlePost: InteractionHandler = (exchange) =>
    isSameOriginRequest(exchange.request, origin)
      ? handleForm(exchange, services, signIn)
      : sendSignInEndedPage(exchange.reply);
  void server.register((pages, _options, done) => {
    pages.setErrorHandler(createErrorPageHandler(services));
    acceptOnlyFormBodies(pages);
    const limited = { onRequest: services.limitAddress };
    pages.get(
      interactionRoute,
      limited,
      handleInteraction((exchange) => sendCurrentPage(exchange, services)),
    );
    pages.post(interactionRoute, limited, handleInteraction(handlePost));
    done();
  });
}

const isConsent = ({ interaction }: InteractionRequest): boolean => interaction.prompt.name === "consent";

function sendCurrentPage(
  exchange: InteractionRequest,
  services: OauthServices,
): Promise<FastifyReply> | FastifyReply {
  return isConsent(exchange) ? sendConsentPage(exchange, services) : sendSignInPage(exchange, { email: "" });
}

function handleForm(
  exchange: InteractionRequest,
  services: OauthServices,
  signIn: StaffSignInFunction,
): Promise<FastifyReply> | FastifyReply {
  const form = getSubmittedForm(exchange.request);
  const action = form.get("action");
  if (action === "deny") return denyConsent(exchange, services);
  if (action === "switch") return signOutAndRestart(exchange);
  if (action === "allow" && isConsent(exchange))
    return acceptConsent(exchange, services, form.getAll("scope"));
  if (action === "sign-in" && !isConsent(exchange)) return handleSignIn(exchange, signIn, form);
  // The browser sent a form of an earlier step, for example the sign-in form after the sign-in. The answer is
  // the page of the current step.
  return sendCurrentPage(exchange, services);
}

function sendSignInPage(
  { client, leadsTo, reply }: InteractionRequest,
  { email, fault }: { readonly email: string; readonly fault?: string },
): FastifyReply {
  return sendOauthPage(
    reply,
    renderOauthSignInPage({
      app: { name: client.appName, publisher: client.publisher },
      leadsTo,
      email,
      fault,
    }),
  );
}

async function handleSignIn(
  exchange: InteractionRequest,
  signIn: StaffSignInFunction,
  form: URLSearchParams,
): Promise<FastifyReply> {
  const { interaction, request, reply } = exchange;
  const { email, password } = parseSignInForm(form);
  const sendSignInError = ({ status, message, code, retryAfterSeconds }: SignInPageError): FastifyReply => {
    request.failureCode = code;
    if (retryAfterSeconds !== null) void reply.header("retry-after", String(retryAfterSeconds));
    return sendSignInPage({ ...exchange, reply: reply.code(status) }, { email, fault: message });
  };
  if (email === "" || password === "") return sendSignInError(emptySignInPageError);
  const outcome = await signIn({ email, password, address: request.ip });
  if (outcome.kind !== "signed_in") return sendSignInError(createSignInPageError(outcome));
  const { staffId } = outcome.staff;
  if (interaction.session !== undefined && interaction.session.accountId !== staffId)
    await destroyInteractionSession(exchange);
  return finishInteraction(exchange, { login: toLoginResult(outcome.staff) });
}
