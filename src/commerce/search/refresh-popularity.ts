/**
 * Updates the popularity of products (the number of units ordered in the last 30 days), by which searches
 * sort products.
 */
import { sql } from "kysely";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import type { Database } from "#database/connect.ts";
import { toPopularityStepLexeme } from "./match-query.ts";
import { calculatePopularityStep, popularityStepMax } from "./offer-key.ts";

const countedMs = 30 * 86_400_000;
const batchRowsMax = 500;

interface PopularityRefresh {
  readonly db: Database;
  readonly now: Date;
  /** Signal that stops the update of the popularity after the current batch. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Updates the popularity of products: the number of units ordered in the last 30 days, without canceled
 * units. Writes only products whose number has changed, one transaction for each batch, and returns how many
 * products were written. The orders are read once for all batches.
 */
export async function refreshProductPopularity({ db, now, signal }: PopularityRefresh): Promise<number> {
  const changed = await findChangedPopularity(db, now);
  for (let start = 0; start < changed.length; start += batchRowsMax) {
    if (signal?.aborted === true) return start;
    await writePopularity(db, changed.slice(start, start + batchRowsMax));
  }
  return changed.length;
}

interface ProductPopularity {
  readonly id: string;
  readonly units: number;
}

async function findChangedPopularity(db: Database, now: Date): Promise<readonly ProductPopularity[]> {
  const since = new Date(now.getTime() - countedMs);
  const { rows } = await sql<ProductPopularity>`
    with sold as (
      select l.product_id, sum(l.ordered - l.canceled)::int as units from sales_order o join order_line l
      on l.order_id = o.id
      where o.placed_at > ${since} and o.placed_at <= ${now} group by l.product_id)
    select p.id, coalesce(s.units, 0) as units from product p left join sold s on s.product_id = p.id
    where p.status = 'published' and p.popularity <> coalesce(s.units, 0) order by p.id`.execute(db);
  return rows;
}

/**
 * Saves the popularity of products. Products are locked in the order of their ids, as during indexing. The
 * version of a product does not change, because clients cannot read the popularity.
 */
function writePopularity(db: Database, rows: readonly ProductPopularity[]): Promise<unknown> {
  const counts = sql`unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ units }) => units)}::int[]) as
    c(id, units)`;
  return runInTransaction(db, async (transaction) => {
    await sql`select 1 from product where id = any(${rows.map(({ id }) => id)}::text[]) order by id for no key
      update`.execute(transaction);
    await sql`update product p set popularity = c.units from ${counts} where p.id = c.id`.execute(
      transaction,
    );
    await sql`update search_offer o set popularity = c.units from ${counts}
      where o.product_id = c.id`.execute(transaction);
    await writePopularitySteps(transaction, rows);
  });
}

const stepLexemes = Array.from({ length: popularityStepMax + 1 }, (_, step) => toPopularityStepLexeme(step));

/**
 * Writes new popularity steps into offer keys and search documents. Documents whose popularity step stays the
 * same are not updated.
 */
async function writePopularitySteps(
  transaction: Transaction,
  rows: readonly ProductPopularity[],
): Promise<void> {
  const steps = rows.map(({ units }) => calculatePopularityStep(units));
  await sql`
    update search_document d set offers = (
      select jsonb_object_agg(o.key, split_part(o.value, '/', 1) || '/' || split_part(o.value, '/', 2) || '/'
        || c.step)
      from jsonb_each_text(d.offers) as o),
      words = ts_delete(d.words, ${stepLexemes}::text[]) || array_to_tsvector(array[c.lexeme])
    from unnest(${rows.map(({ id }) => id)}::text[], ${steps}::int[],
      ${steps.map(toPopularityStepLexeme)}::text[]) as c(id, step, lexeme)
    where d.product_id = c.id and exists (select from jsonb_each_text(d.offers) as o
      where split_part(o.value, '/', 3) <> c.step::text)`.execute(transaction);
}
