/**
 * Error messages for invalid fields of an address on the checkout page, in English, German and Japanese. The
 * messages name the field as people in the address's country name it, for example "ZIP code".
 */
import type { FailureDetail } from "#foundation/failure.ts";
import {
  getAddressFieldLabel,
  getAddressFieldNounForSentence,
  findPostalCodePlaceholder,
} from "./address-labels.ts";
import { formatCountryName } from "./amounts.ts";
import type { AddressFormFieldName } from "./checkout-services.ts";
import {
  type EnglishGermanJapaneseText,
  fillPlaceholders,
  type CheckoutLanguage,
  getTextInLanguage,
} from "./texts.ts";

const forbidden: EnglishGermanJapaneseText = [
  "Do not use web addresses, emojis or special characters.",
  "Verwenden Sie keine Internetadressen, Emojis oder Sonderzeichen.",
  "URL、絵文字、特殊文字は使用できません。",
];
const listed: EnglishGermanJapaneseText = [
  "Choose an entry from the list.",
  "Wählen Sie einen Eintrag der Liste.",
  "一覧から選択してください。",
];
const other: EnglishGermanJapaneseText = [
  "This value is not valid. Check it.",
  "Diese Angabe ist ungültig. Prüfen Sie sie.",
  "ご確認ください。",
];

/**
 * Error messages for an address field, by the code of the broken rule. The page shows the field's label
 * before the message.
 */
const byRule: Readonly<Record<string, EnglishGermanJapaneseText>> = {
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
};
const named: EnglishGermanJapaneseText = ["{label}: {message}", "{label}: {message}", "{label}：{message}"];

/** Error messages that contain the name of the address field, for example "Enter the ZIP code." */
const enter: EnglishGermanJapaneseText = [
  "Enter {noun}.",
  "Geben Sie {noun} ein.",
  "{noun}を入力してください。",
];
const choose: EnglishGermanJapaneseText = [
  "Choose {noun}.",
  "Wählen Sie {noun}.",
  "{noun}を選択してください。",
];
const mismatch: EnglishGermanJapaneseText = [
  "Check {noun}. It does not match {otherNoun}.",
  "Prüfen Sie {noun}: {label} und {otherLabel} passen nicht zusammen.",
  "{label}と{otherLabel}が一致しません。両方をご確認ください。",
];
const wrongPostalCode: EnglishGermanJapaneseText = [
  "Check {noun}. An example for {country}: {example}.",
  "Prüfen Sie {noun}. Ein Beispiel für {country}: {example}.",
  "{noun}をご確認ください。{country}の例：{example}",
];
const foreignPostalCode: EnglishGermanJapaneseText = [
  "Check {noun} and the country: {country} has no such code.",
  "Prüfen Sie {noun} und das Land. Gewählt ist: {country}.",
  "{noun}と国（{country}）をご確認ください。",
];
const byField: Readonly<Record<string, EnglishGermanJapaneseText>> = {
  "regionCode required": choose,
  "countryCode required": choose,
  "regionCode region_postal_code_mismatch": mismatch,
  "postalCode region_postal_code_mismatch": mismatch,
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

interface FaultyField {
  readonly field: AddressFormFieldName;
  readonly country: string;
  readonly language: CheckoutLanguage;
}

export interface AddressFieldFaultMessages {
  /**
   * The error message beside an address field. The field's label is visible there, so the message need not
   * name the field.
   */
  readonly message: string;
  /**
   * The error message in the list of errors above the address form. It names the field, because the field's
   * label is not visible there.
   */
  readonly summary: string;
}

export function getAddressFieldFaultMessages(
  { code }: FailureDetail,
  at: FaultyField,
): AddressFieldFaultMessages {
  const { field, country, language } = at;
  const rule = code === "too_short" ? "required" : code;
  const opposite = { ...at, field: field === "postalCode" ? "regionCode" : "postalCode" } as const;
  const parts = {
    label: getAddressFieldLabel(at),
    noun: getAddressFieldNounForSentence(at),
    otherLabel: getAddressFieldLabel(opposite),
    otherNoun: getAddressFieldNounForSentence(opposite),
    country: formatCountryName(country, language),
    example: findPostalCodePlaceholder(country) ?? "",
  };
  const fill = (texts: EnglishGermanJapaneseText, more: Readonly<Record<string, string>> = {}): string =>
    fillPlaceholders(getTextInLanguage(texts, language), { ...parts, ...more });
  const own = sentenceFor(field, rule, parts.example !== "");
  if (own !== undefined) return { message: fill(own), summary: fill(own) };
  const message = fill(byRule[rule] ?? other);
  return { message, summary: fill(named, { message }) };
}

function sentenceFor(
  field: string,
  rule: string,
  hasExample: boolean,
): EnglishGermanJapaneseText | undefined {
  if (field === "postalCode" && rule === "pattern_mismatch")
    return hasExample ? wrongPostalCode : foreignPostalCode;
  return byField[`${field} ${rule}`] ?? (rule === "required" ? enter : undefined);
}
