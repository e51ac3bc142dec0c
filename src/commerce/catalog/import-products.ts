/**
 * Imports many products in one transaction, each in its own savepoint. If an item breaks a rule, its changes
 * are rolled back and its result reports the failure; the other items are saved. Any error that is not a
 * `Failure` aborts the whole import.
 */
import { sql } from "kysely";
import { publishStockEvents } from "#commerce/inventory/stock-levels.ts";
import type { Transaction } from "#database/transaction.ts";
import {
  Failure,
  type FailureCode,
  type ConflictErrorDetails,
  type FailureDetail,
} from "#foundation/failure.ts";
import { findTaxClasses } from "#commerce/tax/tax-classes.ts";
import { catalogBounds } from "./catalog-fields.ts";
import { getListLengthErrors, requireNoInputFieldErrors } from "#foundation/faults.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import { blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import {
  findProductIdsBySlugOrSku,
  type RecordsReferencedByProductImport,
  type ImportedProductChanges,
  importProductItem,
} from "./import-item.ts";
import { findProductImportItemFaults, type ProductImportItem } from "./import-fields.ts";
import { findProductAggregates, type ProductAggregate } from "./read-products.ts";
import {
  type ProductChangeToRecord,
  lockMerchantCatalog,
  recordProductChanges,
  reindexProducts,
} from "./change-catalog.ts";

export interface ImportProductsInput {
  readonly items: readonly ProductImportItem[];
}

export interface ProductImportResult {
  readonly index: number;
  /**
   * The result of an import item. The result is `updated` even if the product already had exactly the
   * imported data.
   */
  readonly status: "created" | "updated" | "failed";
  readonly productId: string | null;
  readonly error: ProductImportError | null;
}

export interface ProductImportError {
  readonly code: FailureCode;
  readonly message: string;
  /**
   * Faults of the import item. The JSON Pointers of the faulty fields are relative to the item, not to the
   * whole input.
   */
  readonly details: readonly FailureDetail[];
  readonly conflict: ConflictErrorDetails | null;
}

export async function importProducts(
  transaction: Transaction,
  context: MerchantCommandContext,
  { items }: ImportProductsInput,
): Promise<{ results: ProductImportResult[] }> {
  requireNoInputFieldErrors(
    getListLengthErrors("/items", items, { min: 1, max: catalogBounds.importItemsMax }),
  );
  const references = await readImportReferences(transaction, context, items);
  const results: ProductImportResult[] = [];
  const imported: ImportedProductChanges[] = [];
  for (const [index, item] of items.entries()) {
    const outcome = await importInSavepoint(transaction, context, { item, references });
    if (!(outcome instanceof Failure)) imported.push(outcome);
    results.push(toResult(index, outcome));
  }
  await publishImport(transaction, context, { imported, befores: references.befores });
  return { results };
}

async function readImportReferences(
  transaction: Transaction,
  context: MerchantCommandContext,
  items: readonly ProductImportItem[],
): Promise<RecordsReferencedByProductImport> {
  const { defaultLocale } = await lockMerchantCatalog(transaction, context);
  const markets = await transaction
    .selectFrom("market")
    .select(["id", "handle", "currency"])
    .where("merchantId", "=", context.merchantId)
    .execute();
  const slugs = [...new Set(items.flatMap(({ categorySlugs }) => categorySlugs ?? []))];
  const categories = await transaction
    .selectFrom("category")
    .select(["id", "slug"])
    .where("merchantId", "=", context.merchantId)
    .where(sql<boolean>`slug = any(${slugs}::text[])`)
    .execute();
  const taxClasses = await findTaxClasses(transaction, [context.merchantId]);
  return {
    defaultLocale,
    taxClasses: new Set(taxClasses.map(({ code }) => code)),
    markets: new Map(markets.map(({ id, handle, currency }) => [handle, { id, currency }])),
    categoryIds: new Map(categories.map(({ id, slug }) => [slug, id])),
    befores: await readProductsBeforeImport(transaction, context, items),
  };
}

/**
 * Loads all products that the import may change, as they are before the import. The merchant's row is locked,
 * so no other transaction changes them meanwhile.
 */
async function readProductsBeforeImport(
  transaction: Transaction,
  { merchantId, now }: MerchantCommandContext,
  items: readonly ProductImportItem[],
): Promise<ReadonlyMap<string, ProductAggregate>> {
  const slugs = items.flatMap(({ translations }) =>
    translations.map(({ slug }) => blankIdWithForbiddenCharacters(slug)),
  );
  const skus = items.flatMap(({ variants }) =>
    variants.map(({ sku }) => blankIdWithForbiddenCharacters(sku).toLowerCase()),
  );
  const productIds = await findProductIdsBySlugOrSku(transaction, merchantId, { slugs, skus });
  return productIds.length === 0 ? new Map() : findProductAggregates(transaction, productIds, now);
}

async function importInSavepoint(
  transaction: Transaction,
  context: MerchantCommandContext,
  {
    item,
    references,
  }: { readonly item: ProductImportItem; readonly references: RecordsReferencedByProductImport },
): Promise<ImportedProductChanges | Failure> {
  const savepoint = sql.raw("import_item");
  let isOpen = false;
  try {
    requireNoInputFieldErrors(findProductImportItemFaults(item));
    await sql`savepoint ${savepoint}`.execute(transaction);
    isOpen = true;
    const imported = await importProductItem(transaction, context, { item, references });
    await sql`release savepoint ${savepoint}`.execute(transaction);
    return imported;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (isOpen) {
      await sql`rollback to savepoint ${savepoint}`.execute(transaction);
      await sql`release savepoint ${savepoint}`.execute(transaction);
    }
    return error;
  }
}

function toResult(index: number, outcome: ImportedProductChanges | Failure): ProductImportResult {
  if (!(outcome instanceof Failure)) {
    return {
      index,
      status: outcome.isCreated ? "created" : "updated",
      productId: outcome.productId,
      error: null,
    };
  }
  const { details = [], conflict = null } = outcome.parts;
  return {
    index,
    status: "failed",
    productId: null,
    error: { code: outcome.code, message: outcome.message, details, conflict },
  };
}

/**
 * Publishes the events of an import, raises the versions of the products, and updates the search index. If
 * several items change one product, its version is raised once; a created product keeps version 1.
 */
async function publishImport(
  transaction: Transaction,
  context: MerchantCommandContext,
  {
    imported,
    befores,
  }: {
    readonly imported: readonly ImportedProductChanges[];
    readonly befores: RecordsReferencedByProductImport["befores"];
  },
): Promise<void> {
  const created = new Set(imported.filter(({ isCreated }) => isCreated).map(({ productId }) => productId));
  const changed = changedProductsOf(imported, befores).filter(({ before }) => !created.has(before.id));
  const toIndex = [
    ...new Set(imported.filter(({ needsIndexing }) => needsIndexing).map(({ productId }) => productId)),
  ].toSorted();
  for (const id of created) publishCreatedEvents(context, id, imported);
  publishStockEvents(
    context,
    imported.flatMap(({ stockChanges }) => stockChanges),
  );
  if (created.size + changed.length > 0)
    await recordProductChanges(transaction, context, { changed, alsoIndex: toIndex });
  else await reindexProducts(transaction, context, toIndex);
}

function publishCreatedEvents(
  { outbox }: MerchantCommandContext,
  id: string,
  imported: readonly ImportedProductChanges[],
): void {
  outbox.append({ type: "product.created", id });
  const isPublished = imported.some(
    ({ productId, types }) => productId === id && types.includes("product.published"),
  );
  if (isPublished) outbox.append({ type: "product.published", id });
}

function changedProductsOf(
  imported: readonly ImportedProductChanges[],
  befores: RecordsReferencedByProductImport["befores"],
): ProductChangeToRecord[] {
  return [...Map.groupBy(imported, ({ productId }) => productId)].flatMap(([id, items]) => {
    const before = befores.get(id);
    const types = [...new Set(items.flatMap((item) => item.types))];
    return before === undefined || types.length === 0 ? [] : [{ before, types }];
  });
}
