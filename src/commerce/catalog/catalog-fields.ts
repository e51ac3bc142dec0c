/**
 * Limits and checks of the fields that merchants enter: slugs, codes, locales, localized texts, URLs, GTINs
 * and fields of variants. Markets and promotions use these functions too.
 */
import {
  getDisallowedValueErrors,
  getListLengthErrors,
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getIntegerFieldErrors,
  getDuplicateEntryErrors,
  getTextFieldErrors,
  type TextFieldRule,
} from "#foundation/faults.ts";
import { isTextWithoutForbiddenCharacters, isSlug, parseLocale, slugLengthMax } from "#foundation/text.ts";

/**
 * Maximum lengths of texts (in characters) and maximum counts. The descriptions in the GraphQL schema use the
 * same constants, so that documentation and validation agree.
 */
export const catalogBounds = {
  attributeValueMax: 500,
  attributeValuesMax: 50,
  attributesMax: 50,
  brandMax: 100,
  categoriesPerProductMax: 20,
  categoryDepthMax: 6,
  choicesMax: 100,
  codeMax: 40,
  descriptionMax: 20_000,
  importItemsMax: 500,
  localesMax: 50,
  mediaMax: 50,
  mediaSidePixelsMax: 100_000,
  nameMax: 200,
  onHandMax: 1_000_000_000,
  optionsMax: 5,
  positionMax: 100_000,
  pricesMax: 500,
  seoDescriptionMax: 320,
  seoTitleMax: 200,
  skuMax: 64,
  summaryMax: 300,
  titleMax: 200,
  unitMax: 20,
  urlMax: 2048,
  variantsMax: 200,
  weightGramsMax: 100_000_000,
} as const;

export function findSlugFaults(field: string, slug: string): InputFieldErrors {
  return isSlug(slug)
    ? []
    : [
        createRequestBodyErrorDetail(
          field,
          "pattern_mismatch",
          `A slug must have 1 to ${slugLengthMax} lower-case letters, digits or single hyphens between them.`,
        ),
      ];
}

const codePattern = /^[a-z0-9]+(?:[-_][a-z0-9]+)*$/;

export function findCatalogCodeFormatFaults(field: string, code: string): InputFieldErrors {
  if (code.length <= catalogBounds.codeMax && codePattern.test(code)) return [];
  return [
    createRequestBodyErrorDetail(
      field,
      "pattern_mismatch",
      `A code must have 1 to ${catalogBounds.codeMax} lower-case letters, digits or single - or ` +
        "_ between them.",
    ),
  ];
}

export function findLocaleFaults(field: string, locale: string): InputFieldErrors {
  return parseLocale(locale) === undefined
    ? [
        createRequestBodyErrorDetail(
          field,
          "invalid_locale",
          "The locale must be a well-formed BCP 47 tag, for example de-CH.",
        ),
      ]
    : [];
}

/**
 * Returns the canonical form of a locale, for example `de-AT` for `de-at`. The caller must have checked the
 * locale with `findLocaleFaults`.
 */
export function toCanonicalLocale(locale: string): string {
  return parseLocale(locale) ?? locale;
}

/**
 * A text in one locale. GraphQL has no map type, so callers enter a localized text as a list of these
 * objects. The database stores the localized text as the map `{locale: text}`.
 */
export interface LocalizedTextInput {
  readonly locale: string;
  readonly text: string;
}

export function findLocalizedTextFaults(
  field: string,
  entries: readonly LocalizedTextInput[],
  rule: TextFieldRule & { readonly optional?: boolean },
): InputFieldErrors {
  return [
    ...getListLengthErrors(field, entries, {
      min: rule.optional === true ? 0 : 1,
      max: catalogBounds.localesMax,
    }),
    ...entries.flatMap(({ locale, text }, index) => [
      ...findLocaleFaults(`${field}/${index}/locale`, locale),
      ...getTextFieldErrors(`${field}/${index}/text`, text, rule),
    ]),
    ...getDuplicateEntryErrors(
      entries.map(({ locale }) => toCanonicalLocale(locale)),
      (index) => `${field}/${index}/locale`,
    ),
  ];
}

export function toLocalizedTextMap(entries: readonly LocalizedTextInput[]): Record<string, string> {
  return Object.fromEntries(entries.map(({ locale, text }) => [toCanonicalLocale(locale), text]));
}

/**
 * Returns true if the text is an https URL without user name and password. Pages with other URLs would cause
 * mixed-content warnings or reveal passwords.
 */
export function isHttpsUrl(text: string): boolean {
  if (text.length > catalogBounds.urlMax || !isTextWithoutForbiddenCharacters(text) || /\s/.test(text))
    return false;
  const url = URL.parse(text);
  return url !== null && url.protocol === "https:" && url.username === "" && url.password === "";
}

const restrictions = [
  "age_18",
  "hazmat",
  "no_returns",
  "final_sale",
  "custom_made",
  "perishable",
  "hygiene_sealed",
  "digital",
  "gift_card",
] as const;
type Restriction = (typeof restrictions)[number];

interface VariantOptionInput {
  /** Code of the product option, for example `color`. */
  readonly option: string;
  /** Code of the choice that the variant has of the product option, for example `blue`. */
  readonly choice: string;
}

/**
 * Fields of a variant in the input of a change. A field that is left out stays unchanged; in a new variant,
 * it gets its default value.
 */
export interface VariantInputFields {
  /** The merchant's article number of the variant, unique within the merchant regardless of case. */
  readonly sku: string;
  readonly options: readonly VariantOptionInput[];
  readonly gtin?: string | null | undefined;
  readonly restrictions?: readonly Restriction[] | null | undefined;
  readonly requiresShipping?: boolean | null | undefined;
  readonly weightGrams?: number | null | undefined;
  readonly maxOrderQuantity?: number | null | undefined;
  readonly discontinued?: boolean | null | undefined;
  readonly availableFrom?: Date | null | undefined;
  readonly position?: number | null | undefined;
  /** Number of units of the variant that may be sold beyond the units on hand. */
  readonly backorderLimit?: number | null | undefined;
  readonly lowStockThreshold?: number | null | undefined;
}

/**
 * Matches a SKU: printable ASCII characters, without spaces at the ends. People can then type the SKU, and
 * two SKUs that differ only in case are easy to recognize.
 */
const skuPattern = /^[!-~](?:[ -~]*[!-~])?$/;

export function findVariantFaults(at: string, variant: VariantInputFields): InputFieldErrors {
  return [
    ...getTextFieldErrors(`${at}/sku`, variant.sku, { max: catalogBounds.skuMax }),
    ...(skuPattern.test(variant.sku)
      ? []
      : [
          createRequestBodyErrorDetail(
            `${at}/sku`,
            "pattern_mismatch",
            "A SKU must have printable ASCII characters and no space at its ends.",
          ),
        ]),
    ...gtinFaults(`${at}/gtin`, variant.gtin),
    ...restrictionFaults(`${at}/restrictions`, variant.restrictions ?? []),
    ...getListLengthErrors(`${at}/options`, variant.options, { min: 0, max: catalogBounds.optionsMax }),
    ...getDuplicateEntryErrors(
      variant.options.map(({ option }) => option),
      (index) => `${at}/options/${index}/option`,
    ),
    ...getIntegerFieldErrors(`${at}/weightGrams`, variant.weightGrams, {
      min: 0,
      max: catalogBounds.weightGramsMax,
    }),
    ...getIntegerFieldErrors(`${at}/maxOrderQuantity`, variant.maxOrderQuantity, { min: 1, max: 9999 }),
    ...getIntegerFieldErrors(`${at}/position`, variant.position, { min: 0, max: catalogBounds.positionMax }),
    ...getIntegerFieldErrors(`${at}/backorderLimit`, variant.backorderLimit, {
      min: 0,
      max: catalogBounds.onHandMax,
    }),
    ...getIntegerFieldErrors(`${at}/lowStockThreshold`, variant.lowStockThreshold, {
      min: 0,
      max: catalogBounds.onHandMax,
    }),
    ...dateFaults(`${at}/availableFrom`, variant.availableFrom),
  ];
}

function restrictionFaults(field: string, given: readonly string[]): InputFieldErrors {
  return [
    ...given.flatMap((restriction, index) =>
      getDisallowedValueErrors(`${field}/${index}`, restriction, {
        allowed: restrictions,
        noun: "restriction",
      }),
    ),
    ...getDuplicateEntryErrors(given, (index) => `${field}/${index}`),
  ];
}

function dateFaults(field: string, date: Date | null | undefined): InputFieldErrors {
  if (date === null || date === undefined || !Number.isNaN(date.getTime())) return [];
  return [createRequestBodyErrorDetail(field, "wrong_type", "availableFrom must be a valid time.")];
}

function gtinFaults(field: string, gtin: string | null | undefined): InputFieldErrors {
  if (gtin === null || gtin === undefined || isGtin(gtin)) return [];
  return [
    createRequestBodyErrorDetail(
      field,
      "pattern_mismatch",
      "A GTIN must have 8, 12, 13 or 14 digits, including a valid check digit.",
    ),
  ];
}

/**
 * Returns true if the check digit of a GTIN is right (GS1 General Specifications 7.9). Counted from the
 * right, the digits have the weights 1, 3, 1, 3 and so on. The weighted sum must be a multiple of ten.
 */
export function isGtin(text: string): boolean {
  if (!/^(?:\d{8}|\d{12,14})$/.test(text)) return false;
  const sum = Array.from(text).reduce(
    (total, digit, index) => total + Number(digit) * ((text.length - index) % 2 === 0 ? 3 : 1),
    0,
  );
  return sum % 10 === 0;
}
