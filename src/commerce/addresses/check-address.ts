/**
 * Checks an address without reading anything: the whole of what is wrong is thrown at once as
 * `address_invalid`, else the address comes back tidied, with the fields whose value that has changed.
 * Messages never repeat what was entered.
 */
import { fail, type FailureDetail } from "#foundation/failure.ts";
import { isCountry } from "#foundation/text.ts";
import { type CountryAddressRules, getCountryAddressRules } from "./address-country.ts";
import {
  type AddressField,
  addressFields,
  addressLengthMax,
  type AddressLevel,
  type PostalAddress,
  type PostalAddressInput,
} from "./postal-address.ts";

export interface AddressCheckResult {
  readonly address: PostalAddress;
  /** JSON Pointers of the fields whose value was changed. */
  readonly corrected: string[];
}

export function checkAddress(input: PostalAddressInput, level: AddressLevel): AddressCheckResult {
  const address = normalizeAddress(input);
  const faults = addressFields.flatMap((field) => textFaults(field, input[field], address[field]));
  if (address.countryCode !== "" && !isCountry(address.countryCode))
    faults.push(faultAt("countryCode", "unknown_country", "It is not a country code of ISO 3166-1."));
  if (level === "strict") faults.push(...strictFaults(address, new Set(faults.map(({ field }) => field))));
  const [first] = faults;
  if (first !== undefined) throw fail("address_invalid", { details: faults });
  return {
    address,
    corrected: addressFields
      .filter((field) => (input[field] ?? "") !== (address[field] ?? ""))
      .map(pointerTo),
  };
}

type RequirableField = keyof CountryAddressRules["requires"];
const requirableFields: readonly RequirableField[] = ["city", "regionCode", "postalCode"];

/** What its country requires and it does not have. */
export function missingAddressFields(address: PostalAddress): RequirableField[] {
  if (!isCountry(address.countryCode)) return [];
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
  const country = isCountry(countryCode) ? getCountryAddressRules(countryCode) : undefined;
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
  given: string | null | undefined,
  tidied: string | null,
): FailureDetail[] {
  const found = forbiddenContent(given ?? "", { isWebAllowed: field === "email" }).map((code) =>
    faultAt(field, code, forbiddenMessages[code]),
  );
  if (found.length > 0) return found;
  if (tidied === null || tidied === "") return alwaysRequired.has(field) ? [emptyFault(field, given)] : [];
  if (field !== "countryCode" && isTooLong(field, tidied))
    return [faultAt(field, "too_long", `It may have ${addressLengthMax[field]} characters at most.`)];
  return [];
}

function emptyFault(field: AddressField, given: string | null | undefined): FailureDetail {
  return typeof given === "string"
    ? faultAt(field, "too_short", "It must not be empty.")
    : faultAt(field, "required", "It is required.");
}

function isTooLong(field: AddressField, text: string): boolean {
  return Array.from(text).length > addressLengthMax[field];
}

/** A field that is broken already is not judged twice. */
function strictFaults(address: PostalAddress, broken: ReadonlySet<string>): FailureDetail[] {
  const isJudged = (field: AddressField): boolean => address[field] !== null && !broken.has(pointerTo(field));
  const faults: FailureDetail[] = [];
  if (isCountry(address.countryCode)) {
    const missing = missingAddressFields(address).filter((field) => !broken.has(pointerTo(field)));
    faults.push(
      ...missing.map((field) => faultAt(field, "required", `It is required in ${address.countryCode}.`)),
      ...codeFaults(address, isJudged),
    );
  }
  if (isJudged("phone") && !isPhone(address.phone ?? ""))
    faults.push(
      faultAt(
        "phone",
        "pattern_mismatch",
        "It must be a phone number in E.164 form: + and 7 to 15 digits, country code first.",
      ),
    );
  if (isJudged("email") && !isEmail(address.email ?? ""))
    faults.push(faultAt("email", "pattern_mismatch", "It must be an e-mail address."));
  return faults;
}

/** Only codes that are right each for itself can contradict each other. */
function codeFaults(
  { countryCode, regionCode, postalCode }: PostalAddress,
  isJudged: (field: AddressField) => boolean,
): FailureDetail[] {
  const country = getCountryAddressRules(countryCode);
  const region = country.toRegionCode(regionCode ?? "");
  const code = country.toPostalCode(postalCode ?? "");
  const faults: FailureDetail[] = [];
  if (isJudged("regionCode") && region === undefined) faults.push(unknownRegion(countryCode, country));
  if (isJudged("postalCode") && code === undefined)
    faults.push(faultAt("postalCode", "pattern_mismatch", `It is not a postal code of ${countryCode}.`));
  if (typeof region !== "string" || typeof code !== "string" || country.isPostalCodeOf(region, code))
    return faults;
  const message = "The region and the postal code do not belong together.";
  return (["regionCode", "postalCode"] as const).map((field) =>
    faultAt(field, "region_postal_code_mismatch", message),
  );
}

const allowedMax = 20;

function unknownRegion(countryCode: string, { regionCodes }: CountryAddressRules): FailureDetail {
  const message =
    regionCodes.size > 0
      ? `It is not a region of ${countryCode} in ISO 3166-2.`
      : `${countryCode} has no regions in ISO 3166-2.`;
  return {
    ...faultAt("regionCode", "unknown_region", message),
    allowed: regionCodes.size > allowedMax ? null : [...regionCodes],
  };
}

const pointerTo = (field: AddressField): string => `/address/${field}`;

function faultAt(field: AddressField, code: string, message: string): FailureDetail {
  return { in: "body", field: pointerTo(field), code, message };
}

/** NFC, one space between words, none around. What is empty then was not given. */
function tidyText(text: string): string {
  return text.normalize("NFC").replaceAll(/\s+/gu, " ").trim();
}

// Also separators of lines, and characters that are not seen but turn the direction of what follows: what is
// printed must be what was read.
const control = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069\uFEFF\uFFF9-\uFFFB]/u;
const html = /<[/!?]?\p{L}|<!|&(?:#\d{1,7}|#[xX][\dA-Fa-f]{1,6}|[A-Za-z][A-Za-z\d]{1,31});/u;
const scheme = /[A-Za-z][A-Za-z\d+.-]{0,20}:\/\/|\b(?:https?|javascript|mailto):/iu;
const web = /(?<![\p{L}\p{N}])www\./iu;
// Unicode counts ©, ™ and some arrows and signs as pictures; they are text here.
const emoji =
  /[\p{Extended_Pictographic}--[\u{A9}-\u{22FF}\u{24C2}\u{3000}-\u{33FF}]]|[\u{20E3}\u{FE0F}]|\p{Regional_Indicator}/v;

type ForbiddenContent = "control_character" | "html" | "url" | "emoji";

const forbiddenMessages: Readonly<Record<ForbiddenContent, string>> = {
  control_character: "It has control characters or broken Unicode.",
  html: "It must not have HTML.",
  url: "It must not have a URL.",
  emoji: "It must not have emoji.",
};

/**
 * Of the text as it was given: tidying hides line breaks. The domain of an e-mail may begin with `www.`, so
 * it is allowed there.
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

/** `+49 (30) 123-456` → `+4930123456`; what is no phone number even so stays as it is. */
function toPhone(text: string): string {
  const compact = text.normalize("NFKC").replaceAll(/[\s()./\p{Pd}]/gu, "");
  return isPhone(compact) ? compact : text;
}

const mailbox = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const domainLabel = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u;
const mailboxLengthMax = 64;

/**
 * A dotted mailbox at a domain of two labels or more: no quotes, comments or address literals, which no
 * shop's buyer has.
 */
export function isEmail(text: string): boolean {
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

/** Domains have no case. */
function toEmail(text: string): string {
  if (!isEmail(text)) return text;
  const at = text.lastIndexOf("@");
  return `${text.slice(0, at)}${text.slice(at).toLowerCase().normalize("NFC")}`;
}
