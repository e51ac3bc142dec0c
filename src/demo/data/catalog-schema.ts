/**
 * The schema of catalog.json. This file contains the demo's products, grouped in families, and the texts that
 * name their options and attributes.
 */
import { z } from "zod";
import { availabilities } from "#commerce/catalog/availability.ts";
import { pictureMotifs } from "#demo/pictures/pictures.ts";
import { type DemoLocalizedText, localizedText, nonEmptyText, nonNegativeInteger } from "./data-file.ts";

const labelsByCode = z.record(z.string(), localizedText);

/**
 * The prices of a product in the three markets, in minor units of EUR, USD and JPY, in this order. A price is
 * null if the market does not sell the product.
 */
const marketAmounts = z.tuple([
  nonNegativeInteger.nullable(),
  nonNegativeInteger.nullable(),
  nonNegativeInteger.nullable(),
]);
export type DemoProductPricesByMarket = z.infer<typeof marketAmounts>;

const restrictions = [
  "age_18",
  "hazmat",
  "no_returns",
  "final_sale",
  "custom_made",
  "perishable",
  "hygiene_sealed",
  "digital",
  "gift_card",
] as const;

/** A product of catalog.json. All database rows of the product are created from this entry. */
const catalogEntry = z.strictObject({
  /** The text with which the SKUs of all variants of the product begin. */
  sku: nonEmptyText,
  motif: z.enum(pictureMotifs),
  brand: nonEmptyText.nullable(),
  /**
   * Slugs of the product's categories. The categories must belong to the merchant that sells the product
   * family.
   */
  categories: z.tuple([nonEmptyText], nonEmptyText),
  title: localizedText,
  /** The Japanese slug, romanised by hand, because no slug can be derived from a Japanese title. */
  slugJa: nonEmptyText.exactOptional(),
  /** The English slug; left out if the slug is derived from the English title. */
  slugEn: nonEmptyText.exactOptional(),
  /** A former slug of the product; URLs with this slug still lead to the product. */
  slugFormer: nonEmptyText.exactOptional(),
  summary: localizedText,
  /** Short sentences about the advantages of the product: one list per language. */
  points: z.strictObject({
    en: z.array(nonEmptyText),
    de: z.array(nonEmptyText),
    ja: z.array(nonEmptyText).exactOptional(),
  }),
  price: marketAmounts,
  /** The prices before the current price reduction; left out if the price is not reduced. */
  priceBefore: marketAmounts.exactOptional(),
  /** True if the price rose by 10 % twelve days ago; otherwise left out. */
  priceRose: z.literal(true).exactOptional(),
  /**
   * Prices of the variants whose price differs from the product's `price`. The key is the choice that
   * determines the variant, for example a size.
   */
  priceOf: z.record(z.string(), marketAmounts).exactOptional(),
  /**
   * The options in which the product's variants differ, for example size. The code of an option is a key of
   * `labels.options` in catalog.json. The code of each choice is a key of `labels.colours` or of
   * `labels.choices`.
   */
  options: z
    .array(z.strictObject({ code: nonEmptyText, choices: z.array(nonEmptyText).min(1) }))
    .exactOptional(),
  /**
   * The availability of each variant, in the order of the variants. If the list is shorter than the number of
   * variants, its last value applies to all further variants.
   */
  stock: z.array(z.enum(availabilities)).min(1).exactOptional(),
  /** The product's attributes. The code of an attribute is a key of `labels.attributes` in catalog.json. */
  attributes: z
    .array(
      z.strictObject({
        code: nonEmptyText,
        value: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
        unit: nonEmptyText.nullable(),
      }),
    )
    .exactOptional(),
  /** The weight of a variant in grams; null if the product is digital, for example a voucher. */
  grams: nonNegativeInteger.nullable(),
  maxOrderQuantity: nonNegativeInteger.exactOptional(),
  restrictions: z.array(z.enum(restrictions)).exactOptional(),
  status: z.enum(["draft", "archived"]).exactOptional(),
});
export type DemoProductEntry = z.infer<typeof catalogEntry>;
export type DemoProductOptionEntry = NonNullable<DemoProductEntry["options"]>[number];

/**
 * A product family: a group of products whose descriptions all end with the same paragraph about caring for
 * the product.
 */
export const productFamilySchema = z.strictObject({ care: localizedText, entries: z.array(catalogEntry) });

export const catalogFileSchema = z
  .strictObject({
    labels: z.strictObject({
      headings: z.strictObject({ points: localizedText, care: localizedText }),
      views: z.strictObject({ detail: localizedText, scene: localizedText }),
      options: labelsByCode,
      attributes: labelsByCode,
      colours: labelsByCode,
      choices: labelsByCode,
    }),
    families: z.record(z.string(), productFamilySchema),
  })
  .superRefine(({ labels, families }, context) => {
    for (const [name, { entries }] of Object.entries(families))
      for (const [index, entry] of entries.entries())
        for (const message of listLabelFaults(entry, labels))
          context.addIssue({ code: "custom", path: ["families", name, "entries", index], message });
  });

type Labels = z.infer<typeof catalogFileSchema>["labels"];

function listUnknownCodes(
  codes: readonly string[],
  labels: Readonly<Record<string, DemoLocalizedText>>,
  labelsName: string,
): string[] {
  return codes
    .filter((code) => !Object.hasOwn(labels, code))
    .map((code) => `"${code}" is not in labels.${labelsName}.`);
}

function listLabelFaults(
  { title, slugJa, options = [], attributes = [] }: DemoProductEntry,
  labels: Labels,
): string[] {
  const choices = { ...labels.colours, ...labels.choices };
  return [
    ...listUnknownCodes(
      options.map(({ code }) => code),
      labels.options,
      "options",
    ),
    ...listUnknownCodes(
      options.flatMap((option) => option.choices),
      choices,
      "colours or labels.choices",
    ),
    ...listUnknownCodes(
      attributes.map(({ code }) => code),
      labels.attributes,
      "attributes",
    ),
    ...(title.ja !== undefined && slugJa === undefined
      ? ["A product with a Japanese title needs slugJa."]
      : []),
  ];
}
