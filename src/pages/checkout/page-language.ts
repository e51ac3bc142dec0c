/**
 * Chooses the language of the checkout page. The first choice is the buyer's own choice on the page, which is
 * stored in a cookie only for the checkout page. The second choice is the first of the browser's languages in
 * which the page has texts. The last is the language of the session.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { parseAcceptLanguage } from "#foundation/text.ts";
import { readCheckoutCookie } from "./cookies.ts";
import {
  findCheckoutLanguageForLocale,
  type CheckoutLanguage,
  getCheckoutLanguageOrEnglish,
} from "./texts.ts";

const cookieName = "checkout-language";

/**
 * Returns the language that the buyer chose on the page, otherwise the first of the browser's languages in
 * which the page has texts. Returns undefined if there is neither.
 */
export function findLanguagePreferredByBuyer({ headers }: FastifyRequest): CheckoutLanguage | undefined {
  const chosen = readCheckoutCookie(headers.cookie, cookieName);
  return [...(chosen === undefined ? [] : [chosen]), ...parseAcceptLanguage(headers["accept-language"])]
    .map(findCheckoutLanguageForLocale)
    .find((language) => language !== undefined);
}

export interface CheckoutLanguageAndLocale {
  readonly language: CheckoutLanguage;
  /** The locale in which the checkout page formats amounts. */
  readonly locale: string;
}

/**
 * Returns the language of the page and the locale for its amounts. A page in the session's language has the
 * session's locale. In another language, the locale consists of this language and the handle of the session's
 * market, for example en-DE.
 */
export function chooseCheckoutLanguageAndLocale(
  preferred: CheckoutLanguage | undefined,
  session: { readonly locale: string; readonly market: string },
): CheckoutLanguageAndLocale {
  const { locale, market } = session;
  const [sessionLanguage = ""] = locale.split("-");
  return preferred === undefined || preferred === sessionLanguage
    ? { language: getCheckoutLanguageOrEnglish(locale), locale }
    : { language: preferred, locale: `${preferred}-${market}` };
}

/** Stores the language that the buyer has chosen in a cookie of the checkout page. */
export function setCheckoutLanguageCookie(
  reply: FastifyReply,
  language: CheckoutLanguage,
  { attributes }: { readonly attributes: string },
): void {
  void reply.header("set-cookie", `${cookieName}=${language}; ${attributes}`);
}

/** The start of the form action with which the buyer chooses a language, for example of `language-de`. */
export const languageActionPrefix = "language-";

/**
 * Returns the language that the buyer has chosen with a form action such as `language-de`; undefined for
 * other actions.
 */
export const getLanguageSelectedByFormAction = (action: string): CheckoutLanguage | undefined =>
  action.startsWith(languageActionPrefix)
    ? findCheckoutLanguageForLocale(action.slice(languageActionPrefix.length))
    : undefined;
