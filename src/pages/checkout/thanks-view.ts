/**
 * Renders the page of a completed checkout session. The browser that placed the order shows the order, and
 * opens the shop after a few seconds unless the buyer chooses to stay.
 */
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import { formatExpectedDeliveryDates, formatSeconds } from "./amounts.ts";
import { renderSupportLinks } from "./branding-view.ts";
import { renderDeliveryOptionName } from "./delivery-name.ts";
import type { CheckoutPageOrder } from "./documents.ts";
import { renderShopLink, renderNarrowCheckoutLayout } from "./outcome-view.ts";
import { renderAddressLines, getDisplayedBuyerEmail } from "./saved-address-view.ts";
import { renderOrderSummary } from "./summary-view.ts";
import {
  type CheckoutPageContent,
  type CheckoutPageVisit,
  hasBuyerChosenToStayOnCheckoutPage,
} from "./visit.ts";

const leaveSeconds = 10;

/**
 * Milliseconds after the purchase during which the page shows the complete address and e-mail address.
 * Afterwards, most characters are hidden.
 */
const wholeDataMs = 30 * 60_000;

export function renderOrderCompletedPage(
  visit: CheckoutPageVisit,
  order: CheckoutPageOrder | undefined,
): CheckoutPageContent {
  if (order === undefined) return otherBrowserPage(visit);
  const { session, say, language } = visit;
  const { merchant, successUrl } = session;
  const hasStayed = hasBuyerChosenToStayOnCheckoutPage(visit);
  const seconds = hasStayed ? undefined : leaveSeconds;
  const shown = withoutOldData(visit);
  return {
    title: say("thanks"),
    language,
    ...(hasStayed ? {} : { refresh: { seconds: leaveSeconds, url: successUrl } }),
    body: renderNarrowCheckoutLayout(
      shown,
      html`<h1>${say("thanks")}</h1>
        <p class="number">${say("thanksOrder", { number: order.number })}</p>
        ${session.mode === "test" ? html`<p class="soft test">${say("test")}</p>` : undefined}
        ${renderShopLink(say("goBack", { merchant: merchant.name }), successUrl, seconds)}
        ${seconds === undefined ? undefined : countdownView(shown, seconds)} ${renderOrderSummary(shown)}
        <section class="outcome-part" aria-labelledby="delivery-heading">
          <h2 id="delivery-heading">${say("deliveryHeading")}</h2>
          ${deliveryView(shown, order)}
        </section>
        <section class="outcome-part" aria-labelledby="contact-heading">
          <h2 id="contact-heading">${say("contactHeading")}</h2>
          ${contactLines(shown, order)}
        </section>
        <button type="button" class="second print" data-print hidden>${say("print")}</button>`,
      { query: hasStayed ? "?stay" : "" },
    ),
  };
}

/**
 * Renders the e-mail address that receives the merchant's messages about the order, and the ways to contact
 * the merchant.
 */
function contactLines(visit: CheckoutPageVisit, { number }: CheckoutPageOrder): PreEscapedHtml {
  const { session, say } = visit;
  const { merchant, successUrl } = session;
  const email = getDisplayedBuyerEmail(visit);
  const { origin, host } = new URL(successUrl);
  return html`${email === null ? undefined : html`<p>${say("contactGiven", { email })}</p>`}
    <p>
      ${say("questions", { merchant: merchant.name, number })}
      ${renderSupportLinks(visit) ?? html`<a href="${origin}" rel="noreferrer">${host}</a>`}
    </p>`;
}

/** Renders the page for browsers that did not place the order. The page contains no data of the order. */
function otherBrowserPage(visit: CheckoutPageVisit): CheckoutPageContent {
  const { session, say, language } = visit;
  const { merchant, successUrl } = session;
  return {
    title: say("completed"),
    language,
    body: renderNarrowCheckoutLayout(
      visit,
      html`<h1>${say("completed")}</h1>
        <p>${say("completedText")}</p>
        ${renderShopLink(say("goBack", { merchant: merchant.name }), successUrl)}`,
    ),
  };
}

/**
 * Hides most characters of the address and e-mail address some time after the purchase, because other people
 * may then use the computer.
 */
function withoutOldData(visit: CheckoutPageVisit): CheckoutPageVisit {
  const { session, pageContext } = visit;
  const sinceMs = pageContext.services.clock.now().getTime() - Date.parse(session.completedAt ?? "");
  return sinceMs < wholeDataMs ? visit : { ...visit, entered: { address: undefined, email: undefined } };
}

/**
 * Renders the number of seconds until the shop is opened, with a link to stay on the page. A script counts
 * the seconds.
 */
function countdownView({ session, say, path, language }: CheckoutPageVisit, seconds: number): PreEscapedHtml {
  const [before = "", after = ""] = say("thanksNext", { merchant: session.merchant.name }).split("{time}");
  const time = html`<span data-seconds>${formatSeconds(seconds, language)}</span>`;
  return html`<p class="soft leaving" data-leaving>
    ${before}${time}${after} <a href="${path}?stay" data-stay>${say("stay")}</a>
  </p>`;
}

function deliveryView(
  visit: CheckoutPageVisit,
  { delivery, deliveryAddress, placedAt }: CheckoutPageOrder,
): PreEscapedHtml {
  const { say, locale } = visit;
  if (delivery === null) return html`<p>${say("nothingSent")}</p>`;
  const { carrier, minDays, maxDays, pickup } = delivery;
  const days = formatExpectedDeliveryDates(placedAt, [minDays, maxDays], locale);
  return html`<p>
      <strong>${say(pickup ? "pickupExpected" : "deliveryExpected", { days })}</strong><br />
      ${renderDeliveryOptionName(delivery, visit)}
      ${pickup || carrier === null ? undefined : html`<span class="soft">· ${carrier}</span>`}
    </p>
    ${deliveryAddress === null ? undefined : renderAddressLines(visit, deliveryAddress)}`;
}
