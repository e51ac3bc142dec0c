/**
 * The pages that the browser shows between an app's authorization request and the answer to the app: sign-in,
 * then consent. A cookie identifies the interaction. Browsers do not send the cookie with forms of other
 * sites. The app's request is stored encrypted under the interaction's id.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Provider } from "oidc-provider";
import {
  createStaffSignInFunction,
  emptySignInPageError,
  type StaffSignInFunction,
  type StaffSignInPageError,
  createStaffSignInPageError,
  parseStaffSignInForm,
} from "#access/people/staff-sessions.ts";
import { getSubmittedForm, isSameOriginRequest, acceptOnlyFormBodies } from "#http/body.ts";
import { acceptOauthConsent, denyOauthConsent, sendOauthConsentPage } from "./consent.ts";
import {
  type OauthInteractionRequest,
  finishOauthInteraction,
  destroyOauthInteractionSession,
  findOauthInteractionOfRequest,
  sendOauthSignInEndedPage,
  sendOauthPage,
  signOutStaffAndRestartInteraction,
} from "./interaction-request.ts";
import { createOauthErrorPageHandler } from "./error-handlers.ts";
import type { OauthServices } from "./oauth-services.ts";
import { toOidcLoginResult, renderOauthSignInPage } from "./pages.ts";

const interactionRoute = "/oauth/interaction/:uid";

type InteractionHandler = (exchange: OauthInteractionRequest) => Promise<FastifyReply> | FastifyReply;

export function registerOauthInteractionRoutes(
  server: FastifyInstance,
  services: OauthServices,
  currentProvider: () => Promise<Provider>,
): void {
  const signIn = createStaffSignInFunction(services);
  const { origin } = new URL(services.publicUrl);
  const handleInteraction =
    (handle: InteractionHandler) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const exchange = await findOauthInteractionOfRequest(await currentProvider(), services.db, {
        request,
        reply,
      });
      return exchange === undefined ? sendOauthSignInEndedPage(reply) : handle(exchange);
    };
  const handlePost: InteractionHandler = (exchange) =>
    isSameOriginRequest(exchange.request, origin)
      ? handleForm(exchange, services, signIn)
      : sendOauthSignInEndedPage(exchange.reply);
  void server.register((pages, _options, done) => {
    pages.setErrorHandler(createOauthErrorPageHandler(services));
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

const isConsent = ({ interaction }: OauthInteractionRequest): boolean =>
  interaction.prompt.name === "consent";

function sendCurrentPage(
  exchange: OauthInteractionRequest,
  services: OauthServices,
): Promise<FastifyReply> | FastifyReply {
  return isConsent(exchange)
    ? sendOauthConsentPage(exchange, services)
    : sendSignInPage(exchange, { email: "" });
}

function handleForm(
  exchange: OauthInteractionRequest,
  services: OauthServices,
  signIn: StaffSignInFunction,
): Promise<FastifyReply> | FastifyReply {
  const form = getSubmittedForm(exchange.request);
  const action = form.get("action");
  if (action === "deny") return denyOauthConsent(exchange, services);
  if (action === "switch") return signOutStaffAndRestartInteraction(exchange);
  if (action === "allow" && isConsent(exchange))
    return acceptOauthConsent(exchange, services, form.getAll("scope"));
  if (action === "sign-in" && !isConsent(exchange)) return handleSignIn(exchange, signIn, form);
  // The browser sent a form of another step than the current one, for example the sign-in form after the
  // sign-in. The answer is the page of the current step.
  return sendCurrentPage(exchange, services);
}

function sendSignInPage(
  { client, leadsTo, reply }: OauthInteractionRequest,
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
  exchange: OauthInteractionRequest,
  signIn: StaffSignInFunction,
  form: URLSearchParams,
): Promise<FastifyReply> {
  const { interaction, request, reply } = exchange;
  const { email, password } = parseStaffSignInForm(form);
  const sendSignInError = ({
    status,
    message,
    code,
    retryAfterSeconds,
  }: StaffSignInPageError): FastifyReply => {
    request.failureCode = code;
    if (retryAfterSeconds !== null) void reply.header("retry-after", String(retryAfterSeconds));
    return sendSignInPage({ ...exchange, reply: reply.code(status) }, { email, fault: message });
  };
  if (email === "" || password === "") return sendSignInError(emptySignInPageError);
  const outcome = await signIn({ email, password, address: request.ip });
  if (outcome.kind !== "signed_in") return sendSignInError(createStaffSignInPageError(outcome));
  const { staffId } = outcome.staff;
  if (interaction.session !== undefined && interaction.session.accountId !== staffId)
    await destroyOauthInteractionSession(exchange);
  return finishOauthInteraction(exchange, { login: toOidcLoginResult(outcome.staff) });
}
