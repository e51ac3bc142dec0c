/**
 * The custom GraphQL scalar types. Their extension `jsonSchema` is the JSON Schema of the values, for the
 * OpenAPI document and the gateway's validation. `failure` is the error code of a malformed value.
 * `normalize` changes a client's value before the check. `isSentAsIs` is true if values need no conversion
 * before they are sent.
 */
import { GraphQLScalarType, Kind, type ValueNode, valueFromASTUntyped } from "graphql";
import { formatCountryCodeSuggestion } from "#foundation/country-names.ts";
import { type FailureCode, createFailureWithDetail } from "#foundation/failure.ts";
import {
  isTextWithoutForbiddenCharacters,
  isCountryCode,
  isSlug,
  localeLengthMax,
  parseLocale,
  slugLengthMax,
  slugPattern,
} from "#foundation/text.ts";
import { isCurrencyCode } from "#foundation/money.ts";
import { isCalendarDay } from "#foundation/period.ts";
import { builder } from "./builder.ts";

interface ScalarDefinition<Value> {
  readonly name: string;
  readonly description: string;
  readonly specifiedByURL?: string;
  readonly jsonSchema: Readonly<Record<string, unknown>>;
  readonly failure?: FailureCode;
  /** The words for the values that the scalar accepts and returns. The scalar's description contains them. */
  readonly rule: string;
  /**
   * The words for the scalar's valid values in error messages, as the end of a sentence that begins with
   * `must be`.
   */
  readonly valid: string;
  /**
   * Returns the last sentence of the error message, which suggests the value that the client probably meant.
   * Empty if there is no suggestion.
   */
  readonly suggest?: (value: unknown) => string;
  readonly normalize?: (text: string) => string;
  /** Converts a value that a client sent; returns undefined if the value is not valid for the scalar. */
  readonly parse: (value: unknown) => Value | undefined;
  readonly serialize?: (value: unknown) => unknown;
}

function scalar<Value>({
  parse,
  rule,
  valid,
  suggest,
  ...rest
}: ScalarDefinition<Value>): GraphQLScalarType<Value, unknown> {
  const parseValue = (value: unknown): Value => {
    const parsed = parse(
      typeof value === "string" && rest.normalize !== undefined ? rest.normalize(value) : value,
    );
    if (parsed === undefined)
      throw createFailureWithDetail(rest.failure ?? "invalid_field", {
        in: "body",
        field: "",
        code: "invalid_format",
        message: `${rest.name}: must be ${valid}${suggest?.(value) ?? ""}.`,
      });
    return parsed;
  };
  return new GraphQLScalarType<Value, unknown>({
    name: rest.name,
    description: `${rest.description} ${rule}`,
    ...(rest.specifiedByURL === undefined ? {} : { specifiedByURL: rest.specifiedByURL }),
    serialize: rest.serialize ?? ((value) => value),
    parseValue,
    parseLiteral: (node: ValueNode, variables) =>
      parseValue(node.kind === Kind.INT ? Number(node.value) : valueFromASTUntyped(node, variables)),
    extensions: {
      isSentAsIs: rest.serialize === undefined,
      jsonSchema: rest.jsonSchema,
      failure: rest.failure,
      normalize: rest.normalize,
      parse,
    },
  });
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const dateTimePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

const dateTime = scalar<Date>({
  name: "DateTime",
  description: "An instant in time, as RFC 3339 writes it.",
  specifiedByURL: "https://www.rfc-editor.org/rfc/rfc3339",
  jsonSchema: { type: "string", format: "date-time", examples: ["2026-01-31T09:15:00.000Z"] },
  rule: "The API returns every time in UTC with milliseconds and the letter Z, 24 characters long.",
  valid: "a time with a time zone as in RFC 3339, for example 2026-01-31T09:15:00Z",
  parse: (value) =>
    typeof value === "string" && dateTimePattern.test(value) && !Number.isNaN(Date.parse(value))
      ? new Date(value)
      : undefined,
  serialize: (value) => (value instanceof Date ? value.toISOString() : value),
});

const date = scalar<string>({
  name: "Date",
  description: "A calendar day, without a time or a time zone.",
  specifiedByURL: "https://www.rfc-editor.org/rfc/rfc3339",
  jsonSchema: { type: "string", format: "date", examples: ["2026-01-31"] },
  rule: "The format is YYYY-MM-DD, and the day must exist in the calendar.",
  valid: "a day that exists in the calendar, as YYYY-MM-DD",
  parse: (value) => (typeof value === "string" && isCalendarDay(value) ? value : undefined),
});

const minorUnits = scalar<number>({
  name: "MinorUnits",
  description: "An amount of money in the smallest unit of its currency: 1999 is 19.99 EUR.",
  jsonSchema: { type: "integer", minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
  rule: "The amount is an integer between -9007199254740991 and 9007199254740991.",
  valid: "an integer from -9007199254740991 to 9007199254740991",
  parse: (value) => (Number.isSafeInteger(value) ? Number(value) : undefined),
});

const currencyCode = scalar<string>({
  name: "CurrencyCode",
  description: "The code of a currency, for example EUR.",
  specifiedByURL: "https://www.iso.org/iso-4217-currency-codes.html",
  jsonSchema: { type: "string", pattern: "^[A-Z]{3}$", examples: ["EUR"] },
  rule: "The code has three upper-case letters (ISO 4217).",
  valid: "a currency code of ISO 4217 in three upper-case letters, for example EUR",
  parse: (value) => (typeof value === "string" && isCurrencyCode(value) ? value : undefined),
});

const countryCode = scalar<string>({
  name: "CountryCode",
  description: "The code of a country, for example DE.",
  specifiedByURL: "https://www.iso.org/iso-3166-country-codes.html",
  jsonSchema: { type: "string", pattern: "^[A-Za-z]{2}$", format: "country-code", examples: ["DE"] },
  failure: "unknown_market",
  rule: "The code has two letters (ISO 3166-1 alpha-2); the API returns them in upper case.",
  valid: "a country code of ISO 3166-1 alpha-2 in two letters, for example DE",
  suggest: formatCountryCodeSuggestion,
  // Changes only ASCII letters to upper case. A general conversion would change ß to SS, which is a valid
  // country code.
  normalize: (value) => (/^[A-Za-z]{2}$/.test(value) ? value.toUpperCase() : value),
  parse: (value) => (typeof value === "string" && isCountryCode(value) ? value : undefined),
});

const localeCode = scalar<string>({
  name: "LocaleCode",
  description: "A language tag, with script and region if they are needed, for example de or en-GB.",
  specifiedByURL: "https://www.rfc-editor.org/rfc/rfc5646",
  jsonSchema: {
    type: "string",
    minLength: 2,
    maxLength: localeLengthMax,
    format: "locale",
    examples: ["de", "en-GB"],
  },
  failure: "invalid_locale",
  rule:
    "The tag follows BCP 47 and has at most 35 characters. The service drops extension subtags and returns " +
    "the tag in canonical form.",
  valid: "a BCP 47 language tag of at most 35 characters, for example de or en-GB",
  parse: (value) => (typeof value === "string" ? parseLocale(value) : undefined),
});

const slug = scalar<string>({
  name: "Slug",
  description: "A readable name of an object in URLs, for example trail-running-shoe.",
  jsonSchema: {
    type: "string",
    minLength: 1,
    maxLength: slugLengthMax,
    pattern: slugPattern.source,
    examples: ["trail-running-shoe"],
  },
  rule: "The name has 1 to 96 lower-case letters and digits, with single hyphens between them.",
  valid: "1 to 96 lower-case letters, digits and single hyphens between them",
  parse: (value) => (typeof value === "string" && isSlug(value) ? value : undefined),
});

const url = scalar<string>({
  name: "URL",
  description: "An absolute URL, with a scheme (RFC 3986).",
  specifiedByURL: "https://www.rfc-editor.org/rfc/rfc3986",
  jsonSchema: { type: "string", format: "uri", maxLength: 2048 },
  rule: "The URL has at most 2048 characters.",
  valid: "an absolute URL of at most 2048 characters",
  parse: (value) =>
    typeof value === "string" && value.length <= 2048 && URL.canParse(value) ? value : undefined,
});

// The scalars EmailAddress and PhoneNumber accept every text. The commands check the values, because they can
// name each invalid field in `details`. Stored values that only earlier rules allowed remain readable.
// docs/decisions/0013-own-email-and-phone-scalars.md has the reasons against the scalars of graphql-scalars.
const emailAddress = scalar<string>({
  name: "EmailAddress",
  description: "An e-mail address, for example ana@shop.example. The domain may have letters of any script.",
  specifiedByURL: "https://www.rfc-editor.org/rfc/rfc6531",
  jsonSchema: { type: "string" },
  rule:
    "A mutation refuses a malformed e-mail address with the error invalid_field, which names the input " +
    "field.",
  valid: "an e-mail address as a text, for example ana@shop.example",
  parse: text,
});

const phoneNumber = scalar<string>({
  name: "PhoneNumber",
  description: "A telephone number, for example +4930123456.",
  specifiedByURL: "https://www.itu.int/rec/T-REC-E.164",
  jsonSchema: { type: "string" },
  rule:
    "The number is in E.164 form, `+` and 7 to 15 digits, unless the description of a field allows more. A " +
    "mutation refuses a malformed number with the error invalid_field, which names the input field.",
  valid: "a telephone number as a text, for example +4930123456",
  parse: text,
});

const searchText = scalar<string>({
  name: "SearchText",
  description: "The text that a person typed into a search field. An empty text matches everything.",
  jsonSchema: { type: "string", maxLength: 256 },
  rule: "The text has at most 256 characters after Unicode normalisation (NFC) and trimming.",
  valid: "a text of at most 256 characters without control characters",
  normalize: (value) => value.normalize("NFC").trim(),
  parse: (value) =>
    typeof value === "string" && Array.from(value).length <= 256 && isTextWithoutForbiddenCharacters(value)
      ? value
      : undefined,
});

const attributeValue = scalar<string | number | boolean | string[]>({
  name: "AttributeValue",
  description: "The value of one attribute of a product.",
  jsonSchema: { type: ["string", "number", "boolean", "array"], items: { type: "string" } },
  rule: "The value is a text, a number, a boolean or a list of texts.",
  valid: "a text, a number, a boolean or a list of texts",
  parse: (value) => {
    if (typeof value === "number" && Number.isFinite(value)) return value;
    if (typeof value === "boolean") return value;
    return Array.isArray(value) && value.every((item) => typeof item === "string") ? value : text(value);
  },
});

const isStringMap = (value: unknown): value is Record<string, string> =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((item) => typeof item === "string");

const stringMap = scalar<Record<string, string>>({
  name: "StringMap",
  description: "A map of names to texts.",
  jsonSchema: { type: "object", additionalProperties: { type: "string" } },
  rule: "The map is a JSON object whose values are texts.",
  valid: "an object whose values are texts",
  parse: (value) => (isStringMap(value) ? value : undefined),
});

const json = scalar<unknown>({
  name: "JSON",
  description: "Any JSON value.",
  specifiedByURL: "https://www.rfc-editor.org/rfc/rfc8259",
  jsonSchema: { type: "object" },
  rule: "The value is as RFC 8259 defines it.",
  valid: "a JSON value",
  parse: (value) => value ?? null,
});

builder.addScalarType("DateTime", dateTime);
builder.addScalarType("Date", date);
builder.addScalarType("MinorUnits", minorUnits);
builder.addScalarType("CurrencyCode", currencyCode);
builder.addScalarType("CountryCode", countryCode);
builder.addScalarType("LocaleCode", localeCode);
builder.addScalarType("Slug", slug);
builder.addScalarType("URL", url);
builder.addScalarType("EmailAddress", emailAddress);
builder.addScalarType("PhoneNumber", phoneNumber);
builder.addScalarType("SearchText", searchText);
builder.addScalarType("AttributeValue", attributeValue);
builder.addScalarType("StringMap", stringMap);
builder.addScalarType("JSON", json);
