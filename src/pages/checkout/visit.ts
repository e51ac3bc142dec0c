/**
 * One request to the page of one checkout session: the browser (known by a cookie), the session's state, and
 * the language.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { BuyerViewer } from "#access/viewer.ts";
import { parseAcceptLanguage } from "#foundation/text.ts";
import { getPageAssets, basePathOf } from "#pages/shared/assets.ts";
import { type HtmlPage, pageHeaders, renderPage } from "#pages/shared/page.ts";
import { findCheckoutPageRow, type CheckoutPageRow } from "#commerce/checkout/session-page.ts";
import type { CheckoutServices } from "./checkout-services.ts";
import type { CheckoutDocuments, PageSession } from "./documents.ts";
import { type Language, pageLanguage, type Translate, createTranslator } from "./texts.ts";

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
  readonly browser: PageBrowser;
  /** True if the browser sent this session's cookie, so it has opened the page before. */
  readonly isKnown: boolean;
  /**
   * True if this browser may change the session, pay, and see personal data. That is the browser that last
   * took the session over, or else the first that changed it; before any change, every browser.
   */
  readonly isHolder: boolean;
  readonly language: Language;
  /** The locale for amounts: the session's, even if the texts are in another language. */
  readonly locale: string;
  readonly say: Translate;
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

/** Returns the session's language if the session was found, else the language that the browser prefers. */
export const requestLanguage = (request: FastifyRequest): Language =>
  languages.get(request) ?? pageLanguage(parseAcceptLanguage(request.headers["accept-language"])[0] ?? "en");

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
  const known = readBrowser(request.headers.cookie, secret);
  const browser = known ?? newBrowser(secret);
  if (known === undefined) void reply.header("set-cookie", cookieHeader(browser, secret, services.publicUrl));
  const language = pageLanguage(session.locale);
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
    isHolder: page.holderDigest === null || timingSafeEqual(page.holderDigest, browser.digest),
    language,
    locale: session.locale,
    say: createTranslator(language),
  };
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
  const whole: HtmlPage = { ...page, isWide: true, asset: getPageAssets("checkout", publicUrl) };
  return reply.headers({ ...pageHeaders(whole), "referrer-policy": "no-referrer" }).send(renderPage(whole));
}

/**
 * The cookie of a checkout page: a random name for the browser, signed with the session's secret, so that the
 * cookie of another session is not accepted. Its path is the page's address, so browsers send it nowhere
 * else.
 */
const cookieName = "checkout";
const lifeSeconds = 2 * 86_400;

/** A browser's identity on the page of one session. */
interface PageBrowser {
  readonly value: string;
  /** SHA-256 of the browser's random name. The database stores only this digest. */
  readonly digest: Buffer;
}

function newBrowser(secret: string): PageBrowser {
  return browserOf(randomBytes(32).toString("base64url"), secret);
}

/** Reads the browser from the cookie header; undefined if the cookie is missing or belongs to another session. */
function readBrowser(header: string | undefined, secret: string): PageBrowser | undefined {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  const value = pairs.find((pair) => pair.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1) ?? "";
  const [name = "", tag = ""] = value.split(".");
  const made = browserOf(name, secret);
  const [given, right] = [Buffer.from(tag), Buffer.from(made.value.slice(name.length + 1))];
  return name !== "" && given.length === right.length && timingSafeEqual(given, right) ? made : undefined;
}

function browserOf(name: string, secret: string): PageBrowser {
  const tag = createHmac("sha256", secret).update(`checkout page ${name}`).digest("base64url");
  return { value: `${name}.${tag}`, digest: createHash("sha256").update(name).digest() };
}

/**
 * SameSite=Lax: browsers send the cookie when the buyer follows a link from the shop, but not with a form of
 * another site.
 */
function cookieHeader({ value }: PageBrowser, secret: string, publicUrl: string): string {
  const path = `${basePathOf(publicUrl)}/checkout/${secret}`;
  const secure = publicUrl.startsWith("https:") ? "; Secure" : "";
  return `${cookieName}=${value}; Path=${path}; Max-Age=${lifeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}
