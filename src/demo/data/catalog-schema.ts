/**
 * The schema of catalog.json: the demo's products, in families, and the labels of their options and
 * attributes.
 */
import { z } from "zod";
import { availabilities } from "#commerce/catalog/availability.ts";
import { pictureMotifs } from "#demo/pictures/pictures.ts";
import { type DemoLocalizedText, localizedText, nonEmptyText, nonNegativeInteger } from "./data-file.ts";

const labelsByCode = z.record(z.string(), localizedText);

/**
 * Minor units in EUR, USD and JPY, which is the order of the first merchant's markets. Null if the product is
 * not sold there.
 */
const marketAmounts = z.tuple([
  nonNegativeInteger.nullable(),
  nonNegativeInteger.nullable(),
  nonNegativeInteger.nullable(),
]);
export type MarketAmounts = z.infer<typeof marketAmounts>;

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

/** A product, from which all its rows follow. */
const catalogEntry = z.strictObject({
  /** The SKUs of its variants begin with it. */
  sku: nonEmptyText,
  motif: z.enum(pictureMotifs),
  brand: nonEmptyText.nullable(),
  /** Slugs of categories of the merchant that sells the family. */
  categories: z.tuple([nonEmptyText], nonEmptyText),
  title: localizedText,
  /** Japanese titles give no slug by themselves, so theirs is romanised by hand. */
  slugJa: nonEmptyText.exactOptional(),
  /** Set if the slug differs from the one that the English title gives. */
  slugEn: nonEmptyText.exactOptional(),
  /** An earlier slug, which still leads to the product. */
  slugFormer: nonEmptyText.exactOptional(),
  summary: localizedText,
  /** The product's advantages, a list per language. */
  points: z.strictObject({
    en: z.array(nonEmptyText),
    de: z.array(nonEmptyText),
    ja: z.array(nonEmptyText).exactOptional(),
  }),
  price: marketAmounts,
  /** The price before the current sale. */
  priceBefore: marketAmounts.exactOptional(),
  /** Set if the price rose by a tenth twelve days ago. */
  priceRose: z.literal(true).exactOptional(),
  /** By choice, if a size has another price. */
  priceOf: z.record(z.string(), marketAmounts).exactOptional(),
  /** Codes of labels.options, with choices of labels.colours or labels.choices. */
  options: z
    .array(z.strictObject({ code: nonEmptyText, choices: z.array(nonEmptyText).min(1) }))
    .exactOptional(),
  /** Of its variants in their order; the last one holds for the rest. */
  stock: z.array(z.enum(availabilities)).min(1).exactOptional(),
  /** Codes of labels.attributes. */
  attributes: z
    .array(
      z.strictObject({
        code: nonEmptyText,
        value: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
        unit: nonEmptyText.nullable(),
      }),
    )
    .exactOptional(),
  /** Null if the product has no weight, because it is digital. */
  grams: nonNegativeInteger.nullable(),
  maxOrderQuantity: nonNegativeInteger.exactOptional(),
  restrictions: z.array(z.enum(restrictions)).exactOptional(),
  status: z.enum(["draft", "archived"]).exactOptional(),
});
export type CatalogEntry = z.infer<typeof catalogEntry>;
export type CatalogEntryOption = NonNullable<CatalogEntry["options"]>[number];

/** Products that share the last paragraph of their descriptions. */
export const productFamily = z.strictObject({ care: localizedText, entries: z.array(catalogEntry) });

export const catalogFile = z
  .strictObject({
    labels: z.strictObject({
      headings: z.strictObject({ points: localizedText, care: localizedText }),
      views: z.strictObject({ detail: localizedText, scene: localizedText }),
      options: labelsByCode,
      attributes: labelsByCode,
      colours: labelsByCode,
      choices: labelsByCode,
    }),
    families: z.record(z.string(), productFamily),
  })
  .superRefine(({ labels: known, families }, context) => {
    for (const [name, { entries }] of Object.entries(families))
      for (const [index, entry] of entries.entries())
        for (const message of listLabelFaults(entry, known))
          context.addIssue({ code: "custom", path: ["families", name, "entries", index], message });
  });

type Labels = z.infer<typeof catalogFile>["labels"];

function listUnknownCodes(
  codes: readonly string[],
  there: Readonly<Record<string, DemoLocalizedText>>,
  place: string,
): string[] {
  return codes
    .filter((code) => !Object.hasOwn(there, code))
    .map((code) => `"${code}" is not in labels.${place}.`);
}

function listLabelFaults(
  { title, slugJa, options = [], attributes = [] }: CatalogEntry,
  known: Labels,
): string[] {
  const choices = { ...known.colours, ...known.choices };
  return [
    ...listUnknownCodes(
      options.map(({ code }) => code),
      known.options,
      "options",
    ),
    ...listUnknownCodes(
      options.flatMap((option) => option.choices),
      choices,
      "colours or labels.choices",
    ),
    ...listUnknownCodes(
      attributes.map(({ code }) => code),
      known.attributes,
      "attributes",
    ),
    ...(title.ja !== undefined && slugJa === undefined
      ? ["A product with a Japanese title needs slugJa."]
      : []),
  ];
}
