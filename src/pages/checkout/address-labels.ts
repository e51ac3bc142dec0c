/**
 * The labels of the fields in the address form, in the words that are usual in the country of the address:
 * for example "ZIP code" in the United States, "Postcode" in the United Kingdom, "Prefecture" in Japan.
 */
import type { AddressFormFieldName } from "./checkout-services.ts";
import { type EnglishGermanJapaneseText, getTextInLanguage, type CheckoutLanguage } from "./texts.ts";

/**
 * The two texts of an address field: its label, and its name inside a sentence (in German in the accusative
 * case).
 */
interface FieldWords {
  readonly label: EnglishGermanJapaneseText;
  readonly noun: EnglishGermanJapaneseText;
}

const usual: Readonly<Record<AddressFormFieldName, FieldWords>> = {
  countryCode: { label: ["Country", "Land", "国・地域"], noun: ["the country", "das Land", "国・地域"] },
  recipientName: {
    label: ["Full name", "Vor- und Nachname", "お名前"],
    noun: ["your full name", "Vor- und Nachnamen", "お名前"],
  },
  company: { label: ["Company", "Firma", "会社名"], noun: ["the company", "die Firma", "会社名"] },
  line1: {
    label: ["Street and house number", "Straße und Hausnummer", "町名・番地"],
    noun: ["the street and house number", "Straße und Hausnummer", "町名・番地"],
  },
  line2: {
    label: ["Floor, apartment, building", "Adresszusatz", "建物名・部屋番号"],
    noun: ["the floor, apartment or building", "den Adresszusatz", "建物名・部屋番号"],
  },
  line3: {
    label: ["Further address line", "Weiterer Adresszusatz", "その他"],
    noun: ["the further address line", "den weiteren Adresszusatz", "その他"],
  },
  district: {
    label: ["District", "Ortsteil", "地区"],
    noun: ["the district", "den Ortsteil", "地区"],
  },
  city: {
    label: ["Town or city", "Ort", "市区町村"],
    noun: ["the town or city", "den Ort", "市区町村"],
  },
  regionCode: {
    label: ["State or region", "Bundesland oder Region", "州・地域"],
    noun: ["the state or region", "Bundesland oder Region", "州・地域"],
  },
  postalCode: {
    label: ["Postal code", "Postleitzahl", "郵便番号"],
    noun: ["the postal code", "die Postleitzahl", "郵便番号"],
  },
  phone: {
    label: ["Phone", "Telefon", "電話番号"],
    noun: ["the phone number", "die Telefonnummer", "電話番号"],
  },
  email: {
    label: ["E-mail", "E-Mail", "メールアドレス"],
    noun: ["your e-mail address", "Ihre E-Mail-Adresse", "メールアドレス"],
  },
};

const province: FieldWords = {
  label: ["Province", "Provinz", "州・県"],
  noun: ["the province", "die Provinz", "州・県"],
};
const state: FieldWords = {
  label: ["State", "Bundesstaat", "州"],
  noun: ["the state", "den Bundesstaat", "州"],
};
const postcode: FieldWords = {
  label: ["Postcode", "Postleitzahl", "郵便番号"],
  noun: ["the postcode", "die Postleitzahl", "郵便番号"],
};
const zipCode: FieldWords = {
  label: ["ZIP code", "Postleitzahl (ZIP)", "郵便番号（ZIP）"],
  noun: ["the ZIP code", "die Postleitzahl (ZIP)", "郵便番号（ZIP）"],
};
const apartment: FieldWords = {
  label: ["Apartment, suite, unit", "Apartment, Suite, Einheit", "部屋番号・建物名"],
  noun: ["the apartment, suite or unit", "Apartment, Suite oder Einheit", "部屋番号・建物名"],
};
const streetAddress: FieldWords = {
  label: ["Street address", "Hausnummer und Straße", "番地・通り名"],
  noun: ["the street address", "Hausnummer und Straße", "番地・通り名"],
};
const city: FieldWords = { label: ["City", "Stadt", "市"], noun: ["the city", "die Stadt", "市"] };

/** Labels of address fields in countries that use other words, for example "ZIP code" in the United States. */
const own: readonly (readonly [countries: string, Partial<Record<AddressFormFieldName, FieldWords>>])[] = [
  [
    "US PR GU VI AS MP",
    { line1: streetAddress, line2: apartment, city, regionCode: state, postalCode: zipCode },
  ],
  ["CA", { line1: streetAddress, line2: apartment, city, regionCode: province }],
  [
    "AU",
    {
      line1: streetAddress,
      line2: apartment,
      city: { label: ["Suburb", "Vorort", "サバーブ"], noun: ["the suburb", "den Vorort", "サバーブ"] },
      regionCode: { label: ["State", "Bundesstaat", "州"], noun: ["the state", "den Bundesstaat", "州"] },
      postalCode: postcode,
    },
  ],
  [
    "GB GG IM JE",
    {
      line1: streetAddress,
      line2: { label: ["Flat, building", "Wohnung, Gebäude", "部屋番号・建物名"], noun: apartment.noun },
      postalCode: postcode,
    },
  ],
  [
    "IE",
    {
      line1: streetAddress,
      district: {
        label: ["Townland", "Townland", "タウンランド"],
        noun: ["the townland", "das Townland", "地区"],
      },
      regionCode: {
        label: ["County", "County", "カウンティ"],
        noun: ["the county", "das County", "カウンティ"],
      },
      postalCode: {
        label: ["Eircode", "Eircode", "Eircode"],
        noun: ["the Eircode", "den Eircode", "Eircode"],
      },
    },
  ],
  ["NZ", { line1: streetAddress, postalCode: postcode }],
  [
    "IN",
    {
      regionCode: state,
      city,
      postalCode: {
        label: ["PIN code", "Postleitzahl (PIN)", "郵便番号（PIN）"],
        noun: ["the PIN code", "die Postleitzahl (PIN)", "郵便番号（PIN）"],
      },
    },
  ],
  ["BR MX MY NG VE", { regionCode: state }],
  ["AR CL CN ES ID IT KR NL PH TH TR VN ZA", { regionCode: province }],
  [
    "JP",
    {
      line1: {
        label: ["Town, block and house number", "Ortsteil, Block und Hausnummer", "町名・番地"],
        noun: ["the town, block and house number", "Ortsteil, Block und Hausnummer", "町名・番地"],
      },
      line2: {
        label: ["Building and room number", "Gebäude und Zimmernummer", "建物名・部屋番号"],
        noun: ["the building and room number", "Gebäude und Zimmernummer", "建物名・部屋番号"],
      },
      city: {
        label: ["City or ward", "Stadt oder Bezirk", "市区町村"],
        noun: ["the city or ward", "Stadt oder Bezirk", "市区町村"],
      },
      regionCode: {
        label: ["Prefecture", "Präfektur", "都道府県"],
        noun: ["the prefecture", "die Präfektur", "都道府県"],
      },
    },
  ],
];
const ownByCountry = new Map(
  own.flatMap(([countries, words]) => countries.split(" ").map((country) => [country, words] as const)),
);

interface FieldOfCountry {
  readonly field: AddressFormFieldName;
  readonly country: string;
  readonly language: CheckoutLanguage;
}

const wordsOf = ({ field, country }: FieldOfCountry): FieldWords =>
  ownByCountry.get(country)?.[field] ?? usual[field];

export const getAddressFieldLabel = (field: FieldOfCountry): string =>
  getTextInLanguage(wordsOf(field).label, field.language);

/** Returns the name of an address field as it appears inside a sentence, for example "the ZIP code". */
export const getAddressFieldNounForSentence = (field: FieldOfCountry): string =>
  getTextInLanguage(wordsOf(field).noun, field.language);

/**
 * Countries whose postal codes consist only of digits. Phones show the numeric keyboard for the postal code
 * of such a country.
 */
const digitPostalCodes = new Set(
  "AT AU BE BG CH CZ DE DK EE ES FI FR GR HR HU IN IT JP KR LI LU MX NO RO RS SE SI SK TR US".split(" "),
);
export const hasCountryNumericPostalCodes = (country: string): boolean => digitPostalCodes.has(country);

/**
 * Example postal codes by country. Each entry is a pair of country and code, not one text to split, because
 * postal codes may contain spaces.
 */
const postalCodeExamples = new Map(
  (
    "AT 1010, AU 2000, BE 1000, BR 01310-100, CA K1A 0B1, CH 8001, CZ 110 00, DE 10115, DK 1050, ES 28013, " +
    "FI 00100, FR 75001, GB SW1A 1AA, IE D02 AF30, IN 110001, IT 00184, JP 100-0001, KR 04524, LU 1111, " +
    "MX 06000, NL 1012 JS, NO 0150, NZ 6011, PL 00-950, PT 1100-148, SE 111 22, US 94103, ZA 0001"
  )
    .split(", ")
    .map((entry) => [entry.slice(0, 2), entry.slice(3)] as const),
);
export const findPostalCodePlaceholder = (country: string): string | undefined =>
  postalCodeExamples.get(country);
