/**
 * Loads the data from outside an order on which the order's after-sales options depend: stock, prices and the
 * buyer's earlier returns. One statement loads the data for any number of orders.
 */
import { type RawBuilder, sql } from "kysely";
import { currentPriceAmountSql } from "#commerce/catalog/current-price.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { formatUtcTimeSql } from "#database/sql-fragments.ts";
import type { AfterSalesDataOutsideOrder } from "./after-sales-option.ts";

const returnDays = 365;
const dayMs = 86_400_000;

type Facts = Omit<AfterSalesDataOutsideOrder, "now">;

interface FactsRow {
  readonly stocked: readonly { readonly productId: string; readonly variantId: string }[];
  readonly returns: number;
  /**
   * Times at which the loaded data becomes outdated although no database row changes. Examples are the expiry
   * of a stock hold, and the end of the 365 days in which a return of the buyer is counted.
   */
  readonly changeTimes: readonly (string | null)[];
}

/**
 * Loads, for several orders, the stock, prices and earlier returns on which their after-sales options depend.
 * Returns the data by order id.
 */
export async function loadAfterSalesEligibilityFactsByOrder(
  reader: DatabaseOrTransaction,
  orders: readonly OrderAggregate[],
  now: Date,
): Promise<Map<string, AfterSalesDataOutsideOrder>> {
  const since = new Date(now.getTime() - returnDays * dayMs);
  const { rows } = await sql<FactsRow & { readonly orderId: string }>`
    select asked.id as order_id, coalesce(stocked.list, '[]'::json) as stocked, returns.count as returns,
      json_build_array(${formatUtcTimeSql(sql`stocked.freed_at`)}, ${formatUtcTimeSql(sql`priced.turns_at`)},
      ${formatUtcTimeSql(sql`returns.turns_at`)}) as change_times
    from unnest(${orders.map(({ id }) => id)}::text[]) as asked (id)
    join sales_order o on o.id = asked.id
    cross join lateral (
      select min(held.freed_at) as freed_at, json_agg(json_build_object('productId', v.product_id,
      'variantId', v.id) order by v.product_id, v.id)
        filter (where s.on_hand - s.reserved + held.lapsed > 0) as list
      from variant v
      join product p on p.id = v.product_id and p.status = 'published'
      join stock_level s on s.variant_id = v.id
      cross join lateral (
        select coalesce(sum(h.quantity) filter (where h.expires_at <= ${now}::timestamptz), 0) as lapsed,
          min(h.expires_at) filter (where h.expires_at > ${now}::timestamptz) as freed_at
        from stock_hold h where h.variant_id = v.id) as held
      where exists (select from order_line l where l.order_id = o.id and l.product_id = v.product_id
      and (l.variant_id = v.id
        or ${priceOf(sql`v.id`, now)} = coalesce(${priceOf(sql`l.variant_id`, now)}, l.unit_price_minor)))) as
        stocked
    cross join lateral (
      select min(turn.at) as turns_at
      from order_line l
      join variant v on v.product_id = l.product_id
      join price x on x.variant_id = v.id and x.market_id = o.market_id
      cross join lateral (values (x.valid_from), (x.valid_until), (x.ends_at)) as turn (at)
      where l.order_id = o.id and turn.at > ${now}::timestamptz) as priced
    cross join lateral (
      select count(*)::int as count, min(r.requested_at) + ${returnDays}::int * interval '24 hours' as
      turns_at
      from order_return r join sales_order other on other.id = r.order_id
      where other.merchant_id = o.merchant_id and (other.id = o.id
      or other.buyer_reference = o.buyer_reference)
        and r.kind in ('return_refund', 'exchange', 'refund_only')
        and r.status not in ('declined', 'canceled')
        and r.requested_at > ${since}::timestamptz) as returns`.execute(reader);
  return new Map(rows.map(({ orderId, ...read }) => [orderId, { now, ...toFacts(read) }]));
}

/**
 * Returns SQL for the current price of a variant in the order's market. An item is exchanged only for a
 * variant of the same price, because an exchange costs nothing.
 */
function priceOf(variantId: RawBuilder<unknown>, now: Date): RawBuilder<number> {
  return sql<number>`(select ${currentPriceAmountSql(now)} from price pr where pr.variant_id = ${variantId}
    and pr.market_id = o.market_id
    and pr.valid_from <= ${now}::timestamptz and (pr.valid_until is null
    or pr.valid_until > ${now}::timestamptz))`;
}

/** Loads the stock, prices and earlier returns on which the after-sales options of one order depend. */
export async function loadAfterSalesEligibilityFacts(
  reader: DatabaseOrTransaction,
  order: OrderAggregate,
  now: Date,
): Promise<AfterSalesDataOutsideOrder> {
  const facts = (await loadAfterSalesEligibilityFactsByOrder(reader, [order], now)).get(order.id);
  return facts ?? { now, ...toFacts({ stocked: [], returns: 0, changeTimes: [] }) };
}

function toFacts({ stocked, returns, changeTimes }: FactsRow): Facts {
  const groups = Map.groupBy(stocked, ({ productId }) => productId);
  const siblingsInStock = new Map(
    [...groups].map(([productId, variants]) => [productId, variants.map(({ variantId }) => variantId)]),
  );
  return {
    siblingsInStock,
    returnsOfBuyer: returns,
    changeTimes: changeTimes.filter((at) => at !== null).map((at) => Date.parse(at)),
  };
}
