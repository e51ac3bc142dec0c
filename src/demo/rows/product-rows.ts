/**
 * Creates the rows of a demo product: texts, slugs, pictures and variants. Inserts the rows of many products
 * with one statement per table.
 */
import { createId } from "#foundation/ids.ts";
import type { DemoProductEntry } from "#demo/data/catalog-schema.ts";
import { loadDemoCatalog, getTranslatedDemoCatalogLabel } from "#demo/demo-data.ts";
import { type DemoLocale, demoLocales, type DemoLocalizedText } from "#demo/data/data-file.ts";
import { hashTextToNumber } from "#demo/random.ts";
import { slugLengthMax } from "#foundation/text.ts";
import type { Transaction } from "#database/transaction.ts";
import { createDemoPictureName, getDemoPicturePath, pictureSizePixels } from "#demo/pictures/pictures.ts";
import { insertTableRows, type DemoTableRowToInsert } from "./insert-rows.ts";
import { type DemoVariantRowsContext, createDemoVariantRows, type DemoVariantRows } from "./variant-rows.ts";

export interface DemoProductRowsContext extends DemoVariantRowsContext {
  readonly categoryIds: ReadonlyMap<string, string>;
  /** A text on how to care for the product. It becomes the last paragraph of the product's description. */
  readonly careText: DemoLocalizedText;
}

export function createDemoProductRows(
  entry: DemoProductEntry,
  context: DemoProductRowsContext,
): DemoProductRows {
  const productId = createId("product", context.createdAt.getTime());
  const { merchantId } = context;
  const productTranslation = createTranslationRows(entry, { productId, context });
  const slugs = new Set([
    ...productTranslation.map(({ slug }) => slug),
    ...(entry.slugFormer === undefined ? [] : [entry.slugFormer]),
  ]);
  const pictures = createMediaRows(entry, { productId, merchantId, createdAt: context.createdAt });
  return {
    product: createProductRow(entry, { productId, context }),
    productSlug: [...slugs].map((slug) => ({ merchantId, slug, productId })),
    productTranslation,
    productCategory: entry.categories.map((slug, position) => ({
      productId,
      categoryId: requireCategory(context, slug),
      position,
    })),
    productOption: (entry.options ?? []).map(({ code, choices }, position) => ({
      productId,
      code,
      names: getTranslatedDemoCatalogLabel("options", code),
      choices: choices.map((choice) => ({
        code: choice,
        labels: getTranslatedDemoCatalogLabel("choices", choice),
      })),
      position,
    })),
    media: pictures.rows,
    ...createDemoVariantRows(entry, {
      productId,
      rowsContext: context,
      mediaIdOfColour: pictures.idOfColour,
    }),
  };
}

interface ProductRowInput {
  readonly productId: string;
  readonly context: DemoProductRowsContext;
}

function createProductRow(
  entry: DemoProductEntry,
  { productId, context }: ProductRowInput,
): DemoTableRowToInsert<"product"> {
  const { merchantId, now, createdAt } = context;
  const hash = hashTextToNumber(entry.sku);
  const status = entry.status ?? "published";
  const isRated = status !== "draft" && hash % 9 !== 0;
  return {
    id: productId,
    merchantId,
    status,
    brand: entry.brand,
    ratingAverage: isRated ? (39 + (hash % 11)) / 10 : null,
    ratingCount: isRated ? 3 + ((hash >>> 4) % 240) : null,
    attributes: (entry.attributes ?? []).map(({ code, value, unit }) => ({
      code,
      names: getTranslatedDemoCatalogLabel("attributes", code),
      value,
      unit,
    })),
    popularity: status === "published" ? (hash >>> 8) % 180 : 0,
    publishedAt: status === "draft" ? null : createdAt,
    createdAt,
    updatedAt: status === "archived" ? new Date((createdAt.getTime() + now.getTime()) / 2) : createdAt,
  };
}

function createTranslationRows(
  entry: DemoProductEntry,
  { productId, context }: ProductRowInput,
): DemoTableRowToInsert<"productTranslation">[] {
  const hasSeo = hashTextToNumber(entry.sku) % 3 === 0;
  return demoLocales.flatMap((locale) => {
    const title = entry.title[locale];
    const summary = entry.summary[locale];
    if (title === undefined || summary === undefined) return [];
    return [
      {
        productId,
        locale,
        merchantId: context.merchantId,
        slug: getDemoProductSlug(entry, locale),
        title,
        summary,
        description: createDescription(entry, { locale, summary, care: context.careText }),
        seoTitle: hasSeo ? [title, entry.brand].filter((part) => part !== null).join(" – ") : null,
        seoDescription: hasSeo ? summary : null,
        updatedAt: context.createdAt,
      },
    ];
  });
}

/** Returns the product's slug in a language, given in the entry or derived from the title. */
export function getDemoProductSlug(entry: DemoProductEntry, locale: DemoLocale): string {
  if (locale === "en") return entry.slugEn ?? createDemoSlug(entry.title.en, "en");
  if (locale === "de") return createDemoSlug(entry.title.de, "de");
  if (entry.slugJa === undefined) throw new Error(`${entry.sku} has a Japanese title but no slugJa.`);
  return entry.slugJa;
}

function createDescription(
  entry: DemoProductEntry,
  {
    locale,
    summary,
    care,
  }: { readonly locale: DemoLocale; readonly summary: string; readonly care: DemoLocalizedText },
): string {
  const { headings } = loadDemoCatalog().labels;
  const points = (entry.points[locale] ?? []).map((point) => `- ${point}`);
  return [
    summary,
    `## ${headings.points[locale]}`,
    points.join("\n"),
    `## ${headings.care[locale]}`,
    care[locale] ?? care.en,
  ].join("\n\n");
}

function requireCategory(context: DemoProductRowsContext, slug: string): string {
  const id = context.categoryIds.get(slug);
  if (id === undefined) throw new Error(`The merchant has no category with the slug "${slug}".`);
  return id;
}

/**
 * The replacements of German letters in slugs, because slugs consist only of ASCII letters, digits and single
 * hyphens.
 */
const germanSpellings: Readonly<Record<string, string>> = {
  ä: "ae",
  ö: "oe",
  ü: "ue",
  ß: "ss",
  æ: "ae",
  ø: "o",
  å: "a",
  "×": "x",
};
const otherSpellings: Readonly<Record<string, string>> = { ...germanSpellings, ä: "a", ö: "o", ü: "u" };

/**
 * Creates a slug from a text. In a German slug, "ä" becomes "ae" (also ö, ü); in other languages, "ä" becomes
 * "a". Returns an empty text if the text has no Latin letter or digit.
 */
export function createDemoSlug(text: string, locale: string): string {
  const letters = locale === "de" ? germanSpellings : otherSpellings;
  return text
    .toLowerCase()
    .normalize("NFC")
    .replaceAll(/[äöüßæøå×]/g, (letter) => letters[letter] ?? letter)
    .normalize("NFD")
    .replaceAll(/[\u0300-\u036f'’]/g, "")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, slugLengthMax)
    .replaceAll(/^-|-$/g, "");
}

/** The database rows of one product, by table name. */
export interface DemoProductRows extends DemoVariantRows {
  readonly product: DemoTableRowToInsert<"product">;
  readonly productSlug: readonly DemoTableRowToInsert<"productSlug">[];
  readonly productTranslation: readonly DemoTableRowToInsert<"productTranslation">[];
  readonly productCategory: readonly DemoTableRowToInsert<"productCategory">[];
  readonly productOption: readonly DemoTableRowToInsert<"productOption">[];
  readonly media: readonly DemoTableRowToInsert<"media">[];
}

export function insertDemoProductRows(
  transaction: Transaction,
  products: readonly DemoProductRows[],
): Promise<void> {
  return insertTableRows(transaction, {
    product: products.map(({ product }) => product),
    productSlug: products.flatMap(({ productSlug }) => productSlug),
    productTranslation: products.flatMap(({ productTranslation }) => productTranslation),
    productCategory: products.flatMap(({ productCategory }) => productCategory),
    productOption: products.flatMap(({ productOption }) => productOption),
    media: products.flatMap(({ media }) => media),
    variant: products.flatMap(({ variant }) => variant),
    price: products.flatMap(({ price }) => price),
    stockLevel: products.flatMap(({ stockLevel }) => stockLevel),
    stockMovement: products.flatMap(({ stockMovement }) => stockMovement),
  });
}

/**
 * The maximum number of pictures of a product: one per colour (a single one without colours), then a detail
 * and a scene.
 */
const picturesMax = 3;

interface ProductMedia {
  readonly rows: readonly DemoTableRowToInsert<"media">[];
  readonly idOfColour: ReadonlyMap<string, string>;
}

interface Picture {
  readonly colour: string | null;
  readonly view: "detail" | "scene" | null;
}

function createMediaRows(
  entry: DemoProductEntry,
  {
    productId,
    merchantId,
    createdAt,
  }: { readonly productId: string; readonly merchantId: string; readonly createdAt: Date },
): ProductMedia {
  const pictures = listPictures(entry);
  const rows = pictures.map((picture, position) => ({
    id: createId("media", createdAt.getTime()),
    merchantId,
    productId,
    type: "image" as const,
    url: getDemoPicturePath(
      createDemoPictureName(
        entry.motif,
        entry.sku,
        ...[picture.colour, picture.view].filter((word) => word !== null),
      ),
    ),
    alts: createAltTexts(entry, picture),
    width: pictureSizePixels,
    height: pictureSizePixels,
    position,
  }));
  const idOfColour = new Map(
    pictures.flatMap(({ colour, view }, position) => {
      const id = rows[position]?.id;
      return colour === null || view !== null || id === undefined ? [] : [[colour, id] as const];
    }),
  );
  return { rows, idOfColour };
}

function listPictures(entry: DemoProductEntry): Picture[] {
  const colours = entry.options?.find(({ code }) => code === "colour")?.choices.slice(0, picturesMax) ?? [];
  const colourPictures: Picture[] =
    colours.length === 0 ? [{ colour: null, view: null }] : colours.map((colour) => ({ colour, view: null }));
  const colour = colours[0] ?? null;
  const viewPictures: Picture[] = [
    { colour, view: "detail" },
    { colour, view: "scene" },
  ];
  // A digital product (a voucher) has no pictures of a detail or a scene.
  const viewPictureCount = entry.grams === null ? 0 : 1 + (hashTextToNumber(entry.sku) % 2);
  return [...colourPictures, ...viewPictures.slice(0, viewPictureCount)].slice(0, picturesMax);
}

/**
 * Creates the alternative texts of a picture from title, colour and view. In Japanese, colour and view are in
 * brackets; in the other languages, they follow after commas.
 */
function createAltTexts(entry: DemoProductEntry, { colour, view }: Picture): DemoLocalizedText {
  const additions = [
    colour === null ? undefined : getTranslatedDemoCatalogLabel("colours", colour),
    view === null ? undefined : loadDemoCatalog().labels.views[view],
  ];
  const alts = demoLocales.flatMap((locale) => {
    const title = entry.title[locale];
    if (title === undefined) return [];
    const parts = additions.flatMap((addition) => addition?.[locale] ?? []);
    if (locale !== "ja") return [[locale, [title, ...parts].join(", ")]];
    return [[locale, parts.length === 0 ? title : `${title}（${parts.join("・")}）`]];
  });
  return Object.fromEntries(alts) as DemoLocalizedText;
}
