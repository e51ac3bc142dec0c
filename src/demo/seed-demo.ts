/**
 * Fills an empty database with the two demo merchants, their catalogues, the searches of four weeks and an
 * app installed at both. Keys, tokens and the search index are the caller's: it knows the secrets and the
 * clock.
 */
import { integratorScopes } from "#access/viewer.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { parseSearchQuery } from "#commerce/search/match-query.ts";
import { clientsPerQueryMin } from "#commerce/search/search-counts.ts";
import { type CatalogEntry, type DemoMerchant, demoMerchants } from "./demo-data.ts";
import { demoSales } from "#demo/carts/draw-carts.ts";
import type { DemoProduct } from "./demo-file.ts";
import { insertProducts, productRows, type ProductRows, slugOf } from "./rows/product-rows.ts";
import { insertRows, type Row } from "./rows/insert-rows.ts";
import { merchantRows, type MerchantRows } from "./rows/merchant-rows.ts";
import { combinationsOf, skuOf } from "./rows/variant-rows.ts";
import { hashOf, randomFrom } from "./random.ts";

export interface DemoSeed {
  readonly merchants: { readonly first: DemoOwner; readonly second: DemoOwner };
  /** Ids of the installations of one app, which has all four scopes at both merchants. */
  readonly installations: { readonly first: string; readonly second: string };
  /** Offered in market DE and in stock there, the first merchant's before the second's. */
  readonly products: readonly DemoProduct[];
  /** Everything published, for the search index. */
  readonly productIds: readonly string[];
}

interface DemoOwner {
  readonly id: string;
  readonly slug: string;
}

const dayMs = 86_400_000;
/** The merchants are older than their oldest product. */
const merchantAgeDays = 400;
const catalogueAgeDays = 200;
/** What has a price history must be older than the history. */
const historyAgeDays = 60;

interface Filled {
  readonly merchant: MerchantRows;
  readonly products: readonly ProductRows[];
}

export async function seedDemo(transaction: Transaction, { now }: { readonly now: Date }): Promise<DemoSeed> {
  const owners = demoMerchants();
  const first = fill(owners.first, { now, firstNumber: 1 });
  const second = fill(owners.second, { now, firstNumber: 1 + first.products.length });
  await insertMerchants(transaction, [first.merchant, second.merchant]);
  await insertProducts(transaction, [...first.products, ...second.products]);
  await insertRows(transaction, { searchQueryDay: searchRows(now) });
  const [firstId, secondId] = [first.merchant.merchant.id, second.merchant.merchant.id];
  const at = new Date(now.getTime() - catalogueAgeDays * dayMs);
  const [firstInstallation, secondInstallation] = await insertApp(transaction, {
    at,
    merchantIds: [firstId, secondId],
  });
  return {
    merchants: {
      first: { id: firstId, slug: owners.first.slug },
      second: { id: secondId, slug: owners.second.slug },
    },
    installations: { first: firstInstallation, second: secondInstallation },
    products: demoProducts(),
    productIds: [...first.products, ...second.products]
      .filter(({ product }) => product.status === "published")
      .map(({ product }) => product.id),
  };
}

function fill(
  merchant: DemoMerchant,
  { now, firstNumber }: { readonly now: Date; readonly firstNumber: number },
): Filled {
  const rows = merchantRows(merchant, new Date(now.getTime() - merchantAgeDays * dayMs));
  const all = merchant.families.flatMap(({ care, entries }) => entries.map((entry) => ({ care, entry })));
  const products = all.map(({ care, entry }, index) =>
    productRows(entry, {
      merchantId: rows.merchant.id,
      markets: rows.markets,
      categoryIds: rows.categoryIds,
      now,
      since: new Date(now.getTime() - Math.round(ageDays(entry, { index, count: all.length }) * dayMs)),
      number: firstNumber + index,
      care,
    }),
  );
  return { merchant: rows, products };
}

/** Spread over the catalogue's age with the families mixed, and no two alike. */
function ageDays(
  entry: CatalogEntry,
  { index, count }: { readonly index: number; readonly count: number },
): number {
  const share = (((index + 1) * 0.618_033_988_75) % 1) * (count / (count + 1));
  const youngest = entry.priceBefore === undefined && entry.priceRose === undefined ? 1 : historyAgeDays;
  return youngest + share * (catalogueAgeDays - youngest);
}

/** The first merchant's before the second's. */
export function demoProducts(): DemoProduct[] {
  const { first, second } = demoMerchants();
  return [first, second].flatMap(productsOf);
}

function productsOf(merchant: DemoMerchant): DemoProduct[] {
  return merchant.families
    .flatMap(({ entries }) => entries)
    .filter(isOnSaleInGermany)
    .map((entry) => ({
      merchantSlug: merchant.slug,
      productSlug: slugOf(entry, "en"),
      title: entry.title.en,
      sku: skuOf(entry, combinationsOf(entry.options ?? [])[0] ?? {}),
    }));
}

function isOnSaleInGermany({ status, price: [euros], stock }: CatalogEntry): boolean {
  return status === undefined && euros !== null && (stock?.[0] ?? "in_stock") === "in_stock";
}

function insertMerchants(transaction: Transaction, merchants: readonly MerchantRows[]): Promise<void> {
  return insertRows(transaction, {
    merchant: merchants.map(({ merchant }) => merchant),
    market: merchants.flatMap(({ market }) => market),
    marketCountry: merchants.flatMap(({ marketCountry }) => marketCountry),
    taxRate: merchants.flatMap(({ taxRate }) => taxRate),
    deliveryMethod: merchants.flatMap(({ deliveryMethod }) => deliveryMethod),
    policy: merchants.flatMap(({ policy }) => policy),
    category: merchants.flatMap(({ category }) => category),
  });
}

async function insertApp(
  transaction: Transaction,
  { at, merchantIds }: { readonly at: Date; readonly merchantIds: readonly [first: string, second: string] },
): Promise<[first: string, second: string]> {
  const app = {
    id: createId("app", at.getTime()),
    name: "Demo integration",
    publisher: "Lindenhof",
    createdAt: at,
  };
  const install = (merchantId: string): Row<"installation"> => ({
    id: createId("installation", at.getTime()),
    merchantId,
    appId: app.id,
    scopes: [...integratorScopes],
    installedAt: at,
    updatedAt: at,
  });
  const [first, second] = [install(merchantIds[0]), install(merchantIds[1])];
  await insertRows(transaction, { app: [app], installation: [first, second] });
  return [first.id, second.id];
}

/** For so many days, up to today, the demo has searches. */
const days = 28;

/** What the demo's buyers have searched for, found and not found, counted by day as the service counts it. */
export function searchRows(now: Date): Row<"searchQueryDay">[] {
  const { found, missed } = demoSales().searches;
  return [
    ...found.map((wanted) => rowsOf(wanted, { now, isMissed: false })),
    ...missed.map((wanted) => rowsOf(wanted, { now, isMissed: true })),
  ].flat();
}

/** A day on which fewer searched than may be kept has none. */
type Wanted = ReturnType<typeof demoSales>["searches"]["found"][number];

function rowsOf(
  { query: text, country, perDay }: Wanted,
  { now, isMissed }: { readonly now: Date; readonly isMissed: boolean },
): Row<"searchQueryDay">[] {
  const random = randomFrom(hashOf(`${text} ${country}`));
  const { normalized: query } = parseSearchQuery(text);
  return Array.from({ length: days }, (_, ago) => {
    const at = new Date(now.getTime() - ago * dayMs);
    const isWeekend = at.getUTCDay() % 6 === 0;
    const searches = Math.round(perDay * (0.6 + 0.8 * random()) * (isWeekend ? 1.5 : 1));
    return {
      day: at.toISOString().slice(0, 10),
      merchantId: null,
      country,
      query,
      searches,
      empty: isMissed ? searches : 0,
    };
  }).filter(({ searches }) => searches >= clientsPerQueryMin);
}
