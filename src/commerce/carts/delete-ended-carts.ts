/**
 * Deletes carts that ended long ago without an order, with their lines, promotions, erased personal data and
 * checkout sessions. The cart of an order is kept with the order. A cart is also kept if it has a payment,
 * personal data that is not erased, or reserved stock, and as long as a cart that was merged into it is
 * stored.
 */
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { getLowestIdAtTime } from "#foundation/ids.ts";

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

/** Deletes ended carts in batches, and returns their number. */
export async function deleteEndedCarts({
  db,
  now,
  retentionDays,
  signal,
}: EndedCartDeletion): Promise<number> {
  const endedBefore = new Date(now.getTime() - retentionDays * 86_400_000);
  let total = 0;
  for (const { id: merchantId } of await db.selectFrom("merchant").select("id").orderBy("id").execute())
    for (let isFinished = false; !isFinished;) {
      if (signal?.aborted === true || total >= cartsPerRun) return total;
      const deleted = await deleteBatch(db, merchantId, endedBefore);
      total += deleted;
      isFinished = deleted < cartsPerBatch;
    }
  return total;
}

/**
 * Deletes one batch of ended carts of a merchant, oldest first. PostgreSQL finds them in the index
 * `cart_by_status` by their status and id, because a cart was created before it ended. Skips carts that
 * another process has locked.
 */
async function deleteBatch(db: Database, merchantId: string, endedBefore: Date): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`
    with old as (
      select c.id from cart c
      where c.merchant_id = ${merchantId} and c.status in ('expired', 'revoked', 'merged')
        and c.id < ${getLowestIdAtTime("cart", endedBefore.getTime())}
        and coalesce(c.ended_at, c.expires_at) <= ${endedBefore}::timestamptz and c.order_id is null
        and not exists (select from cart m where m.merged_into_cart_id = c.id)
        and not exists (select from personal_data p where p.cart_id = c.id and p.erased_at is null)
        and not exists (
          select from hosted_checkout_session s where s.cart_id = c.id and (
            s.status not in ('canceled', 'expired')
            or exists (select from payment p where p.session_id = s.id)
            or exists (select from stock_hold h where h.session_id = s.id)
            or exists (select from promotion_use u where u.session_id = s.id and u.given_back_at is null)))
      order by c.id limit ${cartsPerBatch} for update of c skip locked
    ), old_session as (
      select s.id from hosted_checkout_session s where s.cart_id in (select id from old)
    ), use as (
      delete from promotion_use where session_id in (select id from old_session)
    ), session as (
      delete from hosted_checkout_session where id in (select id from old_session)
    ), gone as (
      delete from cart where id in (select id from old) returning id
    )
    select count(*)::integer as deleted from gone`.execute(db);
  return rows[0]?.deleted ?? 0;
}
