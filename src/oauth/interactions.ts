/**
 * The pages between an app's request and its answer: sign-in, then consent. Who an answer is from is known by
 * the interaction's cookie, which no other site can send along; what was asked lies sealed under the
 * interaction's id.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Provider } from "oidc-provider";
import {
  createSignIn,
  emptySignInError,
  type SignIn,
  type SignInError,
  signInError,
  readSignInForm,
} from "#access/people/staff-sessions.ts";
import { formOf, isFromHere, takeForms } from "#http/body.ts";
import { answerConsent, answerDenial, showConsent } from "./consent.ts";
import {
  type Exchange,
  finish,
  forgetSession,
  openExchange,
  showEnded,
  showPage,
  signOut,
} from "./exchange.ts";
import { answerOnPage } from "./faults.ts";
import type { OauthServices } from "./oauth-services.ts";
import { loginOf, signInPage } from "./pages.ts";

export const interactionPath = "/oauth/interaction/:uid";

type Answer = (exchange: Exchange) => Promise<FastifyReply> | FastifyReply;

export function mountInteractions(
  server: FastifyInstance,
  services: OauthServices,
  currentProvider: () => Promise<Provider>,
): void {
  const signIn = createSignIn(services);
  const { origin } = new URL(services.publicUrl);
  const answering =
    (answerIt: Answer) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const exchange = await openExchange(await currentProvider(), services.db, { request, reply });
      return exchange === undefined ? showEnded(reply) : answerIt(exchange);
    };
  const answerForm: Answer = (exchange) =>
    isFromHere(exchange.request, origin) ? answer(exchange, services, signIn) : showEnded(exchange.reply);
  void server.register((pages, _options, done) => {
    pages.setErrorHandler(answerOnPage(services));
    takeForms(pages);
    const limited = { onRequest: services.limitAddress };
    pages.get(
      interactionPath,
      limited,
      answering((exchange) => show(exchange, services)),
    );
    pages.post(interactionPath, limited, answering(answerForm));
    done();
  });
}

const isConsent = ({ interaction }: Exchange): boolean => interaction.prompt.name === "consent";

function show(exchange: Exchange, services: OauthServices): Promise<FastifyReply> | FastifyReply {
  return isConsent(exchange) ? showConsent(exchange, services) : showSignIn(exchange, { email: "" });
}

function answer(
  exchange: Exchange,
  services: OauthServices,
  signIn: SignIn,
): Promise<FastifyReply> | FastifyReply {
  const form = formOf(exchange.request);
  const action = form.get("action");
  if (action === "deny") return answerDenial(exchange, services);
  if (action === "switch") return signOut(exchange);
  if (action === "allow" && isConsent(exchange))
    return answerConsent(exchange, services, form.getAll("scope"));
  if (action === "sign-in" && !isConsent(exchange)) return answerSignIn(exchange, signIn, form);
  // A form of a page before this one.
  return show(exchange, services);
}

function showSignIn(
  { client, leadsTo, reply }: Exchange,
  { email, fault }: { readonly email: string; readonly fault?: string },
): FastifyReply {
  return showPage(
    reply,
    signInPage({ app: { name: client.appName, publisher: client.publisher }, leadsTo, email, fault }),
  );
}

async function answerSignIn(
  exchange: Exchange,
  signIn: SignIn,
  form: URLSearchParams,
): Promise<FastifyReply> {
  const { interaction, request, reply } = exchange;
  const { email, password } = readSignInForm(form);
  const again = ({ status, message, code, retryAfterSeconds }: SignInError): FastifyReply => {
    request.failureCode = code;
    if (retryAfterSeconds !== null) void reply.header("retry-after", String(retryAfterSeconds));
    return showSignIn({ ...exchange, reply: reply.code(status) }, { email, fault: message });
  };
  if (email === "" || password === "") return again(emptySignInError);
  const outcome = await signIn({ email, password, address: request.ip });
  if (outcome.kind !== "signed_in") return again(signInError(outcome));
  const { staffId } = outcome.staff;
  if (interaction.session !== undefined && interaction.session.accountId !== staffId)
    await forgetSession(exchange);
  return finish(exchange, { login: loginOf(outcome.staff) });
}
