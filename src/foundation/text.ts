/**
 * Functions for texts: numbers with their noun, and checks and parsers of slugs, buyer references, locales
 * (BCP 47), countries, forbidden characters and the header Accept-Language.
 */
import { LRUCache } from "lru-cache";

/** Returns a number with its noun, for example "1 delivery" or "2 deliveries". */
export const formatCountWithNoun = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;

export const localeLengthMax = 35;
const headerLengthMax = 1000;

/**
 * Maximum number of entries of each cache in this file: the cache of parsed locale tags and the cache of
 * parsed Accept-Language headers. The parsed values are cached, because clients send the same few values
 * again and again and parsing is slow.
 */
const cachedMax = 5000;
const cachedTags = new LRUCache<string, { readonly locale: string | undefined }>({ max: cachedMax });
const cachedChains = new LRUCache<string, readonly string[]>({ max: cachedMax });
const cachedHeaders = new LRUCache<string, readonly string[]>({ max: cachedMax });

/**
 * Returns the canonical locale tag without extension subtags; undefined if the text is not a well-formed BCP
 * 47 tag.
 */
export function parseLocale(text: string): string | undefined {
  if (text.length === 0 || text.length > localeLengthMax) return undefined;
  let cached = cachedTags.get(text);
  if (cached === undefined) cachedTags.set(text, (cached = { locale: readLocale(text) }));
  return cached.locale;
}

function readLocale(text: string): string | undefined {
  try {
    const [canonical] = Intl.getCanonicalLocales(text);
    return canonical === undefined ? undefined : new Intl.Locale(canonical).baseName;
  } catch {
    return undefined;
  }
}

/**
 * Returns a locale and its more general fallbacks in the lookup order of RFC 4647 section 3.4. For example,
 * `zh-Hant-TW` gives `["zh-Hant-TW", "zh-Hant", "zh"]`.
 */
export function getLocaleFallbackChain(locale: string): readonly string[] {
  let cached = cachedChains.get(locale);
  if (cached === undefined) {
    const parts = locale.split("-");
    cachedChains.set(
      locale,
      (cached = parts.map((_, index) => parts.slice(0, parts.length - index).join("-"))),
    );
  }
  return cached;
}

/**
 * Chooses one of the available locales in which an object is shown. The order of preference is: the requested
 * locales and their more general forms (de-CH, then de); the fallback locales and their more general forms;
 * the first available locale in alphabetical order. Returns undefined only if no locale is available.
 */
export function chooseBestLocale(
  available: readonly string[],
  requested: readonly string[],
  fallbacks: readonly string[],
): string | undefined {
  return firstOf(available, requested) ?? firstOf(available, fallbacks) ?? available.toSorted()[0];
}

function firstOf(available: readonly string[], wanted: readonly string[]): string | undefined {
  for (const locale of wanted)
    for (const tag of getLocaleFallbackChain(locale)) if (available.includes(tag)) return tag;
  return undefined;
}

/**
 * Returns the locale tags of an `Accept-Language` header in descending quality (RFC 9110 section 12.5.4).
 * Malformed tags are ignored.
 */
export function parseAcceptLanguage(header: string | undefined): readonly string[] {
  if (header === undefined) return [];
  const text = header.slice(0, headerLengthMax);
  let cached = cachedHeaders.get(text);
  if (cached === undefined) cachedHeaders.set(text, (cached = readAcceptLanguage(text)));
  return cached;
}

function readAcceptLanguage(text: string): readonly string[] {
  return text
    .split(",")
    .map((part, position) => {
      const [tag = "", ...parameters] = part.trim().split(";");
      const quality = parameters
        .map((parameter) => /^\s*q=([01](?:\.\d{0,3})?)\s*$/.exec(parameter)?.[1])
        .find((q) => q !== undefined);
      return {
        locale: parseLocale(tag.trim()),
        quality: quality === undefined ? 1 : Number(quality),
        position,
      };
    })
    .filter(
      (entry): entry is { locale: string; quality: number; position: number } =>
        entry.locale !== undefined && entry.quality > 0,
    )
    .toSorted((a, b) => b.quality - a.quality || a.position - b.position)
    .map(({ locale }) => locale);
}

const countries = new Set(
  (
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT " +
    "BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ " +
    "DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR " +
    "GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT " +
    "JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH " +
    "MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ " +
    "OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM " +
    "SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ " +
    "UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW"
  ).split(" "),
);

/** Returns whether the text is an upper-case alpha-2 country code that ISO 3166-1 assigns. */
export function isCountryCode(text: string): boolean {
  return countries.has(text);
}

// eslint-disable-next-line no-control-regex -- The pattern finds control characters on purpose.
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** Returns whether a text is well-formed Unicode without control characters. Tabs and line breaks are allowed. */
export function isTextWithoutForbiddenCharacters(text: string): boolean {
  return !forbidden.test(text) && text.isWellFormed();
}

export const slugPattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
export const slugLengthMax = 96;

export function isSlug(text: string): boolean {
  return text.length <= slugLengthMax && slugPattern.test(text);
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

const referencePattern = /^[\x21-\x3f\x41-\x7e]{1,128}$/;

/**
 * Returns whether the text is a valid buyer reference, which is the stable id that a frontend gives to a
 * buyer: 1 to 128 printable ASCII characters without space and `@`. Without `@`, a reference cannot be an
 * e-mail address.
 */
export function isBuyerReference(text: string): boolean {
  return referencePattern.test(text);
}
