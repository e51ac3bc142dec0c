/**
 * Adds many generated products to a merchant's catalog, for measurements. Each transaction inserts 1000
 * products.
 */
import { type Insertable, sql } from "kysely";
import type { Database } from "#database/connect.ts";
import type { CategoryTable } from "#database/tables.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { createBulkProductRows, type BulkProductContext } from "./bulk-product-rows.ts";
import { loadBulkVocabulary } from "#demo/demo-data.ts";
import type { DemoLocalizedText } from "#demo/data/data-file.ts";
import { insertProductRows, type ProductRows } from "#demo/rows/product-rows.ts";

export interface BulkProductOptions {
  readonly merchantId: string;
  readonly count: number;
  readonly now: Date;
  /**
   * The seed of the random values; 1 if left out. The same seed gives the same products if the merchant has
   * the same number of products before.
   */
  readonly seed?: number;
  /** Updates the search index, in the transaction that inserts the products. */
  readonly index: (transaction: Transaction, productIds: readonly string[]) => Promise<unknown>;
  /** Called after each transaction, with the number of products inserted so far. */
  readonly onProgress?: (done: number) => void;
}

const productCountMax = 1_000_000;
const batchSize = 1000;
/** The position of the first generated category, which is after the merchant's existing categories. */
const firstCategoryPosition = 100;

export async function seedBulkProducts(db: Database, options: BulkProductOptions): Promise<void> {
  const { merchantId, count, now, seed = 1, onProgress } = options;
  if (!Number.isInteger(count) || count < 0 || count > productCountMax)
    throw new RangeError(`count must be an integer from 0 to ${productCountMax}.`);
  const { markets, productCount } = await loadMerchant(db, merchantId);
  const categoryIds = await ensureCategories(db, { merchantId, now });
  const context: BulkProductContext = { merchantId, markets, categoryIds, now, seed };
  let done = 0;
  const write = async (numbers: readonly number[]): Promise<void> => {
    const products = numbers.map((number) => createBulkProductRows(number, context));
    await inTransaction(db, (transaction) => writeBatch(transaction, options, products));
    done += numbers.length;
    onProgress?.(done);
  };
  const batches = createBatches(productCount + 1, count);
  // The first batch is written alone. It adds most words to the search index; two concurrent transactions
  // that add the same words would wait for each other.
  const first = batches.next();
  if (first.done !== true) await write(first.value);
  // Two lanes write batches concurrently, so that this process creates the rows of one batch while the
  // database inserts another batch. If a lane fails, its loop ends the shared generator, so that the other
  // lane stops too.
  const lane = async (): Promise<void> => {
    for (const numbers of batches) await write(numbers);
  };
  const lanes = await Promise.allSettled([lane(), lane()]);
  const failed = lanes.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

function* createBatches(first: number, count: number): Generator<readonly number[], undefined> {
  for (let start = 0; start < count; start += batchSize)
    yield Array.from({ length: Math.min(batchSize, count - start) }, (_, offset) => first + start + offset);
}

async function writeBatch(
  transaction: Transaction,
  { merchantId, now, index }: BulkProductOptions,
  products: readonly ProductRows[],
): Promise<void> {
  await insertProductRows(transaction, products);
  await index(
    transaction,
    products.map(({ product }) => product.id),
  );
  // This statement runs last, because it locks the merchant's row until the end of the transaction, so that
  // other changes of the catalog wait.
  await sql`update merchant set catalog_version = catalog_version + 1, updated_at = ${now}::timestamptz
    where id = ${merchantId}`.execute(transaction);
}

/**
 * Loads the merchant's markets and its number of products. New products are numbered after the existing ones,
 * so that a second run creates other products.
 */
async function loadMerchant(
  db: Database,
  merchantId: string,
): Promise<{ markets: BulkProductContext["markets"]; productCount: number }> {
  const markets = await db
    .selectFrom("market")
    .select(["id", "currency"])
    .where("merchantId", "=", merchantId)
    .orderBy("id")
    .execute();
  if (markets.length === 0)
    throw new Error(`The merchant ${merchantId} has no market. Products need a market.`);
  const { productCount } = await db
    .selectFrom("product")
    .select(({ fn }) => fn.countAll<number>().as("productCount"))
    .where("merchantId", "=", merchantId)
    .executeTakeFirstOrThrow();
  return { markets, productCount };
}

/**
 * Inserts the categories of the departments and ranges. Uses the merchant's existing category if it has the
 * same slug.
 */
function ensureCategories(
  db: Database,
  { merchantId, now }: { readonly merchantId: string; readonly now: Date },
): Promise<Map<string, string>> {
  const toRow = (
    parentId: string | null,
    { slug, names }: { readonly slug: string; readonly names: DemoLocalizedText },
    position: number,
  ): Insertable<CategoryTable> => ({
    id: createId("category", now.getTime()),
    merchantId,
    parentId,
    slug,
    names: JSON.stringify(names),
    position,
    createdAt: now,
    updatedAt: now,
  });
  const { departments } = loadBulkVocabulary();
  return inTransaction(db, async (transaction) => {
    await saveCategories(
      transaction,
      departments.map((department, position) => toRow(null, department, firstCategoryPosition + position)),
    );
    const parents = await loadCategoryIds(transaction, merchantId);
    await saveCategories(
      transaction,
      departments.flatMap(({ slug, ranges }) =>
        ranges.map((range, position) => toRow(parents.get(slug) ?? null, range, position)),
      ),
    );
    return loadCategoryIds(transaction, merchantId);
  });
}

async function saveCategories(
  transaction: Transaction,
  rows: readonly Insertable<CategoryTable>[],
): Promise<void> {
  await transaction
    .insertInto("category")
    .values(rows)
    .onConflict((conflict) => conflict.columns(["merchantId", "slug"]).doNothing())
    .execute();
}

async function loadCategoryIds(transaction: Transaction, merchantId: string): Promise<Map<string, string>> {
  const rows = await transaction
    .selectFrom("category")
    .select(["id", "slug"])
    .where("merchantId", "=", merchantId)
    .execute();
  return new Map(rows.map(({ id, slug }) => [slug, id]));
}
