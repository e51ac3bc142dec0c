/** Indexes anew what time alone has changed: pre-orders whose date has passed are in stock now, or sold out. */
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { inTransaction } from "#database/transaction.ts";
import { indexProducts } from "./index-products.ts";

const productsMax = 500;

/** How many products it indexed; called again while it was as many as fit. */
export async function refreshDue(db: Database, now: Date): Promise<number> {
  return inTransaction(db, async (transaction) => {
    const { rows } = await sql<{ id: string }>`
      select distinct v.product_id as id from variant v join search_document d on d.product_id = v.product_id
      where v.available_from <= ${now} and v.available_from > d.indexed_at limit ${productsMax}`.execute(transaction);
    await indexProducts(
      transaction,
      rows.map(({ id }) => id),
      now,
    );
    return rows.length;
  });
}
