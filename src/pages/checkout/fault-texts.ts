/**
 * Error messages of the checkout page in its three languages: by failure code, and for address fields by the
 * broken rule.
 */
import type { Failure, FailureDetail } from "#foundation/failure.ts";
import { fillPlaceholders, pickLanguage, type Language } from "./texts.ts";

/** A text in English, German and Japanese. */
export type CheckoutTexts = readonly [en: string, de: string, ja: string];

const changed: CheckoutTexts = [
  "Your order has changed in the meantime. Check it again before you pay.",
  "Inzwischen hat sich etwas geändert. Prüfen Sie Ihre Bestellung noch einmal, bevor Sie bezahlen.",
  "内容が変更されました。お支払いの前にご注文内容をもう一度ご確認ください。",
];
const gone: CheckoutTexts = [
  "An item in your order is no longer available in this quantity. Cancel, change your cart in the " +
    "shop, and check out again.",
  "Ein Artikel Ihrer Bestellung ist in dieser Menge nicht mehr lieferbar. Brechen Sie ab, ändern Sie " +
    "den Warenkorb im Shop und beginnen Sie neu.",
  "購入できなくなった商品があります。キャンセルしてショップでカートを変更し、もう一度お手続きください。",
];
const codeUnknown: CheckoutTexts = [
  "This promotion code does not exist. Check the spelling.",
  "Diesen Gutscheincode gibt es nicht. Prüfen Sie die Schreibweise.",
  "このクーポンコードは存在しません。入力内容をご確認ください。",
];

/** Messages by failure code. A conflict may have a message for its `reason` instead. */
const byCode: Readonly<Record<string, CheckoutTexts>> = {
  checkout_amount_changed: [
    "The total has changed. Check it, then pay.",
    "Der Gesamtbetrag hat sich geändert. Prüfen Sie ihn und bezahlen Sie dann.",
    "合計金額が変わりました。ご確認のうえ、お支払いください。",
  ],
  checkout_session_version_conflict: changed,
  idempotency_key_reused: changed,
  line_unavailable: gone,
  insufficient_stock: gone,
  address_required: [
    "Enter a delivery address.",
    "Geben Sie eine Lieferadresse ein.",
    "お届け先を入力してください。",
  ],
  delivery_option_required: [
    "Choose a delivery method.",
    "Wählen Sie eine Versandart.",
    "配送方法を選んでください。",
  ],
  payment_token_required: [
    "Choose a payment method.",
    "Wählen Sie eine Zahlungsart.",
    "お支払い方法を選んでください。",
  ],
  payment_authorized: [
    "The payment has just succeeded; the order follows in a moment.",
    "Die Zahlung ist gerade gelungen; die Bestellung folgt gleich.",
    "お支払いが完了しました。まもなく注文が確定します。",
  ],
  address_market_mismatch: [
    "This order cannot be delivered to that country. Choose another country.",
    "In dieses Land kann diese Bestellung nicht geliefert werden. Wählen Sie ein anderes Land.",
    "このご注文はその国へお届けできません。別の国を選んでください。",
  ],
  promotion_code_not_found: codeUnknown,
  promotion_code_malformed: codeUnknown,
  email_empty: [
    "Enter your e-mail address.",
    "Geben Sie Ihre E-Mail-Adresse ein.",
    "メールアドレスを入力してください。",
  ],
  email_malformed: [
    "Enter an e-mail address like name@example.com.",
    "Schreiben Sie die E-Mail-Adresse wie name@example.com.",
    "メールアドレスは name@example.com の形式で入力してください。",
  ],
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
  card_declined: [
    "The card was declined. Nothing was charged; try again or pay in another way.",
    "Die Karte wurde abgelehnt. Es wurde nichts abgebucht; versuchen Sie es noch einmal oder bezahlen " +
      "Sie anders.",
    "このカードはご利用いただけませんでした。請求は発生していません。もう一度試すか、別の方法でお支払いください。",
  ],
  insufficient_funds: [
    "The card has insufficient funds. Nothing was charged; try again or pay in another way.",
    "Das Guthaben reichte nicht. Es wurde nichts abgebucht; versuchen Sie es noch einmal oder bezahlen " +
      "Sie anders.",
    "残高が不足しています。請求は発生していません。もう一度試すか、別の方法でお支払いください。",
  ],
  timed_out: [
    "The payment was not confirmed in time. If it succeeds later, it will be refunded. Pay again.",
    "Die Zahlung wurde nicht rechtzeitig bestätigt. Gelingt sie doch noch, wird sie erstattet. Bezahlen " +
      "Sie noch einmal.",
    "時間内に決済を確認できませんでした。後で成功した場合は返金されます。もう一度お支払いください。",
  ],
  buyer_gave_up: [
    "You stopped waiting for the payment. If it succeeds later, it will be refunded. Pay in another way.",
    "Sie haben das Warten auf die Zahlung beendet. Gelingt sie doch noch, wird sie erstattet. Bezahlen " +
      "Sie anders.",
    "決済の待機を中止しました。後で成功した場合は返金されます。別の方法でお支払いください。",
  ],
  payment_failed: [
    "The payment did not succeed. Try again or pay in another way.",
    "Die Zahlung ist nicht gelungen. Versuchen Sie es noch einmal oder bezahlen Sie anders.",
    "お支払いが完了しませんでした。もう一度試すか、別の方法でお支払いください。",
  ],
  other: [
    "The request failed. Try again.",
    "Die Anfrage ist fehlgeschlagen. Versuchen Sie es noch einmal.",
    "処理できませんでした。もう一度お試しください。",
  ],
};

export function messageForCode(code: string, language: Language): string {
  return pickLanguage(byCode[code] ?? byCode["other"] ?? changed, language);
}

/** Returns the message for the failure's conflict reason if there is one, otherwise for its code. */
export function messageForFailure({ code, parts }: Failure, language: Language): string {
  const reason = parts.conflict?.reason ?? "";
  return messageForCode(Object.hasOwn(byCode, reason) ? reason : code, language);
}

export const messageForPaymentFailure = (failureCode: string, language: Language): string =>
  messageForCode(Object.hasOwn(byCode, failureCode) ? failureCode : "payment_failed", language);

const required: CheckoutTexts = ["Enter a value.", "Füllen Sie dieses Feld aus.", "入力してください。"];
const forbidden: CheckoutTexts = [
  "Do not use web addresses, emojis or special characters.",
  "Verwenden Sie keine Internetadressen, Emojis oder Sonderzeichen.",
  "URL、絵文字、特殊文字は使用できません。",
];
const listed: CheckoutTexts = [
  "Choose an entry from the list.",
  "Wählen Sie einen Eintrag der Liste.",
  "一覧から選択してください。",
];

/** Messages by broken rule. They are shown beside the field's label. */
const byRule: Readonly<Record<string, CheckoutTexts>> = {
  required,
  too_short: required,
  too_long: [
    "The text is too long. Shorten it.",
    "Der Text ist zu lang. Kürzen Sie ihn.",
    "長すぎます。短くしてください。",
  ],
  control_character: forbidden,
  html: forbidden,
  url: forbidden,
  emoji: forbidden,
  unknown_country: listed,
  unknown_region: listed,
  other: [
    "This value is not valid. Check it.",
    "Diese Angabe ist ungültig. Prüfen Sie sie.",
    "ご確認ください。",
  ],
};

const regionRequired: CheckoutTexts = [
  "Choose the state or region.",
  "Wählen Sie Bundesland oder Region.",
  "都道府県・州を選択してください。",
];

/** Messages by field and broken rule: complete sentences that name the field. */
const byField: Readonly<Record<string, CheckoutTexts>> = {
  "recipientName required": [
    "Enter your full name.",
    "Geben Sie Vor- und Nachnamen ein.",
    "お名前を入力してください。",
  ],
  "line1 required": [
    "Enter the street and house number.",
    "Geben Sie Straße und Hausnummer ein.",
    "町名・番地を入力してください。",
  ],
  "city required": ["Enter the town or city.", "Geben Sie den Ort ein.", "市区町村を入力してください。"],
  "postalCode required": [
    "Enter the postal code.",
    "Geben Sie die Postleitzahl ein.",
    "郵便番号を入力してください。",
  ],
  "email required": [
    "Enter your e-mail address.",
    "Geben Sie Ihre E-Mail-Adresse ein.",
    "メールアドレスを入力してください。",
  ],
  "regionCode required": regionRequired,
  "countryCode required": ["Choose the country.", "Wählen Sie das Land.", "国・地域を選択してください。"],
  "regionCode region_postal_code_mismatch": [
    "The state or region does not match the postal code. Check both.",
    "Region und Postleitzahl passen nicht zusammen. Prüfen Sie beide.",
    "都道府県・州と郵便番号が一致しません。両方をご確認ください。",
  ],
  "postalCode region_postal_code_mismatch": [
    "The postal code does not match the state or region. Check both.",
    "Postleitzahl und Region passen nicht zusammen. Prüfen Sie beide.",
    "郵便番号と都道府県・州が一致しません。両方をご確認ください。",
  ],
  "postalCode pattern_mismatch": [
    "This postal code does not fit the chosen country.",
    "Diese Postleitzahl passt nicht zum gewählten Land.",
    "選択した国の郵便番号を入力してください。",
  ],
  "phone pattern_mismatch": [
    "Enter the phone number with + and the country code.",
    "Geben Sie die Nummer mit + und Ländervorwahl ein.",
    "電話番号は＋と国番号から入力してください。",
  ],
  "email pattern_mismatch": [
    "Enter an e-mail address like name@example.com.",
    "Schreiben Sie die E-Mail-Adresse wie name@example.com.",
    "メールアドレスは name@example.com の形式で入力してください。",
  ],
};

const named: CheckoutTexts = ["{label}: {message}", "{label}: {message}", "{label}：{message}"];

interface FaultAsked {
  readonly field: string;
  readonly label: string;
  readonly language: Language;
}

export interface FieldMessages {
  /** The message that is shown beside the field. */
  readonly message: string;
  /** The message for the list above the form; names the field. */
  readonly summary: string;
}

export function messagesForField(
  { code }: FailureDetail,
  { field, label, language }: FaultAsked,
): FieldMessages {
  const own = byField[`${field} ${code === "too_short" ? "required" : code}`];
  if (own !== undefined)
    return { message: pickLanguage(own, language), summary: pickLanguage(own, language) };
  const message = pickLanguage(byRule[code] ?? byRule["other"] ?? required, language);
  return { message, summary: fillPlaceholders(pickLanguage(named, language), { label, message }) };
}
