/**
 * Texts of the checkout page for the time while a payment is processed, for the time after the session has
 * ended, and for errors.
 */
export const outcomeTexts = {
  processing: ["Your payment is being processed", "Ihre Zahlung wird bearbeitet", "お支払いを処理しています"],
  processingText: [
    "This page continues automatically when the payment has a result. Do not pay again.",
    "Diese Seite geht automatisch weiter, sobald ein Ergebnis vorliegt. Bitte nicht noch einmal bezahlen.",
    "結果が出しだい自動的に次へ進みます。重ねてお支払いの操作をなさらないでください。",
  ],
  processingLook: ["Check now", "Jetzt nachsehen", "今すぐ確認する"],
  processingLong: [
    "The payment takes longer than usual. You may stop waiting and pay in another way. If this payment " +
      "succeeds later, it will be refunded.",
    "Es dauert länger als üblich. Sie können das Warten beenden und anders bezahlen; gelingt diese " +
      "Zahlung doch noch, wird sie erstattet.",
    "通常より時間がかかっています。待つのをやめて別の方法で支払うこともできます。この支払いが後で成功した場合は返金されます。",
  ],
  giveUp: ["Stop waiting", "Nicht länger warten", "待つのをやめる"],
  thanks: ["Thank you", "Vielen Dank", "ありがとうございます"],
  thanksOrder: [
    "Your order {number} has been placed.",
    "Ihre Bestellung {number} ist eingegangen.",
    "ご注文 {number} を承りました。",
  ],
  thanksNext: [
    "You are taken back to {merchant} in {time}.",
    "Sie werden in {time} zu {merchant} weitergeleitet.",
    "{time}後に {merchant} に戻ります。",
  ],
  stay: ["Stay on this page", "Auf dieser Seite bleiben", "このページにとどまる"],
  print: ["Print this page", "Diese Seite drucken", "このページを印刷"],
  deliveryExpected: ["Expected delivery: {days}", "Voraussichtliche Lieferung: {days}", "お届け予定：{days}"],
  pickupExpected: [
    "Expected to be ready for you: {days}",
    "Voraussichtlich abholbereit: {days}",
    "受取可能予定：{days}",
  ],
  nothingSent: [
    "Nothing in your order is sent by post.",
    "Nichts in Ihrer Bestellung wird verschickt.",
    "配送される商品はありません。",
  ],
  contactGiven: [
    "The shop reaches you at {email}.",
    "Der Shop erreicht Sie unter {email}.",
    "ショップからのご連絡先：{email}",
  ],
  deliveryHeading: ["Delivery", "Lieferung", "お届け"],
  questions: [
    "Questions about your order? Ask {merchant}, and give the order number {number}:",
    "Fragen zur Bestellung? Fragen Sie {merchant} und nennen Sie die Bestellnummer {number}:",
    "ご注文についてのお問い合わせは、注文番号 {number} を添えて {merchant} までご連絡ください：",
  ],
  completed: [
    "This checkout is complete",
    "Diese Bestellung ist abgeschlossen",
    "ご購入手続きは完了しています",
  ],
  completedText: [
    "The order has been placed.",
    "Die Bestellung ist eingegangen.",
    "ご注文は確定しています。",
  ],
  canceled: [
    "This checkout was canceled",
    "Dieser Bezahlvorgang wurde abgebrochen",
    "ご購入手続きはキャンセルされました",
  ],
  canceledText: [
    "Nothing was charged. Your cart can be changed and checked out again.",
    "Es wurde nichts abgebucht. Ihr Warenkorb kann geändert und neu bestellt werden.",
    "請求は発生していません。カートの内容を変更して、もう一度お手続きいただけます。",
  ],
  expired: [
    "This checkout has expired",
    "Dieser Bezahlvorgang ist abgelaufen",
    "ご購入手続きの期限が切れました",
  ],
  canceledByShopText: [
    "The shop has ended this checkout. Nothing was charged.",
    "Der Shop hat diesen Bezahlvorgang beendet. Es wurde nichts abgebucht.",
    "ショップがこのご購入手続きを終了しました。請求は発生していません。",
  ],
  expiredText: [
    "Nothing was charged, and the items are no longer reserved for you.",
    "Es wurde nichts abgebucht, und die Artikel sind nicht mehr für Sie reserviert.",
    "請求は発生していません。商品の確保は終了しました。",
  ],
  inCart: ["What you were about to order", "Was Sie bestellen wollten", "ご注文予定の商品"],
  startAgain: [
    "To order, go back to {merchant}, open your cart, and check out again.",
    "Um zu bestellen, gehen Sie zurück zu {merchant}, öffnen Sie den Warenkorb und beginnen Sie neu.",
    "ご注文になるには {merchant} に戻り、カートからもう一度お手続きください。",
  ],
  unknown: [
    "This checkout does not exist",
    "Diesen Bezahlvorgang gibt es nicht",
    "該当するご購入手続きが見つかりません",
  ],
  unknownText: [
    "The link is incomplete or has expired. Go back to the shop and start again.",
    "Der Link ist unvollständig oder abgelaufen. Gehen Sie zurück in den Shop und beginnen Sie noch einmal.",
    "アドレスが不完全か、古くなっています。ショップに戻ってもう一度お試しください。",
  ],
  away: [
    "The checkout is not available at the moment",
    "Das ist im Moment nicht möglich",
    "現在ご利用いただけません",
  ],
  awayText: [
    "Nothing was lost. Try again in a few seconds.",
    "Es ist nichts verloren gegangen. Versuchen Sie es in einigen Sekunden noch einmal.",
    "データは失われていません。数秒後にもう一度お試しください。",
  ],
  tryAgain: ["Try again", "Noch einmal versuchen", "もう一度試す"],
  tooMany: ["There were too many attempts", "Zu viele Versuche", "試行回数が多すぎます"],
  tooManyText: [
    "Try again in {time}.",
    "Versuchen Sie es in {time} noch einmal.",
    "{time}後にもう一度お試しください。",
  ],
  tooManyCodes: [
    "There were too many attempts. Try again in {time}.",
    "Zu viele Versuche. Versuchen Sie es in {time} noch einmal.",
    "試行回数が多すぎます。{time}後にもう一度お試しください。",
  ],
  refused: [
    "This form was not accepted",
    "Dieses Formular wurde nicht angenommen",
    "送信を受け付けられませんでした",
  ],
  refusedText: [
    "The form was not sent from this page, or your browser did not send the page’s cookie. Allow " +
      "cookies, open the page again, and send the form again.",
    "Das Formular wurde nicht von dieser Seite gesendet, oder Ihr Browser hat das Cookie der Seite nicht " +
      "gesendet. Erlauben Sie Cookies, öffnen Sie die Seite neu und senden Sie das Formular noch einmal.",
    "このページから送信されていないか、Cookieが送られていません。Cookieを許可し、ページを開き直してもう一度送信してください。",
  ],
} as const satisfies Record<string, readonly [en: string, de: string, ja: string]>;
