/** Renders the links of the checkout page to the merchant's help and legal texts. */
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import type { CheckoutPageVisit } from "./visit.ts";

/**
 * Links to the merchant's support page, e-mail address and phone number; undefined if the merchant has set
 * none of them.
 */
export function renderSupportLinks({ session: { merchant } }: CheckoutPageVisit): PreEscapedHtml | undefined {
  const { supportUrl = null, supportEmail = null, supportPhone = null } = merchant.branding ?? {};
  const links = [
    supportUrl === null ? [] : [outsideLink(supportUrl, new URL(supportUrl).host)],
    supportEmail === null ? [] : [html`<a href="mailto:${supportEmail}">${supportEmail}</a>`],
    supportPhone === null
      ? []
      : [html`<a href="tel:${supportPhone.replaceAll(/[^+\d]/g, "")}">${supportPhone}</a>`],
  ].flat();
  if (links.length === 0) return undefined;
  return html`${links.map((link, index) => (index === 0 ? link : html` · ${link}`))}`;
}

const outsideLink = (url: string, text: string): PreEscapedHtml =>
  html`<a href="${url}" target="_blank" rel="noreferrer">${text}</a>`;

/**
 * Renders the merchant's links at the end of every page of a checkout session; undefined if the merchant has
 * set no links.
 */
export function renderBrandingFooter(visit: CheckoutPageVisit): PreEscapedHtml | undefined {
  const { say, session } = visit;
  const { termsUrl = null, privacyUrl = null, imprintUrl = null } = session.merchant.branding ?? {};
  const legal = (
    [
      [termsUrl, "termsLink"],
      [privacyUrl, "privacyLink"],
      [imprintUrl, "imprintLink"],
    ] as const
  ).flatMap(([url, text]) => (url === null ? [] : [html`<li>${outsideLink(url, say(text))}</li>`]));
  const support = renderSupportLinks(visit);
  if (legal.length === 0 && support === undefined) return undefined;
  return html`<footer class="soft merchant-links">
    ${support === undefined ? undefined : html`<p>${say("support", { merchant: session.merchant.name })} ${support}</p>`}
    ${
      legal.length === 0
        ? undefined
        : html`<ul>
            ${legal}
          </ul>`
    }
  </footer>`;
}
