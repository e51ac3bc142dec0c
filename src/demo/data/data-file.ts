/**
 * Reads the data files of the demo (`src/demo/data/*.json`) and checks them with their Zod schemas. Has the
 * schema pieces that several data files share.
 */
import { readFileSync } from "node:fs";
import { z } from "zod";

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
  throw new Error([`src/demo/data/${name} breaks a rule of its schema:`, ...faults].join("\n"));
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

export function loadOnce<Data>(read: () => Data): () => Data {
  let data: Data | undefined;
  return () => (data ??= read());
}

export const readDataFile = (name: "catalog" | "merchants" | "sales" | "bulk"): string =>
  readFileSync(new URL(`${name}.json`, import.meta.url), "utf8");
