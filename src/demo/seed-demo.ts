/**
 * Fills an empty database with the two demo merchants, their catalogs, the number of searches per day for
 * four weeks, and an app that both merchants have installed. The caller creates the keys and tokens, and
 * updates the search index.
 */
import { integratorScopes } from "#access/viewer.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { parseSearchQuery } from "#commerce/search/parse-query.ts";
import { clientsPerQueryMin } from "#commerce/search/search-counts.ts";
import { updateMerchantBranding } from "#commerce/merchants/branding.ts";
import type { DemoProductEntry } from "#demo/data/catalog-schema.ts";
import { type DemoMerchant, loadDemoMerchants, loadDemoSales, loadDemoSynonyms } from "#demo/demo-data.ts";
import { saveSearchSynonyms } from "#commerce/search/synonyms.ts";
import type { DemoProduct } from "./demo-file.ts";
import {
  insertDemoProductRows,
  createDemoProductRows,
  type DemoProductRows,
  getDemoProductSlug,
} from "./rows/product-rows.ts";
import { insertTableRows, type DemoTableRowToInsert } from "./rows/insert-rows.ts";
import { createDemoMerchantRows, type DemoMerchantRows } from "./rows/merchant-rows.ts";
import { listOptionCombinations, createDemoVariantSku } from "./rows/variant-rows.ts";
import { drawDemoLogo } from "./pictures/draw-logo.ts";
import { hashTextToNumber, createRandomNumberGenerator } from "./random.ts";

/** The ids and products of the demo data that have been added to the database. */
export interface DemoSeedResult {
  readonly merchants: { readonly first: SeededMerchant; readonly second: SeededMerchant };
  /**
   * The ids of the two installations of the demo's app, one at each merchant. Both installations have all
   * four scopes.
   */
  readonly installations: { readonly first: string; readonly second: string };
  /** Products that are in stock in the market DE: first those of the first merchant, then those of the second. */
  readonly products: readonly DemoProduct[];
  /** Ids of all published products. The caller adds these products to the search index. */
  readonly productIds: readonly string[];
}

interface SeededMerchant {
  readonly id: string;
  readonly slug: string;
}

const dayMs = 86_400_000;
/** The age of the demo's merchants in days. It is higher than the age of their oldest product. */
const merchantAgeDays = 400;
const productAgeDaysMax = 200;
/** The minimum age, in days, of a product with former prices. A product must be older than its oldest price. */
const priceHistoryAgeDaysMin = 60;

/**
 * The logo and colours of the first merchant. The second merchant has none, so that the demo shows the
 * checkout page both with and without them.
 */
const demoBranding = {
  color: "#7a3e1d",
  supportUrl: "https://lindenhof.example/help",
  supportEmail: "help@lindenhof.example",
  supportPhone: "+49 30 5550123",
  termsUrl: "https://lindenhof.example/terms",
  privacyUrl: "https://lindenhof.example/privacy",
  imprintUrl: "https://lindenhof.example/imprint",
} as const;

interface MerchantWithProducts {
  readonly merchant: DemoMerchantRows;
  readonly products: readonly DemoProductRows[];
}

export async function seedDemo(
  transaction: Transaction,
  { now }: { readonly now: Date },
): Promise<DemoSeedResult> {
  const owners = loadDemoMerchants();
  const first = createMerchantWithProducts(owners.first, { now, firstNumber: 1 });
  const second = createMerchantWithProducts(owners.second, { now, firstNumber: 1 + first.products.length });
  await insertMerchants(transaction, [first.merchant, second.merchant]);
  await insertDemoProductRows(transaction, [...first.products, ...second.products]);
  await insertTableRows(transaction, { searchQueryDay: createDemoSearchCountRows(now) });
  for (const { merchant } of [first.merchant, second.merchant])
    for (const [locale, rules] of Object.entries(loadDemoSynonyms()))
      await saveSearchSynonyms(transaction, { merchantId: merchant.id, now }, { locale, rules });
  const [firstId, secondId] = [first.merchant.merchant.id, second.merchant.merchant.id];
  await updateMerchantBranding(
    transaction,
    { merchantId: null, now },
    { merchantId: firstId, ...demoBranding, logo: drawDemoLogo(demoBranding.color) },
  );
  const at = new Date(now.getTime() - productAgeDaysMax * dayMs);
  const [firstInstallation, secondInstallation] = await insertAppWithInstallations(transaction, {
    at,
    merchantIds: [firstId, secondId],
  });
  return {
    merchants: {
      first: { id: firstId, slug: owners.first.slug },
      second: { id: secondId, slug: owners.second.slug },
    },
    installations: { first: firstInstallation, second: secondInstallation },
    products: listDemoProducts(),
    productIds: [...first.products, ...second.products]
      .filter(({ product }) => product.status === "published")
      .map(({ product }) => product.id),
  };
}

function createMerchantWithProducts(
  merchant: DemoMerchant,
  { now, firstNumber }: { readonly now: Date; readonly firstNumber: number },
): MerchantWithProducts {
  const rows = createDemoMerchantRows(merchant, new Date(now.getTime() - merchantAgeDays * dayMs));
  const entriesWithCare = merchant.families.flatMap(({ care, entries }) =>
    entries.map((entry) => ({ care, entry })),
  );
  const products = entriesWithCare.map(({ care, entry }, index) =>
    createDemoProductRows(entry, {
      merchantId: rows.merchant.id,
      markets: rows.markets,
      categoryIds: rows.categoryIds,
      now,
      createdAt: new Date(
        now.getTime() -
          Math.round(computeProductAgeDays(entry, { index, count: entriesWithCare.length }) * dayMs),
      ),
      productNumber: firstNumber + index,
      careText: care,
    }),
  );
  return { merchant: rows, products };
}

/**
 * Computes the age of a product in days. Every product has a different age, and multiples of the golden ratio
 * spread the ages of consecutive products widely.
 */
function computeProductAgeDays(
  entry: DemoProductEntry,
  { index, count }: { readonly index: number; readonly count: number },
): number {
  const share = (((index + 1) * 0.618_033_988_75) % 1) * (count / (count + 1));
  const youngest =
    entry.priceBefore === undefined && entry.priceRose === undefined ? 1 : priceHistoryAgeDaysMin;
  return youngest + share * (productAgeDaysMax - youngest);
}

/**
 * Lists the products that are in stock in Germany: first those of the first merchant, then those of the
 * second.
 */
export function listDemoProducts(): DemoProduct[] {
  const { first, second } = loadDemoMerchants();
  return [first, second].flatMap(listMerchantProducts);
}

function listMerchantProducts(merchant: DemoMerchant): DemoProduct[] {
  return merchant.families
    .flatMap(({ entries }) => entries)
    .filter(isOnSaleInGermany)
    .map((entry) => ({
      merchantSlug: merchant.slug,
      productSlug: getDemoProductSlug(entry, "en"),
      title: entry.title.en,
      sku: createDemoVariantSku(entry, listOptionCombinations(entry.options ?? [])[0] ?? {}),
    }));
}

function isOnSaleInGermany({ status, price: [euros], stock }: DemoProductEntry): boolean {
  return status === undefined && euros !== null && (stock?.[0] ?? "in_stock") === "in_stock";
}

function insertMerchants(transaction: Transaction, merchants: readonly DemoMerchantRows[]): Promise<void> {
  return insertTableRows(transaction, {
    merchant: merchants.map(({ merchant }) => merchant),
    market: merchants.flatMap(({ market }) => market),
    marketCountry: merchants.flatMap(({ marketCountry }) => marketCountry),
    taxRate: merchants.flatMap(({ taxRate }) => taxRate),
    deliveryMethod: merchants.flatMap(({ deliveryMethod }) => deliveryMethod),
    policy: merchants.flatMap(({ policy }) => policy),
    category: merchants.flatMap(({ category }) => category),
  });
}

async function insertAppWithInstallations(
  transaction: Transaction,
  { at, merchantIds }: { readonly at: Date; readonly merchantIds: readonly [first: string, second: string] },
): Promise<[first: string, second: string]> {
  const app = {
    id: createId("app", at.getTime()),
    name: "Demo integration",
    publisher: "Lindenhof",
    createdAt: at,
  };
  const install = (merchantId: string): DemoTableRowToInsert<"installation"> => ({
    id: createId("installation", at.getTime()),
    merchantId,
    appId: app.id,
    scopes: [...integratorScopes],
    installedAt: at,
    updatedAt: at,
  });
  const [first, second] = [install(merchantIds[0]), install(merchantIds[1])];
  await insertTableRows(transaction, { app: [app], installation: [first, second] });
  return [first.id, second.id];
}

/** The number of days, including today, for which the demo has numbers of searches. */
const searchDays = 28;

/**
 * Creates the rows that say how often buyers searched for each query on each day, for queries with and
 * without results.
 */
export function createDemoSearchCountRows(now: Date): DemoTableRowToInsert<"searchQueryDay">[] {
  const { found, missed } = loadDemoSales().searches;
  return [
    ...found.map((search) => createRowsOfSearch(search, { now, isWithoutResults: false })),
    ...missed.map((search) => createRowsOfSearch(search, { now, isWithoutResults: true })),
  ].flat();
}

type DemoSearch = ReturnType<typeof loadDemoSales>["searches"]["found"][number];

/**
 * Creates the daily counts of a search query, one row per day. Leaves out days with fewer than
 * `clientsPerQueryMin` searches, because the service does not store queries of so few clients.
 */
function createRowsOfSearch(
  { query: text, country, perDay }: DemoSearch,
  { now, isWithoutResults }: { readonly now: Date; readonly isWithoutResults: boolean },
): DemoTableRowToInsert<"searchQueryDay">[] {
  const random = createRandomNumberGenerator(hashTextToNumber(`${text} ${country}`));
  const { normalized: query } = parseSearchQuery(text);
  return Array.from({ length: searchDays }, (_, ago) => {
    const at = new Date(now.getTime() - ago * dayMs);
    const isWeekend = at.getUTCDay() % 6 === 0;
    const searches = Math.round(perDay * (0.6 + 0.8 * random()) * (isWeekend ? 1.5 : 1));
    return {
      day: at.toISOString().slice(0, 10),
      merchantId: null,
      country,
      query,
      searches,
      empty: isWithoutResults ? searches : 0,
    };
  }).filter(({ searches }) => searches >= clientsPerQueryMin);
}
