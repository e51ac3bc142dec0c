/**
 * Imports one item of a product import: checks the item, finds its product by slugs and SKUs or creates a new
 * product, and saves the given fields. Fields that are left out stay unchanged. Throws a failure if the item
 * breaks a rule.
 */
import { sql } from "kysely";
import { setStockToCountedQuantities } from "#commerce/inventory/adjust-stock.ts";
import type { StockLevelBeforeAndAfter } from "#commerce/inventory/stock-levels.ts";
import type { Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import {
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  requireNoInputFieldErrors,
} from "#foundation/faults.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import { findPriceCurrencyFaults, type PriceInput, savePrices } from "./set-prices.ts";
import { insertEmptyProductDraft, saveProductCategories, saveProductFields } from "./change-product.ts";
import { requirePublishableProduct, saveProductStatus } from "./publish-product.ts";
import { createUnknownTaxClassErrorDetail } from "#commerce/tax/tax-classes.ts";
import { standardTaxClass } from "#commerce/tax/tax-provider.ts";
import type { ProductAggregate } from "./read-products.ts";
import {
  type LockedProduct,
  lockProduct,
  type ProductEventType,
  requireProductNotArchived,
} from "./change-catalog.ts";
import { saveProductTranslations } from "./product-texts.ts";
import { type VariantSaveResult, saveVariants } from "./change-variants.ts";
import type { ImportedVariantInput, ProductImportItem } from "./import-fields.ts";

/**
 * The markets, categories, tax classes and products to which the items of a product import refer by handle,
 * slug, code or id. They are loaded once for all items.
 */
export interface RecordsReferencedByProductImport {
  readonly defaultLocale: string;
  /** The codes of the merchant's tax classes. */
  readonly taxClasses: ReadonlySet<string>;
  readonly markets: ReadonlyMap<string, { readonly id: string; readonly currency: string }>;
  readonly categoryIds: ReadonlyMap<string, string>;
  /** The products that the import may change, by product id, with their values before the import. */
  readonly befores: ReadonlyMap<string, ProductAggregate>;
}

export interface ImportedProductChanges {
  readonly productId: string;
  readonly isCreated: boolean;
  /** Types of the events that the import of this item causes, except stock events. */
  readonly types: readonly ProductEventType[];
  readonly stockChanges: readonly StockLevelBeforeAndAfter[];
  /**
   * True if the product must be updated in the search index: the import changed the product or its stock, and
   * the product is published or was published before.
   */
  readonly needsIndexing: boolean;
}

export async function importProductItem(
  transaction: Transaction,
  context: MerchantCommandContext,
  {
    item,
    references,
  }: { readonly item: ProductImportItem; readonly references: RecordsReferencedByProductImport },
): Promise<ImportedProductChanges> {
  requireKnownReferences(item, references);
  const found = await findProduct(transaction, context, item);
  const product = found ?? (await createDraft(transaction, context, { item, references }));
  const areTextsChanged = await saveProductTranslations(transaction, context, {
    productId: product.id,
    translations: item.translations,
    fieldOf: (index) => `/translations/${index}/slug`,
  });
  const areFieldsChanged = await saveProductFields(transaction, context, {
    productId: product.id,
    fields: item,
  });
  const areCategoriesChanged =
    item.categorySlugs !== undefined &&
    (await saveProductCategories(transaction, product.id, categoryIdsOf(item, references)));
  const variants = item.variants.map((variant, index) => ({ ...variant, at: `/variants/${index}` }));
  const saved = await saveVariants(transaction, context, { product, variants });
  const arePricesChanged =
    (await savePrices(transaction, context, pricesOf(item, references, saved.variantIds))).length > 0;
  const counted = await setStockToCountedQuantities(transaction, context, countsOf(item.variants, saved));
  const status = await changeStatus(transaction, context, { product, status: item.status ?? product.status });
  const types: ProductEventType[] = [
    ...(areFieldsChanged || areCategoriesChanged || saved.isChanged ? (["product.updated"] as const) : []),
    ...(areTextsChanged ? (["product.translation_updated"] as const) : []),
    ...(arePricesChanged ? (["product.price_changed"] as const) : []),
    ...status,
  ];
  const isOnSale = product.status === "published" || item.status === "published";
  return {
    productId: product.id,
    isCreated: found === undefined,
    types,
    // New variants are left out. A stock event compares the stock with earlier stock, which a new variant
    // does not have.
    stockChanges: [
      ...saved.stockChanges,
      ...counted.filter(({ after }) => !saved.createdIds.has(after.variantId)),
    ],
    needsIndexing: isOnSale && types.length + counted.length > 0,
  };
}

function requireKnownReferences(
  item: ProductImportItem,
  { markets, categoryIds, taxClasses }: RecordsReferencedByProductImport,
): void {
  const unknown: InputFieldErrors = [
    ...(taxClasses.has(item.taxClass ?? standardTaxClass)
      ? []
      : [createUnknownTaxClassErrorDetail("/taxClass")]),
    ...(item.categorySlugs ?? []).flatMap((slug, index) =>
      categoryIds.has(slug)
        ? []
        : [
            createRequestBodyErrorDetail(
              `/categorySlugs/${index}`,
              "resource_not_found",
              "The merchant has no category with this slug.",
            ),
          ],
    ),
    ...eachPrice(item, (at, { marketHandle }) =>
      markets.has(marketHandle)
        ? []
        : [
            createRequestBodyErrorDetail(
              `${at}/marketHandle`,
              "resource_not_found",
              "The merchant has no market with this handle.",
            ),
          ],
    ),
  ];
  if (unknown.length > 0) throw createFailure("resource_not_found", { details: unknown });
  requireNoInputFieldErrors(
    eachPrice(item, (at, price) =>
      findPriceCurrencyFaults(at, price, markets.get(price.marketHandle)?.currency),
    ),
  );
}

type ImportPrice = NonNullable<ImportedVariantInput["prices"]>[number];

function eachPrice<Found>(
  { variants }: ProductImportItem,
  look: (at: string, price: ImportPrice, variantIndex: number) => readonly Found[],
): Found[] {
  return variants.flatMap(({ prices }, index) =>
    (prices ?? []).flatMap((price, place) => look(`/variants/${index}/prices/${place}`, price, index)),
  );
}

/**
 * Finds the product that has the slugs and SKUs of the import item. Throws if they belong to different
 * products, because it is then unclear which product the merchant means.
 */
async function findProduct(
  transaction: Transaction,
  context: MerchantCommandContext,
  item: ProductImportItem,
): Promise<LockedProduct | undefined> {
  const slugs = item.translations.map(({ slug }) => slug);
  const skus = item.variants.map(({ sku }) => sku.toLowerCase());
  const productIds = await findProductIdsBySlugOrSku(transaction, context.merchantId, { slugs, skus });
  const [first] = productIds;
  if (first === undefined) return undefined;
  if (productIds.length > 1) {
    const data = { productIds };
    throw createFailure("already_exists", {
      message: "The item's slugs and SKUs belong to more than one product.",
      conflict: {
        resource: "product",
        id: first,
        currentStatus: null,
        currentVersion: null,
        reason: "several_products",
        data,
      },
    });
  }
  const product = await lockProduct(transaction, context, { productId: first });
  requireProductNotArchived(product);
  return product;
}

export async function findProductIdsBySlugOrSku(
  transaction: Transaction,
  merchantId: string,
  { slugs, skus }: { readonly slugs: readonly string[]; readonly skus: readonly string[] },
): Promise<string[]> {
  const { rows } = await sql<{ productId: string }>`
    select product_id from product_slug where merchant_id = ${merchantId} and slug = any(${slugs}::text[])
    union select product_id from variant where merchant_id = ${merchantId}
    and lower(sku) = any(${skus}::text[])
    order by product_id`.execute(transaction);
  return rows.map(({ productId }) => productId);
}

async function createDraft(
  transaction: Transaction,
  context: MerchantCommandContext,
  {
    item,
    references,
  }: { readonly item: ProductImportItem; readonly references: RecordsReferencedByProductImport },
): Promise<LockedProduct> {
  requireNoInputFieldErrors(
    item.translations.length > 0
      ? []
      : [
          createRequestBodyErrorDetail(
            "/translations",
            "too_short",
            "A new product must have at least one translation.",
          ),
        ],
  );
  const id = await insertEmptyProductDraft(transaction, context);
  return { id, status: "draft", version: 1, publishedAt: null, defaultLocale: references.defaultLocale };
}

const categoryIdsOf = (
  { categorySlugs }: ProductImportItem,
  { categoryIds }: RecordsReferencedByProductImport,
): string[] => (categorySlugs ?? []).flatMap((slug) => categoryIds.get(slug) ?? []);

function pricesOf(
  item: ProductImportItem,
  { markets }: RecordsReferencedByProductImport,
  variantIds: readonly string[],
): PriceInput[] {
  return eachPrice(item, (_, { marketHandle, ...amounts }, index) => {
    const variantId = variantIds[index];
    const market = markets.get(marketHandle);
    return variantId === undefined || market === undefined
      ? []
      : [{ ...amounts, variantId, marketId: market.id }];
  });
}

function countsOf(
  variants: readonly ImportedVariantInput[],
  { variantIds, createdIds }: VariantSaveResult,
): { variantId: string; onHand: number; isNew: boolean }[] {
  return variants.flatMap(({ onHand }, index) => {
    const variantId = variantIds[index];
    return variantId === undefined || typeof onHand !== "number"
      ? []
      : [{ variantId, onHand, isNew: createdIds.has(variantId) }];
  });
}

async function changeStatus(
  transaction: Transaction,
  context: MerchantCommandContext,
  { product, status }: { readonly product: LockedProduct; readonly status: LockedProduct["status"] },
): Promise<readonly ProductEventType[]> {
  if (status === product.status) return [];
  if (status === "published") await requirePublishableProduct(transaction, product);
  await saveProductStatus(transaction, context, { product, status });
  return [status === "published" ? "product.published" : "product.unpublished"];
}
