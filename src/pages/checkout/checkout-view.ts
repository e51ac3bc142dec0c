/**
 * Renders the page of an open checkout session: the order summary, the steps of the checkout, and the forms
 * for the e-mail address and the promotion code. While the address form is open, the following steps of the
 * checkout are not shown.
 */
import { randomUUID } from "node:crypto";
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import { formatDurationInMinutesOrHours } from "./amounts.ts";
import {
  renderAddressForm,
  type AddressFormFieldFault,
  getAddressFieldElementId,
  addressFormId,
} from "./address-view.ts";
import type { EnteredCardFields } from "./card-form.ts";
import { getCardFieldElementId } from "./card-view.ts";
import type { EnteredAddressFormFields } from "./checkout-services.ts";
import { renderBrandingFooter } from "./branding-view.ts";
import { getLastPaymentFailureMessage, renderPaymentForm } from "./payment-view.ts";
import { hasCartLineThatNeedsShipping } from "./missing-parts.ts";
import { renderCheckoutPageHeader } from "./page-header.ts";
import { getBriefPromotionRefusalMessage } from "./promotion-texts.ts";
import { renderSavedAddress, renderSavedContactEmail } from "./saved-address-view.ts";
import { renderOrderSummary } from "./summary-view.ts";
import type { CheckoutPageContent, CheckoutPageVisit } from "./visit.ts";

/**
 * The typed values, the errors and the message with which a page is shown again after the service has refused
 * its form.
 */
export interface RefusedCheckoutFormValuesAndErrors {
  /** The address that the buyer has typed; if set, the page shows the address form with it. */
  readonly typed?: EnteredAddressFormFields;
  readonly fieldFaults?: readonly AddressFormFieldFault[];
  readonly isCountryNew?: boolean;
  readonly contact?: string;
  readonly contactFault?: string;
  readonly code?: string;
  readonly codeFault?: string;
  readonly optionId?: string | undefined;
  readonly card?: EnteredCardFields;
  /** An error message for the top of the checkout page that is not about a single field. */
  readonly notice?: string;
}

export function renderCheckoutPage(
  visit: CheckoutPageVisit,
  shown: RefusedCheckoutFormValuesAndErrors = {},
): CheckoutPageContent {
  const { session, say, language } = visit;
  const faults = faultsOf(visit, shown);
  const title = say("title", { merchant: session.merchant.name });
  return {
    title: faults.length === 0 ? title : say("errorTitle", { title }),
    language,
    body: html`<main class="checkout">
      <header>
        ${renderCheckoutPageHeader(visit, { formId: isAddressOpen(visit, shown) ? addressFormId : undefined })}
        <h1>${say("heading")}</h1>
        ${visit.session.mode === "test" ? html`<p class="soft test">${say("test")}</p>` : undefined}
      </header>
      ${faultSummary(visit, faults)}
      <div class="columns">
        ${renderOrderSummary(visit, { promotion: promotionOf(visit, shown), isUnfolded: shown.code !== undefined })}
        <div class="steps">${stepsView(visit, shown)} ${leaveView(visit)}</div>
      </div>
      ${renderBrandingFooter(visit)}
    </main>`,
  };
}

/** Renders the form for promotion codes, but only in the browser that may change the checkout session. */
function promotionOf(
  visit: CheckoutPageVisit,
  { code, codeFault }: RefusedCheckoutFormValuesAndErrors,
): PreEscapedHtml | undefined {
  const typed = code ?? visit.session.cart.promotion.promotion?.code ?? "";
  return visit.isHolder ? promotionView(visit, { typed, fault: codeFault }) : undefined;
}

function stepsView(visit: CheckoutPageVisit, shown: RefusedCheckoutFormValuesAndErrors): PreEscapedHtml {
  const { session, say, isHolder } = visit;
  const isTyping = isAddressOpen(visit, shown);
  const address = html`<section class="step" aria-labelledby="address-heading">
    <h2 id="address-heading">${say("address")}</h2>
    ${isHolder ? undefined : html`<p class="warning">${say("elsewhere")}</p>`}
    ${
      isTyping
        ? renderAddressForm(visit, {
            typed: shown.typed ?? {},
            faults: shown.fieldFaults ?? [],
            isCountryNew: shown.isCountryNew === true,
          })
        : renderSavedAddress(visit)
    }
  </section>`;
  if (isTyping) return address;
  const isContactAsked =
    session.cart.buyer.emailHint === null || shown.contact !== undefined || isEditing(visit, "contact");
  const contact = isContactAsked
    ? contactView(visit, { typed: shown.contact ?? visit.entered.email ?? "", fault: shown.contactFault })
    : renderSavedContactEmail(visit);
  return html`${address} ${contact}
  ${renderPaymentForm(visit, { key: randomUUID(), optionId: shown.optionId, card: shown.card })}`;
}

function isAddressOpen(visit: CheckoutPageVisit, { typed }: RefusedCheckoutFormValuesAndErrors): boolean {
  const { session, isHolder } = visit;
  const isNeeded = session.cart.address === null && hasCartLineThatNeedsShipping(session.cart);
  return typed !== undefined || isEditing(visit, "address") || isNeeded || !isHolder;
}

/**
 * True if the buyer has followed the link "Change" beside the address or beside the contact data. The page
 * then shows the form for this section.
 */
const isEditing = ({ request }: CheckoutPageVisit, part: "address" | "contact"): boolean =>
  request.method === "GET" && (request.query as { readonly edit?: unknown }).edit === part;

/**
 * Renders the button with which the buyer returns to the shop. Returning cancels the checkout session,
 * because the shop cannot change the cart while the session is open.
 */
function leaveView({
  session,
  say,
  path,
  language,
  isHolder,
  pageContext,
}: CheckoutPageVisit): PreEscapedHtml {
  const { merchant, cancelUrl, expiresAt } = session;
  const left = Date.parse(expiresAt) - pageContext.services.clock.now().getTime();
  const kept = html`<p class="soft">
    ${say("keptFor", { time: formatDurationInMinutesOrHours(left, language) })}
  </p>`;
  if (!isHolder) return html`<p><a href="${cancelUrl}">${say("goBack", { merchant: merchant.name })}</a></p>`;
  return html`<form method="post" action="${path}" class="leave">
    ${kept}
    <button name="action" value="cancel" class="third" aria-describedby="cancel-note">
      ${say("cancel", { merchant: merchant.name })}
    </button>
    <p class="soft" id="cancel-note">${say("cancelNote")}</p>
  </form>`;
}

interface Fault {
  readonly message: string;
  readonly id: string | undefined;
}

/**
 * Collects the errors of the page. The failure of the last payment is one of them only if there is no other
 * error and the buyer has not changed anything since.
 */
function faultsOf(
  visit: CheckoutPageVisit,
  { fieldFaults = [], contactFault, codeFault, card, notice }: RefusedCheckoutFormValuesAndErrors,
): Fault[] {
  const faults = [
    ...(notice === undefined ? [] : [{ message: notice, id: undefined }]),
    ...fieldFaults.map(({ field, summary }) => ({ message: summary, id: getAddressFieldElementId(field) })),
    ...(card?.faults ?? []).map(({ field, message }) => ({ message, id: getCardFieldElementId(field) })),
    ...(contactFault === undefined ? [] : [{ message: contactFault, id: contactId }]),
    ...(codeFault === undefined ? [] : [{ message: codeFault, id: "code" }]),
  ];
  const paymentFault = getLastPaymentFailureMessage(visit);
  return faults.length > 0 || paymentFault === undefined || isActedOn(visit)
    ? faults
    : [{ message: paymentFault, id: undefined }];
}

/**
 * True if the buyer has used the page since the last payment failed: the request sends a form, or its URL has
 * a query such as `?changed`. The page then no longer shows the error of that payment.
 */
const isActedOn = ({ request }: CheckoutPageVisit): boolean =>
  request.method !== "GET" || Object.keys(request.query as object).length > 0;

/**
 * Renders the list of errors at the top of the checkout page. Screen readers read the list immediately, and
 * the list is the first element in the keyboard order.
 */
function faultSummary({ say }: CheckoutPageVisit, faults: readonly Fault[]): PreEscapedHtml | undefined {
  if (faults.length === 0) return undefined;
  return html`<div class="faults" id="faults" role="alert" tabindex="-1" autofocus>
    <h2>${say("problem")}</h2>
    <ul>
      ${faults.map(
        ({ message, id }) =>
          html`<li>${id === undefined ? message : html`<a href="#${id}">${message}</a>`}</li>`,
      )}
    </ul>
  </div>`;
}

/** The id of the e-mail field in the form for the contact data. */
const contactId = "email";

interface ContactShown {
  readonly typed: string;
  readonly fault: string | undefined;
}

function contactView(
  { say, path, session }: CheckoutPageVisit,
  { typed, fault }: ContactShown,
): PreEscapedHtml {
  const invalid =
    fault === undefined ? undefined : html` aria-invalid="true" aria-describedby="${contactId}-fault"`;
  return html`<section class="step" aria-labelledby="contact-heading">
    <h2 id="contact-heading">${say("contactHeading")}</h2>
    <form method="post" action="${path}" class="inline" data-in-place novalidate>
      <label for="${contactId}">${say("email")}</label>
      <div class="field">
        <input
          id="${contactId}"
          name="email"
          type="email"
          autocomplete="email"
          required
          value="${typed}"
          ${invalid}
        />
      </div>
      <button name="action" value="contact">${say("addressSave")}</button>
      ${fault === undefined ? undefined : html`<p class="fault" id="${contactId}-fault">${fault}</p>`}
    </form>
    ${
      session.cart.buyer.emailHint === null
        ? undefined
        : html`<p><a href="${path}">${say("contactKeep")}</a></p>`
    }
  </section>`;
}

/** The typed promotion code and its error message, which the promotion code form shows. */
interface PromotionShown {
  readonly typed: string;
  readonly fault: string | undefined;
}

function promotionView(
  { session, say, path, language }: CheckoutPageVisit,
  { typed, fault }: PromotionShown,
): PreEscapedHtml {
  const { promotion, state, suspendedReason } = session.cart.promotion;
  if (promotion !== null) {
    const { code, title } = promotion;
    const text =
      state === "suspended"
        ? `${say("promotionSuspended", { code })} ${getBriefPromotionRefusalMessage(suspendedReason, language) ?? ""}`
        : say("promotionApplied", { code, title });
    return html`<form method="post" action="${path}" class="promotion" data-in-place>
      <h3>${say("promotion")}</h3>
      <p${state === "suspended" ? html` class="warning"` : undefined}>${text}</p>
      <button name="action" value="promotion-remove" class="second small">${say("promotionRemove", { code })}</button>
    </form>`;
  }
  const invalid = fault === undefined ? undefined : html` aria-invalid="true" aria-describedby="code-fault"`;
  return html`<form method="post" action="${path}" class="promotion inline" data-in-place novalidate>
    <label for="code">${say("promotion")} <span class="soft">${say("optional")}</span></label>
    <div class="field">
      <input
        id="code"
        name="code"
        type="text"
        autocomplete="off"
        autocapitalize="characters"
        spellcheck="false"
        value="${typed}"
        ${invalid}
      />
    </div>
    <button name="action" value="promotion" class="second">${say("promotionApply")}</button>
    ${fault === undefined ? undefined : html`<p class="fault" id="code-fault">${fault}</p>`}
  </form>`;
}
