/** What is known of a buyer and where: from a cart, an order, an address token or the name a frontend gave the buyer, to all that hangs together. */
import { sql } from "kysely";
import { tokenDigest } from "#commerce/carts/set-address.ts";
import type { Reader, Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";

/** A buyer's reference means something with one merchant alone. */
export type ErasureTarget =
  | { readonly by: "cart" | "order" | "addressToken"; readonly value: string }
  | { readonly by: "buyerReference"; readonly value: string; readonly merchantId: string };

export interface ErasureScope {
  readonly merchantId: string;
  /** Those that were merged into one of them included. */
  readonly cartIds: readonly string[];
  readonly orderIds: readonly string[];
  /** Rows of personal_data, those that were erased before included. */
  readonly personalIds: readonly string[];
}

/** Throws where there is no such thing: nobody shall believe that something was erased that was only misspelt. */
export async function findErasureScope(reader: Reader, target: ErasureTarget): Promise<ErasureScope> {
  const seed = await findSeed(reader, target);
  if (seed === undefined) throw fail("resource_not_found", { message: `Nothing is known of ${nothing[target.by]}.` });
  const { merchantId, cartIds, buyerReference } = seed;
  const { rows: carts } = await sql<{ id: string }>`
    with recursive mine (id) as (
      select unnest(${cartIds}::text[]) union select c.id from cart c join mine on c.merged_into_cart_id = mine.id)
    select id from mine order by id`.execute(reader);
  const ids = carts.map(({ id }) => id);
  const { rows: orders } = await sql<{ id: string }>`
    select id from sales_order where cart_id = any(${ids}::text[])
      or (merchant_id = ${merchantId} and buyer_reference = ${buyerReference}::text) order by id`.execute(reader);
  const orderIds = orders.map(({ id }) => id);
  const { rows: personal } = await sql<{ id: string }>`
    select id from personal_data where cart_id = any(${ids}::text[])
    union select id from personal_data where merchant_id = ${merchantId} and buyer_reference = ${buyerReference}::text
    union select unnest(array[address_id, buyer_email_id]) from cart where id = any(${ids}::text[])
    union select unnest(array[address_id, buyer_email_id]) from sales_order where id = any(${orderIds}::text[])`.execute(reader);
  const personalIds = personal.map(({ id }) => id).filter((id: string | null) => id !== null);
  return { merchantId, cartIds: ids, orderIds, personalIds };
}

/** Carts first, then orders: as everybody locks them. Until the end of the transaction nobody places, changes or ends anything of it. */
export async function lockErasureScope(transaction: Transaction, { cartIds, orderIds }: ErasureScope): Promise<void> {
  await sql`select id from cart where id = any(${cartIds}::text[]) order by id for no key update`.execute(transaction);
  await sql`select id from sales_order where id = any(${orderIds}::text[]) order by id for no key update`.execute(transaction);
}

export function isSameScope(one: ErasureScope, other: ErasureScope): boolean {
  const isSame = (key: "cartIds" | "orderIds" | "personalIds"): boolean => {
    const ids = new Set(other[key]);
    return ids.size === new Set(one[key]).size && one[key].every((id) => ids.has(id));
  };
  return one.merchantId === other.merchantId && isSame("cartIds") && isSame("orderIds") && isSame("personalIds");
}

const nothing: Readonly<Record<ErasureTarget["by"], string>> = {
  cart: "this cart",
  order: "this order",
  addressToken: "this address token: it was replaced, or its cart has ended. Erase the cart or the order",
  buyerReference: "a buyer by this reference with this merchant",
};

interface Seed {
  readonly merchantId: string;
  readonly cartIds: readonly string[];
  readonly buyerReference: string | null;
}

async function findSeed(reader: Reader, target: ErasureTarget): Promise<Seed | undefined> {
  if (target.by === "buyerReference") return findBuyer(reader, target);
  const { value } = target;
  const cart = reader.selectFrom("cart").select(["cart.merchantId", "cart.id"]);
  const found =
    target.by === "order"
      ? await reader.selectFrom("salesOrder").select(["merchantId", "cartId as id"]).where("id", "=", value).executeTakeFirst()
      : target.by === "cart"
        ? await cart.where("cart.id", "=", value).executeTakeFirst()
        : await cart.where("cart.addressTokenDigest", "=", tokenDigest(value)).executeTakeFirst();
  return found === undefined ? undefined : { merchantId: found.merchantId, cartIds: [found.id], buyerReference: null };
}

/** Also one of whom nothing but saved addresses is there. */
async function findBuyer(reader: Reader, { merchantId, value }: { readonly merchantId: string; readonly value: string }): Promise<Seed | undefined> {
  const { rows } = await sql<{ id: string | null }>`
    select id from cart where merchant_id = ${merchantId} and buyer_reference = ${value}
    union select cart_id from sales_order where merchant_id = ${merchantId} and buyer_reference = ${value}
    union select cart_id from personal_data where merchant_id = ${merchantId} and buyer_reference = ${value}`.execute(reader);
  if (rows.length === 0) return undefined;
  return { merchantId, cartIds: rows.map(({ id }) => id).filter((id) => id !== null), buyerReference: value };
}
