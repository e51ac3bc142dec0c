/**
 * Messages of the checkout page, in English, German and Japanese, about changes that the service made to the
 * cart, for example a new price.
 */
import { type EnglishGermanJapaneseText, getTextInLanguage, type CheckoutLanguage } from "./texts.ts";

/** Messages about changes that the service made to the cart, by warning code. */
const byWarning: Readonly<Record<string, EnglishGermanJapaneseText>> = {
  price_changed: ["A price has changed.", "Ein Preis hat sich geändert.", "価格が変更されました。"],
  quantity_reduced: [
    "The quantity was reduced, because there is less in stock.",
    "Die Menge wurde verringert, weil weniger vorrätig ist.",
    "在庫が不足しているため数量を減らしました。",
  ],
  out_of_stock: ["This item is sold out.", "Dieser Artikel ist ausverkauft.", "在庫切れです。"],
  line_unavailable: [
    "This item is no longer sold here.",
    "Dieser Artikel wird hier nicht mehr verkauft.",
    "現在お取り扱いがありません。",
  ],
  promotion_suspended: [
    "The promotion code does not apply at the moment.",
    "Der Gutscheincode gilt zurzeit nicht.",
    "クーポンコードは現在適用されません。",
  ],
  promotion_removed: [
    "A promotion code was removed.",
    "Ein Gutscheincode wurde entfernt.",
    "クーポンコードが削除されました。",
  ],
  address_expired: [
    "The address must be entered again.",
    "Die Adresse muss noch einmal eingegeben werden.",
    "住所をもう一度入力してください。",
  ],
  currency_changed: ["The currency has changed.", "Die Währung hat sich geändert.", "通貨が変更されました。"],
  market_changed: [
    "The order is now for another country.",
    "Die Bestellung gilt jetzt für ein anderes Land.",
    "ご注文の対象国が変更されました。",
  ],
};

export const getCartWarningMessage = (code: string, language: CheckoutLanguage): string | undefined => {
  const texts = byWarning[code];
  return texts === undefined ? undefined : getTextInLanguage(texts, language);
};
