/**
 * Loads the data from which the rows of the search index are computed, in a fixed number of statements for
 * any number of products.
 */
import { sql } from "kysely";
import {
  type StockAvailability,
  computeStockAvailability,
  reservedUnitsSql,
} from "#commerce/catalog/availability.ts";
import { currentPriceAmountSql } from "#commerce/catalog/current-price.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";

export interface ProductToIndex {
  readonly id: string;
  readonly merchantId: string;
  readonly merchantLocale: string;
  readonly brand: string | null;
  readonly popularity: number;
  readonly publishedAt: Date;
  readonly translations: readonly Translation[];
  readonly codes: readonly { readonly sku: string; readonly gtin: string | null }[];
  /** The prices of the product's variants, one entry for each market in which a variant has a price. */
  readonly prices: readonly {
    readonly marketId: string;
    readonly amountMinor: number;
    readonly availability: StockAvailability;
  }[];
  /** The categories of the product, and all categories above them. */
  readonly categories: readonly Category[];
  readonly attributes: readonly ProductAttributeToIndex[];
  /**
   * The names of the choices of the product's options, for example of colors and sizes; each name as a map
   * from locale to text.
   */
  readonly choiceLabels: readonly Readonly<Record<string, string>>[];
}

/** An attribute of a product in the form in which the product's row stores it. */
export interface ProductAttributeToIndex {
  readonly code: string;
  readonly names: Readonly<Record<string, string>>;
  readonly value: string | number | boolean | readonly string[];
  readonly unit: string | null;
}

interface Translation {
  readonly productId: string;
  readonly locale: string;
  readonly title: string;
  readonly summary: string | null;
  readonly description: string | null;
}

interface Category {
  readonly id: string;
  readonly parentId: string | null;
  readonly slug: string;
  readonly names: Readonly<Record<string, string>>;
}

export interface ProductMarketToIndex {
  readonly id: string;
  readonly currency: string;
  readonly defaultLocale: string;
  readonly countries: readonly string[];
}

/**
 * Loads the given products, except products that are not published or whose merchant is not active. Also
 * loads the markets of the merchants of these products.
 */
export async function loadProductsToIndex(
  reader: DatabaseOrTransaction,
  ids: readonly string[],
  now: Date,
): Promise<{ products: ProductToIndex[]; markets: ReadonlyMap<string, ProductMarketToIndex> }> {
  const found = await reader
    .selectFrom("product as p")
    .innerJoin("merchant as m", "m.id", "p.merchantId")
    .select([
      "p.id",
      "p.merchantId",
      "p.brand",
      "p.popularity",
      "p.publishedAt",
      "m.defaultLocale as merchantLocale",
      sql<readonly ProductAttributeToIndex[]>`p.attributes`.as("attributes"),
      sql<ProductToIndex["choiceLabels"]>`coalesce((select jsonb_agg(c.choice -> 'labels')
        from product_option o, jsonb_array_elements(o.choices) as c(choice)
        where o.product_id = p.id), '[]')`.as("choiceLabels"),
    ])
    .where(sql<boolean>`p.id = any(${ids}::text[])`)
    .where("p.status", "=", "published")
    .where("m.status", "=", "active")
    .execute();
  const published = found.map(({ id }) => id);
  const translations = Map.groupBy(await loadTranslations(reader, published), ({ productId }) => productId);
  const variants = Map.groupBy(await loadVariants(reader, published, now), ({ productId }) => productId);
  const categories = await loadCategories(reader, published);
  const products = found.map(({ publishedAt, ...product }) => {
    const own = variants.get(product.id) ?? [];
    return {
      ...product,
      publishedAt: publishedAt ?? now,
      translations: translations.get(product.id) ?? [],
      codes: own.map(({ sku, gtin }) => ({ sku, gtin })),
      prices: own.flatMap(({ availability, prices }) => prices.map((price) => ({ ...price, availability }))),
      categories: categories.get(product.id) ?? [],
    };
  });
  return {
    products,
    markets: await loadMarkets(reader, [...new Set(found.map(({ merchantId }) => merchantId))]),
  };
}

async function loadTranslations(
  reader: DatabaseOrTransaction,
  ids: readonly string[],
): Promise<Translation[]> {
  return reader
    .selectFrom("productTranslation")
    .select(["productId", "locale", "title", "summary", "description"])
    .where(sql<boolean>`product_id = any(${ids}::text[])`)
    .orderBy("productId")
    .orderBy("locale")
    .execute();
}

interface Variant {
  readonly productId: string;
  readonly sku: string;
  readonly gtin: string | null;
  readonly availability: StockAvailability;
  readonly prices: readonly { readonly marketId: string; readonly amountMinor: number }[];
}

async function loadVariants(
  reader: DatabaseOrTransaction,
  ids: readonly string[],
  now: Date,
): Promise<Variant[]> {
  const rows = await reader
    .selectFrom("variant as v")
    .leftJoin("stockLevel as sl", "sl.variantId", "v.id")
    .select(["v.productId", "v.sku", "v.gtin", "v.discontinued", "v.availableFrom"])
    .select(["sl.onHand", "sl.backorderLimit", "sl.lowStockThreshold", reservedUnitsSql(now).as("reserved")])
    .select(
      sql<
        Variant["prices"] | null
      >`(select json_agg(json_build_object('marketId', pr.market_id, 'amountMinor',
        ${currentPriceAmountSql(now)})) from price pr where pr.variant_id = v.id and pr.valid_until is null
        and ${currentPriceAmountSql(now)} is not null)`.as("prices"),
    )
    .where(sql<boolean>`v.product_id = any(${ids}::text[])`)
    .orderBy("v.productId")
    .orderBy("v.position")
    .execute();
  return rows.map(({ productId, sku, gtin, prices, ...stock }) => ({
    productId,
    sku,
    gtin,
    prices: prices ?? [],
    availability: computeStockAvailability(
      {
        ...stock,
        onHand: stock.onHand ?? 0,
        reserved: stock.reserved,
        backorderLimit: stock.backorderLimit ?? 0,
        lowStockThreshold: stock.lowStockThreshold ?? 0,
      },
      now,
    ),
  }));
}

async function loadCategories(
  reader: DatabaseOrTransaction,
  ids: readonly string[],
): Promise<Map<string, Category[]>> {
  const links = await reader
    .selectFrom("productCategory")
    .select(["productId", "categoryId"])
    .where(sql<boolean>`product_id = any(${ids}::text[])`)
    .orderBy("productId")
    .orderBy("position")
    .orderBy("categoryId")
    .execute();
  const wanted = [...new Set(links.map(({ categoryId }) => categoryId))];
  // Recursive query: `union` without `all` drops rows that were found before, so the query also ends if the
  // category tree contains a cycle.
  const { rows } = await sql<Category>`
    with recursive up as (
      select id, parent_id, slug, names from category where id = any(${wanted}::text[])
      union
      select c.id, c.parent_id, c.slug, c.names from category c join up on up.parent_id = c.id
    )
    select * from up`.execute(reader);
  const tree = new Map(rows.map((category) => [category.id, category]));
  const byProduct = Map.groupBy(links, ({ productId }) => productId);
  return new Map(
    [...byProduct].map(([id, own]) => [
      id,
      withAncestors(
        own.map(({ categoryId }) => categoryId),
        tree,
      ),
    ]),
  );
}

function withAncestors(ids: readonly string[], tree: ReadonlyMap<string, Category>): Category[] {
  const found = new Map<string, Category>();
  for (const id of ids) {
    for (
      let category = tree.get(id);
      category !== undefined && !found.has(category.id);
      category = tree.get(category.parentId ?? "")
    ) {
      found.set(category.id, category);
    }
  }
  return [...found.values()];
}

async function loadMarkets(
  reader: DatabaseOrTransaction,
  merchantIds: readonly string[],
): Promise<Map<string, ProductMarketToIndex>> {
  const { rows } = await sql<ProductMarketToIndex>`
    select m.id, m.currency, m.default_locale, array_agg(c.country order by c.position) as countries
    from market m join market_country c on c.market_id = m.id
    where m.merchant_id = any(${merchantIds}::text[])
    group by m.id`.execute(reader);
  return new Map(rows.map((market) => [market.id, market]));
}
