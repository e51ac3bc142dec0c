/**
 * One product of the bulk catalogue: what it is follows from the seed and its number alone, so that any part
 * of it can be made again.
 */
import { createId } from "#foundation/ids.ts";
import { currencyExponent } from "#foundation/money.ts";
import { demoBulk, demoCatalog, labelOf, type Thing, type Words } from "#demo/demo-data.ts";
import { type ProductRows, toSlug } from "#demo/rows/product-rows.ts";
import type { Row } from "#demo/rows/insert-rows.ts";
import { pictureName, picturePath, pictureSize } from "#demo/pictures/pictures.ts";
import { gtinOf, hashOf, pick, randomFrom } from "#demo/random.ts";

interface BulkMarket {
  readonly id: string;
  readonly currency: string;
}

export interface BulkPlace {
  readonly merchantId: string;
  readonly markets: readonly BulkMarket[];
  /** By slug; those of the departments and their ranges are there. */
  readonly categoryIds: ReadonlyMap<string, string>;
  readonly now: Date;
  readonly seed: number;
}

interface Design {
  readonly number: number;
  readonly department: string;
  readonly range: string;
  readonly thing: Thing;
  readonly title: Words;
  readonly summary: Words;
  readonly isGerman: boolean;
  readonly maker: string;
  readonly colours: readonly [string, ...string[]];
  readonly origin: string;
  readonly euros: number;
  /** The price before it fell, as a factor; 1: it did not. */
  readonly fell: number;
  readonly stock: number;
  readonly rating: number | null;
  readonly popularity: number;
  readonly since: Date;
}

const dayMs = 86_400_000;
const agesDays = 700;
const ratesPerEuro: Readonly<Record<string, number>> = {
  EUR: 1,
  USD: 1.09,
  GBP: 0.86,
  CHF: 0.95,
  JPY: 163,
  SEK: 11.4,
  PLN: 4.3,
  KRW: 1480,
};

export function bulkProduct(number: number, place: BulkPlace): ProductRows {
  return toRows(designOf(number, place), place);
}

function designOf(number: number, { seed, now }: BulkPlace): Design {
  const random = randomFrom(hashOf(`${seed}/${number}`));
  const { departments, collections, makers, origins } = demoBulk();
  const colourCodes = Object.keys(demoCatalog().labels.colours);
  const department = pick(random, departments);
  const range = pick(random, department.ranges);
  const thing = pick(random, range.things);
  const { en, de, euros } = thing;
  const material = pick(random, department.make.materials);
  const trait = pick(random, department.make.traits);
  const collection = pick(random, collections);
  const colour = pick(random, colourCodes);
  const second = pick(random, colourCodes);
  const makerName = pick(random, makers);
  return {
    number,
    department: department.slug,
    range: range.slug,
    thing,
    title: {
      en: `${collection} ${trait.en} ${material.en} ${en}`,
      de: `${de} ${collection} aus ${material.de}, ${trait.de}`,
    },
    summary: {
      en: `The ${en} of the ${collection} collection: ${trait.en}, in ${material.en}, by ${makerName}.`,
      de: `${de} der Kollektion ${collection} von ${makerName}: ${trait.de}, aus ${material.de}.`,
    },
    isGerman: random() < 0.5,
    maker: makerName,
    colours: second === colour || random() < 0.4 ? [colour] : [colour, second],
    origin: pick(random, origins),
    euros: euros * (0.7 + random() * 0.8),
    fell: random() < 0.08 ? 1.2 : 1,
    stock: stockOf(random),
    rating: random() < 0.7 ? 3 + random() * 2 : null,
    popularity: Math.floor(400 * random() ** 6),
    since: new Date(now.getTime() - Math.floor((1 + random() * agesDays) * dayMs)),
  };
}

/** Mostly plenty, sometimes few, sometimes none. */
function stockOf(random: () => number): number {
  const luck = random();
  if (luck < 0.05) return 0;
  return luck < 0.12 ? 1 + Math.floor(random() * 5) : 10 + Math.floor(random() * 400);
}

function toRows(design: Design, place: BulkPlace): ProductRows {
  const { merchantId } = place;
  const at = design.since.getTime();
  const productId = createId("product", at);
  const productTranslation = translationRows(design, { productId, merchantId });
  const slugs = new Set(productTranslation.map(({ slug }) => slug));
  const media = mediaRow(design, { productId, merchantId });
  const variant = design.colours.map((colour, position) =>
    variantRow(design, { productId, merchantId, mediaId: media.id, colour, position }),
  );
  const hasColours = design.colours.length > 1;
  return {
    product: productRow(design, { productId, merchantId }),
    productSlug: [...slugs].map((slug) => ({ merchantId, slug, productId })),
    productTranslation,
    productCategory: [design.range, design.department].map((slug, position) => ({
      productId,
      categoryId: place.categoryIds.get(slug) ?? "",
      position,
    })),
    productOption: hasColours
      ? [
          {
            productId,
            code: "colour",
            names: labelOf("options", "colour"),
            choices: design.colours.map((colour) => ({ code: colour, labels: labelOf("colours", colour) })),
            position: 0,
          },
        ]
      : [],
    media: [media],
    variant,
    price: variant.flatMap(({ id }) =>
      place.markets.map((market) => priceRow(design, { variantId: id, merchantId, market })),
    ),
    stockLevel: variant.map(({ id }) => ({
      variantId: id,
      merchantId,
      onHand: design.stock,
      updatedAt: design.since,
    })),
    stockMovement:
      design.stock === 0
        ? []
        : variant.map(({ id }) => ({
            merchantId,
            variantId: id,
            delta: design.stock,
            onHandAfter: design.stock,
            reason: "received" as const,
            note: null,
            createdAt: design.since,
          })),
  };
}

interface ProductOf {
  readonly productId: string;
  readonly merchantId: string;
}

function productRow(design: Design, { productId, merchantId }: ProductOf): Row<"product"> {
  return {
    id: productId,
    merchantId,
    status: "published",
    brand: design.maker,
    ratingAverage: design.rating === null ? null : Math.round(design.rating * 10) / 10,
    ratingCount: design.rating === null ? null : 1 + (design.popularity >> 1),
    attributes: [
      { code: "origin", names: labelOf("attributes", "origin"), value: design.origin, unit: null },
    ],
    popularity: design.popularity,
    publishedAt: design.since,
    createdAt: design.since,
    updatedAt: design.since,
  };
}

function translationRows(design: Design, { productId, merchantId }: ProductOf): Row<"productTranslation">[] {
  const suffix = design.number.toString(36);
  return (design.isGerman ? (["en", "de"] as const) : (["en"] as const)).map((locale) => ({
    productId,
    locale,
    merchantId,
    slug: `${toSlug(design.title[locale], locale)}-${suffix}`,
    title: design.title[locale],
    summary: design.summary[locale],
    description: null,
    seoTitle: null,
    seoDescription: null,
    updatedAt: design.since,
  }));
}

function mediaRow(
  { thing, colours, title, since }: Design,
  { productId, merchantId }: ProductOf,
): Row<"media"> {
  return {
    id: createId("media", since.getTime()),
    merchantId,
    productId,
    type: "image",
    url: picturePath(pictureName(thing.motif, colours[0])),
    alts: { en: title.en },
    width: pictureSize,
    height: pictureSize,
    position: 0,
  };
}

function variantRow(
  design: Design,
  {
    productId,
    merchantId,
    mediaId,
    colour,
    position,
  }: ProductOf & { readonly mediaId: string; readonly colour: string; readonly position: number },
): Row<"variant"> {
  const sku = `${design.range.slice(0, 3)}-${String(design.number).padStart(7, "0")}`;
  const hasColours = design.colours.length > 1;
  return {
    id: createId("variant", design.since.getTime()),
    merchantId,
    productId,
    sku: (hasColours ? `${sku}-${colour}` : sku).toUpperCase(),
    gtin: gtinOf(1_000_000_000 + design.number * 10 + position),
    options: hasColours ? { colour } : {},
    mediaId,
    restrictions: [],
    requiresShipping: true,
    weightGrams: design.thing.grams,
    maxOrderQuantity: null,
    discontinued: false,
    availableFrom: null,
    position,
    createdAt: design.since,
    updatedAt: design.since,
  };
}

function priceRow(
  design: Design,
  {
    variantId,
    merchantId,
    market,
  }: { readonly variantId: string; readonly merchantId: string; readonly market: BulkMarket },
): Row<"price"> {
  const amount = design.euros * (ratesPerEuro[market.currency] ?? 1);
  return {
    variantId,
    marketId: market.id,
    merchantId,
    amountMinor: toMinor(amount, market.currency),
    compareAtMinor: design.fell === 1 ? null : toMinor(amount * design.fell, market.currency),
    validFrom: design.since,
    validUntil: null,
  };
}

/** 23.90 and 3,890: what price tags look like. */
function toMinor(amount: number, currency: string): number {
  const exponent = currencyExponent(currency);
  return exponent === 0
    ? Math.max(10, Math.round(amount / 10) * 10)
    : (Math.max(1, Math.round(amount)) * 10 - 1) * 10 ** (exponent - 1);
}
