/**
 * Fills a merchant's catalogue with as many products as one wants to measure with, in transactions of a
 * thousand.
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
  /** The same seed gives the same products to a merchant that has as many already. */
  readonly seed?: number;
  /** Brings the search index up to date, in the transaction that writes the products. */
  readonly index: (transaction: Transaction, productIds: readonly string[]) => Promise<unknown>;
  readonly onProgress?: (done: number) => void;
}

const productCountMax = 1_000_000;
const batchSize = 1000;
/** The merchant's own categories stay in front. */
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
  // The first one alone: it brings the search index most of its words, for which two transactions would wait
  // for each other.
  const first = batches.next();
  if (first.done !== true) await write(first.value);
  // Two lanes: this process makes the next thousand while the database writes the last. A lane that fails
  // closes the batches for the other.
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
  // Last, because until the end of the transaction everybody else who changes the catalog waits for it.
  await sql`update merchant set catalog_version = catalog_version + 1, updated_at = ${now}::timestamptz where id = ${merchantId}`.execute(
    transaction,
  );
}

/** Numbers go on where the merchant's products end, so that a second run gives other products. */
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
  if (markets.length === 0) throw new Error(`The merchant ${merchantId} has no market to sell in.`);
  const { productCount } = await db
    .selectFrom("product")
    .select(({ fn }) => fn.countAll<number>().as("productCount"))
    .where("merchantId", "=", merchantId)
    .executeTakeFirstOrThrow();
  return { markets, productCount };
}

/** The departments and their ranges; a slug that the merchant has already keeps the meaning it has. */
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
