/**
 * Text: what counts as clean text, slugs and references; locales (BCP 47), countries and the languages that a
 * request accepts.
 */
import { LRUCache } from "lru-cache";

export const localeLengthMax = 35;
const headerLengthMax = 1000;

/**
 * Clients send the same few tags and headers again and again, and reading one takes longer than all else that
 * is done with it.
 */
const knownMax = 5000;
const knownTags = new LRUCache<string, { readonly locale: string | undefined }>({ max: knownMax });
const knownChains = new LRUCache<string, readonly string[]>({ max: knownMax });
const knownHeaders = new LRUCache<string, readonly string[]>({ max: knownMax });

/** The canonical tag without extension subtags, or undefined when the text is no well-formed tag. */
export function parseLocale(text: string): string | undefined {
  if (text.length === 0 || text.length > localeLengthMax) return undefined;
  let known = knownTags.get(text);
  if (known === undefined) knownTags.set(text, (known = { locale: readLocale(text) }));
  return known.locale;
}

function readLocale(text: string): string | undefined {
  try {
    const [canonical] = Intl.getCanonicalLocales(text);
    return canonical === undefined ? undefined : new Intl.Locale(canonical).baseName;
  } catch {
    return undefined;
  }
}

/** `zh-Hant-TW` → `["zh-Hant-TW", "zh-Hant", "zh"]`: the lookup order of RFC 4647 section 3.4. */
export function localeChain(locale: string): readonly string[] {
  let known = knownChains.get(locale);
  if (known === undefined) {
    const parts = locale.split("-");
    knownChains.set(
      locale,
      (known = parts.map((_, index) => parts.slice(0, parts.length - index).join("-"))),
    );
  }
  return known;
}

/**
 * The locale a thing is shown in: the first of the asked locales' chains that it has, else the first of the
 * fallbacks' chains, else the first it has. Undefined only when it has none.
 */
export function chooseLocale(
  available: readonly string[],
  asked: readonly string[],
  fallbacks: readonly string[],
): string | undefined {
  return firstOf(available, asked) ?? firstOf(available, fallbacks) ?? available.toSorted()[0];
}

function firstOf(available: readonly string[], wanted: readonly string[]): string | undefined {
  for (const locale of wanted) for (const tag of localeChain(locale)) if (available.includes(tag)) return tag;
  return undefined;
}

/**
 * The tags of an `Accept-Language` header by falling quality (RFC 9110 section 12.5.4); what is malformed is
 * passed over.
 */
export function parseAcceptLanguage(header: string | undefined): readonly string[] {
  if (header === undefined) return [];
  const text = header.slice(0, headerLengthMax);
  let known = knownHeaders.get(text);
  if (known === undefined) knownHeaders.set(text, (known = readAcceptLanguage(text)));
  return known;
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
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ " +
    "DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT " +
    "JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ " +
    "OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ " +
    "UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW"
  ).split(" "),
);

/** Whether it is an upper-case alpha-2 code that ISO 3166-1 assigns. */
export function isCountry(text: string): boolean {
  return countries.has(text);
}

// eslint-disable-next-line no-control-regex -- Finding control characters is its purpose.
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

export function isCleanText(text: string): boolean {
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
 * A frontend's own stable name for a buyer: 1 to 128 printable ASCII characters without space and @, so that
 * an e-mail is none.
 */
export function isBuyerReference(text: string): boolean {
  return referencePattern.test(text);
}
