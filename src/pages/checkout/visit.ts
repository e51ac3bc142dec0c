/**
 * One request to the page of one checkout session: the browser (known by a cookie), the session's state, and
 * the language.
 */
import { timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { BuyerViewer } from "#access/viewer.ts";
import { type EnteredPersonalData, findEnteredPersonalData } from "#commerce/checkout/entered-data.ts";
import { getPageAssets, basePathOf } from "#pages/shared/assets.ts";
import { type HtmlPage, pageHeaders, renderPage } from "#pages/shared/page.ts";
import { findCheckoutPageRow, type CheckoutPageRow } from "#commerce/checkout/session-page.ts";
import { getBrandStyleSheetPaths } from "./branding-routes.ts";
import type { CheckoutServices } from "./checkout-services.ts";
import {
  browserCookie,
  cookieAttributes,
  createBrowserIdentity,
  type BrowserIdentity,
  parseBrowserIdentity,
} from "./cookies.ts";
import type { CheckoutDocuments, PageSession } from "./documents.ts";
import { choosePageLanguage, storePageLanguage, preferredLanguage } from "./page-language.ts";
import { type Language, type Translator, createTranslator } from "./texts.ts";

export interface CheckoutPageContext {
  readonly services: CheckoutServices;
  readonly documents: CheckoutDocuments;
}

export interface CheckoutVisit {
  readonly pageContext: CheckoutPageContext;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly secret: string;
  /** The page's URL path. */
  readonly path: string;
  readonly page: CheckoutPageRow;
  readonly viewer: BuyerViewer;
  readonly session: PageSession;
  readonly browser: BrowserIdentity;
  /** True if the browser sent the cookie of this checkout session, so the browser has opened the page before. */
  readonly isKnown: boolean;
  /**
   * True if this browser may change the session, pay, and see personal data. That is the browser that last
   * took the session over, or else the first that changed it; before any change, every browser.
   */
  readonly isHolder: boolean;
  /** The address and e-mail that this browser has entered and may see whole. */
  readonly entered: EnteredPersonalData;
  readonly language: Language;
  /** The locale for amounts. */
  readonly locale: string;
  readonly say: Translator;
}

const secretPattern = /^[\w-]{43}$/;

interface FoundSession {
  readonly page: CheckoutPageRow;
  readonly viewer: BuyerViewer;
}

/**
 * Finds the session of the secret in the address; undefined if there is none. Unknown secrets are counted and
 * refused after too many attempts; requests with a correct secret are never refused for that.
 */
async function findSession(
  { services }: CheckoutPageContext,
  request: FastifyRequest,
): Promise<FoundSession | undefined> {
  const { secret } = request.params as { readonly secret: string };
  const page = secretPattern.test(secret) ? await findCheckoutPageRow(services.db, secret) : undefined;
  if (page !== undefined) return { page, viewer: sessionBuyerViewer(page) };
  await services.limits.requireSecretsLeft(request);
  await services.limits.countWrongSecret(request);
  return undefined;
}

type SessionState = Pick<PageSession, "status" | "version">;

/** Reads the session's status and version, to see whether the page has changed. */
export async function readSessionState(
  pageContext: CheckoutPageContext,
  request: FastifyRequest,
): Promise<SessionState | undefined> {
  const viewer = (await findSession(pageContext, request))?.viewer;
  if (viewer === undefined) return undefined;
  return (
    (await pageContext.documents.status<SessionState | null>({
      viewer,
      requestId: request.id,
      variables: { id: viewer.sessionId },
    })) ?? undefined
  );
}

const languages = new WeakMap<FastifyRequest, Language>();

/**
 * The URL paths of the style sheets with a merchant's colour, by request. Set when a request has found its
 * checkout session.
 */
const brands = new WeakMap<FastifyRequest, readonly string[]>();

/** Returns the page's language if the session was found, else the language that the browser prefers. */
export const getRequestLanguage = (request: FastifyRequest): Language =>
  languages.get(request) ?? preferredLanguage(request) ?? "en";

const nothingEntered: EnteredPersonalData = { address: undefined, email: undefined };

/**
 * Opens the session's page for a request; undefined if no session has this address. Sets the page's cookie if
 * the browser has none.
 */
export async function openCheckoutVisit(
  pageContext: CheckoutPageContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<CheckoutVisit | undefined> {
  const { services, documents } = pageContext;
  const { secret } = request.params as { readonly secret: string };
  const found = await findSession(pageContext, request);
  if (found === undefined) return undefined;
  const { page, viewer } = found;
  const session = await documents.session<PageSession | null>({
    viewer,
    requestId: request.id,
    variables: { id: viewer.sessionId },
  });
  if (session === null) return undefined;
  const known = parseBrowserIdentity(request.headers.cookie, secret);
  const browser = known ?? createBrowserIdentity(secret);
  if (known === undefined)
    void reply.header("set-cookie", browserCookie(browser, cookieAttributes(secret, services.publicUrl)));
  const isClaimedByBrowser = page.holderDigest !== null && timingSafeEqual(page.holderDigest, browser.digest);
  const { keyring, db } = services;
  const entered = isClaimedByBrowser
    ? await findEnteredPersonalData(db, { keyring, cartId: page.cartId, digest: browser.digest })
    : nothingEntered;
  brands.set(request, getBrandStyleSheetPaths(session.merchant, services.publicUrl));
  const { language, locale } = choosePageLanguage(preferredLanguage(request), session);
  languages.set(request, language);
  return {
    pageContext,
    request,
    reply,
    secret,
    path: `${basePathOf(services.publicUrl)}/checkout/${secret}`,
    page,
    viewer,
    session,
    browser,
    isKnown: known !== undefined,
    isHolder: page.holderDigest === null || isClaimedByBrowser,
    entered,
    language,
    locale,
    say: createTranslator(language),
  };
}

/** True if the buyer has chosen not to be taken back to the shop. */
export const hasDeclinedReturnToShop = ({ request }: CheckoutVisit): boolean =>
  Object.hasOwn(request.query as object, "stay");

/** Returns the visit in another language, and keeps the language for the next requests of the browser. */
export function changeVisitLanguage(visit: CheckoutVisit, language: Language): CheckoutVisit {
  const { reply, secret, session, pageContext } = visit;
  storePageLanguage(reply, language, {
    attributes: cookieAttributes(secret, pageContext.services.publicUrl),
  });
  return { ...visit, ...choosePageLanguage(language, session), say: createTranslator(language) };
}

export const sessionBuyerViewer = ({ sessionId, merchantId, cartId }: CheckoutPageRow): BuyerViewer => ({
  kind: "buyer",
  sessionId,
  merchantId,
  cartId,
});

export type CheckoutPageContent = Omit<HtmlPage, "asset" | "isWide">;

/** Sends a checkout page. Browsers send no referrer from it, because its address is secret. */
export function sendCheckoutPage(
  reply: FastifyReply,
  page: CheckoutPageContent,
  publicUrl: string,
): FastifyReply {
  const { scripts, styles } = getPageAssets("checkout", publicUrl);
  const asset = { scripts, styles: [...styles, ...(brands.get(reply.request) ?? [])] };
  const whole: HtmlPage = { ...page, isWide: true, asset };
  return reply.headers({ ...pageHeaders(whole), "referrer-policy": "no-referrer" }).send(renderPage(whole));
}
