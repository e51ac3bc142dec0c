/**
 * The data of one request to a checkout page: the browser (identified by a cookie), the state of the checkout
 * session, and the language of the page.
 */
import { timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { CheckoutBuyerViewer } from "#access/viewer.ts";
import {
  type EnteredAddressAndEmail,
  decryptPersonalDataEnteredByBrowser,
} from "#commerce/checkout/entered-data.ts";
import { getPageScriptAndStylePaths, getBasePathOfPublicUrl } from "#pages/shared/assets.ts";
import { type HtmlPage, getPageHttpHeaders, renderHtmlPage } from "#pages/shared/page.ts";
import {
  findCheckoutSessionByPageSecret,
  type CheckoutPageSessionRow,
} from "#commerce/checkout/session-page.ts";
import { getBrandStyleSheetPaths } from "./branding-routes.ts";
import type { CheckoutServices } from "./checkout-services.ts";
import {
  formatCheckoutBrowserCookie,
  getCheckoutCookieAttributes,
  createCheckoutBrowserIdentity,
  type CheckoutBrowserIdentity,
  parseCheckoutBrowserIdentity,
} from "./cookies.ts";
import type { CheckoutPageGraphqlOperations, CheckoutPageSession } from "./documents.ts";
import {
  chooseCheckoutLanguageAndLocale,
  setCheckoutLanguageCookie,
  findLanguagePreferredByBuyer,
} from "./page-language.ts";
import { type CheckoutLanguage, type CheckoutTranslator, createCheckoutTranslator } from "./texts.ts";

export interface CheckoutPageServicesAndDocuments {
  readonly services: CheckoutServices;
  readonly documents: CheckoutPageGraphqlOperations;
}

export interface CheckoutPageVisit {
  readonly pageContext: CheckoutPageServicesAndDocuments;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly secret: string;
  /** The URL path of the checkout page. */
  readonly path: string;
  readonly page: CheckoutPageSessionRow;
  readonly viewer: CheckoutBuyerViewer;
  readonly session: CheckoutPageSession;
  readonly browser: CheckoutBrowserIdentity;
  /**
   * True if the browser sent the cookie of this checkout session, which means that it has opened the page
   * before.
   */
  readonly isKnown: boolean;
  /**
   * True if this browser may change the checkout session, pay, and see personal data. This is true for every
   * browser until one of them changes the session. From then on it is true only for that browser, or for a
   * browser that enters an address later.
   */
  readonly isHolder: boolean;
  /**
   * The address and e-mail address that were entered in this browser. The page may show them completely in
   * this browser.
   */
  readonly entered: EnteredAddressAndEmail;
  readonly language: CheckoutLanguage;
  /** The locale in which the page formats amounts. */
  readonly locale: string;
  readonly say: CheckoutTranslator;
}

const secretPattern = /^[\w-]{43}$/;

interface FoundSession {
  readonly page: CheckoutPageSessionRow;
  readonly viewer: CheckoutBuyerViewer;
}

/**
 * Finds the checkout session of the secret in the URL; undefined if there is none. Counts requests with
 * unknown secrets, and refuses them if there are too many. Never refuses a correct secret for this reason.
 */
async function findSession(
  { services }: CheckoutPageServicesAndDocuments,
  request: FastifyRequest,
): Promise<FoundSession | undefined> {
  const { secret } = request.params as { readonly secret: string };
  const page = secretPattern.test(secret)
    ? await findCheckoutSessionByPageSecret(services.db, secret)
    : undefined;
  if (page !== undefined) return { page, viewer: createCheckoutBuyerViewer(page) };
  await services.limits.requireSecretsLeft(request);
  await services.limits.countWrongSecret(request);
  return undefined;
}

type SessionState = Pick<CheckoutPageSession, "status" | "version">;

export interface CheckoutSessionStatusAndPageRow {
  readonly state: SessionState;
  readonly page: CheckoutPageSessionRow;
}

/**
 * Reads the status and version of the checkout session, with the row of its page. Callers compare the two
 * with earlier values to detect a change of the session.
 */
export async function readCheckoutSessionStatusAndVersion(
  pageContext: CheckoutPageServicesAndDocuments,
  request: FastifyRequest,
): Promise<CheckoutSessionStatusAndPageRow | undefined> {
  const found = await findSession(pageContext, request);
  if (found === undefined) return undefined;
  const { page, viewer } = found;
  const state = await pageContext.documents.status<SessionState | null>({
    viewer,
    requestId: request.id,
    variables: { id: viewer.sessionId },
  });
  return state === null ? undefined : { state, page };
}

/**
 * Returns whether the request comes from the browser to which the checkout session belongs. Only the first
 * browser that changes a session may change it later. Until then, the session belongs to no browser.
 */
export function isCheckoutPageClaimedByBrowser(
  { holderDigest }: CheckoutPageSessionRow,
  request: FastifyRequest,
): boolean {
  const { secret } = request.params as { readonly secret: string };
  const digest = parseCheckoutBrowserIdentity(request.headers.cookie, secret)?.digest;
  return digest !== undefined && holderDigest !== null && timingSafeEqual(holderDigest, digest);
}

const languages = new WeakMap<FastifyRequest, CheckoutLanguage>();

/**
 * The URL paths of the style sheets with the merchant's colour, by request. `loadCheckoutPageVisit` stores
 * them, and `sendCheckoutPage` adds them to the page. A request without a checkout session has none.
 */
const brands = new WeakMap<FastifyRequest, readonly string[]>();

/**
 * Returns the language of the request's checkout page. Without a checkout session, returns the language that
 * the browser prefers.
 */
export const getCheckoutLanguageOfRequest = (request: FastifyRequest): CheckoutLanguage =>
  languages.get(request) ?? findLanguagePreferredByBuyer(request) ?? "en";

const nothingEntered: EnteredAddressAndEmail = { address: undefined, email: undefined };

/**
 * Finds the checkout session of a request and its state for this browser; undefined if no session has this
 * URL. The answer sets the page's cookie if the browser has none.
 */
export async function loadCheckoutPageVisit(
  pageContext: CheckoutPageServicesAndDocuments,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<CheckoutPageVisit | undefined> {
  const { services, documents } = pageContext;
  const { secret } = request.params as { readonly secret: string };
  const found = await findSession(pageContext, request);
  if (found === undefined) return undefined;
  const { page, viewer } = found;
  const session = await documents.session<CheckoutPageSession | null>({
    viewer,
    requestId: request.id,
    variables: { id: viewer.sessionId },
  });
  if (session === null) return undefined;
  const known = parseCheckoutBrowserIdentity(request.headers.cookie, secret);
  const browser = known ?? createCheckoutBrowserIdentity(secret);
  if (known === undefined)
    void reply.header(
      "set-cookie",
      formatCheckoutBrowserCookie(browser, getCheckoutCookieAttributes(secret, services.publicUrl)),
    );
  const isClaimedByBrowser = page.holderDigest !== null && timingSafeEqual(page.holderDigest, browser.digest);
  const { keyring, db } = services;
  const entered = isClaimedByBrowser
    ? await decryptPersonalDataEnteredByBrowser(db, { keyring, cartId: page.cartId, digest: browser.digest })
    : nothingEntered;
  brands.set(request, getBrandStyleSheetPaths(session.merchant, services.publicUrl));
  const { language, locale } = chooseCheckoutLanguageAndLocale(
    findLanguagePreferredByBuyer(request),
    session,
  );
  languages.set(request, language);
  return {
    pageContext,
    request,
    reply,
    secret,
    path: `${getBasePathOfPublicUrl(services.publicUrl)}/checkout/${secret}`,
    page,
    viewer,
    session,
    browser,
    isKnown: known !== undefined,
    isHolder: page.holderDigest === null || isClaimedByBrowser,
    entered,
    language,
    locale,
    say: createCheckoutTranslator(language),
  };
}

/**
 * Returns true if the URL's query contains `stay`, which means that the buyer stays on the page instead of
 * going to the shop.
 */
export const hasBuyerChosenToStayOnCheckoutPage = ({ request }: CheckoutPageVisit): boolean =>
  Object.hasOwn(request.query as object, "stay");

/**
 * Returns the request's data with another language, and stores this language in a cookie for the browser's
 * next requests.
 */
export function switchCheckoutPageLanguage(
  visit: CheckoutPageVisit,
  language: CheckoutLanguage,
): CheckoutPageVisit {
  const { reply, secret, session, pageContext } = visit;
  setCheckoutLanguageCookie(reply, language, {
    attributes: getCheckoutCookieAttributes(secret, pageContext.services.publicUrl),
  });
  return {
    ...visit,
    ...chooseCheckoutLanguageAndLocale(language, session),
    say: createCheckoutTranslator(language),
  };
}

export const createCheckoutBuyerViewer = ({
  sessionId,
  merchantId,
  cartId,
}: CheckoutPageSessionRow): CheckoutBuyerViewer => ({
  kind: "buyer",
  sessionId,
  merchantId,
  cartId,
});

export type CheckoutPageContent = Omit<HtmlPage, "asset" | "isWide">;

/**
 * Sends a checkout page. Its headers stop browsers from sending the page's secret URL to other sites as the
 * referrer.
 */
export function sendCheckoutPage(
  reply: FastifyReply,
  page: CheckoutPageContent,
  publicUrl: string,
): FastifyReply {
  const { scripts, styles } = getPageScriptAndStylePaths("checkout", publicUrl);
  const asset = { scripts, styles: [...styles, ...(brands.get(reply.request) ?? [])] };
  const whole: HtmlPage = { ...page, isWide: true, asset };
  return reply
    .headers({ ...getPageHttpHeaders(whole), "referrer-policy": "no-referrer" })
    .send(renderHtmlPage(whole));
}
