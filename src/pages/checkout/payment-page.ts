/**
 * Sends the buyer to the payment provider's page, and renders the checkout page for a buyer who comes back
 * from there. The provider's page returns to the checkout page with the query `returned`.
 */
import { returnQueryName } from "#commerce/payments/page-content.ts";
import {
  findOpenPaymentPageUrl,
  makeCheckoutPaymentOperationsDueNow,
} from "#commerce/payments/payment-pages.ts";
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import { renderNarrowCheckoutLayout, renderPaymentProcessingPage } from "./outcome-view.ts";
import { renderOrderSummary } from "./summary-view.ts";
import type { CheckoutPageContent, CheckoutPageServicesAndDocuments, CheckoutPageVisit } from "./visit.ts";

/**
 * Returns `paid` or `canceled` if the buyer has just returned from the payment provider's page, otherwise
 * undefined.
 */
const returnOf = ({ request }: Pick<CheckoutPageVisit, "request">): string | undefined => {
  const value = (request.query as Readonly<Record<string, unknown>>)[returnQueryName];
  return value === "paid" || value === "canceled" ? value : undefined;
};

/**
 * Returns the URL query that shows that the buyer has returned from the payment provider's page, for example
 * `?returned=paid`. Empty if the buyer has not returned from there.
 */
export function getPaymentPageReturnQuery(visit: Pick<CheckoutPageVisit, "request">): string {
  const returned = returnOf(visit);
  return returned === undefined ? "" : `?${returnQueryName}=${returned}`;
}

/** Renders the page of a checkout session whose payment is being processed. */
export async function renderPaymentInProgressPage(visit: CheckoutPageVisit): Promise<CheckoutPageContent> {
  const { session, isHolder, pageContext } = visit;
  const { db, clock, events } = pageContext.services;
  const returned = returnOf(visit);
  const request = { sessionId: session.id, now: clock.now() };
  const url = isHolder ? await findOpenPaymentPageUrl(db, request) : undefined;
  if (url === undefined) return renderPaymentProcessingPage(visit);
  if (returned !== "paid") return renderLeadingPage(visit, { url, isLeading: returned === undefined });
  // Wakes the payment operation, so that the service asks the provider for the result immediately and not at
  // the operation's next scheduled attempt.
  await makeCheckoutPaymentOperationsDueNow(db, { ...request, events });
  return renderPaymentProcessingPage(visit, getPaymentPageReturnQuery(visit));
}

interface LeadingPage {
  readonly url: string;
  /**
   * True if the browser opens the payment provider's page automatically; false if the buyer has just returned
   * from there.
   */
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

const renderBackForm = ({ session, path, say }: CheckoutPageVisit): PreEscapedHtml =>
  html`<form method="post" action="${path}">
    <p>${say("paymentPageGiveUp")}</p>
    <input type="hidden" name="version" value="${session.version}" />
    <button name="action" value="give-up" class="second">${say("paymentPageBack")}</button>
  </form>`;

/**
 * Returns true if the checkout page must send the buyer to the payment provider's page. Returns false for a
 * buyer who has returned from there. Called for each request of the page's script for the session's status.
 */
export async function mustBuyerOpenPaymentPage(
  { services }: CheckoutPageServicesAndDocuments,
  request: CheckoutPageVisit["request"],
  sessionId: string,
): Promise<boolean> {
  if (returnOf({ request }) !== undefined) return false;
  const at = { sessionId, now: services.clock.now() };
  return (await findOpenPaymentPageUrl(services.db, at)) !== undefined;
}
