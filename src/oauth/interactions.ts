/**
 * The pages between an app's request and its answer: sign-in, then consent. Who an answer is from is known by the interaction's cookie, which no other
 * site can send along; what was asked lies sealed under the interaction's id.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Provider } from "oidc-provider";
import { answerConsent, answerDenial, showConsent } from "./consent.ts";
import { type Exchange, finish, forgetSession, openExchange, showEnded, showPage, signOut } from "./exchange.ts";
import { answerOnPage } from "./faults.ts";
import type { OauthServices } from "./oauth-services.ts";
import { signInPage } from "./pages.ts";
import { createSignIn, loginOf, type SignIn } from "./sign-in.ts";

export const interactionPath = "/oauth/interaction/:uid";
const formBytesMax = 16 * 1024;

type Answer = (exchange: Exchange) => Promise<FastifyReply> | FastifyReply;

export function mountInteractions(server: FastifyInstance, services: OauthServices, currentProvider: () => Promise<Provider>): void {
  const signIn = createSignIn(services);
  const { origin } = new URL(services.publicUrl);
  const answering =
    (answerIt: Answer) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const exchange = await openExchange(await currentProvider(), services.db, { request, reply });
      return exchange === undefined ? showEnded(reply) : answerIt(exchange);
    };
  const answerForm: Answer = (exchange) => (isFromHere(exchange.request, origin) ? answer(exchange, services, signIn) : showEnded(exchange.reply));
  void server.register((pages, _options, done) => {
    pages.setErrorHandler(answerOnPage(services));
    pages.removeAllContentTypeParsers();
    pages.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string", bodyLimit: formBytesMax }, (_request, body, parsed) =>
      parsed(null, new URLSearchParams(body.toString())),
    );
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

/** Browsers say where a form was sent from; that other sites send no cookie along is the first lock, this is the second. */
function isFromHere({ headers }: FastifyRequest, origin: string): boolean {
  const site = headers["sec-fetch-site"];
  return (site === undefined || site === "same-origin") && (headers.origin === undefined || headers.origin === origin);
}

const isConsent = ({ interaction }: Exchange): boolean => interaction.prompt.name === "consent";

function show(exchange: Exchange, services: OauthServices): Promise<FastifyReply> | FastifyReply {
  return isConsent(exchange) ? showConsent(exchange, services) : showSignIn(exchange, { email: "" });
}

function answer(exchange: Exchange, services: OauthServices, signIn: SignIn): Promise<FastifyReply> | FastifyReply {
  const form = exchange.request.body instanceof URLSearchParams ? exchange.request.body : new URLSearchParams();
  const action = form.get("action");
  if (action === "deny") return answerDenial(exchange, services);
  if (action === "switch") return signOut(exchange);
  if (action === "allow" && isConsent(exchange)) return answerConsent(exchange, services, form.getAll("scope"));
  if (action === "sign-in" && !isConsent(exchange)) return answerSignIn(exchange, signIn, form);
  // A form of a page before this one.
  return show(exchange, services);
}

function showSignIn({ client, leadsTo, reply }: Exchange, { email, fault }: { readonly email: string; readonly fault?: string }): FastifyReply {
  return showPage(reply, signInPage({ app: { name: client.appName, publisher: client.publisher }, leadsTo, email, fault }));
}

const textLengthMax = 512;

async function answerSignIn(exchange: Exchange, signIn: SignIn, form: URLSearchParams): Promise<FastifyReply> {
  const { interaction, request, reply } = exchange;
  const [email = "", password = ""] = ["email", "password"].map((name) => (form.get(name) ?? "").slice(0, textLengthMax));
  const again = (status: number, fault: string): FastifyReply => showSignIn({ ...exchange, reply: reply.code(status) }, { email, fault });
  if (email === "" || password === "") return again(400, "Enter your e-mail address and your password.");
  const outcome = await signIn({ email, password, address: request.ip });
  if (outcome.kind === "refused") return again(400, "The e-mail address or the password is not right.");
  if (outcome.kind !== "signed_in") {
    const isBusy = outcome.kind === "busy";
    request.failureCode = isBusy ? "service_unavailable" : "too_many_failed_attempts";
    void reply.header("retry-after", String(outcome.retryAfterSeconds));
    return isBusy
      ? again(503, "Too many people are signing in at the moment. Try again in a few seconds.")
      : again(429, `There were too many attempts. Try again in ${Math.ceil(outcome.retryAfterSeconds / 60)} min.`);
  }
  const { staffId } = outcome.staff;
  if (interaction.session !== undefined && interaction.session.accountId !== staffId) await forgetSession(exchange);
  return finish(exchange, { login: loginOf(outcome.staff) });
}
