/**
 * Reads the demo's data files (data/*.json; carts/draw-carts.ts has the rules of sales.json) when the demo is
 * seeded: each once, and only when it is asked for. A file that breaks a rule is refused with its name, the
 * entry and the rule. The rules are the schemas below; what a field means is written beside it.
 */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { availabilities } from "#commerce/catalog/availability.ts";
import { pictureMotifs } from "#demo/pictures/pictures.ts";

export const demoLocales = ["en", "de", "ja"] as const;
export type DemoLocale = (typeof demoLocales)[number];

export const nonEmptyText = z.string().min(1);
export const nonNegativeInteger = z.int().min(0);
/** One text in each language; the second merchant has no Japanese texts. */
export const localizedText = z.strictObject({
  en: nonEmptyText,
  de: nonEmptyText,
  ja: nonEmptyText.exactOptional(),
});
export type DemoLocalizedText = z.infer<typeof localizedText>;
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
const family = z.strictObject({ care: localizedText, entries: z.array(catalogEntry) });

const catalogFile = z
  .strictObject({
    labels: z.strictObject({
      headings: z.strictObject({ points: localizedText, care: localizedText }),
      views: z.strictObject({ detail: localizedText, scene: localizedText }),
      options: labelsByCode,
      attributes: labelsByCode,
      colours: labelsByCode,
      choices: labelsByCode,
    }),
    families: z.record(z.string(), family),
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

const policyFields = { summaries: localizedText, url: nonEmptyText.nullable() };
/** The rules repeat what the policy's text says; eligibility is decided by the rules. */
const policy = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("cancellation"),
    ...policyFields,
    rules: z.strictObject({
      mode: z.enum(["immediate", "request", "none"]),
      windowMinutes: nonNegativeInteger,
      afterWindow: z.enum(["request", "deny"]),
    }),
  }),
  z.strictObject({
    type: z.literal("return"),
    ...policyFields,
    rules: z.strictObject({
      windowDays: nonNegativeInteger,
      exchangeWindowDays: nonNegativeInteger.nullable(),
      methods: z.array(z.enum(["mail", "store", "pickup", "keep_item"])).exactOptional(),
      returnShippingMinor: nonNegativeInteger.exactOptional(),
    }),
  }),
  z.strictObject({
    type: z.literal("withdrawal"),
    ...policyFields,
    rules: z.strictObject({ windowDays: nonNegativeInteger }),
  }),
  z.strictObject({
    type: z.literal("warranty"),
    ...policyFields,
    rules: z.strictObject({
      months: nonNegativeInteger,
      repairs: nonNegativeInteger.exactOptional(),
      replacements: nonNegativeInteger.exactOptional(),
    }),
  }),
]);
export type DemoPolicy = z.infer<typeof policy>;

const taxRate = z.strictObject({
  country: nonEmptyText,
  regionCode: nonEmptyText.nullable(),
  name: nonEmptyText,
  basisPoints: nonNegativeInteger,
  appliesToShipping: z.boolean(),
});
const delivery = z.strictObject({
  code: nonEmptyText,
  names: localizedText,
  carrier: nonEmptyText.nullable(),
  pickup: z.literal(true).exactOptional(),
  priceMinor: nonNegativeInteger,
  freeFromMinor: nonNegativeInteger.nullable(),
  /** The shortest and the longest time. */
  days: z.tuple([nonNegativeInteger, nonNegativeInteger]),
});
const market = z.strictObject({
  handle: nonEmptyText,
  name: nonEmptyText,
  /** The position of the market's currency in a product's amounts. */
  amountIndex: z.literal([0, 1, 2]),
  currency: nonEmptyText,
  taxIncluded: z.boolean(),
  defaultLocale: nonEmptyText,
  timeZone: nonEmptyText,
  countries: z.array(nonEmptyText).min(1),
  taxRates: z.array(taxRate),
  delivery: z.array(delivery),
  /** In force in this market instead of the merchant's policy of the same type. */
  policies: z.array(policy),
});
export type DemoMarket = z.infer<typeof market>;

const category = z.strictObject({
  /** Products name their categories by it. */
  slug: nonEmptyText,
  names: localizedText,
  get children() {
    return z.array(category).exactOptional();
  },
});
export type CategoryEntry = z.infer<typeof category>;

const merchant = z.strictObject({
  slug: nonEmptyText,
  name: nonEmptyText,
  markets: z.array(market),
  policies: z.array(policy),
  /** Names of families of catalog.json, in the order in which their products are seeded. */
  families: z.array(nonEmptyText),
  categories: z.array(category),
});
const merchantsFile = z.strictObject({ first: merchant, second: merchant });

/** A merchant with its families of products. */
export interface DemoMerchant extends Omit<z.infer<typeof merchant>, "families"> {
  readonly families: readonly z.infer<typeof family>[];
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

/** Checks the text of a data file; throws an error with the file, the entry and the rule if it breaks one. */
export function parseDataFile<File extends z.ZodType>(
  name: string,
  file: File,
  json: string,
): z.output<File> {
  const data: unknown = JSON.parse(json);
  const parsed = file.safeParse(data);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(
    ({ path, message }) => `${describeDataPath(path, data)}: ${message}`,
  );
  throw new Error([`src/demo/data/${name} breaks a rule of src/demo/demo-data.ts:`, ...faults].join("\n"));
}

/**
 * Where a fault is, with the name of the innermost entry that has one: `families.gifts.entries[0].price
 * (GFT-CARD)`.
 */
function describeDataPath(path: readonly PropertyKey[], data: unknown): string {
  let [place, name, value] = ["", "", data];
  for (const key of path) {
    place += typeof key === "number" ? `[${key}]` : `${place === "" ? "" : "."}${String(key)}`;
    value = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
    name = getEntryName(value) ?? name;
  }
  return name === "" ? place : `${place} (${name})`;
}

const getEntryName = (value: unknown): string | undefined =>
  ["sku", "slug", "handle", "key"]
    .map((key): unknown => Object(value)[key])
    .find((name) => typeof name === "string");

/** Each takes the text of its file. */
export const parseDemoData = {
  catalog: (json: string) => parseDataFile("catalog.json", catalogFile, json),
  merchants: (json: string) => parseDataFile("merchants.json", merchantsFile, json),
  bulk: (json: string) => parseDataFile("bulk.json", bulkFile, json),
} as const;

export function loadOnce<Data>(read: () => Data): () => Data {
  let data: Data | undefined;
  return () => (data ??= read());
}

export const readDataFile = (name: "catalog" | "merchants" | "sales" | "bulk"): string =>
  readFileSync(new URL(`data/${name}.json`, import.meta.url), "utf8");

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
