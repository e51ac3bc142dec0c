/**
 * The GraphQL input types of the filters of the product search. The REST API has only the filters by category
 * and merchant.
 */
import { z } from "zod";
import type { ProductSearchFilters } from "#commerce/search/search-form.ts";
import type { ZodArgumentRuleIssueParams } from "#graph/argument-rules.ts";
import { builder } from "#graph/builder.ts";
import { AvailabilityEnum } from "./products.ts";

const valuesMax = 50;
const attributesMax = 10;
const textMax = 200;
const filterText = z.string().min(1).max(textMax);
const filterValues = z.array(filterText).min(1).max(valuesMax);

interface PriceRange {
  readonly minMinor?: number | null | undefined;
  readonly maxMinor?: number | null | undefined;
}

const priceRange = z.custom<PriceRange>().superRefine(({ minMinor, maxMinor }, context) => {
  const refuse = (rule: string, message: string): void =>
    context.addIssue({ code: "custom", message, params: { rule } satisfies ZodArgumentRuleIssueParams });
  const [min, max] = [minMinor ?? null, maxMinor ?? null];
  if (min === null && max === null) refuse("required", 'must have "minMinor", "maxMinor" or both');
  if (min !== null && max !== null && min > max)
    refuse("out_of_range", 'must have a "minMinor" that is not higher than its "maxMinor"');
});

const PriceFilterInput = builder.inputType("SearchPriceFilterInput", {
  description:
    "A range for the product's lowest price in the country that is searched, both ends included. " +
    "At least one end is required; `minMinor` must not be higher than `maxMinor`.",
  validate: priceRange,
  fields: (t) => ({
    currency: t.field({
      type: "CurrencyCode",
      required: true,
      description:
        "The currency of `minMinor` and `maxMinor`. Products with prices in another currency are left " +
        "out.",
    }),
    minMinor: t.field({ type: "MinorUnits", description: "The lowest price in minor units." }),
    maxMinor: t.field({ type: "MinorUnits", description: "The highest price in minor units." }),
  }),
});

const AttributeFilterInput = builder.inputType("SearchAttributeFilterInput", {
  description: "Products that have one of the values of an attribute.",
  fields: (t) => ({
    code: t.string({
      required: true,
      description:
        "The code of the attribute, for example `material`: `attribute.code` of a bucket of the facet " +
        "`ATTRIBUTE`, or the part of its `value` before the first colon.",
      validate: filterText,
    }),
    values: t.stringList({
      required: true,
      description:
        "The values, for example `true` or `50`: `attribute.value` of a bucket of the facet `ATTRIBUTE`, or " +
        `the part of its \`value\` after the first colon. 1 to ${valuesMax} values of 1 to ${textMax} characters.`,
      validate: filterValues,
    }),
  }),
});

export const ProductSearchFilterInput = builder.inputType("ProductSearchFilter", {
  description: "Filters of the product search. A product must pass all filters that are given.",
  fields: (t) => ({
    brands: t.stringList({
      description:
        "Products of one of these brands: `value` of a bucket of the facet `BRAND`, with the same upper and " +
        `lower case. 1 to ${valuesMax} brands of 1 to ${textMax} characters.`,
      validate: filterValues,
    }),
    price: t.field({
      type: PriceFilterInput,
      description: "Only products whose lowest price is in this price range.",
    }),
    availabilities: t.field({
      type: [AvailabilityEnum],
      description:
        "Products with one of these availabilities, at least one: `availability` of a bucket of the facet " +
        "`AVAILABILITY`. The `value` of the bucket is the same in lower case: `in_stock` for `IN_STOCK`.",
      validate: z.array(z.string()).min(1),
    }),
    attributes: t.field({
      type: [AttributeFilterInput],
      description: `Products that pass all these attribute filters, at most ${attributesMax}. An empty list does not filter.`,
      validate: z.array(z.unknown()).max(attributesMax),
    }),
  }),
});

type FilterArgument = (typeof ProductSearchFilterInput)["$inferInput"];

export function toProductSearchFilters(
  filter: FilterArgument | null | undefined,
): ProductSearchFilters | undefined {
  if (filter === null || filter === undefined) return undefined;
  const { brands, price, availabilities, attributes } = filter;
  return {
    brands: brands ?? undefined,
    price: toPriceFilter(price),
    availabilities: availabilities ?? undefined,
    attributes: attributes ?? undefined,
  };
}

function toPriceFilter(price: FilterArgument["price"]): ProductSearchFilters["price"] {
  if (price === null || price === undefined) return undefined;
  const { currency, minMinor = null, maxMinor = null } = price;
  return { currency, minMinor, maxMinor };
}
