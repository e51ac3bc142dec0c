/** Input types of the filters of the product search. REST has only the filters by category and merchant. */
import { z } from "zod";
import type { SearchFilters } from "#commerce/search/search-form.ts";
import { failAt } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import { AvailabilityEnum } from "./products.ts";

const valuesMax = 50;
const attributesMax = 10;
const textMax = 200;

const PriceFilterInput = builder.inputType("SearchPriceFilterInput", {
  description:
    "A range of the product's lowest price in the country, both ends included. At least one end is required.",
  fields: (t) => ({
    currency: t.field({
      type: "CurrencyCode",
      required: true,
      description: "The currency of the amounts. Products with prices in another currency are left out.",
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
      description: "The code of the attribute, for example `material`.",
      validate: z.string().min(1).max(textMax),
    }),
    values: t.stringList({
      required: true,
      description: `The values as the facet \`attribute\` shows them, for example \`true\` or \`50\`. 1 to ${valuesMax}.`,
      validate: z.array(z.string().max(textMax)).min(1).max(valuesMax),
    }),
  }),
});

export const ProductSearchFilterInput = builder.inputType("ProductSearchFilter", {
  description: "Filters of the product search. A product must pass all filters that are given.",
  fields: (t) => ({
    brands: t.stringList({
      description: `Products of one of these brands, as the facet \`brand\` shows them. 1 to ${valuesMax}.`,
      validate: z.array(z.string().max(textMax)).min(1).max(valuesMax),
    }),
    price: t.field({ type: PriceFilterInput, description: "Products in this price range." }),
    availabilities: t.field({
      type: [AvailabilityEnum],
      description: "Products with one of these availabilities.",
    }),
    attributes: t.field({
      type: [AttributeFilterInput],
      description: `Products that pass all these attribute filters. At most ${attributesMax}.`,
      validate: z.array(z.unknown()).max(attributesMax),
    }),
  }),
});

type FilterArgument = (typeof ProductSearchFilterInput)["$inferInput"];

export function toSearchFilters(filter: FilterArgument | null | undefined): SearchFilters | undefined {
  if (filter === null || filter === undefined) return undefined;
  const { brands, price, availabilities, attributes } = filter;
  return {
    brands: brands ?? undefined,
    price: toPriceFilter(price),
    availabilities: availabilities ?? undefined,
    attributes: attributes ?? undefined,
  };
}

function toPriceFilter(price: FilterArgument["price"]): SearchFilters["price"] {
  if (price === null || price === undefined) return undefined;
  const { currency, minMinor = null, maxMinor = null } = price;
  if (minMinor === null && maxMinor === null)
    throw failAt("invalid_field", {
      in: "query",
      field: "filter/price",
      code: "required",
      message: "minMinor, maxMinor or both must be given.",
    });
  return { currency, minMinor, maxMinor };
}
