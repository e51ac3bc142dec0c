/**
 * Indexes anew what has changed without its index: pre-orders whose date has passed are in stock now, or sold out; and what checkouts and orders
 * have sold out, or brought back.
 */
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import { indexProducts } from "./index-products.ts";

const batchProductsMax = 500;

/** Gives how many products it indexed. Each comes once, however often it was put down: what is put down behind the round's back is for the next. */
export async function refreshDue(db: Database, now: Date, signal?: AbortSignal): Promise<number> {
  let after = "";
  for (let total = 0; ;) {
    const { dueIds, indexed } = await inTransaction(db, (transaction) => refreshBatch(transaction, { now, after }));
    total += indexed;
    after = dueIds.at(-1) ?? after;
    if (dueIds.length < batchProductsMax || signal?.aborted === true) return total;
  }
}

interface BatchToRefresh {
  readonly now: Date;
  /** The last product of the batch before. */
  readonly after: string;
}

async function refreshBatch(
  transaction: Transaction,
  batch: BatchToRefresh,
): Promise<{ readonly dueIds: readonly string[]; readonly indexed: number }> {
  const due = await findDue(transaction, batch);
  const dueIds = due.map(({ id }) => id);
  const arrived = due.filter(({ hasArrived }) => hasArrived).map(({ id }) => id);
  const ids = new Set([...arrived, ...(await takePutDown(transaction, dueIds))]);
  await indexProducts(transaction, [...ids], batch.now);
  return { dueIds, indexed: ids.size };
}

interface DueProduct {
  readonly id: string;
  /** A pre-order no longer. */
  readonly hasArrived: boolean;
}

async function findDue(transaction: Transaction, { now, after }: BatchToRefresh): Promise<readonly DueProduct[]> {
  const { rows } = await sql<DueProduct>`
    select id, bool_or(has_arrived) as has_arrived from (
      select product_id as id, false as has_arrived from search_due where product_id > ${after}
      union all
      select v.product_id, true from variant v join search_document d on d.product_id = v.product_id
      where v.available_from <= ${now} and v.available_from > d.indexed_at and v.product_id > ${after}) as due
    group by id order by id limit ${batchProductsMax}`.execute(transaction);
  return rows;
}

/**
 * What is read of a product afterwards includes the change that put it down: both were committed together. What comes later has a row of its own.
 * What another process has taken is left to it.
 */
async function takePutDown(transaction: Transaction, productIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    delete from search_due where id in (select id from search_due where product_id = any(${productIds}::text[]) for update skip locked)
    returning product_id as id`.execute(transaction);
  return rows.map(({ id }) => id);
}
