/** Texts of the checkout page in English, German and Japanese. `{name}` is a placeholder for a value. */
import { cardTexts } from "./card-texts.ts";
import { outcomeTexts } from "./outcome-texts.ts";
import { paymentPageTexts } from "./payment-page-texts.ts";

export const languages = ["en", "de", "ja"] as const;
export type CheckoutLanguage = (typeof languages)[number];

/** A text in English, German and Japanese. */
export type EnglishGermanJapaneseText = readonly [en: string, de: string, ja: string];

/** The names of the languages, each in its own language. */
export const languageNames: Readonly<Record<CheckoutLanguage, string>> = {
  en: "English",
  de: "Deutsch",
  ja: "日本語",
};

/**
 * Returns the language of the checkout page for a locale; undefined if the page has no texts in the locale's
 * language.
 */
export function findCheckoutLanguageForLocale(locale: string): CheckoutLanguage | undefined {
  const [language = ""] = locale.split("-");
  return languages.find((known) => known === language);
}

/**
 * Returns the language of the checkout page for a locale; English if the page has no texts in the locale's
 * language.
 */
export const getCheckoutLanguageOrEnglish = (locale: string): CheckoutLanguage =>
  findCheckoutLanguageForLocale(locale) ?? "en";

const table = {
  ...outcomeTexts,
  ...cardTexts,
  ...paymentPageTexts,
  title: ["Checkout – {merchant}", "Kasse – {merchant}", "ご購入手続き – {merchant}"],
  support: ["Help from {merchant}:", "Hilfe von {merchant}:", "{merchant} へのお問い合わせ："],
  termsLink: ["Terms of sale", "AGB", "ご利用規約"],
  privacyLink: ["Privacy", "Datenschutz", "プライバシーポリシー"],
  imprintLink: ["Legal notice", "Impressum", "事業者情報"],
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
  taxNone: ["Not taxed", "Steuerfrei", "非課税"],
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
  addressOnlyYou: [
    "Only this browser shows the whole address.",
    "Nur dieser Browser zeigt die ganze Adresse.",
    "住所の全体はこのブラウザにのみ表示されます。",
  ],
  language: ["Language", "Sprache", "言語"],
  addressChange: ["Change the address", "Adresse ändern", "住所を変更"],
  addressAdd: ["Add an address", "Adresse hinzufügen", "住所を追加"],
  addressSave: ["Continue", "Weiter", "次へ"],
  addressKeep: ["Keep the address", "Adresse unverändert lassen", "変更せずに戻る"],
  optional: ["(optional)", "(freiwillig)", "（任意）"],
  contactHeading: ["Contact", "Kontakt", "ご連絡先"],
  contactChange: ["Change the e-mail", "E-Mail ändern", "メールアドレスを変更"],
  contactKeep: ["Keep the e-mail", "E-Mail unverändert lassen", "変更せずに戻る"],
  choose: ["Choose…", "Bitte wählen …", "選択してください"],
  countryChange: ["Change the country", "Land ändern", "国を変更"],
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
  elsewhere: [
    "This checkout is open in another browser. To continue here, enter the delivery address.",
    "Dieser Bezahlvorgang wird in einem anderen Browser fortgesetzt. Um hier fortzufahren, geben Sie die " +
      "Adresse ein.",
    "このご購入手続きは別のブラウザで進められています。ここで続けるには住所を入力してください。",
  ],
  problem: ["There is a problem", "Es gibt ein Problem", "問題があります"],
} as const satisfies Record<string, EnglishGermanJapaneseText>;

export type CheckoutTextKey = keyof typeof table;

/** A function that returns a text in the page's language, and inserts the given values for the placeholders. */
export type CheckoutTranslator = (name: CheckoutTextKey, parts?: Readonly<Record<string, string>>) => string;

export function createCheckoutTranslator(language: CheckoutLanguage): CheckoutTranslator {
  const column = languages.indexOf(language);
  return (name, parts = {}) => fillPlaceholders(table[name][column] ?? table[name][0], parts);
}

export const fillPlaceholders = (text: string, parts: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => parts[name] ?? whole);

/** Returns the text in the given language. All files with translated texts use this function. */
export const getTextInLanguage = (texts: EnglishGermanJapaneseText, language: CheckoutLanguage): string =>
  texts[languages.indexOf(language)] ?? texts[0];
