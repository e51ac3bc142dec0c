/**
 * Renders the form for test cards, and a list of the test cards. For each card, the list says how a payment
 * with it ends.
 */
import { testCards } from "#commerce/payments/test/test-cards.ts";
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import type { CardField, EnteredCardFields } from "./card-form.ts";
import type { CheckoutPageVisit } from "./visit.ts";

/** Returns the id of a card field's HTML element, to which the list of errors links. */
export const getCardFieldElementId = (field: CardField): string =>
  field.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`);

/** The HTML attributes of each card field. With the values of `autocomplete`, browsers can fill in the form. */
const attributes: Readonly<Record<CardField, PreEscapedHtml>> = {
  cardNumber: html`inputmode="numeric" autocomplete="cc-number" maxlength="23" placeholder="4242 4242 4242
  4242"`,
  cardExpiry: html`inputmode="numeric" autocomplete="cc-exp" maxlength="9" placeholder="12/34"`,
  cardCvc: html`inputmode="numeric" autocomplete="cc-csc" maxlength="4" placeholder="123"`,
  cardName: html`autocomplete="cc-name" maxlength="100"`,
};

export function renderCardFields(
  { say }: CheckoutPageVisit,
  { expiry, name, faults }: EnteredCardFields = { expiry: "", name: "", faults: [] },
): PreEscapedHtml {
  const field = (key: CardField, value = ""): PreEscapedHtml => {
    const id = getCardFieldElementId(key);
    const fault = faults.find((one) => one.field === key)?.message;
    return html`<div class="field ${id}">
      <label for="${id}">${say(key)}</label>
      <input
        id="${id}"
        name="${key}"
        type="text"
        ${attributes[key]}
        value="${value}"
        data-kept
        spellcheck="false"
        ${fault === undefined ? undefined : html` aria-invalid="true" aria-describedby="${id}-fault"`}
      />
      ${fault === undefined ? undefined : html`<p class="fault" id="${id}-fault">${fault}</p>`}
    </div>`;
  };
  return html`<div class="card-form" role="group" aria-label="${say("payment")}" data-card>
      ${field("cardNumber")} ${field("cardExpiry", expiry)} ${field("cardCvc")} ${field("cardName", name)}
    </div>
    ${testCardList(say)}`;
}

/**
 * Renders the list of test cards. Each card has a button that fills in the form with the card's data; the
 * buttons are shown only if the browser runs scripts.
 */
const testCardList = (say: CheckoutPageVisit["say"]): PreEscapedHtml =>
  html`<details class="test-cards">
    <summary><h3>${say("cardList")}</h3></summary>
    <p class="soft">${say("cardListHint")}</p>
    <ul>
      ${testCards.map(
        ({ number, token, cvcLength }) =>
          html`<li>
            <code>${groupCardNumberDigits(number)}</code>
            <button
              type="button"
              class="second small"
              aria-label="${say("cardUse")} ${groupCardNumberDigits(number)}"
              data-card-number="${groupCardNumberDigits(number)}"
              data-cvc="${"1234".slice(0, cvcLength)}"
            >
              ${say("cardUse")}
            </button>
            <span class="soft">${say(token)}</span>
          </li>`,
      )}
    </ul>
  </details>`;

/**
 * Inserts spaces between the digits of a card number as on a printed card: groups of 4, 6 and 5 for 15
 * digits, otherwise groups of four.
 */
export const groupCardNumberDigits = (number: string): string =>
  (number.length === 15 ? /^(\d{4})(\d{6})(\d{5})$/.exec(number)?.slice(1) : number.match(/\d{1,4}/g))?.join(
    " ",
  ) ?? number;
