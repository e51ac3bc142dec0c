/**
 * Computes the searchable texts and filter values of a product's attributes and options. The text of a number
 * contains its unit (`Capacity 50 l`). The text of an attribute with the value true is its name (`Dishwasher
 * safe`). The text of a country of origin is the country's name in the locale of the text.
 */
import { chooseBestLocale } from "#foundation/text.ts";
import type { ProductAttributeToIndex, ProductToIndex } from "./load-products.ts";

/**
 * One value of a product attribute, as search facets count it. An attribute with several values has one entry
 * for each value.
 */
export interface AttributeFacetValue {
  readonly code: string;
  readonly value: string;
}

export const getAttributeFacetValues = (
  attributes: readonly ProductAttributeToIndex[],
): AttributeFacetValue[] =>
  attributes.flatMap(({ code, value }) => [...new Set(valuesOf(value))].map((one) => ({ code, value: one })));

const valuesOf = (value: ProductAttributeToIndex["value"]): string[] =>
  typeof value === "object" ? [...value] : [String(value)];

export function getSearchableAttributeText(
  { attributes, choiceLabels, merchantLocale }: ProductToIndex,
  locale: string,
): string {
  const localized = (texts: Readonly<Record<string, string>>): string =>
    texts[chooseBestLocale(Object.keys(texts), [locale], [merchantLocale]) ?? ""] ?? "";
  const lines = attributes.map((attribute) => {
    const { value, names, unit } = attribute;
    if (typeof value === "boolean") return value ? localized(names) : "";
    const texts = valuesOf(value).map((text) => countryName(attribute, { text, locale }) ?? text);
    return `${localized(names)} ${texts.join(" ")}${unit === null ? "" : ` ${unit}`}`;
  });
  return [...lines, ...choiceLabels.map(localized)].join("\n");
}

const countryCode = /^[A-Z]{2}$/;

/**
 * Returns the name and code of a country if the attribute's value is a country of origin, for example
 * `origin: "JP"`; undefined for other attributes.
 */
function countryName(
  { code }: ProductAttributeToIndex,
  { text, locale }: { readonly text: string; readonly locale: string },
): string | undefined {
  if (!/origin|country/.test(code) || !countryCode.test(text)) return undefined;
  return `${new Intl.DisplayNames(locale, { type: "region" }).of(text) ?? ""} ${text}`;
}
