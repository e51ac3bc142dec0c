/**
 * A DataLoader for each relation, with one statement each, made anew for every request: what most people
 * begin with.
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
import { loadMany, loadOne, type Many, type One } from "./plain-batches.ts";

export interface PlainLoaders extends PlainCartLoaders {
  readonly products: One<Selectable<ProductTable>>;
  readonly merchants: One<Selectable<MerchantTable>>;
  readonly stock: One<Selectable<StockLevelTable>>;
  readonly variantById: One<Selectable<VariantTable>>;
  readonly translations: Many<Selectable<ProductTranslationTable>>;
  readonly categories: Many<Pick<Selectable<CategoryTable>, "slug" | "names">>;
  readonly options: Many<Selectable<ProductOptionTable>>;
  readonly media: Many<Selectable<MediaTable>>;
  readonly variants: Many<Selectable<VariantTable>>;
  readonly prices: Many<Selectable<PriceTable>>;
  readonly markets: Many<Selectable<MarketTable>>;
  readonly countries: Many<Selectable<MarketCountryTable>>;
  readonly policies: Many<Selectable<PolicyTable>>;
  readonly lines: Many<Selectable<CartLineTable>>;
}

export function createPlainLoaders(db: PlainDatabase): PlainLoaders {
  return { ...createCartLoaders(db), ...rowLoaders(db), ...productLoaders(db), ...merchantLoaders(db) };
}

function rowLoaders(
  db: PlainDatabase,
): Pick<PlainLoaders, "products" | "merchants" | "stock" | "variantById"> {
  return {
    products: loadOne(
      (ids) => db.selectFrom("product").selectAll().where("id", "in", ids).execute(),
      ({ id }) => id,
    ),
    merchants: loadOne(
      (ids) => db.selectFrom("merchant").selectAll().where("id", "in", ids).execute(),
      ({ id }) => id,
    ),
    stock: loadOne(
      (ids) => db.selectFrom("stockLevel").selectAll().where("variantId", "in", ids).execute(),
      ({ variantId }) => variantId,
    ),
    variantById: loadOne(
      (ids) => db.selectFrom("variant").selectAll().where("id", "in", ids).execute(),
      ({ id }) => id,
    ),
  };
}

function productLoaders(
  db: PlainDatabase,
): Pick<PlainLoaders, "translations" | "categories" | "options" | "media" | "variants" | "prices"> {
  return {
    translations: loadMany(
      (ids) =>
        db
          .selectFrom("productTranslation")
          .selectAll()
          .where("productId", "in", ids)
          .orderBy("locale")
          .execute(),
      ({ productId }) => productId,
    ),
    categories: loadMany(
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
    options: loadMany(
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
    media: loadMany(
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
    variants: loadMany(
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
    prices: loadMany(
      (ids) => db.selectFrom("price").selectAll().where("variantId", "in", ids).execute(),
      ({ variantId }) => variantId,
    ),
  };
}

function merchantLoaders(
  db: PlainDatabase,
): Pick<PlainLoaders, "markets" | "countries" | "policies" | "lines"> {
  return {
    markets: loadMany(
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
    countries: loadMany(
      (ids) =>
        db.selectFrom("marketCountry").selectAll().where("marketId", "in", ids).orderBy("position").execute(),
      ({ marketId }) => marketId,
    ),
    policies: loadMany(
      (ids) => db.selectFrom("policy").selectAll().where("merchantId", "in", ids).execute(),
      ({ merchantId }) => merchantId,
    ),
    lines: loadMany(
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
