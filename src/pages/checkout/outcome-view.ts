/**
 * Renders the checkout page if it has no forms. There are three cases: the payment is being processed, the
 * session has ended, or no session exists with the secret in the URL.
 */
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import { renderBrandingFooter } from "./branding-view.ts";
import { renderCheckoutPageHeader } from "./page-header.ts";
import { renderOrderSummary } from "./summary-view.ts";
import { type CheckoutLanguage, createCheckoutTranslator } from "./texts.ts";
import type { CheckoutPageContent, CheckoutPageVisit } from "./visit.ts";

const pollSeconds = 3;
const longMs = 60_000;

/**
 * Renders the page of a payment that is being processed. Every link of the page repeats `query`, the query of
 * the page's URL. It keeps the buyer from being sent to the payment page again.
 */
export function renderPaymentProcessingPage(visit: CheckoutPageVisit, query = ""): CheckoutPageContent {
  const { session, say, language, path, isHolder, pageContext } = visit;
  const waitedMs =
    session.submittedAt === null
      ? 0
      : pageContext.services.clock.now().getTime() - Date.parse(session.submittedAt);
  const isLong = isHolder && waitedMs >= longMs;
  const giveUp = html`<form method="post" action="${path}">
    <p>${say("processingLong")}</p>
    <input type="hidden" name="version" value="${session.version}" />
    <button name="action" value="give-up" class="second">${say("giveUp")}</button>
  </form>`;
  return {
    title: say("processing"),
    language,
    // The page reloads itself regularly while it waits for the payment. With the button "Pay in another way",
    // it reloads less often, so that the buyer has time to press the button.
    refresh: { seconds: isLong ? 5 * pollSeconds : pollSeconds },
    body: renderNarrowCheckoutLayout(
      visit,
      html`<h1>${say("processing")}</h1>
        <div
          class="waiting"
          data-status="${path}/status${query}"
          data-version="${session.version}"
          ${isHolder && !isLong ? html` data-long-after="${longMs - waitedMs}"` : undefined}
          role="status"
        >
          <p>${say("processingText")}</p>
        </div>
        ${isLong ? giveUp : undefined}
        <p><a href="${path}${query}">${say("processingLook")}</a></p>
        ${renderOrderSummary(visit)}`,
      { query },
    ),
  };
}

/**
 * Renders the page of a canceled or expired checkout session. `isLeaving` is true directly after the buyer
 * has canceled; the page then redirects to the shop.
 */
export function renderEndedCheckoutSessionPage(
  visit: CheckoutPageVisit,
  { isLeaving }: { readonly isLeaving: boolean },
): CheckoutPageContent {
  const { session, say, language, isHolder } = visit;
  const { status, merchant, cancelUrl, cancellation } = session;
  const isCanceled = status === "canceled";
  const isByShop = isCanceled && cancellation?.actor !== "buyer";
  const title = say(isCanceled ? "canceled" : "expired");
  const text = isByShop ? "canceledByShopText" : isCanceled ? "canceledText" : "expiredText";
  return {
    title,
    language,
    ...(isLeaving ? { refresh: { seconds: 0, url: cancelUrl } } : {}),
    body: renderNarrowCheckoutLayout(
      visit,
      html`<h1>${title}</h1>
        <p>${say(text)}</p>
        <p>${say("startAgain", { merchant: merchant.name })}</p>
        ${renderShopLink(say("goBack", { merchant: merchant.name }), cancelUrl, isLeaving ? 0 : undefined)}
        ${isHolder && !isLeaving ? renderOrderSummary(visit) : undefined}`,
    ),
  };
}

/**
 * Renders a link to the shop. If `afterSeconds` is given, the page's script opens the link after this number
 * of seconds.
 */
export const renderShopLink = (text: string, url: string, afterSeconds?: number): PreEscapedHtml =>
  html`<p>
    <a
      class="button"
      href="${url}"
      rel="noreferrer"
      ${afterSeconds === undefined ? undefined : html` data-leave="${afterSeconds}"`}
      >${text}</a
    >
  </p>`;

export function renderUnknownCheckoutSessionPage(language: CheckoutLanguage): CheckoutPageContent {
  const say = createCheckoutTranslator(language);
  return renderCheckoutMessagePage(language, { title: say("unknown"), text: say("unknownText") });
}

export interface CheckoutMessagePageContent {
  readonly title: string;
  readonly text: string;
  /** Renders a link that loads the same checkout page again. */
  readonly again?: { readonly text: string; readonly path: string };
}

export function renderCheckoutMessagePage(
  language: CheckoutLanguage,
  { title, text, again }: CheckoutMessagePageContent,
): CheckoutPageContent {
  return {
    title,
    language,
    body: plainSheet(
      html`<h1>${title}</h1>
        <p>${text}</p>
        ${again === undefined ? undefined : html`<p><a class="button" href="${again.path}">${again.text}</a></p>`}`,
    ),
  };
}

/**
 * Renders content in the narrow layout of checkout pages without an order summary. Adds the merchant's name,
 * the choice of language, and the merchant's links.
 */
export const renderNarrowCheckoutLayout = (
  visit: CheckoutPageVisit,
  body: PreEscapedHtml,
  header: { readonly query?: string } = {},
): PreEscapedHtml =>
  plainSheet(html`${renderCheckoutPageHeader(visit, header)} ${body} ${renderBrandingFooter(visit)}`);

const plainSheet = (body: PreEscapedHtml): PreEscapedHtml =>
  html`<main class="checkout narrow">${body}</main>`;
