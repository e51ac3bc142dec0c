/** Renders the name of a delivery option on the checkout page. */
import { getLocaleFallbackChain } from "#foundation/text.ts";
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import type { CheckoutPageDeliveryOption } from "./documents.ts";
import type { CheckoutPageVisit } from "./visit.ts";

/**
 * Renders the name of a delivery option in the language of the page. If the merchant has no name in this
 * language, uses the name in the locale of the checkout session.
 */
export function renderDeliveryOptionName(
  { name, names }: Pick<CheckoutPageDeliveryOption, "name" | "names">,
  { locale, session }: Pick<CheckoutPageVisit, "locale" | "session">,
): PreEscapedHtml {
  const found = getLocaleFallbackChain(locale).find((tag) => Object.hasOwn(names, tag));
  return html`<span lang="${found ?? session.locale}">${found === undefined ? name : names[found]}</span>`;
}
