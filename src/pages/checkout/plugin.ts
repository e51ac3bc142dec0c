/**
 * Routes of the hosted checkout page, `/checkout/<secret>`. The server renders the page, which works without
 * a script. Everyone who knows the URL can read the page, so the secret appears only in the page's own forms
 * and in no log line. Forms need the page's cookie and must come from the same origin.
 */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { toServiceUnavailableIfTemporary } from "#database/database-errors.ts";
import { type Failure, createFailure, getRetryAfterSeconds, toFailure } from "#foundation/failure.ts";
import { getSubmittedForm, isSameOriginRequest, acceptOnlyFormBodies } from "#http/body.ts";
import { runCheckoutFormAction } from "./form-actions.ts";
import { findEnteredAddressFaults, readEnteredAddress } from "./address-view.ts";
import { formatWaitTime } from "./amounts.ts";
import {
  type CheckoutPluginOptions,
  type CheckoutServices,
  createCheckoutServices,
} from "./checkout-services.ts";
import {
  canBrowserAnswerCardChallenge,
  isPaymentAwaitingCardChallenge,
  sendCardChallengePage,
  recordCardChallengeAnswer,
} from "./card-challenge.ts";
import { registerBrandingRoutes } from "./branding-routes.ts";
import { renderCheckoutPage } from "./checkout-view.ts";
import { compileCheckoutPageGraphqlOperations, type CheckoutPageOrder } from "./documents.ts";
import {
  renderEndedCheckoutSessionPage,
  renderCheckoutMessagePage,
  renderUnknownCheckoutSessionPage,
} from "./outcome-view.ts";
import { mustBuyerOpenPaymentPage, renderPaymentInProgressPage } from "./payment-page.ts";
import { type CheckoutLanguage, createCheckoutTranslator } from "./texts.ts";
import { renderOrderCompletedPage } from "./thanks-view.ts";
import {
  getCheckoutLanguageOfRequest,
  isCheckoutPageClaimedByBrowser,
  loadCheckoutPageVisit,
  readCheckoutSessionStatusAndVersion,
  type CheckoutPageServicesAndDocuments,
  sendCheckoutPage,
  type CheckoutPageContent,
  type CheckoutPageVisit,
} from "./visit.ts";

const pagePath = "/checkout/:secret";
const checkPath = `${pagePath}/address-check`;
const statusPath = `${pagePath}/status`;
const challengePath = `${pagePath}/challenge`;

type Answer = (visit: CheckoutPageVisit) => Promise<FastifyReply> | FastifyReply;

export const checkoutPlugin: FastifyPluginAsync<CheckoutPluginOptions> = async (server, options) => {
  const services = createCheckoutServices(options);
  const pageContext: CheckoutPageServicesAndDocuments = {
    services,
    documents: compileCheckoutPageGraphqlOperations(services.compile),
  };
  const visiting = (answer: Answer) => async (request: FastifyRequest, reply: FastifyReply) => {
    const visit = await loadCheckoutPageVisit(pageContext, request, reply);
    return visit === undefined ? sendUnknown(request, reply, services) : answer(visit);
  };
  await server.register(async (pages) => {
    acceptOnlyFormBodies(pages);
    pages.addHook("onRequest", services.limits.takeAddress);
    pages.setErrorHandler(answerFault(services));
    pages.get(pagePath, visiting(show));
    pages.post(pagePath, visiting(takeForm));
    pages.get(statusPath, sendSessionState(pageContext));
    pages.post(checkPath, visiting(checkAddress));
    pages.get(challengePath, visiting(sendCardChallengePage));
    pages.post(challengePath, visiting(takeAnswer));
  });
  registerBrandingRoutes(server, services.db, services.limits.takeAddress);
};

async function show(visit: CheckoutPageVisit): Promise<FastifyReply> {
  const { session, reply, path, pageContext } = visit;
  if (await canBrowserAnswerCardChallenge(visit)) return reply.redirect(`${path}/challenge`, 303);
  const isGone = (session.status === "canceled" && !isLeaving(visit)) || session.status === "expired";
  return sendCheckoutPage(
    reply.code(isGone ? 410 : 200),
    await pageOf(visit),
    pageContext.services.publicUrl,
  );
}

async function pageOf(visit: CheckoutPageVisit): Promise<CheckoutPageContent> {
  const { session } = visit;
  if (session.status === "processing") return renderPaymentInProgressPage(visit);
  if (session.status === "completed") return renderOrderCompletedPage(visit, await orderOf(visit));
  if (session.status === "open") return renderCheckoutPage(visit);
  return renderEndedCheckoutSessionPage(visit, { isLeaving: isLeaving(visit) });
}

/** True if the buyer has just canceled the checkout; the page then redirects to the shop. */
const isLeaving = ({ request, session, isHolder }: CheckoutPageVisit): boolean =>
  isHolder && session.status === "canceled" && Object.hasOwn(request.query as object, "left");

/** Loads the order of a completed checkout. Returns it only to the browser that placed the order. */
async function orderOf({
  session,
  pageContext,
  viewer,
  request,
  isHolder,
}: CheckoutPageVisit): Promise<CheckoutPageOrder | undefined> {
  if (session.orderId === null || !isHolder) return undefined;
  const documentRequest = { viewer, requestId: request.id, variables: { id: session.orderId } };
  return (await pageContext.documents.order<CheckoutPageOrder | null>(documentRequest)) ?? undefined;
}

async function takeForm(visit: CheckoutPageVisit): Promise<FastifyReply> {
  return (
    (isOwnForm(visit) ? await runCheckoutFormAction(visit, getSubmittedForm(visit.request)) : undefined) ??
    sendRefused(visit)
  );
}

const takeAnswer: Answer = (visit) =>
  isOwnForm(visit) ? recordCardChallengeAnswer(visit) : sendRefused(visit);

/**
 * True if a form was sent from the checkout page itself. Because the page sends no referrer, browsers send
 * the origin `null`. The header `Sec-Fetch-Site` then shows whether the form comes from the same origin.
 */
function isOwnForm({ request, isKnown, pageContext }: CheckoutPageVisit): boolean {
  const { headers } = request;
  const { origin } = new URL(pageContext.services.publicUrl);
  const site = headers["sec-fetch-site"];
  const hasHiddenOrigin = headers.origin === "null" && (site === undefined || site === "same-origin");
  return isKnown && (hasHiddenOrigin || isSameOriginRequest(request, origin));
}

function sendRefused({ request, reply, language, say, path, pageContext }: CheckoutPageVisit): FastifyReply {
  request.failureCode = "role_not_allowed";
  const page = renderCheckoutMessagePage(language, {
    title: say("refused"),
    text: say("refusedText"),
    again: { text: say("tryAgain"), path },
  });
  return sendCheckoutPage(reply.code(403), page, pageContext.services.publicUrl);
}

/**
 * Answers the page's script with the status and version of the checkout session, and whether the bank waits
 * for the buyer's confirmation. The script requests this regularly and reloads the page after a change.
 */
const sendSessionState =
  (pageContext: CheckoutPageServicesAndDocuments) => async (request: FastifyRequest, reply: FastifyReply) => {
    const found = await readCheckoutSessionStatusAndVersion(pageContext, request);
    if (found === undefined) return sendUnknown(request, reply, pageContext.services);
    const { state, page } = found;
    const challenge =
      state.status === "processing" &&
      isCheckoutPageClaimedByBrowser(page, request) &&
      ((await isPaymentAwaitingCardChallenge(pageContext, page.sessionId)) ||
        (await mustBuyerOpenPaymentPage(pageContext, request, page.sessionId)));
    return sendJson(reply, { ...state, challenge });
  };

/** Answers the page's script with the faults of the address that the buyer is typing. Stores nothing. */
const checkAddress: Answer = (visit) => {
  if (!isOwnForm(visit)) return sendJson(visit.reply.code(403), { faults: [] });
  const typed = readEnteredAddress(getSubmittedForm(visit.request));
  return sendJson(visit.reply, { faults: findEnteredAddressFaults(typed, visit) });
};

const sendJson = (reply: FastifyReply, body: unknown): FastifyReply =>
  reply
    .header("cache-control", "no-store")
    .header("referrer-policy", "no-referrer")
    .type("application/json; charset=utf-8")
    .send(JSON.stringify(body));

function sendUnknown(
  request: FastifyRequest,
  reply: FastifyReply,
  { publicUrl }: CheckoutServices,
): FastifyReply {
  request.failureCode = "checkout_session_not_found";
  return sendCheckoutPage(
    reply.code(404),
    renderUnknownCheckoutSessionPage(getCheckoutLanguageOfRequest(request)),
    publicUrl,
  );
}

/**
 * Answers errors of the checkout routes with a page that says what the buyer can do. Examples are too many
 * requests, a malformed form, and an unavailable database. The page repeats no text of the request.
 */
function answerFault({
  log,
  publicUrl,
}: CheckoutServices): (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  return (error, request, reply) => {
    const failure = toRefusal(error);
    if (failure.status >= 500)
      log.error(
        { requestId: request.id, code: failure.code, err: failure.cause },
        "A request failed with a server error.",
      );
    request.failureCode = failure.code;
    const retryAfter = getRetryAfterSeconds(failure);
    void reply.code(failure.status).headers(retryAfter === null ? {} : { "retry-after": String(retryAfter) });
    const language = getCheckoutLanguageOfRequest(request);
    return sendCheckoutPage(
      reply,
      renderCheckoutMessagePage(language, {
        ...faultText(failure, language),
        again: { text: createCheckoutTranslator(language)("tryAgain"), path: hereAgain },
      }),
      publicUrl,
    );
  };
}

/**
 * A link with an empty URL, which loads the current page again. The page's real URL is not written, because
 * it contains the secret of the checkout session.
 */
const hereAgain = "";

function faultText(
  failure: Failure,
  language: CheckoutLanguage,
): { readonly title: string; readonly text: string } {
  const say = createCheckoutTranslator(language);
  const time = formatWaitTime(getRetryAfterSeconds(failure) ?? 60, language);
  if (failure.status === 429) return { title: say("tooMany"), text: say("tooManyText", { time }) };
  return failure.status >= 500
    ? { title: say("away"), text: say("awayText") }
    : { title: say("refused"), text: say("refusedText") };
}

/**
 * Converts an error into a failure. Fastify's own errors, for example for a body that is too large, have
 * their status in `statusCode`.
 */
function toRefusal(error: unknown): Failure {
  const status = (error as { readonly statusCode?: number }).statusCode ?? 500;
  return status < 500
    ? createFailure("malformed_request", { cause: error })
    : toServiceUnavailableIfTemporary(toFailure(error));
}
