/**
 * Reads carts: by id (one statement reads everything that the API shows of any number of carts), as filtered
 * lists, and by address token.
 */
import { createHash } from "node:crypto";
import { type CompiledQuery, type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { Tables } from "#database/tables.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { reservedUnitsSql } from "#commerce/catalog/availability.ts";
import { findRowsOrReuseKnownRows, type KnownRow } from "#database/known-rows.ts";
import {
  createPaddedInClauseTemplate,
  createNamedSqlTemplateParameter,
  prepareStatementTemplate,
} from "#database/prepared-template.ts";
import { formatUtcTimeSql } from "#database/sql-fragments.ts";
import { getLowestIdAtTime } from "#foundation/ids.ts";
import type { MemorySection } from "#foundation/limited-memory.ts";
import {
  type CartAggregate,
  cartColumns,
  type CartStatus,
  type CartLineWithStock,
  type StoredCartLine,
  toSnakeCase,
} from "./cart-aggregate.ts";
import { type BuyerRepresentedByCaller, endedCartRetentionMs } from "./cart-status.ts";

/**
 * Reads carts by id; ids without a cart are ignored. The caller must check that the carts belong to the right
 * merchant. Stock reservations that ended before `now` count as free stock.
 */
export async function findCarts(
  reader: DatabaseOrTransaction,
  ids: readonly string[],
  now: Date,
): Promise<Map<string, CartAggregate>> {
  const { rows } = await reader.executeQuery(buildCartsByIdSqlQuery(reader, ids, now));
  return new Map(rows.map(({ cart }) => [cart.id, cart]));
}

/**
 * Reads carts by id like `findCarts`. Returns the known cart (the same object) for each id whose cart has not
 * changed, neither its own rows nor the stock, promotions and texts that belong to it.
 */
export const findCartsOrReuseKnownCarts = (
  reader: DatabaseOrTransaction,
  carts: { readonly ids: readonly string[]; readonly known: MemorySection<KnownRow<CartAggregate>> },
  now: Date,
): Promise<Map<string, CartAggregate>> =>
  findRowsOrReuseKnownRows(reader, carts, {
    form: "carts",
    write: (inList) => selectCarts("content", inList),
    values: { now },
  });

export interface CartsByIdSqlQueryRow {
  readonly cart: CartAggregate;
}

/**
 * Returns the SQL statement that `findCarts` runs, for callers that send it together with other statements in
 * one round trip.
 */
export function buildCartsByIdSqlQuery(
  reader: DatabaseOrTransaction,
  ids: readonly string[],
  now: Date,
): CompiledQuery<CartsByIdSqlQueryRow> {
  const list = createPaddedInClauseTemplate(ids);
  return prepareStatementTemplate(reader, {
    form: `carts ${list.form}`,
    write: () => selectCarts("cart", list.write()),
    values: { ...list.values, now },
  });
}

/** Returns the SQL statement that reads the cart of a checkout session. */
export function buildCartOfCheckoutSessionSqlQuery(
  reader: DatabaseOrTransaction,
  sessionId: string,
  now: Date,
): CompiledQuery<CartsByIdSqlQueryRow> {
  return prepareStatementTemplate(reader, {
    form: "cart of a checkout session",
    write: cartOfCheckoutSessionStatement,
    values: { sessionId, now },
  });
}

const cartOfCheckoutSessionStatement = (): RawBuilder<CartsByIdSqlQueryRow> =>
  sql`select ${cartAggregateSql} as cart from hosted_checkout_session hc join cart c on c.id = hc.cart_id
    join merchant m on m.id = c.merchant_id where hc.id = ${createNamedSqlTemplateParameter("sessionId")}`;

const selectCarts = (column: string, inList: RawBuilder<boolean>): RawBuilder<unknown> =>
  sql`select c.id, ${cartAggregateSql} as ${sql.ref(column)} from cart c
    join merchant m on m.id = c.merchant_id where c.id ${inList}`;

const readAt = createNamedSqlTemplateParameter<Date>("now");

const ownHold = sql`h.session_id in (select hs.id from hosted_checkout_session hs where hs.cart_id = c.id)`;

const lineFields = sql`'id', l.id, 'position', l.position, 'productId', l.product_id,
  'variantId', l.variant_id, 'quantity', l.quantity, 'unitPriceMinor', l.unit_price_minor,
  'compareAtMinor', l.compare_at_minor, 'subtotalMinor', l.subtotal_minor, 'discountMinor', l.discount_minor,
  'taxRate', l.tax_rate, 'taxMinor', l.tax_minor, 'totalMinor', l.total_minor, 'display', l.display,
  'requiresShipping', l.requires_shipping, 'restrictions', l.restrictions`;

const linesWithStock = sql<CartLineWithStock[]>`coalesce((select json_agg(json_build_object(${lineFields},
    'stock', case when p.status = 'published' then json_build_object('onHand',
    coalesce(sl.on_hand, 0), 'reserved', ${reservedUnitsSql(readAt, ownHold)},
      'backorderLimit', coalesce(sl.backorder_limit, 0), 'lowStockThreshold',
      coalesce(sl.low_stock_threshold, 0), 'discontinued', v.discontinued,
      'availableFrom', ${formatUtcTimeSql(sql`v.available_from`)}) end) order by l.position, l.id)
  from cart_line l left join variant v on v.id = l.variant_id left join product p on p.id = v.product_id left
  join stock_level sl on sl.variant_id = v.id
  where l.cart_id = c.id), '[]'::json)`;

const linesWithoutStock = sql<StoredCartLine[]>`coalesce((
  select json_agg(json_build_object(${lineFields}) order by l.position, l.id)
  from cart_line l where l.cart_id = c.id), '[]'::json)`;

const promotions = sql`coalesce((select json_agg(json_build_object('promotionId', cp.promotion_id, 'trigger',
  cp.trigger, 'promotionCodeId', cp.promotion_code_id,
    'state', cp.state, 'suspendedReason', cp.suspended_reason, 'discountMinor', cp.discount_minor,
    'allocations', cp.allocations,
    'code', pc.code, 'titles', pm.titles, 'kind', pm.kind, 'basisPoints', pm.basis_points, 'amountMinor',
    pm.amount_minor, 'currency', pm.currency,
    'startsAt', ${formatUtcTimeSql(sql`pm.starts_at`)}, 'endsAt', ${formatUtcTimeSql(sql`pm.ends_at`)}, 'isExclusive',
    pm.is_exclusive) order by cp.position, cp.promotion_id)
  from cart_promotion cp join promotion pm on pm.id = cp.promotion_id left join promotion_code pc
  on pc.id = cp.promotion_code_id
  where cp.cart_id = c.id), '[]'::json)`;

const columns = sql.raw(cartColumns.map((name) => `'${name}', c.${toSnakeCase(name)}`).join(", "));

const aggregateWith = <Line extends StoredCartLine>(
  lines: RawBuilder<Line[]>,
): RawBuilder<CartWithLinesOfType<Line>> => sql`json_build_object(
  'id', c.id, 'status', c.status, 'version', c.version,
  'merchant', json_build_object('id', m.id, 'slug', m.slug, 'name', m.name, 'defaultLocale',
  m.default_locale),
  ${columns},
  'countries', (select json_agg(mc.country order by mc.position) from market_country mc
  where mc.market_id = c.market_id),
  'buyerEmail', (select json_build_object('id', e.id, 'hint', e.masked->'emailHint') from personal_data e
  where e.id = c.buyer_email_id),
  'address', (select json_build_object('id', a.id, 'masked', a.masked, 'level', a.level, 'expiresAt',
  ${formatUtcTimeSql(sql`c.address_expires_at`)},
    'expiresAtMax', ${formatUtcTimeSql(sql`c.address_expires_at_max`)}) from personal_data a
    where a.id = c.address_id),
  'session', (select json_build_object('id', s.id, 'status', s.status, 'expiresAt',
  ${formatUtcTimeSql(sql`s.expires_at`)}) from hosted_checkout_session s
    where s.cart_id = c.id order by s.status in ('open', 'processing', 'completed') desc, s.id desc limit 1),
  'orderId', c.order_id, 'mergedIntoCartId', c.merged_into_cart_id,
  'revocation', case when c.revocation_reason is not null
  then json_build_object('reason', c.revocation_reason, 'note', c.revocation_note) end,
  'createdAt', ${formatUtcTimeSql(sql`c.created_at`)}, 'updatedAt', ${formatUtcTimeSql(sql`c.updated_at`)}, 'expiresAt',
  ${formatUtcTimeSql(sql`c.expires_at`)}, 'endedAt', ${formatUtcTimeSql(sql`c.ended_at`)},
  'lines', ${lines}, 'promotions', ${promotions})`;

/** A cart whose lines may lack the stock of their variants. */
export type CartWithLinesOfType<Line extends StoredCartLine> = Omit<CartAggregate, "lines"> & {
  readonly lines: readonly Line[];
};

const cartAggregateSql: RawBuilder<CartAggregate> = aggregateWith(linesWithStock);

/**
 * SQL expression for a cart as JSON, without the stock of its lines. The statement must use the alias `c` for
 * the cart and `m` for the merchant.
 */
export const cartWithoutStockSql = aggregateWith(linesWithoutStock);

export interface CartListFilter {
  /** Id of the merchant whose carts are listed; null to list the carts of all merchants. */
  readonly merchantId: string | null;
  /**
   * The buyer whose carts are listed. If both the buyer reference and the buyer session are null, the carts
   * of all buyers are listed.
   */
  readonly buyer: BuyerRepresentedByCaller;
  readonly status: CartStatus | null;
  readonly now: Date;
}

/**
 * Returns the query that lists carts; the caller adds paging or counts the rows. The list does not contain
 * carts that ended more than 90 days ago. The filter compares the status that a cart has at the time `now`.
 */
export function buildCartListSqlQuery(
  reader: DatabaseOrTransaction,
  { merchantId, buyer, status, now }: CartListFilter,
): SelectQueryBuilder<Tables, "cart", { id: string }> {
  const current = cartStatusSql(now);
  let list = reader
    .selectFrom("cart")
    .select("cart.id")
    .where(
      sql<boolean>`(${current} in ('active', 'locked') or
        coalesce(cart.ended_at, cart.expires_at) > ${new Date(now.getTime() - endedCartRetentionMs)})`,
    );
  if (merchantId !== null) list = list.where("cart.merchantId", "=", merchantId);
  list = list.where(sql<boolean>`cart.id >= ${firstListedIdSql(merchantId, now)}`);
  for (const condition of createBuyerOwnershipSqlConditions("cart", buyer)) list = list.where(condition);
  if (status !== null) {
    const stored = storedStatuses[status].map((one) => sql.lit(one));
    list = list.where(sql<boolean>`cart.status in (${sql.join(stored)}) and ${current} = ${status}`);
  }
  return list;
}

/** The number of days from which the life of a cart (from its creation to its end) counts as long. */
const longLivedDays = 35;

/**
 * Returns an SQL expression for the lowest id that a listed cart can have, so that the list need not read the
 * many carts that ended long ago. A listed cart is active or ended at most 90 days ago. Cart ids begin with
 * the time of creation. Carts that lived less than 35 days were therefore created at most 125 days ago. Older
 * listed carts are long-lived; the partial index `cart_long_lived` finds them. The expression is the lowest
 * id of the long-lived carts; if there is none, the lowest id at the time 125 days ago.
 */
function firstListedIdSql(merchantId: string | null, now: Date): RawBuilder<string> {
  const endedAfter = new Date(now.getTime() - endedCartRetentionMs);
  const bound = getLowestIdAtTime("cart", endedAfter.getTime() - longLivedDays * 86_400_000);
  // `offset 0` makes PostgreSQL use the partial index. Without `offset 0`, PostgreSQL would find the lowest
  // id by reading all old carts in the order of their ids.
  return sql<string>`coalesce((select min(id) from (select o.id from cart o where o.id < ${bound}
    and coalesce(o.ended_at, o.expires_at) - o.created_at > ${sql.lit(`${longLivedDays} days`)}::interval
    and coalesce(o.ended_at, o.expires_at) > ${endedAfter}
    ${merchantId === null ? sql`` : sql`and o.merchant_id = ${merchantId}`} offset 0) as old), ${bound})`;
}

/**
 * For each status that a cart can have at the time `now`: the statuses with which the cart can be stored.
 * Lists with a status filter select by the stored status first, because the index contains only the stored
 * status.
 */
const storedStatuses: Readonly<Record<CartStatus, readonly CartStatus[]>> = {
  active: ["active", "locked"],
  locked: ["locked"],
  expired: ["active", "locked", "expired"],
  completed: ["completed"],
  revoked: ["revoked"],
  merged: ["merged"],
};

/**
 * Returns the SQL conditions that select the carts or orders of the buyer for whom the caller acts. Selected
 * are the rows with the buyer's reference, and rows without a reference that the caller's buyer session
 * created, for example before the buyer signed in. For a caller that acts for no particular buyer, returns no
 * condition.
 */
export function createBuyerOwnershipSqlConditions(
  table: "cart" | "sales_order",
  { buyerReference, buyerSessionId }: BuyerRepresentedByCaller,
): readonly RawBuilder<boolean>[] {
  const reference = sql.ref(`${table}.buyer_reference`);
  const isOfReference = sql<boolean>`${reference} = ${buyerReference}`;
  const isOfSession = sql<boolean>`(${reference} is null and
    ${sql.ref(`${table}.buyer_session_id`)} = ${buyerSessionId})`;
  if (buyerSessionId === null) return buyerReference === null ? [] : [isOfReference];
  return [buyerReference === null ? isOfSession : sql<boolean>`(${isOfReference} or ${isOfSession})`];
}

/**
 * Returns an SQL expression for the status that a cart has at the time `now`, by the same rule as
 * `getCartStatusAtTime`.
 */
function cartStatusSql(now: Date): ReturnType<typeof sql<string>> {
  const isLive = sql`exists (select 1 from hosted_checkout_session s where s.cart_id = cart.id
    and (s.status = 'processing' or (s.status = 'open' and s.expires_at > ${now})))`;
  return sql<string>`case when cart.status = 'locked' and ${isLive} then 'locked'
    when cart.status in ('active', 'locked') then case when cart.expires_at <= ${now} then 'expired'
    else 'active' end
    else cart.status end`;
}

/**
 * Returns the id of the cart with this address token; undefined if no cart has the token. The caller must
 * check whether the address has expired or the cart has ended.
 */
export async function findCartIdByAddressToken(
  reader: DatabaseOrTransaction,
  { merchantId, addressToken }: { readonly merchantId: string; readonly addressToken: string },
): Promise<string | undefined> {
  const cart = await reader
    .selectFrom("cart")
    .select("id")
    .where("addressTokenDigest", "=", hashCartAddressToken(addressToken))
    .where("merchantId", "=", merchantId)
    .executeTakeFirst();
  return cart?.id;
}

/**
 * Returns the digest of an address token. The database stores only the digest, so that a person who can read
 * the database cannot use the token.
 */
export function hashCartAddressToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
