/**
 * The demo catalogue (catalog.json and merchants.json) is complete in every language and keeps to the
 * catalogue's bounds.
 */
import { describe, expect, it } from "vitest";
import { catalogBounds } from "#commerce/catalog/catalog-fields.ts";
import type { DemoProductEntry } from "#demo/data/catalog-schema.ts";
import type { DemoCategoryEntry } from "#demo/data/merchants-schema.ts";
import { loadDemoCatalog, type DemoMerchant, loadDemoMerchants, parseDemoData } from "#demo/demo-data.ts";
import type { DemoLocale } from "#demo/data/data-file.ts";
import { getDemoProductSlug, createDemoSlug } from "#demo/rows/product-rows.ts";
import { createDemoVariantSku, listOptionCombinations } from "#demo/rows/variant-rows.ts";
import { isSlug } from "#foundation/text.ts";

const { first: store, second: roastery } = loadDemoMerchants();
const { labels } = loadDemoCatalog();
const entriesOf = (merchant: DemoMerchant): DemoProductEntry[] =>
  merchant.families.flatMap(({ entries }) => entries);
const isPublished = ({ status }: DemoProductEntry): boolean => status === undefined;
const slugsOf = (categories: readonly DemoCategoryEntry[]): string[] =>
  categories.flatMap(({ slug, children }) => [slug, ...slugsOf(children ?? [])]);
const depthOf = (categories: readonly DemoCategoryEntry[]): number =>
  Math.max(0, ...categories.map(({ children }) => 1 + depthOf(children ?? [])));

it(
  "publishes 60 products of the first merchant and 8 of the second, besides drafts and archived " +
    "products",
  () => {
    expect(entriesOf(store).filter(isPublished)).toHaveLength(60);
    expect(entriesOf(roastery).filter(isPublished)).toHaveLength(8);
    expect(new Set(entriesOf(store).map(({ status }) => status))).toEqual(
      new Set([undefined, "draft", "archived"]),
    );
  },
);

describe.each([
  { merchant: store, locales: ["en", "de", "ja"] as const },
  { merchant: roastery, locales: ["en", "de"] as const },
])("$merchant.name", ({ merchant, locales }) => {
  const entries = entriesOf(merchant);

  it("has every text in each of its languages", () => {
    const texts = [
      ...entries.flatMap(({ title, summary, points }) => [title, summary, linesOf(points)]),
      ...merchant.families.map(({ care }) => care),
      ...merchant.markets.flatMap(({ delivery, policies }) => [
        ...delivery.map(({ names }) => names),
        ...policies.map(({ summaries }) => summaries),
      ]),
      ...merchant.policies.map(({ summaries }) => summaries),
      ...namesOf(merchant.categories),
    ];
    const missing = texts.filter((text) => locales.some((locale) => (text[locale] ?? "").trim() === ""));
    expect(missing).toEqual([]);
  });

  it("states in each policy's text the periods of the policy's rules", () => {
    const policies = [...merchant.policies, ...merchant.markets.flatMap((market) => market.policies)];
    const inWords = new Map([
      [24, "Two years"],
      [60, "Five years"],
    ]);
    for (const { type, summaries, rules } of policies) {
      const text = summaries.en;
      if (type === "cancellation") expect(text).toContain(`${rules.windowMinutes} minutes`);
      else if (type === "warranty") expect(text).toContain(inWords.get(rules.months ?? 0));
      else expect(text).toContain(`${rules.windowDays} days`);
      if (type === "return")
        expect((rules.returnShippingMinor ?? 0) > 0).toBe(text?.includes("the buyer pays") ?? false);
    }
  });

  it("has the same number of points in every language", () => {
    const counts = entries.map(({ points }) => new Set(locales.map((locale) => points[locale]?.length)));
    expect(counts.every(({ size }) => size === 1)).toBe(true);
  });

  it("has Japanese texts in Japanese script and German texts that differ from the English texts", () => {
    const untranslated = entries.flatMap(({ title, summary }) =>
      [title, summary].filter(
        (text) =>
          text.de === text.en || (text.ja !== undefined && !/[\u3040-\u30ff\u4e00-\u9fff]/.test(text.ja)),
      ),
    );
    expect(untranslated).toEqual([]);
  });

  it("keeps to the bounds of titles, summaries and brands", () => {
    const tooLong = entries.filter(
      ({ title, summary, brand }) =>
        locales.some(
          (locale) =>
            (title[locale] ?? "").length > catalogBounds.titleMax ||
            (summary[locale] ?? "").length > catalogBounds.summaryMax,
        ) || (brand ?? "").length > catalogBounds.brandMax,
    );
    expect(tooLong).toEqual([]);
  });

  it("gives no two products the same slug, former slugs included", () => {
    const slugs = entries.flatMap((entry) => [
      ...new Set([
        ...locales.map((locale: DemoLocale) => getDemoProductSlug(entry, locale)),
        ...(entry.slugFormer === undefined ? [] : [entry.slugFormer]),
      ]),
    ]);
    expect(slugs.filter((slug) => !isSlug(slug))).toEqual([]);
    expect(new Set(slugs).size).toBe(slugs.length);
  });

  it("has only existing categories and choices, and unique SKUs", () => {
    const categories = slugsOf(merchant.categories);
    expect(new Set(categories).size).toBe(categories.length);
    expect(entries.flatMap((entry) => entry.categories.filter((slug) => !categories.includes(slug)))).toEqual(
      [],
    );
    const choices = entries.flatMap((entry) => (entry.options ?? []).flatMap((option) => option.choices));
    expect(
      choices.filter(
        (choice) => labels.colours[choice] === undefined && labels.choices[choice] === undefined,
      ),
    ).toEqual([]);
    const skus = entries.flatMap((entry) =>
      listOptionCombinations(entry.options ?? []).map((combination) =>
        createDemoVariantSku(entry, combination),
      ),
    );
    expect(new Set(skus).size).toBe(skus.length);
  });

  it("has sale prices below the previous prices, in the same markets", () => {
    const wrong = entries.filter(({ price, priceBefore }) =>
      priceBefore?.some((before, index) => {
        const now = price[index] ?? null;
        return (before === null) !== (now === null) || (before !== null && now !== null && before <= now);
      }),
    );
    expect(wrong).toEqual([]);
  });
});

it("the demo has a category tree of three levels", () => {
  expect(depthOf(store.categories)).toBe(3);
});

it("sells some products only in some markets", () => {
  const marketsOfProducts = entriesOf(store)
    .filter(isPublished)
    .map(({ price }) => price.map((amount) => (amount === null ? "-" : "x")).join(""));
  expect(
    Object.fromEntries(
      [...Map.groupBy(marketsOfProducts, (markets) => markets)].map(([markets, list]) => [
        markets,
        list.length,
      ]),
    ),
  ).toEqual({
    xxx: 54,
    "xx-": 2,
    "x--": 2,
    "-x-": 1,
    "--x": 1,
  });
});

it("shares one slug between the two merchants", () => {
  const [first, second] = [store, roastery].map(
    (merchant) => new Set(entriesOf(merchant).map((entry) => getDemoProductSlug(entry, "en"))),
  );
  expect([...(first ?? [])].filter((slug) => second?.has(slug))).toEqual(["pour-over-coffee-set"]);
});

it("spells German umlauts out in slugs and drops other accents", () => {
  expect(createDemoSlug("Größe Über Ärger", "de")).toBe("groesse-ueber-aerger");
  expect(createDemoSlug("Måne Bølge Café 3 × 3", "en")).toBe("mane-bolge-cafe-3-x-3");
  expect(createDemoSlug(`${"a".repeat(95)} b`, "en")).toBe("a".repeat(95));
});

function namesOf(categories: readonly DemoCategoryEntry[]): DemoCategoryEntry["names"][] {
  return categories.flatMap(({ names, children }) => [names, ...namesOf(children ?? [])]);
}

function linesOf({ en, de, ja }: DemoProductEntry["points"]): DemoProductEntry["title"] {
  return { en: en.join(), de: de.join(), ...(ja === undefined ? {} : { ja: ja.join() }) };
}

const first = entriesOf(store)[0] as DemoProductEntry;

it.each([
  [{ price: [1, 2] }, "price"],
  [{ motif: "castle" }, "motif"],
  [{ stock: ["plenty"] }, "stock[0]"],
  [{ color: "red" }, 'Unrecognized key: "color"'],
  [
    { options: [{ code: "colour", choices: ["purple"] }] },
    '"purple" is not in labels.colours or labels.choices.',
  ],
  [{ options: [{ code: "shade", choices: ["moss"] }] }, '"shade" is not in labels.options.'],
  [{ attributes: [{ code: "scent", value: 1, unit: null }] }, '"scent" is not in labels.attributes.'],
  [{ slugJa: undefined }, "A product with a Japanese title needs slugJa."],
])("refuses a product with %j, with the file, the entry and the rule in the error", (wrong, rule) => {
  const family = { care: { en: "Care", de: "Pflege" }, entries: [{ ...first, ...wrong }] };
  const parse = (): unknown => parseDemoData.catalog(JSON.stringify({ labels, families: { tents: family } }));
  expect(parse).toThrow("src/demo/data/catalog.json breaks a rule");
  expect(parse).toThrow(`(${first.sku})`);
  expect(parse).toThrow("families.tents.entries[0]");
  expect(parse).toThrow(rule);
});
