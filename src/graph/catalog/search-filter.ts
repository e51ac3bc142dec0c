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
    "A range in which a product's lowest price in the searched country must lie, both ends included. At " +
    "least one end is required; `minMinor` must not be higher than `maxMinor`.",
  validate: priceRange,
  fields: (t) => ({
    currency: t.field({
      type: "CurrencyCode",
      required: true,
      description:
        "The currency of `minMinor` and `maxMinor`. Products with prices in another currency are left " +
        "out.",
    }),
    minMinor: t.field({
      type: "MinorUnits",
      description:
        "The lower end of the price range, in minor units of `currency`; null if the range has no lower end.",
    }),
    maxMinor: t.field({
      type: "MinorUnits",
      description:
        "The upper end of the price range, in minor units of `currency`; null if the range has no upper end.",
    }),
  }),
});

const AttributeFilterInput = builder.inputType("SearchAttributeFilterInput", {
  description: "A filter by an attribute: a product must have one of the given values of the attribute.",
  fields: (t) => ({
    code: t.string({
      required: true,
      description:
        "The code of the attribute, for example `material`. The code is in `attribute.code` of a bucket of " +
        "the facet `ATTRIBUTE`, and in the bucket's `value` before the first colon.",
      validate: filterText,
    }),
    values: t.stringList({
      required: true,
      description:
        `The values of the attribute, for example \`true\` or \`50\`: 1 to ${valuesMax} values of 1 to ` +
        `${textMax} characters. Each value is in \`attribute.value\` of a bucket of the facet ` +
        "`ATTRIBUTE`, and in the bucket's `value` after the first colon.",
      validate: filterValues,
    }),
  }),
});

export const ProductSearchFilterInput = builder.inputType("ProductSearchFilter", {
  description: "Filters of the product search. A product must pass all filters that are given.",
  fields: (t) => ({
    brands: t.stringList({
      description:
        `The brands of which a product must have one: 1 to ${valuesMax} brands of 1 to ${textMax} ` +
        "characters. Upper and lower case must be the same as in the `value` of a bucket of the facet " +
        "`BRAND`.",
      validate: filterValues,
    }),
    price: t.field({
      type: PriceFilterInput,
      description: "Only products whose lowest price is in this price range.",
    }),
    availabilities: t.field({
      type: [AvailabilityEnum],
      description:
        "The availabilities of which a product must have one; the list has at least one entry. A client " +
        "can take an entry from `availability` of a bucket of the facet `AVAILABILITY`. The bucket's " +
        "`value` is the same availability in lower case, for example `in_stock` for `IN_STOCK`.",
      validate: z.array(z.string()).min(1),
    }),
    attributes: t.field({
      type: [AttributeFilterInput],
      description:
        `The attribute filters that a product must all pass, at most ${attributesMax}. An empty list does ` +
        "not filter.",
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
