/**
 * Loads the data files in src/demo/data. A file is read when it is needed for the first time, and then kept
 * in memory.
 */
import { z } from "zod";
import { pictureMotifs } from "#demo/pictures/pictures.ts";
import { catalogFileSchema, type productFamilySchema } from "./data/catalog-schema.ts";
import {
  type DemoLocalizedText,
  createLazyLoader,
  localizedText,
  nonEmptyText,
  nonNegativeInteger,
  parseDemoDataFile,
  readDemoDataFile,
} from "./data/data-file.ts";
import { salesFileSchema } from "./data/sales-schema.ts";
import {
  type DemoCategoryEntry,
  type demoMerchantSchema,
  merchantsFileSchema,
} from "./data/merchants-schema.ts";

/** A merchant of merchants.json, with the product families of catalog.json that the merchant sells. */
export interface DemoMerchant extends Omit<z.infer<typeof demoMerchantSchema>, "families"> {
  readonly families: readonly z.infer<typeof productFamilySchema>[];
}

const bulkItemType = z.strictObject({
  en: nonEmptyText,
  de: nonEmptyText,
  euros: nonNegativeInteger,
  grams: nonNegativeInteger,
  motif: z.enum(pictureMotifs),
});
export type BulkProductTypeDefinition = z.infer<typeof bulkItemType>;
/**
 * The materials and properties that generated products of one kind can have; a clock, for example, is never
 * knitted. The German text of a material is in the dative case, because it follows "aus".
 */
const bulkMake = z.strictObject({ materials: z.array(localizedText), traits: z.array(localizedText) });

const bulkFile = z
  .strictObject({
    departments: z.array(
      z.strictObject({
        slug: nonEmptyText,
        names: localizedText,
        /**
         * The key of an entry in `makes`. The entry lists the materials and properties that products of this
         * department can have.
         */
        make: nonEmptyText,
        ranges: z.array(
          z.strictObject({ slug: nonEmptyText, names: localizedText, things: z.array(bulkItemType) }),
        ),
      }),
    ),
    makes: z.record(z.string(), bulkMake),
    collections: z.array(nonEmptyText),
    makers: z.array(nonEmptyText),
    origins: z.array(nonEmptyText),
  })
  .transform(({ departments, makes, ...rest }, context) => ({
    ...rest,
    departments: departments.flatMap((department, index) => {
      const make = makes[department.make];
      if (make !== undefined) return [{ ...department, make }];
      context.addIssue({
        code: "custom",
        path: ["departments", index, "make"],
        message: `"${department.make}" is not in makes.`,
      });
      return [];
    }),
  }));

const synonymRules = z.array(
  z.strictObject({ terms: z.array(nonEmptyText).min(1), replacements: z.array(nonEmptyText).default([]) }),
);
/** The schema of synonyms.json: for each locale, rules by which the search treats words as equivalent. */
const synonymsFile = z.strictObject({ en: synonymRules, de: synonymRules, ja: synonymRules });

/**
 * The parsers of the data files' JSON texts, one per file. A parser throws an error that names the file, the
 * entry and the broken rule.
 */
export const parseDemoData = {
  catalog: (json: string) => parseDemoDataFile("catalog.json", catalogFileSchema, json),
  merchants: (json: string) => parseDemoDataFile("merchants.json", merchantsFileSchema, json),
  bulk: (json: string) => parseDemoDataFile("bulk.json", bulkFile, json),
  synonyms: (json: string) => parseDemoDataFile("synonyms.json", synonymsFile, json),
} as const;

export const loadDemoCatalog = createLazyLoader(() => parseDemoData.catalog(readDemoDataFile("catalog")));
export const loadBulkVocabulary = createLazyLoader(() => parseDemoData.bulk(readDemoDataFile("bulk")));
export const loadDemoSales = createLazyLoader(() =>
  parseDemoDataFile("sales.json", salesFileSchema, readDemoDataFile("sales")),
);
export const loadDemoSynonyms = createLazyLoader(() => parseDemoData.synonyms(readDemoDataFile("synonyms")));
/** Loads the demo's two merchants with their products. Throws if a product has an unknown category. */
export const loadDemoMerchants = createLazyLoader(() => {
  const { first, second } = parseDemoData.merchants(readDemoDataFile("merchants"));
  return { first: addProductFamilies(first), second: addProductFamilies(second) };
});

function addProductFamilies({ families, ...fields }: z.infer<typeof demoMerchantSchema>): DemoMerchant {
  const slugs = new Set(listCategorySlugs(fields.categories));
  const entries = families.map((name) => {
    const family = loadDemoCatalog().families[name];
    if (family === undefined)
      throw new Error(
        `src/demo/data/merchants.json: ${fields.slug} has the product family "${name}", which ` +
          "catalog.json lacks.",
      );
    for (const { sku, categories } of family.entries)
      for (const slug of categories)
        if (!slugs.has(slug))
          throw new Error(
            `src/demo/data/catalog.json: ${sku} has the category "${slug}", which the merchant ` +
              `${fields.slug} lacks.`,
          );
    return family;
  });
  return { ...fields, families: entries };
}

const listCategorySlugs = (categories: readonly DemoCategoryEntry[]): string[] =>
  categories.flatMap(({ slug, children }) => [slug, ...listCategorySlugs(children ?? [])]);

/** Returns a label of catalog.json in all languages. Throws if the file has no label with this code. */
export function getTranslatedDemoCatalogLabel(
  kind: "options" | "attributes" | "colours" | "choices",
  code: string,
): DemoLocalizedText {
  const { labels } = loadDemoCatalog();
  const label = labels[kind][code] ?? (kind === "choices" ? labels.colours[code] : undefined);
  if (label === undefined) throw new Error(`src/demo/data/catalog.json has no "${code}" in labels.${kind}.`);
  return label;
}
