/**
 * Makes the rows of a product of the demo catalogue (texts, slugs, pictures, variants) from its entry, number
 * and time alone, and inserts the rows of any number of products with one statement per table.
 */
import { createId } from "#foundation/ids.ts";
import {
  type CatalogEntry,
  demoCatalog,
  labelOf,
  type Locale,
  locales,
  type Words,
} from "#demo/demo-data.ts";
import { hashOf } from "#demo/random.ts";
import { slugLengthMax } from "#foundation/text.ts";
import type { Transaction } from "#database/transaction.ts";
import { pictureName, picturePath, pictureSize } from "#demo/pictures/pictures.ts";
import { insertRows, type Row } from "./insert-rows.ts";
import { type VariantPlace, variantRows, type VariantRows } from "./variant-rows.ts";

export interface ProductPlace extends VariantPlace {
  readonly categoryIds: ReadonlyMap<string, string>;
  /** Closes its description. */
  readonly care: Words;
}

export function productRows(entry: CatalogEntry, place: ProductPlace): ProductRows {
  const productId = createId("product", place.since.getTime());
  const { merchantId } = place;
  const productTranslation = translationRows(entry, { productId, place });
  const slugs = new Set([
    ...productTranslation.map(({ slug }) => slug),
    ...(entry.slugFormer === undefined ? [] : [entry.slugFormer]),
  ]);
  const pictures = mediaOf(entry, { productId, merchantId, at: place.since });
  return {
    product: productRow(entry, { productId, place }),
    productSlug: [...slugs].map((slug) => ({ merchantId, slug, productId })),
    productTranslation,
    productCategory: entry.categories.map((slug, position) => ({
      productId,
      categoryId: requireCategory(place, slug),
      position,
    })),
    productOption: (entry.options ?? []).map(({ code, choices }, position) => ({
      productId,
      code,
      names: labelOf("options", code),
      choices: choices.map((choice) => ({ code: choice, labels: labelOf("choices", choice) })),
      position,
    })),
    media: pictures.rows,
    ...variantRows(entry, { productId, place, mediaIdOfColour: pictures.idOfColour }),
  };
}

interface ProductOf {
  readonly productId: string;
  readonly place: ProductPlace;
}

function productRow(entry: CatalogEntry, { productId, place }: ProductOf): Row<"product"> {
  const { merchantId, now, since } = place;
  const hash = hashOf(entry.sku);
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
      names: labelOf("attributes", code),
      value,
      unit,
    })),
    popularity: status === "published" ? (hash >>> 8) % 180 : 0,
    publishedAt: status === "draft" ? null : since,
    createdAt: since,
    updatedAt: status === "archived" ? new Date((since.getTime() + now.getTime()) / 2) : since,
  };
}

function translationRows(entry: CatalogEntry, { productId, place }: ProductOf): Row<"productTranslation">[] {
  const hasSeo = hashOf(entry.sku) % 3 === 0;
  return locales.flatMap((locale) => {
    const title = entry.title[locale];
    const summary = entry.summary[locale];
    if (title === undefined || summary === undefined) return [];
    return [
      {
        productId,
        locale,
        merchantId: place.merchantId,
        slug: slugOf(entry, locale),
        title,
        summary,
        description: descriptionOf(entry, { locale, summary, care: place.care }),
        seoTitle: hasSeo ? [title, entry.brand].filter((part) => part !== null).join(" – ") : null,
        seoDescription: hasSeo ? summary : null,
        updatedAt: place.since,
      },
    ];
  });
}

export function slugOf(entry: CatalogEntry, locale: Locale): string {
  if (locale === "en") return entry.slugEn ?? toSlug(entry.title.en, "en");
  if (locale === "de") return toSlug(entry.title.de, "de");
  if (entry.slugJa === undefined) throw new Error(`${entry.sku} has a Japanese title but no slugJa.`);
  return entry.slugJa;
}

function descriptionOf(
  entry: CatalogEntry,
  { locale, summary, care }: { readonly locale: Locale; readonly summary: string; readonly care: Words },
): string {
  const { headings } = demoCatalog().labels;
  const points = (entry.points[locale] ?? []).map((point) => `- ${point}`);
  return [
    summary,
    `## ${headings.points[locale]}`,
    points.join("\n"),
    `## ${headings.care[locale]}`,
    care[locale] ?? care.en,
  ].join("\n\n");
}

function requireCategory(place: ProductPlace, slug: string): string {
  const id = place.categoryIds.get(slug);
  if (id === undefined) throw new Error(`There is no category ${slug}.`);
  return id;
}

/** What a title reads in an address: ASCII letters, digits and single hyphens. */
const spelled: Readonly<Record<string, string>> = {
  ä: "ae",
  ö: "oe",
  ü: "ue",
  ß: "ss",
  æ: "ae",
  ø: "o",
  å: "a",
  "×": "x",
};
const plain: Readonly<Record<string, string>> = { ...spelled, ä: "a", ö: "o", ü: "u" };

/** German spells its umlauts out, others drop the dots. Empty for a text without a letter of the Latin script. */
export function toSlug(text: string, locale: string): string {
  const letters = locale === "de" ? spelled : plain;
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

/** Writes the rows of any number of products, one statement a table. */
export interface ProductRows extends VariantRows {
  readonly product: Row<"product">;
  readonly productSlug: readonly Row<"productSlug">[];
  readonly productTranslation: readonly Row<"productTranslation">[];
  readonly productCategory: readonly Row<"productCategory">[];
  readonly productOption: readonly Row<"productOption">[];
  readonly media: readonly Row<"media">[];
}

export function insertProducts(transaction: Transaction, products: readonly ProductRows[]): Promise<void> {
  return insertRows(transaction, {
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
 * Which pictures a demo product has: one for each of its first three colours, else one, and what fits beside
 * it.
 */
const picturesMax = 3;

interface ProductMedia {
  readonly rows: readonly Row<"media">[];
  readonly idOfColour: ReadonlyMap<string, string>;
}

interface Picture {
  readonly colour: string | null;
  readonly view: "detail" | "scene" | null;
}

function mediaOf(
  entry: CatalogEntry,
  {
    productId,
    merchantId,
    at,
  }: { readonly productId: string; readonly merchantId: string; readonly at: Date },
): ProductMedia {
  const pictures = picturesOf(entry);
  const rows = pictures.map((picture, position) => ({
    id: createId("media", at.getTime()),
    merchantId,
    productId,
    type: "image" as const,
    url: picturePath(
      pictureName(entry.motif, entry.sku, ...[picture.colour, picture.view].filter((word) => word !== null)),
    ),
    alts: altsOf(entry, picture),
    width: pictureSize,
    height: pictureSize,
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

function picturesOf(entry: CatalogEntry): Picture[] {
  const colours = entry.options?.find(({ code }) => code === "colour")?.choices.slice(0, picturesMax) ?? [];
  const shown: Picture[] =
    colours.length === 0 ? [{ colour: null, view: null }] : colours.map((colour) => ({ colour, view: null }));
  const colour = colours[0] ?? null;
  const beside: Picture[] = [
    { colour, view: "detail" },
    { colour, view: "scene" },
  ];
  // A voucher has no other side.
  const besideMax = entry.grams === null ? 0 : 1 + (hashOf(entry.sku) % 2);
  return [...shown, ...beside.slice(0, besideMax)].slice(0, picturesMax);
}

/** Japanese puts in brackets what others put behind a comma. */
function altsOf(entry: CatalogEntry, { colour, view }: Picture): Words {
  const additions = [
    colour === null ? undefined : labelOf("colours", colour),
    view === null ? undefined : demoCatalog().labels.views[view],
  ];
  const alts = locales.flatMap((locale) => {
    const title = entry.title[locale];
    if (title === undefined) return [];
    const parts = additions.flatMap((addition) => addition?.[locale] ?? []);
    if (locale !== "ja") return [[locale, [title, ...parts].join(", ")]];
    return [[locale, parts.length === 0 ? title : `${title}（${parts.join("・")}）`]];
  });
  return Object.fromEntries(alts) as Words;
}
