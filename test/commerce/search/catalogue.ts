/** Inserts merchants, markets, categories and products into the tables, for tests of search only. */
import type { OpenedDatabase } from "#database/connect.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { indexProducts } from "#commerce/search/index-products.ts";

export const now = new Date("2026-06-01T00:00:00Z");

export interface MerchantSpec {
  readonly id: string;
  readonly slug: string;
  readonly locale?: string;
  readonly status?: "active" | "suspended";
  readonly markets: readonly {
    readonly countries: readonly string[];
    readonly currency: string;
    readonly locale: string;
  }[];
  readonly categories?: readonly {
    readonly slug: string;
    readonly parent?: string;
    readonly names: Record<string, string>;
  }[];
}

export interface ProductSpec {
  readonly id: string;
  readonly merchant: string;
  /** Titles by locale, or objects with a title and further texts. */
  readonly titles: Record<
    string,
    string | { readonly title: string; readonly summary?: string; readonly description?: string }
  >;
  readonly brand?: string | null;
  readonly categories?: readonly string[];
  readonly sku?: string;
  readonly gtin?: string;
  /** Amounts by currency, for the merchant's markets with that currency; 1000 in every market by default. */
  readonly prices?: Record<string, number>;
  readonly stock?: number;
  readonly popularity?: number;
  readonly publishedAt?: Date;
  readonly status?: "draft" | "published" | "archived";
}

export async function addMerchants(
  database: OpenedDatabase,
  merchants: readonly MerchantSpec[],
): Promise<void> {
  await runInTransaction(database.db, async (transaction) => {
    for (const merchant of merchants) await addMerchant(transaction, merchant);
  });
}

async function addMerchant(
  transaction: Transaction,
  { id, slug, markets, categories = [], ...merchant }: MerchantSpec,
): Promise<void> {
  const stamps = { createdAt: now, updatedAt: now };
  const defaultMarket = markets[0]?.countries[0] ?? "US";
  await transaction
    .insertInto("merchant")
    .values({
      id,
      slug,
      name: `Shop ${slug}`,
      mode: "live",
      status: merchant.status ?? "active",
      defaultLocale: merchant.locale ?? "en",
      defaultMarket,
      ...stamps,
    })
    .execute();
  for (const { countries, currency, locale } of markets) {
    const marketId = `mkt_${id}_${currency}`;
    await transaction
      .insertInto("market")
      .values({
        id: marketId,
        merchantId: id,
        handle: currency.toLowerCase(),
        name: currency,
        currency,
        taxIncluded: true,
        defaultLocale: locale,
        timeZone: "UTC",
        ...stamps,
      })
      .execute();
    const rows = countries.map((country, position) => ({ merchantId: id, country, marketId, position }));
    await transaction.insertInto("marketCountry").values(rows).execute();
  }
  for (const [position, category] of categories.entries()) {
    const parentId = category.parent === undefined ? null : `cat_${id}_${category.parent}`;
    await transaction
      .insertInto("category")
      .values({
        id: `cat_${id}_${category.slug}`,
        merchantId: id,
        parentId,
        slug: category.slug,
        names: JSON.stringify(category.names),
        position,
        ...stamps,
      })
      .execute();
  }
}

const chunk = 1000;

/** Inserts products with one variant each. */
export async function addProducts(database: OpenedDatabase, products: readonly ProductSpec[]): Promise<void> {
  for (let start = 0; start < products.length; start += chunk) {
    await runInTransaction(database.db, (transaction) =>
      addChunk(transaction, products.slice(start, start + chunk)),
    );
  }
}

export async function addIndexed(database: OpenedDatabase, products: readonly ProductSpec[]): Promise<void> {
  await addProducts(database, products);
  const ids = products.map(({ id }) => id);
  await runInTransaction(database.db, (transaction) => indexProducts(transaction, ids, now));
}

async function addChunk(transaction: Transaction, products: readonly ProductSpec[]): Promise<void> {
  const markets = await transaction.selectFrom("market").select(["id", "merchantId", "currency"]).execute();
  const stamps = { createdAt: now, updatedAt: now };
  const of = (product: ProductSpec): { merchantId: string; productId: string } => ({
    merchantId: product.merchant,
    productId: product.id,
  });
  const rows = products.map((product) => ({
    ...stamps,
    id: product.id,
    merchantId: product.merchant,
    status: product.status ?? "published",
    brand: product.brand ?? null,
    popularity: product.popularity ?? 0,
    publishedAt: product.publishedAt ?? now,
  }));
  await transaction.insertInto("product").values(rows).execute();
  const slugs = products.map((product) => ({ ...of(product), slug: slugOf(product.id) }));
  await transaction.insertInto("productSlug").values(slugs).execute();
  const translations = products.flatMap((product) =>
    Object.entries(product.titles).map(([locale, text]) => {
      const { title, summary = null, description = null } = typeof text === "string" ? { title: text } : text;
      return {
        merchantId: product.merchant,
        productId: product.id,
        locale,
        slug: slugOf(product.id),
        title,
        summary,
        description,
        updatedAt: now,
      };
    }),
  );
  await transaction.insertInto("productTranslation").values(translations).execute();
  const links = products.flatMap((product) =>
    (product.categories ?? []).map((slug, position) => ({
      productId: product.id,
      categoryId: `cat_${product.merchant}_${slug}`,
      position,
    })),
  );
  if (links.length > 0) await transaction.insertInto("productCategory").values(links).execute();
  const variants = products.map((product) => ({
    ...of(product),
    ...stamps,
    id: `var_${product.id}`,
    sku: product.sku ?? `X${product.id.replaceAll("_", "")}`,
    gtin: product.gtin ?? null,
    options: "{}",
    restrictions: [],
    requiresShipping: true,
    position: 0,
  }));
  await transaction.insertInto("variant").values(variants).execute();
  const stock = products.map((product) => ({
    merchantId: product.merchant,
    variantId: `var_${product.id}`,
    onHand: product.stock ?? 100,
    updatedAt: now,
  }));
  await transaction.insertInto("stockLevel").values(stock).execute();
  const prices = products.flatMap((product) =>
    markets
      .filter(
        ({ merchantId, currency }) =>
          merchantId === product.merchant && (product.prices === undefined || currency in product.prices),
      )
      .map(({ id, currency }) => ({
        merchantId: product.merchant,
        variantId: `var_${product.id}`,
        marketId: id,
        amountMinor: product.prices?.[currency] ?? 1000,
        validFrom: now,
      })),
  );
  if (prices.length > 0) await transaction.insertInto("price").values(prices).execute();
}

const slugOf = (id: string): string => id.replaceAll("_", "-");
