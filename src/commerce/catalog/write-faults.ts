/** What the names, codes and texts of a catalog break. */
import { countFaults, faultAt, type Faults, repeatFaults, type TextRule, textFaults } from "#foundation/faults.ts";
import { parseLocale } from "#foundation/locales.ts";
import { isCleanText, isSlug, slugLengthMax } from "#foundation/text.ts";
import { catalogBounds } from "./write-bounds.ts";

export function slugFaults(field: string, slug: string): Faults {
  return isSlug(slug)
    ? []
    : [faultAt(field, "pattern_mismatch", `A slug has 1–${slugLengthMax} lower-case letters, digits and single hyphens between.`)];
}

const codePattern = /^[a-z0-9]+(?:[-_][a-z0-9]+)*$/;

export function codeFaults(field: string, code: string): Faults {
  if (code.length <= catalogBounds.codeMax && codePattern.test(code)) return [];
  return [faultAt(field, "pattern_mismatch", `A code has 1–${catalogBounds.codeMax} lower-case letters, digits and single - or _ between.`)];
}

export function localeFaults(field: string, locale: string): Faults {
  return parseLocale(locale) === undefined ? [faultAt(field, "invalid_locale", "It is not a well-formed BCP 47 tag.")] : [];
}

/** The canonical form of what `localeFaults` let pass. */
export function toLocale(locale: string): string {
  return parseLocale(locale) ?? locale;
}

/** GraphQL has no maps: a text in several languages arrives as a list and is kept as `{locale: text}`. */
export interface LocalizedTextInput {
  readonly locale: string;
  readonly text: string;
}

export function localizedFaults(field: string, entries: readonly LocalizedTextInput[], rule: TextRule & { readonly optional?: boolean }): Faults {
  return [
    ...countFaults(field, entries, { min: rule.optional === true ? 0 : 1, max: catalogBounds.localesMax }),
    ...entries.flatMap(({ locale, text }, index) => [
      ...localeFaults(`${field}/${index}/locale`, locale),
      ...textFaults(`${field}/${index}/text`, text, rule),
    ]),
    ...repeatFaults(
      entries.map(({ locale }) => toLocale(locale)),
      (index) => `${field}/${index}/locale`,
    ),
  ];
}

export function toLocalizedMap(entries: readonly LocalizedTextInput[]): Record<string, string> {
  return Object.fromEntries(entries.map(({ locale, text }) => [toLocale(locale), text]));
}

/** An address that a page on https may show without a warning, and that carries no secret of whoever entered it. */
export function isHttpsUrl(text: string): boolean {
  if (text.length > catalogBounds.urlMax || !isCleanText(text) || /\s/.test(text)) return false;
  const url = URL.parse(text);
  return url !== null && url.protocol === "https:" && url.username === "" && url.password === "";
}
