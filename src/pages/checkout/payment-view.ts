/**
 * Renders the part of the checkout page in which the buyer chooses a delivery option and a payment method and
 * pays.
 */
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import { formatCurrencyAmount, formatDayCountRange } from "./amounts.ts";
import type { EnteredCardFields } from "./card-form.ts";
import { renderCardFields } from "./card-view.ts";
import type { CheckoutPageDeliveryOption } from "./documents.ts";
import { getPaymentFailureMessage } from "./fault-texts.ts";
import {
  type MissingCheckoutSection,
  findFirstMissingCheckoutSection,
  hasCartLineThatNeedsShipping,
} from "./missing-parts.ts";
import { renderDeliveryOptionName } from "./delivery-name.ts";
import type { CheckoutPageVisit } from "./visit.ts";

/**
 * Returns the message about the failure of the last payment. Undefined if no payment failed, or if only
 * another browser may change the checkout session.
 */
export function getLastPaymentFailureMessage({
  session,
  language,
  isHolder,
}: CheckoutPageVisit): string | undefined {
  const { paymentFailureCode } = session;
  return paymentFailureCode === null || !isHolder
    ? undefined
    : getPaymentFailureMessage(paymentFailureCode, language);
}

interface PaymentShown {
  /** The idempotency key of the payment form. The service creates a new key each time it renders the form. */
  readonly key: string;
  readonly optionId: string | undefined;
  readonly card: EnteredCardFields | undefined;
}

/**
 * Renders the delivery options and the payment methods in a single form. The form's request to pay therefore
 * always contains the selected delivery option.
 */
export function renderPaymentForm(visit: CheckoutPageVisit, shown: PaymentShown): PreEscapedHtml {
  const { session, path } = visit;
  const hasDelivery = hasCartLineThatNeedsShipping(session.cart) && session.cart.address !== null;
  const missing = findFirstMissingCheckoutSection(session.cart);
  const isUndeliverable = hasDelivery && (session.cart.delivery?.options ?? []).length === 0;
  const { amountMinor, currency } = session.amountTotal;
  return html`<form method="post" action="${path}" class="pay" data-pay="${path}/status">
    <input type="hidden" name="version" value="${session.version}" />
    <input type="hidden" name="amountMinor" value="${amountMinor}" />
    <input type="hidden" name="currency" value="${currency}" />
    <input type="hidden" name="key" value="${shown.key}" />
    ${hasDelivery ? deliveryView(visit, shown.optionId) : undefined}
    ${isUndeliverable ? undefined : methodView(visit, shown.card)}
    ${isUndeliverable ? undefined : payButton(visit, missing)}
  </form>`;
}

/**
 * Renders the pay button. While the checkout is incomplete, the button is disabled, and a text says which
 * part is missing.
 */
function payButton(
  { session, say, locale }: CheckoutPageVisit,
  missing: MissingCheckoutSection | undefined,
): PreEscapedHtml {
  const { amountTotal } = session;
  if (missing !== undefined)
    return html`<p class="soft wanting" id="pay-hint">${say(`missing_${missing}`)}</p>
      <button name="action" value="pay" id="pay" disabled aria-describedby="pay-hint">
        ${say("payLater")}
      </button>`;
  const text =
    amountTotal.amountMinor === 0
      ? say("placeFree")
      : say(session.paymentProvider === "test" ? "pay" : "payAtStripe", {
          amount: formatCurrencyAmount(amountTotal, locale),
        });
  return html`<button name="action" value="pay" id="pay">${text}</button>`;
}

function deliveryView(visit: CheckoutPageVisit, optionId: string | undefined): PreEscapedHtml {
  const { session, say } = visit;
  const { options, selectedOptionId } = session.cart.delivery ?? { options: [], selectedOptionId: null };
  const selected = optionId ?? selectedOptionId ?? undefined;
  return html`<section class="step" id="delivery">
    <fieldset>
      <legend><h2>${say("delivery")}</h2></legend>
      ${options.length === 0 ? html`<p class="warning">${say("deliveryNone")}</p>` : undefined}
      ${options.map((option) => optionView(option, visit, option.id === selected))}
    </fieldset>
    ${
      options.length === 0
        ? undefined
        : html`<button name="action" value="delivery" class="second small" data-delivery>
            ${say("deliveryUpdate")}
          </button>`
    }
  </section>`;
}

function optionView(
  option: CheckoutPageDeliveryOption,
  visit: CheckoutPageVisit,
  isSelected: boolean,
): PreEscapedHtml {
  const { id, carrier, price, minDays, maxDays, pickup } = option;
  const { say, locale, language } = visit;
  const cost = price.amountMinor === 0 ? say("free") : formatCurrencyAmount(price, locale);
  const details = [
    pickup ? say("pickup") : (carrier ?? ""),
    formatDayCountRange(minDays, maxDays, language),
  ].filter((part) => part !== "");
  return html`<div class="choice">
    <input
      type="radio"
      id="option-${id}"
      name="optionId"
      value="${id}"
      ${isSelected ? html` checked` : undefined}
      aria-describedby="option-${id}-text"
    />
    <label for="option-${id}">${renderDeliveryOptionName(option, visit)}</label>
    <span class="amount">${cost}</span>
    <span class="soft" id="option-${id}-text">${details.join(" · ")}</span>
  </div>`;
}

function methodView(visit: CheckoutPageVisit, card: EnteredCardFields | undefined): PreEscapedHtml {
  const { session, say } = visit;
  const fault = getLastPaymentFailureMessage(visit);
  if (session.amountTotal.amountMinor === 0)
    return html`<section class="step">
      <h2>${say("payment")}</h2>
      <p>${say("paymentFree")}</p>
    </section>`;
  return html`<section class="step" id="payment">
    <h2>${say("payment")}</h2>
    ${fault === undefined ? undefined : html`<p class="fault last-payment">${fault}</p>`}
    ${
      session.paymentProvider === "test"
        ? html`<p class="soft">${say("paymentTest")}</p>
            ${renderCardFields(visit, card)}`
        : html`<p class="soft">${say("paymentAtStripe")}</p>`
    }
    <div data-offline="${say("offline")}" role="alert"></div>
  </section>`;
}
