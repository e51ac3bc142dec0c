/**
 * Loads the demo's catalogue, merchants and bulk vocabulary from the files in src/demo/data. Each file is
 * read once, at its first use. The rules of sales.json are in carts/price-carts.ts.
 */
import { z } from "zod";
import { pictureMotifs } from "#demo/pictures/pictures.ts";
import { catalogFile, type productFamily } from "./data/catalog-schema.ts";
import {
  type DemoLocalizedText,
  loadOnce,
  localizedText,
  nonEmptyText,
  nonNegativeInteger,
  parseDataFile,
  readDataFile,
} from "./data/data-file.ts";
import { type CategoryEntry, type merchant, merchantsFile } from "./data/merchants-schema.ts";

/** A merchant with its families of products. */
export interface DemoMerchant extends Omit<z.infer<typeof merchant>, "families"> {
  readonly families: readonly z.infer<typeof productFamily>[];
}

const bulkItemType = z.strictObject({
  en: nonEmptyText,
  de: nonEmptyText,
  euros: nonNegativeInteger,
  grams: nonNegativeInteger,
  motif: z.enum(pictureMotifs),
});
export type BulkItemType = z.infer<typeof bulkItemType>;
/** Materials and properties that suit each other: nobody knits a clock. In German the material follows "aus". */
const bulkMake = z.strictObject({ materials: z.array(localizedText), traits: z.array(localizedText) });

const bulkFile = z
  .strictObject({
    departments: z.array(
      z.strictObject({
        slug: nonEmptyText,
        names: localizedText,
        /** A name in makes. */
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
      const found = makes[department.make];
      if (found !== undefined) return [{ ...department, make: found }];
      context.addIssue({
        code: "custom",
        path: ["departments", index, "make"],
        message: `"${department.make}" is not in makes.`,
      });
      return [];
    }),
  }));

/** Each takes the text of its file. */
export const parseDemoData = {
  catalog: (json: string) => parseDataFile("catalog.json", catalogFile, json),
  merchants: (json: string) => parseDataFile("merchants.json", merchantsFile, json),
  bulk: (json: string) => parseDataFile("bulk.json", bulkFile, json),
} as const;

export const loadDemoCatalog = loadOnce(() => parseDemoData.catalog(readDataFile("catalog")));
export const loadBulkVocabulary = loadOnce(() => parseDemoData.bulk(readDataFile("bulk")));
/** The two merchants with their products; checks that the products' categories are categories of the merchant. */
export const loadDemoMerchants = loadOnce(() => {
  const { first, second } = parseDemoData.merchants(readDataFile("merchants"));
  return { first: addProductFamilies(first), second: addProductFamilies(second) };
});

function addProductFamilies({ families, ...own }: z.infer<typeof merchant>): DemoMerchant {
  const slugs = new Set(listCategorySlugs(own.categories));
  const found = families.map((name) => {
    const known = loadDemoCatalog().families[name];
    if (known === undefined)
      throw new Error(
        `src/demo/data/merchants.json: ${own.slug} has the family "${name}", which is not in catalog.json.`,
      );
    for (const { sku, categories } of known.entries)
      for (const slug of categories)
        if (!slugs.has(slug))
          throw new Error(
            `src/demo/data/catalog.json: ${sku} has the category "${slug}", which ${own.slug} does not have.`,
          );
    return known;
  });
  return { ...own, families: found };
}

const listCategorySlugs = (categories: readonly CategoryEntry[]): string[] =>
  categories.flatMap(({ slug, children }) => [slug, ...listCategorySlugs(children ?? [])]);

/** A label of the catalogue; throws if there is none by that code. */
export function getCatalogLabel(
  kind: "options" | "attributes" | "colours" | "choices",
  code: string,
): DemoLocalizedText {
  const { labels: known } = loadDemoCatalog();
  const found = known[kind][code] ?? (kind === "choices" ? known.colours[code] : undefined);
  if (found === undefined) throw new Error(`src/demo/data/catalog.json has no ${code} in labels.${kind}.`);
  return found;
}
