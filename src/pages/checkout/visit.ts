/** One request on the page of one session: its browser (by a cookie), the session's state, and the language. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { BuyerViewer } from "#access/viewer.ts";
import { parseAcceptLanguage } from "#foundation/text.ts";
import { getPageAssets, basePathOf } from "#pages/shared/assets.ts";
import { type HtmlPage, pageHeaders, renderPage } from "#pages/shared/page.ts";
import { findSessionPage, type SessionPage } from "#commerce/checkout/session-page.ts";
import type { CheckoutServices } from "./checkout-services.ts";
import type { CheckoutDocuments, PageSession } from "./documents.ts";
import { type Language, pageLanguage, type Translate, createTranslator } from "./texts.ts";

export interface CheckoutPageContext {
  readonly services: CheckoutServices;
  readonly documents: CheckoutDocuments;
}

export interface CheckoutVisit {
  readonly room: CheckoutPageContext;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly secret: string;
  /** The page's address below the service's origin. */
  readonly path: string;
  readonly page: SessionPage;
  readonly viewer: BuyerViewer;
  readonly session: PageSession;
  readonly browser: PageBrowser;
  /** It showed a cookie of this session: it has been here before. */
  readonly isKnown: boolean;
  /** It may see what is personal, and pay: nobody has done anything yet, or this browser has. */
  readonly isHolder: boolean;
  readonly language: Language;
  /** How amounts are written; the session's, also where the texts are in another language. */
  readonly locale: string;
  readonly say: Translate;
}

const secretPattern = /^[\w-]{43}$/;

interface FoundSession {
  readonly page: SessionPage;
  readonly viewer: BuyerViewer;
}

/**
 * Undefined: no session has this address. Such tries are counted, and refused when there were too many; who
 * knows an address is not kept out by them.
 */
async function findSession(
  { services }: CheckoutPageContext,
  request: FastifyRequest,
): Promise<FoundSession | undefined> {
  const { secret } = request.params as { readonly secret: string };
  const page = secretPattern.test(secret) ? await findSessionPage(services.db, secret) : undefined;
  if (page !== undefined) return { page, viewer: sessionBuyerViewer(page) };
  await services.limits.requireSecretsLeft(request);
  await services.limits.countWrongSecret(request);
  return undefined;
}

type SessionState = Pick<PageSession, "status" | "version">;

/** For who only wants to know whether there is something new. */
export async function readSessionState(
  room: CheckoutPageContext,
  request: FastifyRequest,
): Promise<SessionState | undefined> {
  const viewer = (await findSession(room, request))?.viewer;
  if (viewer === undefined) return undefined;
  return (
    (await room.documents.status<SessionState | null>({
      viewer,
      requestId: request.id,
      variables: { id: viewer.sessionId },
    })) ?? undefined
  );
}

const languages = new WeakMap<FastifyRequest, Language>();

/** Of the session where it was found, whatever became of the request; else what the browser asks for. */
export const requestLanguage = (request: FastifyRequest): Language =>
  languages.get(request) ?? pageLanguage(parseAcceptLanguage(request.headers["accept-language"])[0] ?? "en");

/** Undefined: no session has this address. A cookie is given to who has none. */
export async function openCheckoutVisit(
  room: CheckoutPageContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<CheckoutVisit | undefined> {
  const { services, documents } = room;
  const { secret } = request.params as { readonly secret: string };
  const found = await findSession(room, request);
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
    room,
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

export const sessionBuyerViewer = ({ sessionId, merchantId, cartId }: SessionPage): BuyerViewer => ({
  kind: "buyer",
  sessionId,
  merchantId,
  cartId,
});

export type CheckoutPageContent = Omit<HtmlPage, "asset" | "isWide">;

/** Nobody is told where a buyer comes from: the address is a secret. */
export function sendCheckoutPage(
  reply: FastifyReply,
  page: CheckoutPageContent,
  publicUrl: string,
): FastifyReply {
  const whole: HtmlPage = { ...page, isWide: true, asset: getPageAssets("checkout", publicUrl) };
  return reply.headers({ ...pageHeaders(whole), "referrer-policy": "no-referrer" }).send(renderPage(whole));
}

/**
 * The cookie of a checkout page: a random name for the browser, tagged with the session's own secret, so that
 * one of another session is none here. Its path is the page's address; browsers send it nowhere else.
 */
const cookieName = "checkout";
const lifeSeconds = 2 * 86_400;

/** Who a browser is on the page of one session. */
interface PageBrowser {
  readonly value: string;
  /** SHA-256 of its name, which is kept. */
  readonly digest: Buffer;
}

function newBrowser(secret: string): PageBrowser {
  return browserOf(randomBytes(32).toString("base64url"), secret);
}

/** Undefined where there is none, or one of another session. */
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

/** Lax: a buyer who comes back by a link of the shop's still has it; a form of another site's does not. */
function cookieHeader({ value }: PageBrowser, secret: string, publicUrl: string): string {
  const path = `${basePathOf(publicUrl)}/checkout/${secret}`;
  const secure = publicUrl.startsWith("https:") ? "; Secure" : "";
  return `${cookieName}=${value}; Path=${path}; Max-Age=${lifeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}
