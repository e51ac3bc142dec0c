/**
 * Checks and normalizes an address without reading the database. Throws `address_invalid` with all faults of
 * the address at once, or returns the normalized address and the names of the fields that normalization
 * changed. Messages of faults never repeat entered values.
 */
import { createFailure, type FailureDetail } from "#foundation/failure.ts";
import { formatCountryCodeSuggestion } from "#foundation/country-names.ts";
import { isCountryCode } from "#foundation/text.ts";
import { type CountryAddressRules, getCountryAddressRules } from "./address-country.ts";
import {
  createMissingAddressFieldFault,
  createUnknownRegionFault,
  createAddressFieldFault,
  findRegionAndPostalCodeFaults,
  getAddressFieldJsonPointer,
} from "./code-faults.ts";
import {
  type AddressField,
  addressFields,
  addressLengthMax,
  type AddressValidationLevel,
  type PostalAddress,
  type PostalAddressInput,
} from "./postal-address.ts";

export interface AddressNormalizationResult {
  readonly address: PostalAddress;
  /** JSON Pointers of the address fields that normalization changed. */
  readonly corrected: string[];
}

export function normalizeAndValidateAddress(
  input: PostalAddressInput,
  level: AddressValidationLevel,
): AddressNormalizationResult {
  const address = normalizeAddress(input);
  const faults = addressFields.flatMap((field) => textFaults(field, input[field], address[field]));
  const { countryCode: text } = input;
  if (address.countryCode !== "" && !isCountryCode(address.countryCode))
    faults.push(
      createAddressFieldFault(
        "countryCode",
        "unknown_country",
        `The country must be a country code of ISO 3166-1 alpha-2, for example DE${formatCountryCodeSuggestion(text)}.`,
      ),
    );
  if (!faults.some(({ field }) => field === getAddressFieldJsonPointer("regionCode")))
    faults.push(...regionLengthFaults(address));
  if (level === "strict") faults.push(...strictFaults(address, new Set(faults.map(({ field }) => field))));
  const [first] = faults;
  if (first !== undefined)
    throw createFailure("address_invalid", {
      message: `The address breaks the rules of its country. ${first.field}: ${first.message}`,
      details: faults,
    });
  return {
    address,
    corrected: addressFields
      .filter((field) => (input[field] ?? "") !== (address[field] ?? ""))
      .map(getAddressFieldJsonPointer),
  };
}

type RequirableField = keyof CountryAddressRules["requires"];
const requirableFields: readonly RequirableField[] = ["city", "regionCode", "postalCode"];

/** Returns the address fields that the country requires and that are empty in the address. */
export function findMissingAddressFields(address: PostalAddress): RequirableField[] {
  if (!isCountryCode(address.countryCode)) return [];
  const { requires } = getCountryAddressRules(address.countryCode);
  return requirableFields.filter((field) => requires[field] && address[field] === null);
}

function normalizeAddress(input: PostalAddressInput): PostalAddress {
  const text = (field: AddressField): string => tidyText(input[field] ?? "");
  const optional = (field: AddressField, to: (value: string) => string = (value) => value): string | null => {
    const value = text(field);
    return value === "" ? null : to(value);
  };
  const countryCode = text("countryCode").toUpperCase();
  const country = isCountryCode(countryCode) ? getCountryAddressRules(countryCode) : undefined;
  return {
    recipientName: text("recipientName"),
    company: optional("company"),
    line1: text("line1"),
    line2: optional("line2"),
    line3: optional("line3"),
    district: optional("district"),
    city: optional("city"),
    regionCode: optional("regionCode", (value) => country?.toRegionCode(value) ?? value),
    postalCode: optional("postalCode", (value) =>
      isTooLong("postalCode", value) ? value : (country?.toPostalCode(value) ?? value),
    ),
    countryCode,
    phone: optional("phone", toPhone),
    email: optional("email", toEmail),
  };
}

const alwaysRequired: ReadonlySet<AddressField> = new Set(["recipientName", "line1", "countryCode"]);

function textFaults(
  field: AddressField,
  original: string | null | undefined,
  tidied: string | null,
): FailureDetail[] {
  const found = forbiddenContent(original ?? "", { isWebAllowed: field === "email" }).map((code) =>
    createAddressFieldFault(field, code, forbiddenMessages[code]),
  );
  if (found.length > 0) return found;
  if (tidied === null || tidied === "") return alwaysRequired.has(field) ? [emptyFault(field, original)] : [];
  if (field !== "countryCode" && field !== "regionCode" && isTooLong(field, tidied))
    return [createLengthFault(field)];
  return [];
}

const createLengthFault = (field: AddressField): FailureDetail =>
  createAddressFieldFault(
    field,
    "too_long",
    `"${field}" must have at most ${addressLengthMax[field]} characters.`,
  );

/**
 * Returns the fault if the entered region code is longer than every existing region code, for example because
 * the caller entered the region's name.
 */
function regionLengthFaults({ regionCode, countryCode }: PostalAddress): FailureDetail[] {
  if (regionCode === null || !isTooLong("regionCode", regionCode)) return [];
  if (!isCountryCode(countryCode)) return [createLengthFault("regionCode")];
  return [{ ...createUnknownRegionFault(countryCode, regionCode), code: "too_long" }];
}

function emptyFault(field: AddressField, original: string | null | undefined): FailureDetail {
  return typeof original === "string"
    ? createAddressFieldFault(field, "too_short", "The field must not be empty.")
    : createAddressFieldFault(field, "required", "The field is required.");
}

function isTooLong(field: AddressField, text: string): boolean {
  return Array.from(text).length > addressLengthMax[field];
}

/**
 * Returns the faults that are reported only if the address is checked with the validation level `strict`. An
 * address field that already has a fault gets no further fault.
 */
function strictFaults(address: PostalAddress, faultyFields: ReadonlySet<string>): FailureDetail[] {
  const isChecked = (field: AddressField): boolean =>
    address[field] !== null && !faultyFields.has(getAddressFieldJsonPointer(field));
  const faults: FailureDetail[] = [];
  if (isCountryCode(address.countryCode)) {
    const missing = findMissingAddressFields(address).filter(
      (field) => !faultyFields.has(getAddressFieldJsonPointer(field)),
    );
    faults.push(
      ...missing.map((field) => createMissingAddressFieldFault(field, address.countryCode)),
      ...findRegionAndPostalCodeFaults(address, isChecked),
    );
  }
  if (isChecked("phone") && !isPhone(address.phone ?? ""))
    faults.push(
      createAddressFieldFault(
        "phone",
        "pattern_mismatch",
        "The phone number must be in E.164 form: + and 7 to 15 digits, country code first.",
      ),
    );
  if (isChecked("email") && !isEmailAddress(address.email ?? ""))
    faults.push(createAddressFieldFault("email", "pattern_mismatch", "The value must be an e-mail address."));
  return faults;
}

/**
 * Normalizes a text to Unicode NFC, replaces white space between words by one space, and trims it. Callers
 * treat an empty result as a missing field.
 */
function tidyText(text: string): string {
  return text.normalize("NFC").replaceAll(/\s+/gu, " ").trim();
}

// Matches control characters, which an address must not contain. Also matches line separators and invisible
// characters that change the writing direction, because a printed address must look like the checked text.
const control = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069\uFEFF\uFFF9-\uFFFB]/u;
const html = /<[/!?]?\p{L}|<!|&(?:#\d{1,7}|#[xX][\dA-Fa-f]{1,6}|[A-Za-z][A-Za-z\d]{1,31});/u;
const scheme = /[A-Za-z][A-Za-z\d+.-]{0,20}:\/\/|\b(?:https?|javascript|mailto):/iu;
const web = /(?<![\p{L}\p{N}])www\./iu;
// Leaves out ©, ™ and some arrows and signs, which addresses may contain. Unicode classifies these characters
// as pictographs, like emoji.
const emoji =
  /[\p{Extended_Pictographic}--[\u{A9}-\u{22FF}\u{24C2}\u{3000}-\u{33FF}]]|[\u{20E3}\u{FE0F}]|\p{Regional_Indicator}/v;

type ForbiddenContent = "control_character" | "html" | "url" | "emoji";

const forbiddenMessages: Readonly<Record<ForbiddenContent, string>> = {
  control_character: "The text must not contain control characters or invalid Unicode.",
  html: "The text must not contain HTML.",
  url: "The text must not contain a URL.",
  emoji: "The text must not contain emoji.",
};

/**
 * Returns the kinds of forbidden content (control characters, HTML, web addresses, emoji) that the text
 * contains. Callers must pass the text as it was entered, because normalization would replace line breaks by
 * spaces. If `isWebAllowed` is true, `www.` is allowed, because the domain of an e-mail address may start
 * with it.
 */
function forbiddenContent(
  text: string,
  { isWebAllowed }: { readonly isWebAllowed: boolean },
): ForbiddenContent[] {
  const found: ForbiddenContent[] = [];
  if (control.test(text)) found.push("control_character");
  if (html.test(text)) found.push("html");
  if (scheme.test(text) || (!isWebAllowed && web.test(text))) found.push("url");
  if (emoji.test(text)) found.push("emoji");
  return found;
}

const e164 = /^\+[1-9]\d{6,14}$/;

function isPhone(text: string): boolean {
  return e164.test(text);
}

/**
 * Removes spaces and punctuation from a phone number: `+49 (30) 123-456` becomes `+4930123456`. If the text
 * is no phone number, returns the text unchanged.
 */
function toPhone(text: string): string {
  const compact = text.normalize("NFKC").replaceAll(/[\s()./\p{Pd}]/gu, "");
  return isPhone(compact) ? compact : text;
}

const mailbox = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const domainLabel = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u;
const mailboxLengthMax = 64;

/**
 * Returns true for an e-mail address whose domain has at least two parts separated by a dot, for example
 * `example.com`. Returns false for addresses with quotes, comments or an IP address as the domain, which
 * buyers do not use.
 */
export function isEmailAddress(text: string): boolean {
  const at = text.lastIndexOf("@");
  const local = text.slice(0, at);
  const labels = text.slice(at + 1).split(".");
  return (
    at > 0 &&
    Buffer.byteLength(local) <= mailboxLengthMax &&
    mailbox.test(local) &&
    labels.length >= 2 &&
    labels.every((label) => domainLabel.test(label)) &&
    !/^\d+$/.test(labels.at(-1) ?? "")
  );
}

/** Converts the domain of an e-mail address to lower case, because domains are not case-sensitive. */
function toEmail(text: string): string {
  if (!isEmailAddress(text)) return text;
  const at = text.lastIndexOf("@");
  return `${text.slice(0, at)}${text.slice(at).toLowerCase().normalize("NFC")}`;
}
