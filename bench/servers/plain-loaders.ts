/**
 * Creates the DataLoaders of a request: one per relation, each with its own SQL statement, as in a simple
 * GraphQL server.
 */
import type { Selectable } from "kysely";
import type {
  CartLineTable,
  CategoryTable,
  MarketCountryTable,
  MarketTable,
  MediaTable,
  MerchantTable,
  PolicyTable,
  PriceTable,
  ProductOptionTable,
  ProductTable,
  ProductTranslationTable,
  StockLevelTable,
  VariantTable,
} from "#database/tables.ts";
import { createCartLoaders, type PlainCartLoaders } from "./plain-cart-loaders.ts";
import type { PlainDatabase } from "./plain-database.ts";
import {
  createRowsByOwnerLoader,
  createRowByIdLoader,
  type RowsByOwnerLoader,
  type RowByIdLoader,
} from "./plain-batches.ts";

export interface PlainLoaders extends PlainCartLoaders {
  readonly products: RowByIdLoader<Selectable<ProductTable>>;
  readonly merchants: RowByIdLoader<Selectable<MerchantTable>>;
  readonly stock: RowByIdLoader<Selectable<StockLevelTable>>;
  readonly variantById: RowByIdLoader<Selectable<VariantTable>>;
  readonly translations: RowsByOwnerLoader<Selectable<ProductTranslationTable>>;
  readonly categories: RowsByOwnerLoader<Pick<Selectable<CategoryTable>, "slug" | "names">>;
  readonly options: RowsByOwnerLoader<Selectable<ProductOptionTable>>;
  readonly media: RowsByOwnerLoader<Selectable<MediaTable>>;
  readonly variants: RowsByOwnerLoader<Selectable<VariantTable>>;
  readonly prices: RowsByOwnerLoader<Selectable<PriceTable>>;
  readonly markets: RowsByOwnerLoader<Selectable<MarketTable>>;
  readonly countries: RowsByOwnerLoader<Selectable<MarketCountryTable>>;
  readonly policies: RowsByOwnerLoader<Selectable<PolicyTable>>;
  readonly lines: RowsByOwnerLoader<Selectable<CartLineTable>>;
}

export function createPlainLoaders(db: PlainDatabase): PlainLoaders {
  return { ...createCartLoaders(db), ...rowLoaders(db), ...productLoaders(db), ...merchantLoaders(db) };
}

function rowLoaders(
  db: PlainDatabase,
): Pick<PlainLoaders, "products" | "merchants" | "stock" | "variantById"> {
  return {
    products: createRowByIdLoader(
      (ids) => db.selectFrom("product").selectAll().where("id", "in", ids).execute(),
      ({ id }) => id,
    ),
    merchants: createRowByIdLoader(
      (ids) => db.selectFrom("merchant").selectAll().where("id", "in", ids).execute(),
      ({ id }) => id,
    ),
    stock: createRowByIdLoader(
      (ids) => db.selectFrom("stockLevel").selectAll().where("variantId", "in", ids).execute(),
      ({ variantId }) => variantId,
    ),
    variantById: createRowByIdLoader(
      (ids) => db.selectFrom("variant").selectAll().where("id", "in", ids).execute(),
      ({ id }) => id,
    ),
  };
}

function productLoaders(
  db: PlainDatabase,
): Pick<PlainLoaders, "translations" | "categories" | "options" | "media" | "variants" | "prices"> {
  return {
    translations: createRowsByOwnerLoader(
      (ids) =>
        db
          .selectFrom("productTranslation")
          .selectAll()
          .where("productId", "in", ids)
          .orderBy("locale")
          .execute(),
      ({ productId }) => productId,
    ),
    categories: createRowsByOwnerLoader(
      (ids) =>
        db
          .selectFrom("productCategory")
          .innerJoin("category", "category.id", "productCategory.categoryId")
          .select(["productCategory.productId", "category.slug", "category.names"])
          .where("productCategory.productId", "in", ids)
          .orderBy("productCategory.position")
          .orderBy("category.id")
          .execute(),
      ({ productId }) => productId,
    ),
    options: createRowsByOwnerLoader(
      (ids) =>
        db
          .selectFrom("productOption")
          .selectAll()
          .where("productId", "in", ids)
          .orderBy("position")
          .orderBy("code")
          .execute(),
      ({ productId }) => productId,
    ),
    media: createRowsByOwnerLoader(
      (ids) =>
        db
          .selectFrom("media")
          .selectAll()
          .where("productId", "in", ids)
          .orderBy("position")
          .orderBy("id")
          .execute(),
      ({ productId }) => productId,
    ),
    variants: createRowsByOwnerLoader(
      (ids) =>
        db
          .selectFrom("variant")
          .selectAll()
          .where("productId", "in", ids)
          .orderBy("position")
          .orderBy("id")
          .execute(),
      ({ productId }) => productId,
    ),
    prices: createRowsByOwnerLoader(
      (ids) => db.selectFrom("price").selectAll().where("variantId", "in", ids).execute(),
      ({ variantId }) => variantId,
    ),
  };
}

function merchantLoaders(
  db: PlainDatabase,
): Pick<PlainLoaders, "markets" | "countries" | "policies" | "lines"> {
  return {
    markets: createRowsByOwnerLoader(
      (ids) =>
        db
          .selectFrom("market")
          .selectAll()
          .where("merchantId", "in", ids)
          .orderBy("createdAt")
          .orderBy("handle")
          .execute(),
      ({ merchantId }) => merchantId,
    ),
    countries: createRowsByOwnerLoader(
      (ids) =>
        db.selectFrom("marketCountry").selectAll().where("marketId", "in", ids).orderBy("position").execute(),
      ({ marketId }) => marketId,
    ),
    policies: createRowsByOwnerLoader(
      (ids) => db.selectFrom("policy").selectAll().where("merchantId", "in", ids).execute(),
      ({ merchantId }) => merchantId,
    ),
    lines: createRowsByOwnerLoader(
      (ids) =>
        db
          .selectFrom("cartLine")
          .selectAll()
          .where("cartId", "in", ids)
          .orderBy("position")
          .orderBy("id")
          .execute(),
      ({ cartId }) => cartId,
    ),
  };
}
