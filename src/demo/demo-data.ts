/**
 * Reads the demo's data files (data/*.json; carts/draw-carts.ts has the rules of sales.json) when the demo is
 * seeded: each once, and only when it is asked for. A file that breaks a rule is refused with its name, the
 * entry and the rule. The rules are the schemas below; what a field means is written beside it.
 */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { availabilities } from "#commerce/catalog/availability.ts";
import { motifs } from "#demo/pictures/pictures.ts";

export const locales = ["en", "de", "ja"] as const;
export type Locale = (typeof locales)[number];

export const text = z.string().min(1);
export const count = z.int().min(0);
/** One text in each language; the second merchant has no Japanese texts. */
export const words = z.strictObject({ en: text, de: text, ja: text.exactOptional() });
export type Words = z.infer<typeof words>;
const labels = z.record(z.string(), words);

/**
 * Minor units in EUR, USD and JPY, which is the order of the first merchant's markets. Null if the product is
 * not sold there.
 */
const amounts = z.tuple([count.nullable(), count.nullable(), count.nullable()]);
export type Amounts = z.infer<typeof amounts>;

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
  sku: text,
  motif: z.enum(motifs),
  brand: text.nullable(),
  /** Slugs of categories of the merchant that sells the family. */
  categories: z.tuple([text], text),
  title: words,
  /** Japanese titles give no slug by themselves, so theirs is romanised by hand. */
  slugJa: text.exactOptional(),
  /** Set if the slug differs from the one that the English title gives. */
  slugEn: text.exactOptional(),
  /** An earlier slug, which still leads to the product. */
  slugFormer: text.exactOptional(),
  summary: words,
  /** The product's advantages, a list per language. */
  points: z.strictObject({ en: z.array(text), de: z.array(text), ja: z.array(text).exactOptional() }),
  price: amounts,
  /** The price before the current sale. */
  priceBefore: amounts.exactOptional(),
  /** Set if the price rose by a tenth twelve days ago. */
  priceRose: z.literal(true).exactOptional(),
  /** By choice, if a size has another price. */
  priceOf: z.record(z.string(), amounts).exactOptional(),
  /** Codes of labels.options, with choices of labels.colours or labels.choices. */
  options: z.array(z.strictObject({ code: text, choices: z.array(text).min(1) })).exactOptional(),
  /** Of its variants in their order; the last one holds for the rest. */
  stock: z.array(z.enum(availabilities)).min(1).exactOptional(),
  /** Codes of labels.attributes. */
  attributes: z
    .array(
      z.strictObject({
        code: text,
        value: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
        unit: text.nullable(),
      }),
    )
    .exactOptional(),
  /** Null if the product has no weight, because it is digital. */
  grams: count.nullable(),
  maxOrderQuantity: count.exactOptional(),
  restrictions: z.array(z.enum(restrictions)).exactOptional(),
  status: z.enum(["draft", "archived"]).exactOptional(),
});
export type CatalogEntry = z.infer<typeof catalogEntry>;
export type EntryOption = NonNullable<CatalogEntry["options"]>[number];

/** Products that share the last paragraph of their descriptions. */
const family = z.strictObject({ care: words, entries: z.array(catalogEntry) });

const catalogFile = z
  .strictObject({
    labels: z.strictObject({
      headings: z.strictObject({ points: words, care: words }),
      views: z.strictObject({ detail: words, scene: words }),
      options: labels,
      attributes: labels,
      colours: labels,
      choices: labels,
    }),
    families: z.record(z.string(), family),
  })
  .superRefine(({ labels: known, families }, context) => {
    for (const [name, { entries }] of Object.entries(families))
      for (const [index, entry] of entries.entries())
        for (const message of missingLabels(entry, known))
          context.addIssue({ code: "custom", path: ["families", name, "entries", index], message });
  });

type Labels = z.infer<typeof catalogFile>["labels"];

function unknownCodes(
  codes: readonly string[],
  there: Readonly<Record<string, Words>>,
  place: string,
): string[] {
  return codes
    .filter((code) => !Object.hasOwn(there, code))
    .map((code) => `"${code}" is not in labels.${place}.`);
}

function missingLabels(
  { title, slugJa, options = [], attributes = [] }: CatalogEntry,
  known: Labels,
): string[] {
  const choices = { ...known.colours, ...known.choices };
  return [
    ...unknownCodes(
      options.map(({ code }) => code),
      known.options,
      "options",
    ),
    ...unknownCodes(
      options.flatMap((option) => option.choices),
      choices,
      "colours or labels.choices",
    ),
    ...unknownCodes(
      attributes.map(({ code }) => code),
      known.attributes,
      "attributes",
    ),
    ...(title.ja !== undefined && slugJa === undefined
      ? ["A product with a Japanese title needs slugJa."]
      : []),
  ];
}

const policyFields = { summaries: words, url: text.nullable() };
/** The rules repeat what the policy's text says; eligibility is decided by the rules. */
const policy = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("cancellation"),
    ...policyFields,
    rules: z.strictObject({
      mode: z.enum(["immediate", "request", "none"]),
      windowMinutes: count,
      afterWindow: z.enum(["request", "deny"]),
    }),
  }),
  z.strictObject({
    type: z.literal("return"),
    ...policyFields,
    rules: z.strictObject({
      windowDays: count,
      exchangeWindowDays: count.nullable(),
      methods: z.array(z.enum(["mail", "store", "pickup", "keep_item"])).exactOptional(),
      returnShippingMinor: count.exactOptional(),
    }),
  }),
  z.strictObject({
    type: z.literal("withdrawal"),
    ...policyFields,
    rules: z.strictObject({ windowDays: count }),
  }),
  z.strictObject({
    type: z.literal("warranty"),
    ...policyFields,
    rules: z.strictObject({
      months: count,
      repairs: count.exactOptional(),
      replacements: count.exactOptional(),
    }),
  }),
]);
export type DemoPolicy = z.infer<typeof policy>;

const taxRate = z.strictObject({
  country: text,
  regionCode: text.nullable(),
  name: text,
  basisPoints: count,
  appliesToShipping: z.boolean(),
});
const delivery = z.strictObject({
  code: text,
  names: words,
  carrier: text.nullable(),
  pickup: z.literal(true).exactOptional(),
  priceMinor: count,
  freeFromMinor: count.nullable(),
  /** The shortest and the longest time. */
  days: z.tuple([count, count]),
});
const market = z.strictObject({
  handle: text,
  name: text,
  /** The position of the market's currency in a product's amounts. */
  amountIndex: z.literal([0, 1, 2]),
  currency: text,
  taxIncluded: z.boolean(),
  defaultLocale: text,
  timeZone: text,
  countries: z.array(text).min(1),
  taxRates: z.array(taxRate),
  delivery: z.array(delivery),
  /** In force in this market instead of the merchant's policy of the same type. */
  policies: z.array(policy),
});
export type DemoMarket = z.infer<typeof market>;

const category = z.strictObject({
  /** Products name their categories by it. */
  slug: text,
  names: words,
  get children() {
    return z.array(category).exactOptional();
  },
});
export type CategoryEntry = z.infer<typeof category>;

const merchant = z.strictObject({
  slug: text,
  name: text,
  markets: z.array(market),
  policies: z.array(policy),
  /** Names of families of catalog.json, in the order in which their products are seeded. */
  families: z.array(text),
  categories: z.array(category),
});
const merchantsFile = z.strictObject({ first: merchant, second: merchant });

/** A merchant with its families of products. */
export interface DemoMerchant extends Omit<z.infer<typeof merchant>, "families"> {
  readonly families: readonly z.infer<typeof family>[];
}

const thing = z.strictObject({ en: text, de: text, euros: count, grams: count, motif: z.enum(motifs) });
export type Thing = z.infer<typeof thing>;
/** Materials and properties that suit each other: nobody knits a clock. In German the material follows "aus". */
const make = z.strictObject({ materials: z.array(words), traits: z.array(words) });

const bulkFile = z
  .strictObject({
    departments: z.array(
      z.strictObject({
        slug: text,
        names: words,
        /** A name in makes. */
        make: text,
        ranges: z.array(z.strictObject({ slug: text, names: words, things: z.array(thing) })),
      }),
    ),
    makes: z.record(z.string(), make),
    collections: z.array(text),
    makers: z.array(text),
    origins: z.array(text),
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
export function parseFile<File extends z.ZodType>(name: string, file: File, json: string): z.output<File> {
  const data: unknown = JSON.parse(json);
  const parsed = file.safeParse(data);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${placeOf(path, data)}: ${message}`);
  throw new Error([`src/demo/data/${name} breaks a rule of src/demo/demo-data.ts:`, ...faults].join("\n"));
}

/**
 * Where a fault is, with the name of the innermost entry that has one: `families.gifts.entries[0].price
 * (GFT-CARD)`.
 */
function placeOf(path: readonly PropertyKey[], data: unknown): string {
  let [place, name, value] = ["", "", data];
  for (const key of path) {
    place += typeof key === "number" ? `[${key}]` : `${place === "" ? "" : "."}${String(key)}`;
    value = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
    name = nameOf(value) ?? name;
  }
  return name === "" ? place : `${place} (${name})`;
}

const nameOf = (value: unknown): string | undefined =>
  ["sku", "slug", "handle", "key"]
    .map((key): unknown => Object(value)[key])
    .find((name) => typeof name === "string");

/** Each takes the text of its file. */
export const parseDemoData = {
  catalog: (json: string) => parseFile("catalog.json", catalogFile, json),
  merchants: (json: string) => parseFile("merchants.json", merchantsFile, json),
  bulk: (json: string) => parseFile("bulk.json", bulkFile, json),
} as const;

export function readOnce<Data>(read: () => Data): () => Data {
  let data: Data | undefined;
  return () => (data ??= read());
}

export const readText = (name: "catalog" | "merchants" | "sales" | "bulk"): string =>
  readFileSync(new URL(`data/${name}.json`, import.meta.url), "utf8");

export const demoCatalog = readOnce(() => parseDemoData.catalog(readText("catalog")));
export const demoBulk = readOnce(() => parseDemoData.bulk(readText("bulk")));
/** The two merchants with their products; checks that the products' categories are categories of the merchant. */
export const demoMerchants = readOnce(() => {
  const { first, second } = parseDemoData.merchants(readText("merchants"));
  return { first: withFamilies(first), second: withFamilies(second) };
});

function withFamilies({ families, ...own }: z.infer<typeof merchant>): DemoMerchant {
  const slugs = new Set(slugsOf(own.categories));
  const found = families.map((name) => {
    const known = demoCatalog().families[name];
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

const slugsOf = (categories: readonly CategoryEntry[]): string[] =>
  categories.flatMap(({ slug, children }) => [slug, ...slugsOf(children ?? [])]);

/** A label of the catalogue; throws if there is none by that code. */
export function labelOf(kind: "options" | "attributes" | "colours" | "choices", code: string): Words {
  const { labels: known } = demoCatalog();
  const found = known[kind][code] ?? (kind === "choices" ? known.colours[code] : undefined);
  if (found === undefined) throw new Error(`src/demo/data/catalog.json has no ${code} in labels.${kind}.`);
  return found;
}
