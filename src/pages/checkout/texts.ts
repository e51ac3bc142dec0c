/** Texts of the checkout page in English, German and Japanese. `{name}` is a placeholder for a value. */
const languages = ["en", "de", "ja"] as const;
export type Language = (typeof languages)[number];

/** Returns the page's language for a locale; English if the page has no texts in that language. */
export function pageLanguage(locale: string): Language {
  const [language = ""] = locale.split("-");
  return languages.find((known) => known === language) ?? "en";
}

const table = {
  title: ["Checkout – {merchant}", "Kasse – {merchant}", "ご購入手続き – {merchant}"],
  heading: ["Checkout", "Kasse", "ご購入手続き"],
  errorTitle: ["Error: {title}", "Fehler: {title}", "エラー：{title}"],
  testBadge: ["TEST", "TEST", "テスト"],
  test: [
    "This is a test shop: nothing is charged, no money moves, and nothing is sent.",
    "Dies ist ein Testshop: Es wird nichts abgebucht, kein Geld bewegt und nichts verschickt.",
    "これはテスト用のショップです。請求も送金も発送も行われません。",
  ],
  keptFor: [
    "Your order is reserved for another {time}.",
    "Ihre Bestellung ist noch {time} für Sie reserviert.",
    "ご注文内容はあと{time}確保されています。",
  ],
  order: ["Your order", "Ihre Bestellung", "ご注文内容"],
  quantity: ["Quantity: {quantity}", "Menge: {quantity}", "数量：{quantity}"],
  each: ["{price} each", "je {price}", "単価 {price}"],
  subtotal: ["Subtotal", "Zwischensumme", "小計"],
  discount: ["Discount", "Rabatt", "割引"],
  shipping: ["Delivery", "Versand", "送料"],
  later: ["Shown after you choose a delivery", "Wird nach der Auswahl angezeigt", "選択後に表示されます"],
  tax: ["Tax", "Steuern", "税金"],
  taxIncluded: ["Tax, included", "Enthaltene Steuern", "内税"],
  taxLater: ["Depends on the address", "Je nach Adresse", "住所により決まります"],
  total: ["Total", "Gesamt", "合計"],
  estimated: ["Total so far", "Gesamt bisher", "現時点の合計"],
  free: ["Free", "Kostenlos", "無料"],
  address: ["Delivery address", "Lieferadresse", "お届け先"],
  addressOptional: [
    "Nothing in your order is sent by post. An address is optional; tax may depend on it.",
    "Nichts in Ihrer Bestellung wird verschickt. Eine Adresse ist freiwillig; die Steuer kann von ihr " +
      "abhängen.",
    "配送される商品はありません。住所の入力は任意ですが、税額に影響することがあります。",
  ],
  addressPrivate: [
    "For your privacy, only a part of the address is shown.",
    "Zu Ihrem Schutz wird die Adresse nur teilweise angezeigt.",
    "個人情報保護のため、一部のみ表示しています。",
  ],
  addressChange: ["Change the address", "Adresse ändern", "住所を変更"],
  addressAdd: ["Add an address", "Adresse hinzufügen", "住所を追加"],
  addressSave: ["Continue", "Weiter", "次へ"],
  addressKeep: ["Keep the address", "Adresse unverändert lassen", "変更せずに戻る"],
  optional: ["(optional)", "(freiwillig)", "（任意）"],
  contactHeading: ["Contact", "Kontakt", "ご連絡先"],
  contact: ["Contact: {email}", "Kontakt: {email}", "連絡先：{email}"],
  choose: ["Choose…", "Bitte wählen …", "選択してください"],
  countryCode: ["Country", "Land", "国・地域"],
  countryChange: ["Change the country", "Land ändern", "国を変更"],
  recipientName: ["Full name", "Vor- und Nachname", "お名前"],
  company: ["Company", "Firma", "会社名"],
  line1: ["Street and house number", "Straße und Hausnummer", "町名・番地"],
  line2: ["Floor, apartment, building", "Adresszusatz", "建物名・部屋番号"],
  line3: ["Further address line", "Weiterer Adresszusatz", "その他"],
  district: ["District", "Ortsteil", "地区"],
  city: ["Town or city", "Ort", "市区町村"],
  regionCode: ["State or region", "Bundesland oder Region", "都道府県・州"],
  postalCode: ["Postal code", "Postleitzahl", "郵便番号"],
  phone: ["Phone", "Telefon", "電話番号"],
  email: ["E-mail", "E-Mail", "メールアドレス"],
  phoneHint: ["With + and the country code", "Mit + und Ländervorwahl", "＋と国番号から入力してください"],
  delivery: ["Delivery", "Versandart", "配送方法"],
  deliveryNone: [
    "Your order cannot be delivered to this address. Choose another address.",
    "An diese Adresse kann nicht geliefert werden. Wählen Sie eine andere Adresse.",
    "この住所には配送できません。別の住所を入力してください。",
  ],
  deliveryUpdate: ["Use this delivery method", "Versandart übernehmen", "この配送方法にする"],
  pickup: ["You collect it", "Selbstabholung", "店頭受取"],
  promotion: ["Promotion code", "Gutscheincode", "クーポンコード"],
  promotionApply: ["Apply", "Einlösen", "適用"],
  promotionRemove: ["Remove the code {code}", "Code {code} entfernen", "コード {code} を削除"],
  promotionApplied: ["{code}: {title}", "{code}: {title}", "{code}：{title}"],
  promotionSuspended: [
    "{code} does not apply to this order at the moment.",
    "{code} gilt für diese Bestellung zurzeit nicht.",
    "{code} は現在このご注文に適用されません。",
  ],
  payment: ["Payment", "Zahlung", "お支払い"],
  paymentTest: [
    "This is a test: no real payment method is used. Choose the answer of the test provider.",
    "Es wird kein echtes Zahlungsmittel verwendet. Wählen Sie, was der Testanbieter antworten soll.",
    "実際の決済は行われません。テスト決済の結果を選んでください。",
  ],
  tok_success: ["The payment succeeds", "Die Zahlung gelingt", "成功する"],
  tok_decline: ["The card is declined", "Die Karte wird abgelehnt", "カードが拒否される"],
  tok_decline_insufficient_funds: [
    "The card has insufficient funds",
    "Das Guthaben reicht nicht",
    "残高が不足している",
  ],
  tok_slow: [
    "The payment succeeds after a few seconds",
    "Die Zahlung gelingt nach einigen Sekunden",
    "数秒後に成功する",
  ],
  tok_late_success: [
    "The provider answers too late, after 20 minutes",
    "Die Antwort kommt zu spät, nach 20 Minuten",
    "応答が20分後に届く（時間切れ）",
  ],
  paymentFree: ["No payment is due.", "Es ist nichts zu bezahlen.", "お支払いは不要です。"],
  pay: ["Pay {amount} (test)", "Zahlungspflichtig bestellen · {amount}", "{amount} を支払う（テスト）"],
  payLater: ["Pay", "Zahlungspflichtig bestellen", "支払う"],
  missing_address: [
    "Enter the delivery address first.",
    "Geben Sie zuerst die Lieferadresse ein.",
    "先にお届け先を入力してください。",
  ],
  missing_contact: [
    "Enter your e-mail address first.",
    "Geben Sie zuerst Ihre E-Mail-Adresse ein.",
    "先にメールアドレスを入力してください。",
  ],
  missing_delivery: [
    "Choose a delivery method first.",
    "Wählen Sie zuerst eine Versandart.",
    "先に配送方法を選んでください。",
  ],
  placeFree: ["Place the order", "Bestellung abschicken", "注文を確定する"],
  cancel: [
    "Cancel and go back to {merchant}",
    "Abbrechen und zurück zu {merchant}",
    "キャンセルして {merchant} に戻る",
  ],
  cancelNote: [
    "Your cart stays as it is.",
    "Ihr Warenkorb bleibt erhalten.",
    "カートの中身はそのまま残ります。",
  ],
  goBack: ["Go back to {merchant}", "Zurück zu {merchant}", "{merchant} に戻る"],
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
    "You are taken back to {merchant} in a moment.",
    "Sie werden gleich zu {merchant} weitergeleitet.",
    "まもなく {merchant} に戻ります。",
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
  expiredText: [
    "Nothing was charged. Start again from your cart.",
    "Es wurde nichts abgebucht. Beginnen Sie im Warenkorb noch einmal.",
    "請求は発生していません。カートからもう一度お手続きください。",
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
  elsewhere: [
    "This checkout is open in another browser. To continue here, enter the delivery address.",
    "Dieser Bezahlvorgang wird in einem anderen Browser fortgesetzt. Um hier fortzufahren, geben Sie die " +
      "Adresse ein.",
    "このご購入手続きは別のブラウザで進められています。ここで続けるには住所を入力してください。",
  ],
  problem: ["There is a problem", "Es gibt ein Problem", "問題があります"],
} as const satisfies Record<string, readonly [en: string, de: string, ja: string]>;

export type TextName = keyof typeof table;

/** Returns a text in one language with its placeholders filled. */
export type Translate = (name: TextName, parts?: Readonly<Record<string, string>>) => string;

export function createTranslator(language: Language): Translate {
  const column = languages.indexOf(language);
  return (name, parts = {}) => fillPlaceholders(table[name][column] ?? table[name][0], parts);
}

export const fillPlaceholders = (text: string, parts: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => parts[name] ?? whole);

/** Returns a text in the given language, for text tables of other files. */
export const pickLanguage = (
  texts: readonly [en: string, de: string, ja: string],
  language: Language,
): string => texts[languages.indexOf(language)] ?? texts[0];
