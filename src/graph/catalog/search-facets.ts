/** The GraphQL types of the facets of the product search. */
import { availabilities } from "#commerce/catalog/availability.ts";
import type { ProductSearchResults } from "#commerce/search/search-products.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { AvailabilityEnum } from "./products.ts";

const FacetKeyEnum = defineGraphqlEnum("FacetKey", {
  description: "The property by which a facet groups the found products.",
  values: {
    category: "Groups by category; values are category slugs.",
    merchant: "Groups by merchant; values are merchant slugs.",
    brand: "Groups by brand; values are brand names.",
    availability:
      "Groups by availability; values are those of `Availability` in lower case: `in_stock` for `IN_STOCK`.",
    attribute:
      "Groups by attribute; values are the attribute's code, a colon and one value: `material:steel`. " +
      "Returned only with `hasAttributeFacets`, and only for searches with a text in `q` or `filter`.",
    price: "Groups by price; values are ranges `from-to` in minor units of `meta.currency`, excluding `to`.",
  },
});

type Facet = ProductSearchResults["facets"][number];
type FacetBucket = Facet["buckets"][number] & Pick<Facet, "key">;

const FacetAttributeRef = builder
  .objectRef<{ code: string; value: string }>("SearchFacetAttribute")
  .implement({
    description:
      "The attribute and the value that the products of a facet bucket share, for the search filter " +
      "`attributes`.",
    fields: (t) => ({
      code: t.exposeString("code", { description: "The attribute's code, for `filter.attributes.code`." }),
      value: t.exposeString("value", {
        description: "The value of the attribute, for `filter.attributes.values`.",
      }),
    }),
  });

const SearchFacetBucketRef = builder.objectRef<FacetBucket>("SearchFacetBucket").implement({
  description: "One bucket of a facet: the found products that share one value.",
  fields: (t) => ({
    value: t.exposeString("value", {
      description:
        "The value that the products of the bucket share: a slug, a brand, an availability in lower " +
        "case (`in_stock`), an attribute's code and value (`material:steel`), or a price range " +
        "(`1000-2500`).",
    }),
    label: t.exposeString("label", { description: "The label of the bucket in the requested locale." }),
    count: t.exposeInt("count", { description: "The number of found products in the bucket." }),
    availability: t.field({
      type: AvailabilityEnum,
      nullable: true,
      description:
        "The availability that the products share, for `filter.availabilities`; null for buckets of " +
        "other facets.",
      resolve: ({ key, value }) =>
        key === "availability" ? (availabilities.find((one) => one === value) ?? null) : null,
    }),
    attribute: t.field({
      type: FacetAttributeRef,
      nullable: true,
      description:
        "The attribute and value that the products share, for `filter.attributes`; null for buckets " +
        "of other facets.",
      resolve: ({ key, value }) => {
        // The value of a bucket (one entry of a facet) of the attribute facet has the form `code:value`. The
        // text is split at the first colon, because an attribute's code contains no colon, but an attribute's
        // value may contain colons.
        const end = value.indexOf(":");
        return key === "attribute" ? { code: value.slice(0, end), value: value.slice(end + 1) } : null;
      },
    }),
  }),
});

export const SearchFacetRef = builder.objectRef<Facet>("SearchFacet").implement({
  description: "The found products, counted by the values of one property.",
  fields: (t) => ({
    key: t.expose("key", {
      type: FacetKeyEnum,
      description: "The property by which the products are grouped.",
    }),
    buckets: t.field({
      type: [SearchFacetBucketRef],
      description:
        "The buckets with their counts, the largest first, at most 20. Price ranges are in ascending " +
        "order.",
      complexity: { multiplier: 5 },
      resolve: ({ key, buckets }) => buckets.map((bucket) => ({ ...bucket, key })),
    }),
  }),
});
