/**
 * Chooses the language of the checkout page. First comes the language that the buyer chose on the page, then
 * the first language of the browser in which the page has texts, then the session's language. A cookie, sent
 * only to the page's address, stores the buyer's choice.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { parseAcceptLanguage } from "#foundation/text.ts";
import { readCookie } from "./cookies.ts";
import { findLanguage, type Language, getCheckoutLanguage } from "./texts.ts";

const cookieName = "checkout-language";

/**
 * Returns the language that the buyer chose or else the browser prefers; undefined if the page has no texts
 * in any of these languages.
 */
export function preferredLanguage({ headers }: FastifyRequest): Language | undefined {
  const chosen = readCookie(headers.cookie, cookieName);
  return [...(chosen === undefined ? [] : [chosen]), ...parseAcceptLanguage(headers["accept-language"])]
    .map(findLanguage)
    .find((language) => language !== undefined);
}

export interface PageLanguage {
  readonly language: Language;
  /** The locale in which the checkout page formats amounts. */
  readonly locale: string;
}

/**
 * Returns the page's language. Amounts have the session's format, unless the buyer reads the page in another
 * language than the session's.
 */
export function choosePageLanguage(
  preferred: Language | undefined,
  session: { readonly locale: string; readonly market: string },
): PageLanguage {
  const { locale, market } = session;
  const [sessionLanguage = ""] = locale.split("-");
  return preferred === undefined || preferred === sessionLanguage
    ? { language: getCheckoutLanguage(locale), locale }
    : { language: preferred, locale: `${preferred}-${market}` };
}

/** Stores the language that the buyer has chosen in a cookie of the checkout page. */
export function storePageLanguage(
  reply: FastifyReply,
  language: Language,
  { attributes }: { readonly attributes: string },
): void {
  void reply.header("set-cookie", `${cookieName}=${language}; ${attributes}`);
}

/** The start of form actions that choose a language: `language-` in `language-de`. */
export const languageActionPrefix = "language-";

/** Returns the language of a form action such as `language-de`; undefined for other actions. */
export const languageOfAction = (action: string): Language | undefined =>
  action.startsWith(languageActionPrefix)
    ? findLanguage(action.slice(languageActionPrefix.length))
    : undefined;
