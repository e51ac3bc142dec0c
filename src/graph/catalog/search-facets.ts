/** The GraphQL types of the facets of the product search. */
import { availabilities } from "#commerce/catalog/availability.ts";
import type { ProductSearchResults } from "#commerce/search/search-products.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { AvailabilityEnum } from "./products.ts";

const FacetKeyEnum = defineGraphqlEnum("FacetKey", {
  description: "The property by which a facet groups the found products.",
  values: {
    category: "The facet groups the products by category; its values are category slugs.",
    merchant: "The facet groups the products by merchant; its values are merchant slugs.",
    brand: "The facet groups the products by brand; its values are brand names.",
    availability:
      "The facet groups the products by availability; its values are those of `Availability` in lower " +
      "case, for example `in_stock` for `IN_STOCK`.",
    attribute:
      "The facet groups the products by attribute; its values are the attribute's code, a colon and one " +
      "value, for example `material:steel`. The facet is returned only if the argument " +
      "`hasAttributeFacets` is true and the search has a text in `q` or a `filter`.",
    price:
      "The facet groups the products by lowest price; its values are ranges `from-to` in minor units of " +
      "`meta.currency`, without `to` itself.",
  },
});

type Facet = ProductSearchResults["facets"][number];
type FacetBucket = Facet["buckets"][number] & Pick<Facet, "key">;

const FacetAttributeRef = builder
  .objectRef<{ code: string; value: string }>("SearchFacetAttribute")
  .implement({
    description:
      "An attribute with one value, which all products of a facet bucket share, for the search filter " +
      "`attributes`.",
    fields: (t) => ({
      code: t.exposeString("code", {
        description: "The attribute's code, as the search filter `attributes` needs it in `code`.",
      }),
      value: t.exposeString("value", {
        description: "The value of the attribute, as the search filter `attributes` needs it in `values`.",
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
        "The availability that all products of the bucket share, for the search filter `availabilities`; " +
        "null if the facet groups by another property.",
      resolve: ({ key, value }) =>
        key === "availability" ? (availabilities.find((one) => one === value) ?? null) : null,
    }),
    attribute: t.field({
      type: FacetAttributeRef,
      nullable: true,
      description:
        "The attribute and the value that all products of the bucket share, for the search filter " +
        "`attributes`; null if the facet groups by another property.",
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
  description: "A count of the found products by the values of one property, for example by brand.",
  fields: (t) => ({
    key: t.expose("key", {
      type: FacetKeyEnum,
      description: "The property by which the products are grouped.",
    }),
    buckets: t.field({
      type: [SearchFacetBucketRef],
      description:
        "The buckets with their counts, at most 20. The largest bucket comes first; price ranges are in " +
        "ascending order.",
      complexity: { multiplier: 5 },
      resolve: ({ key, buckets }) => buckets.map((bucket) => ({ ...bucket, key })),
    }),
  }),
});
