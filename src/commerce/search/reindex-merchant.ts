/** Brings a merchant's part of the index up to date when something changed that all of its products depend on. */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { indexProducts } from "./index-products.ts";

export interface MerchantToIndex {
  readonly merchantId: string;
  /** Only what has no document yet: what was published while the merchant was suspended. */
  readonly onlyMissing: boolean;
  readonly now: Date;
}

export async function reindexMerchant(transaction: Transaction, { merchantId, onlyMissing, now }: MerchantToIndex): Promise<void> {
  const missing = onlyMissing ? sql`and not exists (select from search_document d where d.product_id = p.id)` : sql``;
  const { rows } = await sql<{ id: string }>`
    select p.id from product p where p.merchant_id = ${merchantId} and p.status = 'published' ${missing} order by p.id`.execute(transaction);
  await indexProducts(
    transaction,
    rows.map(({ id }) => id),
    now,
  );
}
