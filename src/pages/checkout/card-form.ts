/**
 * Reads the form for card data. Replaces the number of a test card by a payment token of the payment
 * provider. The number is not stored, logged, repeated in the page or put into an error.
 */
import { findTestCard, type TestCard } from "#commerce/payments/test/test-cards.ts";
import type { CheckoutTextKey, CheckoutTranslator } from "./texts.ts";
import type { CheckoutPageVisit } from "./visit.ts";

export const cardFields = ["cardNumber", "cardExpiry", "cardCvc", "cardName"] as const;
export type CardField = (typeof cardFields)[number];

export interface CardFieldFault {
  readonly field: CardField;
  readonly message: string;
}

/**
 * The values of a refused card form that the form shows again. The card number and the security code are
 * never sent back to the browser.
 */
export interface EnteredCardFields {
  readonly expiry: string;
  readonly name: string;
  readonly faults: readonly CardFieldFault[];
}

/** The result of reading the card form: the payment token of the test card, or the errors of the form. */
export interface CardFormResult {
  readonly token: string | undefined;
  readonly typed: EnteredCardFields;
}

const nameMax = 100;

export function parseCardForm(
  form: URLSearchParams,
  { say, now }: { readonly say: CheckoutTranslator; readonly now: Date },
): CardFormResult {
  const text = (field: CardField): string => (form.get(field) ?? "").trim();
  const number = text("cardNumber");
  const found = findTestCard(number);
  const expiry = text("cardExpiry").slice(0, 10);
  const name = text("cardName");
  const fault = (field: CardField, key: CheckoutTextKey | undefined, parts = {}): readonly CardFieldFault[] =>
    key === undefined ? [] : [{ field, message: say(key, parts) }];
  const digits = String(found?.cvcLength ?? 3);
  const isNameGood = name !== "" && name.length <= nameMax;
  const faults = [
    ...fault("cardNumber", numberFault(number, found)),
    ...fault("cardExpiry", expiryFault(expiry, now)),
    ...fault("cardCvc", isCvc(text("cardCvc"), found) ? undefined : "cardCvcMalformed", { digits }),
    ...fault("cardName", isNameGood ? undefined : "cardNameEmpty"),
  ];
  return {
    token: faults.length === 0 ? found?.token : undefined,
    typed: { expiry: showsNumber(expiry) ? "" : expiry, name: showsNumber(name) ? "" : name, faults },
  };
}

/**
 * Reads the card form from the fields that the browser has sent, and validates it. The expiry date is
 * compared with the current time; the error messages are in the language of the page.
 */
export const parseSubmittedCardForm = (
  { say, pageContext }: CheckoutPageVisit,
  form: URLSearchParams,
): CardFormResult => parseCardForm(form, { say, now: pageContext.services.clock.now() });

/**
 * Returns the typed values of the card form without checking them. The page shows them again after another
 * part of the form was refused.
 */
export const readEnteredCardFieldsWithoutValidation = (
  visit: CheckoutPageVisit,
  form: URLSearchParams,
): EnteredCardFields => ({
  ...parseSubmittedCardForm(visit, form).typed,
  faults: [],
});

/** Returns true if a text may contain a card number, which the buyer may have typed into the wrong field. */
const showsNumber = (text: string): boolean => text.replaceAll(/\D/g, "").length > 6 || text.length > nameMax;

function numberFault(number: string, found: TestCard | undefined): CheckoutTextKey | undefined {
  if (found !== undefined) return undefined;
  return number === "" ? "cardNumberEmpty" : "cardNumberUnknown";
}

const isCvc = (cvc: string, found: TestCard | undefined): boolean =>
  found === undefined ? /^\d{3,4}$/.test(cvc) : /^\d+$/.test(cvc) && cvc.length === found.cvcLength;

function expiryFault(expiry: string, now: Date): CheckoutTextKey | undefined {
  const [, monthText = "", yearText = ""] = /^(\d{1,2})\s*[/.-]?\s*(\d{2}|\d{4})$/.exec(expiry) ?? [];
  const [month, year] = [Number(monthText), Number(yearText) + (yearText.length === 2 ? 2000 : 0)];
  if (monthText === "" || month < 1 || month > 12) return "cardExpiryMalformed";
  // A card is valid until its expiry month has ended in every time zone. `Date.UTC` counts months from 0, so
  // `month`, which counts from 1, means the following month here.
  return Date.UTC(year, month, 2) <= now.getTime() ? "cardExpiryPast" : undefined;
}
