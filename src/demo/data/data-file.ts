/**
 * Reads the data files of the demo (`src/demo/data/*.json`) and checks them with their Zod schemas. Exports
 * the schemas that several data files share.
 */
import { readFileSync } from "node:fs";
import { z } from "zod";

export const demoLocales = ["en", "de", "ja"] as const;
export type DemoLocale = (typeof demoLocales)[number];

/** The Zod schema of a text with at least one character. */
export const nonEmptyText = z.string().min(1);
/** The Zod schema of an integer that is 0 or higher. */
export const nonNegativeInteger = z.int().min(0);
/**
 * The Zod schema of a text in English, German and Japanese. The Japanese text is optional, because the demo's
 * second merchant has no Japanese texts.
 */
export const localizedText = z.strictObject({
  en: nonEmptyText,
  de: nonEmptyText,
  ja: nonEmptyText.exactOptional(),
});
export type DemoLocalizedText = z.infer<typeof localizedText>;
/**
 * Parses a data file's JSON text and checks it with the schema. Throws an error that names the file, the
 * entry and each broken rule.
 */
export function parseDemoDataFile<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  json: string,
): z.output<Schema> {
  const data: unknown = JSON.parse(json);
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(
    ({ path, message }) => `${describeDataPath(path, data)}: ${message}`,
  );
  throw new Error([`src/demo/data/${name} breaks a rule of its schema:`, ...faults].join("\n"));
}

/**
 * Returns the path of an invalid value in a data file, for example `families.gifts.entries[0].price
 * (GFT-CARD)`. The text in brackets is the SKU, slug or handle of the entry.
 */
function describeDataPath(path: readonly PropertyKey[], data: unknown): string {
  let [location, name, value] = ["", "", data];
  for (const key of path) {
    location += typeof key === "number" ? `[${key}]` : `${location === "" ? "" : "."}${String(key)}`;
    value = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
    name = getEntryName(value) ?? name;
  }
  return name === "" ? location : `${location} (${name})`;
}

const getEntryName = (value: unknown): string | undefined =>
  ["sku", "slug", "handle", "key"]
    .map((key): unknown => Object(value)[key])
    .find((name) => typeof name === "string");

/**
 * Returns a function that calls `read` only once, at its first call, and returns the cached result at every
 * later call.
 */
export function createLazyLoader<Data>(read: () => Data): () => Data {
  let data: Data | undefined;
  return () => (data ??= read());
}

export const readDemoDataFile = (name: "catalog" | "merchants" | "sales" | "bulk" | "synonyms"): string =>
  readFileSync(new URL(`${name}.json`, import.meta.url), "utf8");
