/** One item of an import: a product found by its slugs and SKUs, or made; what is left out stays as it is. Refusals are thrown like everywhere. */
import { sql } from "kysely";
import { setStock } from "#commerce/inventory/stock.ts";
import type { Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import type { ImportVariantInput, ProductImportItem } from "./write-import-faults.ts";
import { faultAt, type Faults, requireNoFaults } from "#foundation/faults.ts";
import { currencyFaults, type PriceInput, savePrices } from "./write-prices.ts";
import { insertProduct, saveProductCategories, saveProductFields } from "./write-product.ts";
import { requirePublishable, setStatus } from "./write-publication.ts";
import { lockProduct, type LockedProduct, requireEditable, type Tenant } from "./write-tenant.ts";
import { saveTranslations } from "./write-translations.ts";
import { type SavedVariants, saveVariants } from "./write-variants.ts";

/** What the items name by handle or slug, read once for all of them. */
export interface ImportContext {
  readonly defaultLocale: string;
  readonly markets: ReadonlyMap<string, { readonly id: string; readonly currency: string }>;
  readonly categoryIds: ReadonlyMap<string, string>;
}

export interface ImportedItem {
  readonly productId: string;
  readonly isCreated: boolean;
  /** Beyond its stock. */
  readonly isChanged: boolean;
  /** It is on sale and something changed, its stock included; or it no longer is. */
  readonly needsIndexing: boolean;
}

export async function importItem(
  transaction: Transaction,
  tenant: Tenant,
  { item, context }: { readonly item: ProductImportItem; readonly context: ImportContext },
): Promise<ImportedItem> {
  requireKnown(item, context);
  const found = await findProduct(transaction, tenant, item);
  const product = found ?? (await createDraft(transaction, tenant, { item, context }));
  const changes = [
    await saveTranslations(transaction, tenant, {
      productId: product.id,
      translations: item.translations,
      fieldOf: (index) => `/translations/${index}/slug`,
    }),
    await saveProductFields(transaction, tenant, { productId: product.id, fields: item }),
    item.categorySlugs !== undefined && (await saveProductCategories(transaction, product.id, categoryIdsOf(item, context))),
  ];
  const variants = item.variants.map((variant, index) => ({ ...variant, at: `/variants/${index}` }));
  const saved = await saveVariants(transaction, tenant, { product, variants });
  changes.push(saved.isChanged, (await savePrices(transaction, tenant, pricesOf(item, context, saved.variantIds))).length > 0);
  const isStockChanged = await setStock(transaction, tenant, countsOf(item.variants, saved));
  const isStatusChanged = await changeStatus(transaction, tenant, { product, status: item.status ?? product.status });
  const isChanged = isStatusChanged || changes.includes(true);
  const isOnSale = product.status === "published" || item.status === "published";
  return { productId: product.id, isCreated: found === undefined, isChanged, needsIndexing: isOnSale && (isChanged || isStockChanged) };
}

function requireKnown(item: ProductImportItem, { markets, categoryIds }: ImportContext): void {
  const unknown: Faults = [
    ...(item.categorySlugs ?? []).flatMap((slug, index) =>
      categoryIds.has(slug) ? [] : [faultAt(`/categorySlugs/${index}`, "resource_not_found", "There is no such category.")],
    ),
    ...eachPrice(item, (at, { marketHandle }) =>
      markets.has(marketHandle) ? [] : [faultAt(`${at}/marketHandle`, "resource_not_found", "There is no such market.")],
    ),
  ];
  if (unknown.length > 0) throw fail("resource_not_found", { details: unknown });
  requireNoFaults(eachPrice(item, (at, price) => currencyFaults(at, price, markets.get(price.marketHandle)?.currency)));
}

type ImportPrice = NonNullable<ImportVariantInput["prices"]>[number];

function eachPrice<Found>(
  { variants }: ProductImportItem,
  look: (at: string, price: ImportPrice, variantIndex: number) => readonly Found[],
): Found[] {
  return variants.flatMap(({ prices }, index) => (prices ?? []).flatMap((price, place) => look(`/variants/${index}/prices/${place}`, price, index)));
}

/** Slugs and SKUs must not point at two products: which of them was meant is not ours to guess. */
async function findProduct(transaction: Transaction, tenant: Tenant, item: ProductImportItem): Promise<LockedProduct | undefined> {
  const slugs = item.translations.map(({ slug }) => slug);
  const skus = item.variants.map(({ sku }) => sku.toLowerCase());
  const { rows } = await sql<{ productId: string }>`
    select product_id from product_slug where merchant_id = ${tenant.merchantId} and slug = any(${slugs}::text[])
    union select product_id from variant where merchant_id = ${tenant.merchantId} and lower(sku) = any(${skus}::text[])
    order by product_id`.execute(transaction);
  const [first] = rows;
  if (first === undefined) return undefined;
  if (rows.length > 1) {
    const data = { productIds: rows.map(({ productId }) => productId) };
    throw fail("already_exists", {
      message: "The item's slugs and SKUs belong to more than one product.",
      conflict: { resource: "product", id: first.productId, currentStatus: null, currentVersion: null, reason: "several_products", data },
    });
  }
  const product = await lockProduct(transaction, tenant, first);
  requireEditable(product);
  return product;
}

async function createDraft(
  transaction: Transaction,
  tenant: Tenant,
  { item, context }: { readonly item: ProductImportItem; readonly context: ImportContext },
): Promise<LockedProduct> {
  requireNoFaults(item.translations.length > 0 ? [] : [faultAt("/translations", "too_short", "A new product needs a translation.")]);
  const id = await insertProduct(transaction, tenant);
  return { id, status: "draft", version: 1, publishedAt: null, defaultLocale: context.defaultLocale };
}

const categoryIdsOf = ({ categorySlugs }: ProductImportItem, { categoryIds }: ImportContext): string[] =>
  (categorySlugs ?? []).flatMap((slug) => categoryIds.get(slug) ?? []);

function pricesOf(item: ProductImportItem, { markets }: ImportContext, variantIds: readonly string[]): PriceInput[] {
  return eachPrice(item, (_, { marketHandle, ...amounts }, index) => {
    const variantId = variantIds[index];
    const market = markets.get(marketHandle);
    return variantId === undefined || market === undefined ? [] : [{ ...amounts, variantId, marketId: market.id }];
  });
}

function countsOf(
  variants: readonly ImportVariantInput[],
  { variantIds, createdIds }: SavedVariants,
): { variantId: string; onHand: number; isNew: boolean }[] {
  return variants.flatMap(({ onHand }, index) => {
    const variantId = variantIds[index];
    return variantId === undefined || typeof onHand !== "number" ? [] : [{ variantId, onHand, isNew: createdIds.has(variantId) }];
  });
}

async function changeStatus(
  transaction: Transaction,
  tenant: Tenant,
  { product, status }: { readonly product: LockedProduct; readonly status: LockedProduct["status"] },
): Promise<boolean> {
  if (status === product.status) return false;
  if (status === "published") await requirePublishable(transaction, product);
  await setStatus(transaction, tenant, { product, status });
  return true;
}
