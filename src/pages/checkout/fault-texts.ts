/** Error messages of the checkout page in English, German and Japanese, by failure code. */
import type { Failure } from "#foundation/failure.ts";
import { cardFailureTexts } from "./card-texts.ts";
import { paymentPageFailureTexts } from "./payment-page-texts.ts";
import { promotionTexts } from "./promotion-texts.ts";
import { type EnglishGermanJapaneseText, getTextInLanguage, type CheckoutLanguage } from "./texts.ts";

const changed: EnglishGermanJapaneseText = [
  "Your order has changed in the meantime. Check it again before you pay.",
  "Inzwischen hat sich etwas geändert. Prüfen Sie Ihre Bestellung noch einmal, bevor Sie bezahlen.",
  "内容が変更されました。お支払いの前にご注文内容をもう一度ご確認ください。",
];
const gone: EnglishGermanJapaneseText = [
  "An item in your order is no longer available in this quantity. Cancel, change your cart in the " +
    "shop, and check out again.",
  "Ein Artikel Ihrer Bestellung ist in dieser Menge nicht mehr lieferbar. Brechen Sie ab, ändern Sie " +
    "den Warenkorb im Shop und beginnen Sie neu.",
  "購入できなくなった商品があります。キャンセルしてショップでカートを変更し、もう一度お手続きください。",
];
/**
 * Error messages by failure code or by the `reason` of a conflict. The message of the reason is more exact,
 * so it takes precedence over the message of the failure code.
 */
const byCode: Readonly<Record<string, EnglishGermanJapaneseText>> = {
  ...promotionTexts,
  ...cardFailureTexts,
  ...paymentPageFailureTexts,
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

export function getFailureCodeMessage(code: string, language: CheckoutLanguage): string {
  return getTextInLanguage(byCode[code] ?? byCode["other"] ?? changed, language);
}

/**
 * Returns the error message for a failure: the message for the reason of its conflict if there is one,
 * otherwise the message for its code.
 */
export function getFailureMessage({ code, parts }: Failure, language: CheckoutLanguage): string {
  const reason = parts.conflict?.reason ?? "";
  return getFailureCodeMessage(Object.hasOwn(byCode, reason) ? reason : code, language);
}

export const getPaymentFailureMessage = (failureCode: string, language: CheckoutLanguage): string =>
  getFailureCodeMessage(Object.hasOwn(byCode, failureCode) ? failureCode : "payment_failed", language);
