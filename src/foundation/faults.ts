/**
 * Checks of input fields. Each check is a pure function that returns a list of faults. So that a client gets
 * all faults at once, all fields are checked before the database is read. The parameter `field` of a check is
 * a JSON Pointer (RFC 6901) into the input, for example `/lines/0/quantity`.
 */
import {
  createFailure,
  createFailureWithDetail,
  type Failure,
  type FailureCode,
  type FailureDetail,
} from "./failure.ts";
import { formatCountryCodeSuggestion } from "./country-names.ts";
import { findMostSimilarTexts } from "./nearest.ts";
import { isTextWithoutForbiddenCharacters, isCountryCode } from "./text.ts";
import { isCurrencyCode } from "./money.ts";

export type InputFieldErrors = FailureDetail[];

export function requireNoInputFieldErrors(faults: readonly FailureDetail[]): void {
  const [first] = faults;
  if (first !== undefined)
    throw createFailure("invalid_field", { message: nameField(first), details: faults });
}

/**
 * Replaces the first words of a message by the name of the field: "The text must …" becomes `"name" must …`.
 * Used where a message is shown without the field's name beside it.
 */
const nameField = ({ field, message }: FailureDetail): string =>
  message.replace(/^The (?:value|text|list)(?= must )/, `"${writeFieldPath(field)}"`);

/** Converts a JSON Pointer to the notation of GraphQL paths: `/lines/0/quantity` becomes `lines[0].quantity`. */
const writeFieldPath = (pointer: string): string =>
  pointer
    .slice(1)
    .replaceAll(/\/(\d+)(?=\/|$)/g, "[$1]")
    .replaceAll("/", ".")
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");

export function createRequestBodyErrorDetail(field: string, code: string, message: string): FailureDetail {
  return { in: "body", field, code, message };
}

/**
 * Creates a failure for a single invalid field. Used if only the database shows that the value of the field
 * is invalid, for example because an id is unknown or a name is already in use.
 */
export function createInvalidFieldFailure(
  failure: FailureCode,
  field: string,
  { code, message }: { readonly code: string; readonly message: string },
): Failure {
  return createFailureWithDetail(failure, createRequestBodyErrorDetail(field, code, message));
}

export interface TextFieldRule {
  /** Minimum length of the text in characters; 1 by default. */
  readonly min?: number;
  /** Maximum length of the text in characters. */
  readonly max: number;
  /**
   * Whether the text may have several lines. `one` (the default) refuses tabs and line breaks; `many` allows
   * them.
   */
  readonly lines?: "one" | "many";
}

const lineBreak = /[\t\n\r\u0085\u2028\u2029]/;

/** Checks the length of a text and refuses forbidden characters. A missing text (null or undefined) is valid. */
export function getTextFieldErrors(
  field: string,
  text: string | null | undefined,
  { min = 1, max, lines = "one" }: TextFieldRule,
): InputFieldErrors {
  if (text === null || text === undefined) return [];
  const characters = Array.from(text).length;
  if (characters > max)
    return [createRequestBodyErrorDetail(field, "too_long", `The text must have at most ${max} characters.`)];
  if (characters < min || (min > 0 && text.trim() === ""))
    return [createRequestBodyErrorDetail(field, "too_short", "The text must not be empty.")];
  if (!isTextWithoutForbiddenCharacters(text))
    return [
      createRequestBodyErrorDetail(
        field,
        "control_character",
        "The text must not contain control characters or invalid Unicode.",
      ),
    ];
  if (lines === "one" && lineBreak.test(text))
    return [createRequestBodyErrorDetail(field, "control_character", "The text must be a single line.")];
  return [];
}

export interface IntegerFieldRule {
  readonly min: number;
  readonly max: number;
}

export function getIntegerFieldErrors(
  field: string,
  value: number | null | undefined,
  { min, max }: IntegerFieldRule,
): InputFieldErrors {
  if (value === null || value === undefined) return [];
  if (Number.isSafeInteger(value) && value >= min && value <= max) return [];
  const code = !Number.isInteger(value) ? "wrong_type" : value < min ? "too_small" : "too_large";
  return [createRequestBodyErrorDetail(field, code, `The value must be an integer from ${min} to ${max}.`)];
}

export function getListLengthErrors(
  field: string,
  list: readonly unknown[],
  { min, max }: IntegerFieldRule,
): InputFieldErrors {
  if (list.length < min)
    return [
      createRequestBodyErrorDetail(
        field,
        "too_short",
        `The list must have at least ${min} ${min === 1 ? "entry" : "entries"}.`,
      ),
    ];
  if (list.length > max)
    return [
      createRequestBodyErrorDetail(
        field,
        "too_long",
        `The list must have at most ${max} ${max === 1 ? "entry" : "entries"}.`,
      ),
    ];
  return [];
}

/** Checks that a list, if given, has at most `max` entries and contains no entry twice. */
export function getListLengthAndDuplicateErrors(
  field: string,
  list: readonly string[] | null | undefined,
  max: number,
): InputFieldErrors {
  if (list === null || list === undefined) return [];
  return [
    ...getListLengthErrors(field, list, { min: 0, max }),
    ...getDuplicateEntryErrors(list, (index) => `${field}/${index}`),
  ];
}

/**
 * Returns a fault for each entry of a list that occurs earlier in the list. `fieldOf` returns the JSON
 * Pointer of the entry with the given index.
 */
export function getDuplicateEntryErrors(
  keys: readonly string[],
  fieldOf: (index: number) => string,
): InputFieldErrors {
  return keys.flatMap((key, index) =>
    keys.indexOf(key) < index
      ? [createRequestBodyErrorDetail(fieldOf(index), "duplicate", "The list contains this entry twice.")]
      : [],
  );
}

/**
 * Maximum number of allowed values for which an error message lists all of them. If an allowed value is
 * similar to the wrong value, the message names the similar value instead.
 */
const listedValuesMax = 10;

/**
 * Creates the fault of a value that is none of the allowed values. The message names the value and the most
 * similar allowed values. `noun` names the kind of value, for example `event type`.
 */
export function createDisallowedValueErrorDetail(
  field: string,
  value: string,
  { allowed, noun, code = "not_allowed" }: AllowedStringValuesRule,
): FailureDetail {
  const nearest = findMostSimilarTexts(value, allowed);
  const hint =
    nearest.length > 0
      ? `; the nearest is ${nearest.join(", ")}`
      : allowed.length <= listedValuesMax
        ? `; allowed: ${allowed.join(", ")}`
        : '; "allowed" lists the allowed ones';
  const given = JSON.stringify(value.slice(0, shownValueLengthMax));
  return {
    ...createRequestBodyErrorDetail(field, code, `${given} is not an allowed ${noun}${hint}.`),
    allowed,
  };
}

/** The maximum length of a wrong value in an error message, in characters; longer values are cut. */
const shownValueLengthMax = 100;

export interface AllowedStringValuesRule {
  readonly allowed: readonly string[];
  readonly noun: string;
  /** The code of the fault; `not_allowed` by default. */
  readonly code?: string;
}

/** Checks that a value is one of the allowed values. */
export const getDisallowedValueErrors = (
  field: string,
  value: string,
  values: AllowedStringValuesRule,
): InputFieldErrors =>
  values.allowed.includes(value) ? [] : [createDisallowedValueErrorDetail(field, value, values)];

export function getCountryFieldErrors(field: string, country: string): InputFieldErrors {
  return isCountryCode(country)
    ? []
    : [
        createRequestBodyErrorDetail(
          field,
          "unknown_country",
          `The country must be an upper-case ISO 3166-1 alpha-2 code${formatCountryCodeSuggestion(country)}.`,
        ),
      ];
}

/** Checks that a currency code is a code of ISO 4217. A missing code (null or undefined) is valid. */
export function getCurrencyFieldErrors(field: string, currency: string | null | undefined): InputFieldErrors {
  if (currency === null || currency === undefined || isCurrencyCode(currency)) return [];
  return [createRequestBodyErrorDetail(field, "unknown_currency", "The currency must be an ISO 4217 code.")];
}
