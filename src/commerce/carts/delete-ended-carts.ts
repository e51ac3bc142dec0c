/**
 * Deletes carts that ended long ago without an order, with their lines, promotions, erased personal data and
 * checkout sessions. The cart of an order is kept with the order. A cart is also kept if it has a payment,
 * personal data that is not erased, or reserved stock, and as long as a cart that was merged into it is
 * stored.
 */
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { getLowestIdAtTime } from "#foundation/ids.ts";

/** The number of carts that one statement reads, and deletes at most. */
const cartsPerBatch = 200;
/** The largest number of carts that one run deletes, so that the other sweeps do not wait long. */
const cartsPerRun = 20_000;

interface EndedCartDeletion {
  readonly db: Database;
  readonly now: Date;
  /** Carts that ended more than this number of days ago are deleted. */
  readonly retentionDays: number;
  readonly signal?: AbortSignal | undefined;
}

/** The statuses of ended carts without an order. */
const endedStatuses = ["expired", "revoked", "merged"] as const;

/** Deletes ended carts in batches, and returns their number. */
export async function deleteEndedCarts({
  db,
  now,
  retentionDays,
  signal,
}: EndedCartDeletion): Promise<number> {
  const endedBefore = new Date(now.getTime() - retentionDays * 86_400_000);
  const merchants = await db.selectFrom("merchant").select("id").orderBy("id").execute();
  const groups = merchants.flatMap(({ id }) =>
    endedStatuses.map((status) => ({ merchantId: id, status, endedBefore })),
  );
  let total = 0;
  for (const group of groups)
    for (let lastCartId: string | null = ""; lastCartId !== null;) {
      if (signal?.aborted === true || total >= cartsPerRun) return total;
      const batch = await deleteBatch(db, { ...group, lastCartId });
      total += batch.deleted;
      lastCartId = batch.lastCartId;
    }
  return total;
}

interface EndedCartBatch {
  readonly merchantId: string;
  readonly status: (typeof endedStatuses)[number];
  /** The last cart of the batch before; empty for the first batch. */
  readonly lastCartId: string;
  readonly endedBefore: Date;
}

interface BatchResult {
  readonly deleted: number;
  /** The last cart of this batch; null if no more carts are old enough. */
  readonly lastCartId: string | null;
}

/**
 * Reads the next carts of a merchant and a status, oldest first, and deletes those that need not be kept.
 * Each batch reads the same number of carts, also if most carts must be kept: PostgreSQL finds the carts in
 * the index `cart_by_status` by their status and id, because a cart was created before it ended, and each
 * batch starts after the last cart of the batch before. The comparison of rows, instead of columns, prevents
 * PostgreSQL from reading all carts in the order of their ids. Skips carts that another process has locked.
 */
async function deleteBatch(
  db: Database,
  { merchantId, status, lastCartId, endedBefore }: EndedCartBatch,
): Promise<BatchResult> {
  const { rows } = await sql<BatchResult>`
    with candidate as materialized (
      select c.id from cart c
      where c.status <> 'completed'
        and (c.merchant_id, c.status, c.id) > (${merchantId}, ${status}, ${lastCartId})
        and (c.merchant_id, c.status, c.id) <
          (${merchantId}, ${status}, ${getLowestIdAtTime("cart", endedBefore.getTime())})
      order by c.merchant_id, c.status, c.id limit ${cartsPerBatch}
    ), old as materialized (
      select c.id from cart c
      where c.id in (select id from candidate) and c.status = ${status}
        and coalesce(c.ended_at, c.expires_at) <= ${endedBefore}::timestamptz and c.order_id is null
        and not exists (select from cart m where m.merged_into_cart_id = c.id)
        and not exists (select from personal_data p where p.cart_id = c.id and p.erased_at is null)
        and not exists (
          select from hosted_checkout_session s where s.cart_id = c.id and (
            s.status not in ('canceled', 'expired')
            or exists (select from payment p where p.session_id = s.id)
            or exists (select from stock_hold h where h.session_id = s.id)
            or exists (select from promotion_use u where u.session_id = s.id and u.given_back_at is null)))
      for update of c skip locked
    ), old_session as (
      select s.id from hosted_checkout_session s where s.cart_id in (select id from old)
    ), use as (
      delete from promotion_use where session_id in (select id from old_session)
    ), session as (
      delete from hosted_checkout_session where id in (select id from old_session)
    ), gone as (
      delete from cart where id in (select id from old) returning id
    )
    select (select count(*)::integer from gone) as deleted,
      (select case when count(*) = ${cartsPerBatch} then max(id) end from candidate) as last_cart_id`.execute(
    db,
  );
  const [batch] = rows;
  if (batch === undefined) throw new Error("The deletion of a batch of ended carts returned no row.");
  return batch;
}
