/**
 * Leads the buyer to the payment provider's page, and shows the buyer who returns from it what to do. The
 * provider's page leads back to the checkout page with the query `returned`.
 */
import { returnQueryName } from "#commerce/payments/page-content.ts";
import { findOpenPaymentPageUrl, wakePaymentOfSession } from "#commerce/payments/payment-pages.ts";
import { html, type HtmlMarkup } from "#pages/shared/html.ts";
import { renderNarrowCheckoutLayout, renderPaymentProcessingPage } from "./outcome-view.ts";
import { renderOrderSummary } from "./summary-view.ts";
import type { CheckoutPageContent, CheckoutPageContext, CheckoutPageVisit } from "./visit.ts";

/** How the buyer has come back from the provider's page; undefined if the buyer did not come from there. */
const returnOf = ({ request }: Pick<CheckoutPageVisit, "request">): string | undefined => {
  const value = (request.query as Readonly<Record<string, unknown>>)[returnQueryName];
  return value === "paid" || value === "canceled" ? value : undefined;
};

/**
 * Returns the query of the page's URL with which the provider's page has led the buyer back; empty if there
 * is none.
 */
export function getPaymentPageReturnQuery(visit: Pick<CheckoutPageVisit, "request">): string {
  const returned = returnOf(visit);
  return returned === undefined ? "" : `?${returnQueryName}=${returned}`;
}

/** Renders the page of a checkout session whose payment is being processed. */
export async function renderPaymentInProgress(visit: CheckoutPageVisit): Promise<CheckoutPageContent> {
  const { session, isHolder, pageContext } = visit;
  const { db, clock, events } = pageContext.services;
  const returned = returnOf(visit);
  const request = { sessionId: session.id, now: clock.now() };
  const url = isHolder ? await findOpenPaymentPageUrl(db, request) : undefined;
  if (url === undefined) return renderPaymentProcessingPage(visit);
  if (returned !== "paid") return renderLeadingPage(visit, { url, isLeading: returned === undefined });
  // The provider is asked at once, instead of at the next attempt of the payment operation.
  await wakePaymentOfSession(db, { ...request, events });
  return renderPaymentProcessingPage(visit, getPaymentPageReturnQuery(visit));
}

interface LeadingPage {
  readonly url: string;
  /** True if the browser opens the provider's page by itself; false if the buyer has just come back from it. */
  readonly isLeading: boolean;
}

function renderLeadingPage(visit: CheckoutPageVisit, { url, isLeading }: LeadingPage): CheckoutPageContent {
  const { say, language, path } = visit;
  const title = say(isLeading ? "toPaymentPage" : "paymentPageLeft");
  return {
    title,
    language,
    ...(isLeading ? { refresh: { seconds: 0, url } } : {}),
    body: renderNarrowCheckoutLayout(
      visit,
      html`<h1>${title}</h1>
        <p>${say("paymentPageText")}</p>
        <p>
          <a
            class="button"
            href="${url}"
            rel="noreferrer"
            ${
              isLeading
                ? html` data-leave="0" data-come-back="${path}?${returnQueryName}=canceled"`
                : undefined
            }
            >${say("paymentPageOpen")}</a
          >
        </p>
        ${renderBackForm(visit)} ${renderOrderSummary(visit)}`,
      { query: getPaymentPageReturnQuery(visit) },
    ),
  };
}

const renderBackForm = ({ session, path, say }: CheckoutPageVisit): HtmlMarkup =>
  html`<form method="post" action="${path}">
    <p>${say("paymentPageGiveUp")}</p>
    <input type="hidden" name="version" value="${session.version}" />
    <button name="action" value="give-up" class="second">${say("paymentPageBack")}</button>
  </form>`;

/**
 * True if the checkout page must lead the buyer to the provider's page. Called when the page's script asks
 * for the session's status; false for a buyer who has returned from the provider's page.
 */
export async function mustOpenPaymentPage(
  { services }: CheckoutPageContext,
  request: CheckoutPageVisit["request"],
  sessionId: string,
): Promise<boolean> {
  if (returnOf({ request }) !== undefined) return false;
  const at = { sessionId, now: services.clock.now() };
  return (await findOpenPaymentPageUrl(services.db, at)) !== undefined;
}
