/**
 * Reads the card form. A test card's number becomes the provider's payment token here, and goes no further:
 * it is not stored, logged, repeated in the page or put into an error.
 */
import { findTestCard, type TestCard } from "#commerce/payments/test-cards.ts";
import type { TextName, Translator } from "./texts.ts";
import type { CheckoutVisit } from "./visit.ts";

export const cardFields = ["cardNumber", "cardExpiry", "cardCvc", "cardName"] as const;
export type CardField = (typeof cardFields)[number];

export interface CardFault {
  readonly field: CardField;
  readonly message: string;
}

/** What the card form shows again after a refusal. Number and security code are never sent back. */
export interface TypedCard {
  readonly expiry: string;
  readonly name: string;
  readonly faults: readonly CardFault[];
}

/** The read card form: the payment token of the test card, or what is wrong with the form. */
export interface CardFormResult {
  readonly token: string | undefined;
  readonly typed: TypedCard;
}

const nameMax = 100;

export function parseCardForm(
  form: URLSearchParams,
  { say, now }: { readonly say: Translator; readonly now: Date },
): CardFormResult {
  const text = (field: CardField): string => (form.get(field) ?? "").trim();
  const number = text("cardNumber");
  const found = findTestCard(number);
  const expiry = text("cardExpiry").slice(0, 10);
  const name = text("cardName");
  const fault = (field: CardField, key: TextName | undefined, parts = {}): readonly CardFault[] =>
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

/** Reads the card form that a buyer has sent in a request to the checkout page. */
export const readVisitCard = ({ say, pageContext }: CheckoutVisit, form: URLSearchParams): CardFormResult =>
  parseCardForm(form, { say, now: pageContext.services.clock.now() });

/**
 * Reads what the buyer has typed into the card form, without its errors. Used if another part of the form was
 * refused and the page is shown again.
 */
export const readTypedCard = (visit: CheckoutVisit, form: URLSearchParams): TypedCard => ({
  ...readVisitCard(visit, form).typed,
  faults: [],
});

/** True if the text may contain a card number that was typed into the wrong field. */
const showsNumber = (text: string): boolean => text.replaceAll(/\D/g, "").length > 6 || text.length > nameMax;

function numberFault(number: string, found: TestCard | undefined): TextName | undefined {
  if (found !== undefined) return undefined;
  return number === "" ? "cardNumberEmpty" : "cardNumberUnknown";
}

const isCvc = (cvc: string, found: TestCard | undefined): boolean =>
  found === undefined ? /^\d{3,4}$/.test(cvc) : /^\d+$/.test(cvc) && cvc.length === found.cvcLength;

function expiryFault(expiry: string, now: Date): TextName | undefined {
  const [, monthText = "", yearText = ""] = /^(\d{1,2})\s*[/.-]?\s*(\d{2}|\d{4})$/.exec(expiry) ?? [];
  const [month, year] = [Number(monthText), Number(yearText) + (yearText.length === 2 ? 2000 : 0)];
  if (monthText === "" || month < 1 || month > 12) return "cardExpiryMalformed";
  // A card is valid until the end of its month, in every time zone: `month` counts from 1, Date.UTC from 0.
  return Date.UTC(year, month, 2) <= now.getTime() ? "cardExpiryPast" : undefined;
}
