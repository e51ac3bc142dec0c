/**
 * The checkout page without forms: the payment is being processed, the session has ended, or no session has
 * this address.
 */
import { html, type Markup } from "#pages/shared/html.ts";
import { formatAmount } from "./amounts.ts";
import { summaryView } from "./summary-view.ts";
import { type Language, createTranslator } from "./texts.ts";
import type { CheckoutPageContent, CheckoutVisit } from "./visit.ts";

const pollSeconds = 3;
const longMs = 60_000;

export function paymentProcessingPage(visit: CheckoutVisit): CheckoutPageContent {
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
    // The page with the button "Pay in another way" is reloaded less often, so that the button can be
    // pressed.
    refresh: { seconds: isLong ? 5 * pollSeconds : pollSeconds },
    body: sheet(
      html`<h1>${say("processing")}</h1>
        <div
          class="waiting"
          data-status="${path}/status"
          data-version="${session.version}"
          ${isHolder && !isLong ? html` data-long-after="${longMs - waitedMs}"` : undefined}
          role="status"
        >
          <p>${say("processingText")}</p>
        </div>
        ${isLong ? giveUp : undefined}
        <p><a href="${path}">${say("processingLook")}</a></p>
        ${summaryView(visit)}`,
    ),
  };
}

const leaveSeconds = 10;

/** The page of a completed session. It opens the shop after ten seconds; a link opens it earlier. */
export function orderCompletedPage(visit: CheckoutVisit, number: string | undefined): CheckoutPageContent {
  const { session, say, language, isHolder } = visit;
  const { merchant, successUrl } = session;
  const showsOrder = isHolder && number !== undefined;
  const title = say(showsOrder ? "thanks" : "completed");
  const text =
    number === undefined || !showsOrder
      ? html`<p>${say("completedText")}</p>`
      : html`<p class="number">${say("thanksOrder", { number })}</p>`;
  return {
    title,
    language,
    ...(showsOrder ? { refresh: { seconds: leaveSeconds, url: successUrl } } : {}),
    body: sheet(
      html`<h1>${title}</h1>
        ${text} ${showsOrder ? paidView(visit) : undefined}
        <p class="soft test"><span class="badge">${say("testBadge")}</span> ${say("test")}</p>
        ${showsOrder ? html`<p class="soft">${say("thanksNext", { merchant: merchant.name })}</p>` : undefined}
        ${wayBack(say("goBack", { merchant: merchant.name }), successUrl, showsOrder ? leaveSeconds : undefined)}`,
    ),
  };
}

function paidView({ session, say, locale }: CheckoutVisit): Markup {
  const { emailHint } = session.cart.buyer;
  return html`<dl class="totals">
    <div class="total">
      <dt>${say("total")}</dt>
      <dd>${formatAmount(session.amountTotal, locale)}</dd>
    </div>
    ${
      emailHint === null
        ? undefined
        : html`<div>
            <dt>${say("contactHeading")}</dt>
            <dd>${emailHint}</dd>
          </div>`
    }
  </dl>`;
}

/** The page of a canceled or expired session. Redirects a buyer who has just canceled to the shop. */
export function endedSessionPage(
  { session, say, language }: CheckoutVisit,
  { isLeaving }: { readonly isLeaving: boolean },
): CheckoutPageContent {
  const { status, merchant, cancelUrl } = session;
  const isCanceled = status === "canceled";
  const title = say(isCanceled ? "canceled" : "expired");
  return {
    title,
    language,
    ...(isLeaving ? { refresh: { seconds: 0, url: cancelUrl } } : {}),
    body: sheet(
      html`<h1>${title}</h1>
        <p>${say(isCanceled ? "canceledText" : "expiredText")}</p>
        ${wayBack(say("goBack", { merchant: merchant.name }), cancelUrl, isLeaving ? 0 : undefined)}`,
    ),
  };
}

const wayBack = (text: string, url: string, afterSeconds: number | undefined): Markup =>
  html`<p>
    <a
      class="button"
      href="${url}"
      rel="noreferrer"
      ${afterSeconds === undefined ? undefined : html` data-leave="${afterSeconds}"`}
      >${text}</a
    >
  </p>`;

export function unknownSessionPage(language: Language): CheckoutPageContent {
  const say = createTranslator(language);
  return checkoutMessagePage(language, { title: say("unknown"), text: say("unknownText") });
}

export interface CheckoutMessage {
  readonly title: string;
  readonly text: string;
  /** A link that loads the same page again. */
  readonly again?: { readonly text: string; readonly path: string };
}

export function checkoutMessagePage(
  language: Language,
  { title, text, again }: CheckoutMessage,
): CheckoutPageContent {
  return {
    title,
    language,
    body: sheet(
      html`<h1>${title}</h1>
        <p>${text}</p>
        ${again === undefined ? undefined : html`<p><a class="button" href="${again.path}">${again.text}</a></p>`}`,
    ),
  };
}

const sheet = (body: Markup): Markup => html`<main class="checkout narrow">${body}</main>`;
