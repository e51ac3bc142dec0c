/**
 * Copies the generated orders of a database, because `seed --orders` takes up to an hour for a million
 * orders. A copy has the time and state of its original, ids of its own and another buyer. The copies of a
 * quarter of the orders have a promotion, which generated orders lack.
 */
import type { Client } from "pg";

/** The digits of ids. */
const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/** SQL for an id of the copy with the number `n.n`: the last digit of the original's id plus this number. */
const copied = (column: string): string =>
  `left(t.${column}, -1) || substr('${digits}', (position(right(t.${column}, 1) in '${digits}') - 1 + n.n)
    % ${digits.length} + 1, 1)`;

/** SQL that is equal for the cart and the order of a copy. */
const copiedBuyer = (orderId: string): string =>
  `case when t.buyer_reference is not null then 'buyer-1-' || abs(hashtext(${orderId} || n.n)) % 50000 end`;

const copiedDigest = (column: string): string => `sha256(t.${column} || n.n::text::bytea)`;

interface CopiedTable {
  /** The columns with ids of copied rows. */
  readonly ids: readonly string[];
  /** SQL for the other columns whose values differ from the original. */
  readonly others?: Readonly<Record<string, string>>;
  /** SQL condition on the copied rows `t`; without it, all rows of the merchant ($2) with an order. */
  readonly where?: string;
}

const ofOrders = "t.merchant_id = $2 and t.order_id is not null";
const ofMerchant = "t.merchant_id = $2";

const promotions = `case when abs(hashtext(t.id)::bigint) % 4 > 0 then t.promotions else (
  select jsonb_build_array('{"code": null, "kind": "percentage", "minimum": null, "trigger": "automatic",
    "titles": {"en": "Generated"}, "allocations": [], "boughtLineIds": []}'::jsonb || jsonb_build_object(
    'promotionId', p.ids[1 + abs(hashtext(t.number)::bigint) % cardinality(p.ids)],
    'discountMinor', t.total_minor / 10))
  from (select array_agg(id order by id) as ids from promotion where merchant_id = $2) as p) end`;

/**
 * The tables that lists and reports of many orders read. The lines of carts, timelines and encrypted data are
 * not copied.
 */
export const copiedTables: Readonly<Record<string, CopiedTable>> = {
  cart: {
    ids: ["id", "order_id"],
    others: {
      buyer_reference: copiedBuyer("t.order_id"),
      address_token_digest: copiedDigest("address_token_digest"),
    },
  },
  hosted_checkout_session: {
    ids: ["id", "cart_id", "order_id"],
    others: { url_digest: copiedDigest("url_digest"), page_digest: copiedDigest("page_digest") },
  },
  sales_order: {
    ids: ["id", "cart_id", "session_id"],
    others: {
      number: `t.number || '-' || n.n`,
      buyer_reference: copiedBuyer("t.id"),
      promotions,
    },
    where: ofMerchant,
  },
  order_line: { ids: ["id", "order_id"] },
  // The service computes an order's eligibility for cancellations and returns from its policies and parcels.
  policy_snapshot: { ids: ["id", "order_id"] },
  payment: { ids: ["id", "session_id", "order_id"] },
  fulfillment: { ids: ["id", "order_id", "return_id"] },
  fulfillment_line: {
    ids: ["fulfillment_id", "order_line_id"],
    where: "exists (select from fulfillment f where f.id = t.fulfillment_id and f.merchant_id = $2)",
  },
  refund: { ids: ["id", "payment_id", "order_id", "return_id"] },
  order_return: { ids: ["id", "order_id"] },
  return_line: {
    ids: ["return_id", "order_line_id"],
    where: "exists (select from order_return r where r.id = t.return_id and r.merchant_id = $2)",
  },
};

interface CopyOptions {
  readonly merchantId: string;
  /** Number of orders that the merchant has at least afterwards. */
  readonly count: number;
}

/**
 * Copies all orders of a merchant, and adds carts without an order. Returns the number of copied orders; 0 if
 * the merchant has enough orders. The caller must have disabled triggers and foreign keys in a transaction.
 */
export async function copyOrders(client: Client, { merchantId, count }: CopyOptions): Promise<number> {
  const { rows } = await client.query<{ orders: number }>(
    "select count(*)::int as orders from sales_order where merchant_id = $1",
    [merchantId],
  );
  const orders = rows[0]?.orders ?? 0;
  const copies = Math.ceil(count / Math.max(1, orders)) - 1;
  if (copies >= digits.length) throw new Error(`Seed at least ${Math.ceil(count / digits.length)} orders.`);
  if (copies < 1) return 0;
  for (const [table, { ids, others = {}, where = ofOrders }] of Object.entries(copiedTables)) {
    const { rows: columns } = await client.query<{ name: string }>(
      `select column_name as name from information_schema.columns
       where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER' and is_identity = 'NO'
       order by ordinal_position`,
      [table],
    );
    const names = columns.map(({ name }) => name);
    const values = names.map((name) => (ids.includes(name) ? copied(name) : (others[name] ?? `t.${name}`)));
    await client.query(
      `insert into ${table} (${names.join(", ")}) select ${values.join(", ")}
       from ${table} t, generate_series(1, $1::int) as n(n)
       where ${where}`,
      [copies, merchantId],
    );
  }
  await addAbandonedCarts(client, merchantId);
  return copies * orders;
}

/** Adds a cart without an order for every fifth order. */
async function addAbandonedCarts(client: Client, merchantId: string): Promise<void> {
  await client.query(
    `insert into cart (id, merchant_id, status, version, market_id, country, currency, tax_included, locale,
       subtotal_minor, total_minor, created_at, updated_at, expires_at)
     select ${copied("id")}, merchant_id, 'active', 1, market_id, country, currency, tax_included, locale,
       subtotal_minor, subtotal_minor, created_at, updated_at, expires_at
     from cart t, (select ${digits.length - 1} as n) as n
     where merchant_id = $1 and order_id is not null and abs(hashtext(id)::bigint) % 5 = 0
     on conflict do nothing`,
    [merchantId],
  );
}
