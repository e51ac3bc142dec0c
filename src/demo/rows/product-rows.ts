/** The rows of one product of the demo catalogue, made from its entry. Nothing here depends on anything but the entry, its number and the time. */
import { createId } from "#foundation/ids.ts";
import { type CatalogEntry, demoCatalog, labelOf, type Locale, locales, type Words } from "#demo/demo-data.ts";
import type { ProductRows } from "./insert-products.ts";
import type { Row } from "./insert-rows.ts";
import { mediaOf } from "#demo/pictures/product-media.ts";
import { hashOf } from "#demo/random.ts";
import { toSlug } from "./slugs.ts";
import { type VariantPlace, variantRows } from "./variant-rows.ts";

export interface ProductPlace extends VariantPlace {
  readonly categoryIds: ReadonlyMap<string, string>;
  /** Closes its description. */
  readonly care: Words;
}

export function productRows(entry: CatalogEntry, place: ProductPlace): ProductRows {
  const productId = createId("product", place.since.getTime());
  const { merchantId } = place;
  const productTranslation = translationRows(entry, { productId, place });
  const slugs = new Set([...productTranslation.map(({ slug }) => slug), ...(entry.slugFormer === undefined ? [] : [entry.slugFormer])]);
  const pictures = mediaOf(entry, { productId, merchantId, at: place.since });
  return {
    product: productRow(entry, { productId, place }),
    productSlug: [...slugs].map((slug) => ({ merchantId, slug, productId })),
    productTranslation,
    productCategory: entry.categories.map((slug, position) => ({ productId, categoryId: requireCategory(place, slug), position })),
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
    attributes: (entry.attributes ?? []).map(({ code, value, unit }) => ({ code, names: labelOf("attributes", code), value, unit })),
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
  return [summary, `## ${headings.points[locale]}`, points.join("\n"), `## ${headings.care[locale]}`, care[locale] ?? care.en].join("\n\n");
}

function requireCategory(place: ProductPlace, slug: string): string {
  const id = place.categoryIds.get(slug);
  if (id === undefined) throw new Error(`There is no category ${slug}.`);
  return id;
}
