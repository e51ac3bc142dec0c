/** How much is bought of each product now: the units ordered in the last 30 days, canceled ones left out, which browsing is sorted by. */
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { inTransaction } from "#database/transaction.ts";

const countedMs = 30 * 86_400_000;
const batchRowsMax = 500;

export interface PopularityRound {
  readonly db: Database;
  readonly now: Date;
  /** Ends it between two batches. */
  readonly signal?: AbortSignal | undefined;
}

/** Writes every product whose count is another now, a transaction for each batch; gives how many. The orders are counted once. */
export async function refreshPopularity({ db, now, signal }: PopularityRound): Promise<number> {
  const changed = await findChanged(db, now);
  for (let start = 0; start < changed.length; start += batchRowsMax) {
    if (signal?.aborted === true) return start;
    await writeCounts(db, changed.slice(start, start + batchRowsMax));
  }
  return changed.length;
}

interface Counted {
  readonly id: string;
  readonly units: number;
}

async function findChanged(db: Database, now: Date): Promise<readonly Counted[]> {
  const since = new Date(now.getTime() - countedMs);
  const { rows } = await sql<Counted>`
    with sold as (
      select l.product_id, sum(l.ordered - l.canceled)::int as units from sales_order o join order_line l on l.order_id = o.id
      where o.placed_at > ${since} and o.placed_at <= ${now} group by l.product_id)
    select p.id, coalesce(s.units, 0) as units from product p left join sold s on s.product_id = p.id
    where p.status = 'published' and p.popularity <> coalesce(s.units, 0) order by p.id`.execute(db);
  return rows;
}

/** Products in the order of their ids, as whoever indexes them does. Nothing a client reads of a product changes: its version stays. */
function writeCounts(db: Database, rows: readonly Counted[]): Promise<unknown> {
  const counts = sql`unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ units }) => units)}::int[]) as c(id, units)`;
  return inTransaction(db, async (transaction) => {
    await sql`select 1 from product where id = any(${rows.map(({ id }) => id)}::text[]) order by id for no key update`.execute(transaction);
    await sql`update product p set popularity = c.units from ${counts} where p.id = c.id`.execute(transaction);
    await sql`update search_offer o set popularity = c.units from ${counts} where o.product_id = c.id`.execute(transaction);
  });
}
