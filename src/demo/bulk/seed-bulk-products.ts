/**
 * Adds many generated products to a merchant's catalog, for measuring the speed of the service. Each
 * transaction inserts 1000 products.
 */
import { type Insertable, sql } from "kysely";
import type { Database } from "#database/connect.ts";
import type { CategoryTable } from "#database/tables.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { createBulkProductRows, type ValuesSharedByBulkProducts } from "./bulk-product-rows.ts";
import { loadBulkVocabulary } from "#demo/demo-data.ts";
import type { DemoLocalizedText } from "#demo/data/data-file.ts";
import { insertDemoProductRows, type DemoProductRows } from "#demo/rows/product-rows.ts";

export interface BulkProductOptions {
  readonly merchantId: string;
  readonly count: number;
  readonly now: Date;
  /**
   * The seed of the random values; 1 if left out. Two runs with the same seed create the same products if the
   * merchant had the same number of products before each run.
   */
  readonly seed?: number;
  /** The function that adds the inserted products to the search index, in the same transaction. */
  readonly index: (transaction: Transaction, productIds: readonly string[]) => Promise<unknown>;
  /** The callback after each transaction; receives the number of products inserted so far. */
  readonly onProgress?: (done: number) => void;
}

const productCountMax = 1_000_000;
const batchSize = 1000;
/**
 * The position of the first generated category in the list of categories, after the merchant's existing
 * categories.
 */
const firstCategoryPosition = 100;

export async function seedBulkProducts(db: Database, options: BulkProductOptions): Promise<void> {
  const { merchantId, count, now, seed = 1, onProgress } = options;
  if (!Number.isInteger(count) || count < 0 || count > productCountMax)
    throw new RangeError(`count must be an integer from 0 to ${productCountMax}.`);
  const { markets, productCount } = await loadMerchant(db, merchantId);
  const categoryIds = await ensureCategories(db, { merchantId, now });
  const context: ValuesSharedByBulkProducts = { merchantId, markets, categoryIds, now, seed };
  let done = 0;
  const write = async (numbers: readonly number[]): Promise<void> => {
    const products = numbers.map((number) => createBulkProductRows(number, context));
    await runInTransaction(db, (transaction) => writeBatch(transaction, options, products));
    done += numbers.length;
    onProgress?.(done);
  };
  const batches = createBatches(productCount + 1, count);
  // The first batch of products is inserted alone, before all other batches, because it adds most words to
  // the search index. If two transactions added the same words at the same time, one of them would have to
  // wait for the other.
  const first = batches.next();
  if (first.done !== true) await write(first.value);
  // Two loops insert batches of products concurrently: while the database inserts one loop's batch, this
  // process creates the rows for the other loop. Both loops read batches from one generator. An error in one
  // loop ends the generator, which also stops the other loop.
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
  products: readonly DemoProductRows[],
): Promise<void> {
  await insertDemoProductRows(transaction, products);
  await index(
    transaction,
    products.map(({ product }) => product.id),
  );
  // The update of the merchant's row comes last in the transaction. It locks the row until the commit, and
  // other changes of the catalog wait for this lock.
  await sql`update merchant set catalog_version = catalog_version + 1, updated_at = ${now}::timestamptz
    where id = ${merchantId}`.execute(transaction);
}

/**
 * Loads the merchant's markets and the number of its products. New products get numbers after those of the
 * existing products, so that a second run creates different products.
 */
async function loadMerchant(
  db: Database,
  merchantId: string,
): Promise<{ markets: ValuesSharedByBulkProducts["markets"]; productCount: number }> {
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
 * Inserts a category for each department of the generated products and for each range in a department. If the
 * merchant already has a category with the same slug, the existing category is used.
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
  return runInTransaction(db, async (transaction) => {
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
