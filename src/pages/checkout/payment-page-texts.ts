/** Texts about the payment provider's page, in English, German and Japanese. */

/**
 * A text in English, German and Japanese, like `EnglishGermanJapaneseText` of texts.ts. This file cannot
 * import that type, because texts.ts imports this file.
 */
type PaymentPageText = readonly [en: string, de: string, ja: string];

export const paymentPageTexts = {
  paymentAtStripe: [
    "You choose how to pay and enter your payment details on the secure page of Stripe. The shop does not get " +
      "them.",
    "Die Zahlungsart wählen Sie auf der sicheren Seite von Stripe und geben dort Ihre Zahlungsdaten ein. Der Shop " +
      "erhält sie nicht.",
    "お支払い方法の選択と情報の入力は、Stripe の安全なページで行います。ショップには渡りません。",
  ],
  payAtStripe: ["Continue to pay {amount}", "Weiter zur Zahlung von {amount}", "{amount} のお支払いへ進む"],
  toPaymentPage: [
    "You are taken to the payment page",
    "Sie werden zur Zahlungsseite weitergeleitet",
    "お支払いページへ移動します",
  ],
  paymentPageLeft: [
    "You have not paid yet",
    "Sie haben noch nicht bezahlt",
    "お支払いはまだ完了していません",
  ],
  paymentPageText: [
    "Your order is placed as soon as you have paid on the payment page.",
    "Ihre Bestellung geht ein, sobald Sie auf der Zahlungsseite bezahlt haben.",
    "お支払いページでのお支払いが済みしだい、ご注文が確定します。",
  ],
  paymentPageOpen: ["Open the payment page", "Zahlungsseite öffnen", "お支払いページを開く"],
  paymentPageGiveUp: [
    "Go back to change your order or to pay in another way. The payment page is then closed.",
    "Gehen Sie zurück, um Ihre Bestellung zu ändern oder anders zu bezahlen. Die Zahlungsseite wird dann " +
      "geschlossen.",
    "ご注文の変更や別の方法でのお支払いには、前に戻ってください。お支払いページは閉じられます。",
  ],
  paymentPageBack: ["Back to the checkout", "Zurück zur Kasse", "ご購入手続きに戻る"],
} as const satisfies Record<string, PaymentPageText>;

/**
 * Messages by failure code: about payments that failed on the payment provider's page, and about amounts that
 * the provider cannot charge.
 */
export const paymentPageFailureTexts: Readonly<Record<string, PaymentPageText>> = {
  payment_page_expired: [
    "You did not pay in time on the payment page. Nothing was charged; pay again.",
    "Sie haben auf der Zahlungsseite nicht rechtzeitig bezahlt. Es wurde nichts abgebucht; bezahlen Sie noch " +
      "einmal.",
    "お支払いページの有効期限が切れました。請求は発生していません。もう一度お支払いください。",
  ],
  currency_not_payable: [
    "This amount cannot be paid in the shop's currency. Contact the shop.",
    "Dieser Betrag kann in der Währung des Shops nicht bezahlt werden. Wenden Sie sich an den Shop.",
    "この金額はショップの通貨ではお支払いいただけません。ショップにお問い合わせください。",
  ],
  provider_unavailable: [
    "Payments are not available at the moment. Nothing was charged; try again later.",
    "Zahlungen sind im Moment nicht möglich. Es wurde nichts abgebucht; versuchen Sie es später noch einmal.",
    "現在お支払いいただけません。請求は発生していません。しばらくしてからもう一度お試しください。",
  ],
};
