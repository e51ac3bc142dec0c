/**
 * Creates the rows of a generated product. All values depend only on the seed of the random numbers and on
 * the product's number, so the same product can be created again.
 */
import { createId } from "#foundation/ids.ts";
import { getCurrencyExponent } from "#foundation/money.ts";
import {
  loadBulkVocabulary,
  loadDemoCatalog,
  getTranslatedDemoCatalogLabel,
  type BulkProductTypeDefinition,
} from "#demo/demo-data.ts";
import type { DemoLocalizedText } from "#demo/data/data-file.ts";
import { type DemoProductRows, createDemoSlug } from "#demo/rows/product-rows.ts";
import type { DemoTableRowToInsert } from "#demo/rows/insert-rows.ts";
import { createDemoPictureName, getDemoPicturePath, pictureSizePixels } from "#demo/pictures/pictures.ts";
import {
  createDemoGtin,
  hashTextToNumber,
  pickRandomItem,
  createRandomNumberGenerator,
} from "#demo/random.ts";

interface BulkMarket {
  readonly id: string;
  readonly currency: string;
}

/**
 * The values that all generated products of one run have in common, for example the seed of the random
 * numbers.
 */
export interface ValuesSharedByBulkProducts {
  readonly merchantId: string;
  readonly markets: readonly BulkMarket[];
  /**
   * The category ids by slug. The generated products have one category per department and one per range (a
   * group of similar products) of a department.
   */
  readonly categoryIds: ReadonlyMap<string, string>;
  readonly now: Date;
  readonly seed: number;
}

interface ProductDesign {
  readonly number: number;
  readonly department: string;
  readonly range: string;
  readonly itemType: BulkProductTypeDefinition;
  readonly title: DemoLocalizedText;
  readonly summary: DemoLocalizedText;
  readonly isGerman: boolean;
  readonly maker: string;
  readonly colours: readonly [string, ...string[]];
  readonly origin: string;
  readonly euros: number;
  /** The ratio of the price before a reduction to the current price; 1 if the price was not reduced. */
  readonly previousPriceFactor: number;
  readonly stock: number;
  readonly rating: number | null;
  readonly popularity: number;
  readonly createdAt: Date;
}

const dayMs = 86_400_000;
const productAgeDaysMax = 700;
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

export function createBulkProductRows(number: number, context: ValuesSharedByBulkProducts): DemoProductRows {
  return toProductRows(designProduct(number, context), context);
}

function designProduct(number: number, { seed, now }: ValuesSharedByBulkProducts): ProductDesign {
  const random = createRandomNumberGenerator(hashTextToNumber(`${seed}/${number}`));
  const { departments, collections, makers, origins } = loadBulkVocabulary();
  const colourCodes = Object.keys(loadDemoCatalog().labels.colours);
  const department = pickRandomItem(random, departments);
  const range = pickRandomItem(random, department.ranges);
  const itemType = pickRandomItem(random, range.things);
  const { en, de, euros } = itemType;
  const material = pickRandomItem(random, department.make.materials);
  const trait = pickRandomItem(random, department.make.traits);
  const collection = pickRandomItem(random, collections);
  const colour = pickRandomItem(random, colourCodes);
  const secondColour = pickRandomItem(random, colourCodes);
  const makerName = pickRandomItem(random, makers);
  return {
    number,
    department: department.slug,
    range: range.slug,
    itemType,
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
    colours: secondColour === colour || random() < 0.4 ? [colour] : [colour, secondColour],
    origin: pickRandomItem(random, origins),
    euros: euros * (0.7 + random() * 0.8),
    previousPriceFactor: random() < 0.08 ? 1.2 : 1,
    stock: pickStock(random),
    rating: random() < 0.7 ? 3 + random() * 2 : null,
    popularity: Math.floor(400 * random() ** 6),
    createdAt: new Date(now.getTime() - Math.floor((1 + random() * productAgeDaysMax) * dayMs)),
  };
}

/**
 * Picks a random number of units in stock: 0 for 5 % of the products, 1 to 5 for 7 %, and 10 to 409 for all
 * others.
 */
function pickStock(random: () => number): number {
  const share = random();
  if (share < 0.05) return 0;
  return share < 0.12 ? 1 + Math.floor(random() * 5) : 10 + Math.floor(random() * 400);
}

function toProductRows(design: ProductDesign, context: ValuesSharedByBulkProducts): DemoProductRows {
  const { merchantId } = context;
  const createdAtMs = design.createdAt.getTime();
  const productId = createId("product", createdAtMs);
  const productTranslation = createTranslationRows(design, { productId, merchantId });
  const slugs = new Set(productTranslation.map(({ slug }) => slug));
  const media = createMediaRow(design, { productId, merchantId });
  const variant = design.colours.map((colour, position) =>
    createVariantRow(design, { productId, merchantId, mediaId: media.id, colour, position }),
  );
  const hasColours = design.colours.length > 1;
  return {
    product: createProductRow(design, { productId, merchantId }),
    productSlug: [...slugs].map((slug) => ({ merchantId, slug, productId })),
    productTranslation,
    productCategory: [design.range, design.department].map((slug, position) => ({
      productId,
      categoryId: context.categoryIds.get(slug) ?? "",
      position,
    })),
    productOption: hasColours
      ? [
          {
            productId,
            code: "colour",
            names: getTranslatedDemoCatalogLabel("options", "colour"),
            choices: design.colours.map((colour) => ({
              code: colour,
              labels: getTranslatedDemoCatalogLabel("colours", colour),
            })),
            position: 0,
          },
        ]
      : [],
    media: [media],
    variant,
    price: variant.flatMap(({ id }) =>
      context.markets.map((market) => createPriceRow(design, { variantId: id, merchantId, market })),
    ),
    stockLevel: variant.map(({ id }) => ({
      variantId: id,
      merchantId,
      onHand: design.stock,
      updatedAt: design.createdAt,
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
            createdAt: design.createdAt,
          })),
  };
}

interface ProductIds {
  readonly productId: string;
  readonly merchantId: string;
}

function createProductRow(
  design: ProductDesign,
  { productId, merchantId }: ProductIds,
): DemoTableRowToInsert<"product"> {
  return {
    id: productId,
    merchantId,
    status: "published",
    brand: design.maker,
    ratingAverage: design.rating === null ? null : Math.round(design.rating * 10) / 10,
    ratingCount: design.rating === null ? null : 1 + (design.popularity >> 1),
    attributes: [
      {
        code: "origin",
        names: getTranslatedDemoCatalogLabel("attributes", "origin"),
        value: design.origin,
        unit: null,
      },
    ],
    popularity: design.popularity,
    publishedAt: design.createdAt,
    createdAt: design.createdAt,
    updatedAt: design.createdAt,
  };
}

function createTranslationRows(
  design: ProductDesign,
  { productId, merchantId }: ProductIds,
): DemoTableRowToInsert<"productTranslation">[] {
  const suffix = design.number.toString(36);
  return (design.isGerman ? (["en", "de"] as const) : (["en"] as const)).map((locale) => ({
    productId,
    locale,
    merchantId,
    slug: `${createDemoSlug(design.title[locale], locale)}-${suffix}`,
    title: design.title[locale],
    summary: design.summary[locale],
    description: null,
    seoTitle: null,
    seoDescription: null,
    updatedAt: design.createdAt,
  }));
}

function createMediaRow(
  { itemType, colours, title, createdAt }: ProductDesign,
  { productId, merchantId }: ProductIds,
): DemoTableRowToInsert<"media"> {
  return {
    id: createId("media", createdAt.getTime()),
    merchantId,
    productId,
    type: "image",
    url: getDemoPicturePath(createDemoPictureName(itemType.motif, colours[0])),
    alts: { en: title.en },
    width: pictureSizePixels,
    height: pictureSizePixels,
    position: 0,
  };
}

function createVariantRow(
  design: ProductDesign,
  {
    productId,
    merchantId,
    mediaId,
    colour,
    position,
  }: ProductIds & { readonly mediaId: string; readonly colour: string; readonly position: number },
): DemoTableRowToInsert<"variant"> {
  const sku = `${design.range.slice(0, 3)}-${String(design.number).padStart(7, "0")}`;
  const hasColours = design.colours.length > 1;
  return {
    id: createId("variant", design.createdAt.getTime()),
    merchantId,
    productId,
    sku: (hasColours ? `${sku}-${colour}` : sku).toUpperCase(),
    gtin: createDemoGtin(1_000_000_000 + design.number * 10 + position),
    options: hasColours ? { colour } : {},
    mediaId,
    restrictions: [],
    requiresShipping: true,
    weightGrams: design.itemType.grams,
    maxOrderQuantity: null,
    discontinued: false,
    availableFrom: null,
    position,
    createdAt: design.createdAt,
    updatedAt: design.createdAt,
  };
}

function createPriceRow(
  design: ProductDesign,
  {
    variantId,
    merchantId,
    market,
  }: { readonly variantId: string; readonly merchantId: string; readonly market: BulkMarket },
): DemoTableRowToInsert<"price"> {
  const amount = design.euros * (ratesPerEuro[market.currency] ?? 1);
  return {
    variantId,
    marketId: market.id,
    merchantId,
    amountMinor: toPriceTagMinor(amount, market.currency),
    compareAtMinor:
      design.previousPriceFactor === 1
        ? null
        : toPriceTagMinor(amount * design.previousPriceFactor, market.currency),
    validFrom: design.createdAt,
    validUntil: null,
  };
}

/** Converts a calculated amount to minor units and rounds it to a usual price, such as 23.90 or 3890. */
function toPriceTagMinor(amount: number, currency: string): number {
  const exponent = getCurrencyExponent(currency);
  return exponent === 0
    ? Math.max(10, Math.round(amount / 10) * 10)
    : (Math.max(1, Math.round(amount)) * 10 - 1) * 10 ** (exponent - 1);
}
