/** Finds carts otherwise than by their ids: lists for who runs a merchant, and the cart that an address token is bound to. */
import { type SelectQueryBuilder, sql } from "kysely";
import type { Tables } from "#database/tables.ts";
import type { Reader } from "#database/transaction.ts";
import { type CartStatus, endedLifeMs } from "./cart-aggregate.ts";
import { tokenDigest } from "./set-delivery.ts";

export interface CartFilter {
  /** Null: of all merchants. */
  readonly merchantId: string | null;
  /** Null: of all buyers. */
  readonly buyerReference: string | null;
  readonly status: CartStatus | null;
  readonly now: Date;
}

/** A query still to be paged or counted. What ended 90 days ago is not in it, and statuses are those of the clock. */
export function cartList(
  reader: Reader,
  { merchantId, buyerReference, status, now }: CartFilter,
): SelectQueryBuilder<Tables, "cart", { id: string }> {
  const current = statusAt(now);
  let list = reader
    .selectFrom("cart")
    .select("cart.id")
    .where(sql<boolean>`(${current} in ('active', 'locked') or coalesce(cart.ended_at, cart.expires_at) > ${new Date(now.getTime() - endedLifeMs)})`);
  if (merchantId !== null) list = list.where("cart.merchantId", "=", merchantId);
  if (buyerReference !== null) list = list.where("cart.buyerReference", "=", buyerReference);
  if (status !== null) list = list.where(sql<boolean>`${current} = ${status}`);
  return list;
}

/** `statusOf` in SQL. */
function statusAt(now: Date): ReturnType<typeof sql<string>> {
  const isLive = sql`exists (select 1 from hosted_checkout_session s where s.cart_id = cart.id
    and (s.status = 'processing' or (s.status = 'open' and s.expires_at > ${now})))`;
  return sql<string>`case when cart.status = 'locked' and ${isLive} then 'locked'
    when cart.status in ('active', 'locked') then case when cart.expires_at <= ${now} then 'expired' else 'active' end
    else cart.status end`;
}

/** Undefined when nothing has this token; whether it has ended, the cart says. */
export async function findCartByToken(
  reader: Reader,
  { merchantId, addressToken }: { readonly merchantId: string; readonly addressToken: string },
): Promise<string | undefined> {
  const cart = await reader
    .selectFrom("cart")
    .select("id")
    .where("addressTokenDigest", "=", tokenDigest(addressToken))
    .where("merchantId", "=", merchantId)
    .executeTakeFirst();
  return cart?.id;
}
