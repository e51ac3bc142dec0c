/**
 * Messages in English, German and Japanese about promotion codes that are refused or do not apply at the
 * moment, by reason. If a minimum amount or quantity is not reached, the message says how much is missing.
 */
import type { Failure } from "#foundation/failure.ts";
import { type DisplayedAmount, formatCurrencyAmount } from "./amounts.ts";
import {
  type EnglishGermanJapaneseText,
  fillPlaceholders,
  type CheckoutLanguage,
  getTextInLanguage,
} from "./texts.ts";

const codeUnknown: EnglishGermanJapaneseText = [
  "This promotion code does not exist. Check the spelling.",
  "Diesen Gutscheincode gibt es nicht. Prüfen Sie die Schreibweise.",
  "このクーポンコードは存在しません。入力内容をご確認ください。",
];

export const promotionTexts: Readonly<Record<string, EnglishGermanJapaneseText>> = {
  promotion_code_not_found: codeUnknown,
  promotion_code_malformed: codeUnknown,
  promotion_code_empty: [
    "Enter a promotion code.",
    "Geben Sie einen Gutscheincode ein.",
    "クーポンコードを入力してください。",
  ],
  promotion_not_applicable: [
    "This code does not apply to your order.",
    "Dieser Code gilt nicht für Ihre Bestellung.",
    "このコードはご注文に適用できません。",
  ],
  not_started: [
    "This code is not valid yet.",
    "Dieser Code gilt noch nicht.",
    "このコードはまだ有効ではありません。",
  ],
  ended: [
    "This code is no longer valid.",
    "Dieser Code gilt nicht mehr.",
    "このコードは期限が切れています。",
  ],
  paused: [
    "The shop does not accept this code at the moment.",
    "Der Shop nimmt diesen Code zurzeit nicht an.",
    "このコードは現在ご利用いただけません。",
  ],
  usage_limit_reached: [
    "This code has been used up.",
    "Dieser Code ist aufgebraucht.",
    "このコードは利用上限に達しました。",
  ],
  customer_usage_limit_reached: [
    "You have used this code already.",
    "Sie haben diesen Code schon eingelöst.",
    "このコードはすでにご利用済みです。",
  ],
  customer_not_eligible: [
    "This code is for certain customers of the shop only.",
    "Dieser Code gilt nur für bestimmte Kundinnen und Kunden.",
    "このコードは対象のお客様のみご利用いただけます。",
  ],
  sign_in_required: [
    "This code is for customers who are signed in at the shop.",
    "Dieser Code ist für angemeldete Kundinnen und Kunden.",
    "このコードはショップにログインした方のみご利用いただけます。",
  ],
  minimum_subtotal_not_met: [
    "Your order is too small for this code.",
    "Der Bestellwert reicht für diesen Code nicht.",
    "ご注文金額がこのコードの条件に達していません。",
  ],
  minimum_quantity_not_met: [
    "Your order has too few items for this code.",
    "Für diesen Code sind zu wenige Artikel in der Bestellung.",
    "商品の数がこのコードの条件に達していません。",
  ],
  no_entitled_lines: [
    "This code is for other items than those in your order.",
    "Dieser Code gilt für andere Artikel als die in Ihrer Bestellung.",
    "このコードはご注文の商品には適用できません。",
  ],
  market_not_eligible: [
    "This code does not apply in your country.",
    "Dieser Code gilt in Ihrem Land nicht.",
    "このコードはお届け先の国ではご利用いただけません。",
  ],
  currency_mismatch: [
    "This code does not apply to orders in this currency.",
    "Dieser Code gilt nicht für Bestellungen in dieser Währung.",
    "このコードはこの通貨のご注文には適用できません。",
  ],
  combination_disallowed: [
    "This code cannot be combined with another discount of your order.",
    "Dieser Code lässt sich nicht mit einem anderen Rabatt Ihrer Bestellung verbinden.",
    "このコードは適用中の割引と併用できません。",
  ],
  superseded_by_better_deal: [
    "Your order already has a better discount.",
    "Ihre Bestellung hat schon einen besseren Rabatt.",
    "より割引額の大きい特典がすでに適用されています。",
  ],
};

const missingAmount: EnglishGermanJapaneseText = [
  "Items for {missing} are missing for this code: it needs an order of at least {required}.",
  "Für diesen Code fehlen Artikel für {missing}: Er gilt ab einem Bestellwert von {required}.",
  "このコードのご利用にはあと{missing}分の商品が必要です（{required}以上のご注文が対象）。",
];
const missingQuantity: EnglishGermanJapaneseText = [
  "This code needs at least {required} matching items; {missing} more to go.",
  "Dieser Code gilt ab {required} passenden Artikeln; es fehlen noch {missing}.",
  "このコードのご利用には対象商品が{required}点以上必要です（あと{missing}点）。",
];

interface ReaderLanguage {
  readonly language: CheckoutLanguage;
  readonly locale: string;
}

/**
 * Returns the message about a refused promotion code. The message contains the missing amount or quantity if
 * a minimum was not reached.
 */
export function getDetailedPromotionRefusalMessage(
  { code, parts }: Failure,
  { language, locale }: ReaderLanguage,
): string {
  const reason = parts.conflict?.reason ?? code;
  const data = parts.conflict?.data ?? {};
  const numbers =
    reason === "minimum_subtotal_not_met"
      ? [data["missingAmount"], data["requiredAmount"]].map((value) => amountText(value, locale))
      : [data["missingQuantity"], data["requiredQuantity"]].map(quantityText);
  const [missing, required] = numbers;
  if (missing !== undefined && required !== undefined) {
    const texts = reason === "minimum_subtotal_not_met" ? missingAmount : missingQuantity;
    return fillPlaceholders(getTextInLanguage(texts, language), { missing, required });
  }
  return getBriefPromotionRefusalMessage(reason, language) ?? getTextInLanguage(codeUnknown, language);
}

/**
 * Returns the message about a promotion code that does not apply, without amounts or quantities. Undefined
 * for an unknown reason.
 */
export function getBriefPromotionRefusalMessage(
  reason: string | null,
  language: CheckoutLanguage,
): string | undefined {
  const texts = promotionTexts[reason ?? ""];
  return texts === undefined ? undefined : getTextInLanguage(texts, language);
}

const amountText = (value: unknown, locale: string): string | undefined =>
  isAmount(value) ? formatCurrencyAmount(value, locale) : undefined;

const isAmount = (value: unknown): value is DisplayedAmount =>
  typeof value === "object" && value !== null && "amountMinor" in value && "exponent" in value;

const quantityText = (value: unknown): string | undefined =>
  typeof value === "number" ? String(value) : undefined;
