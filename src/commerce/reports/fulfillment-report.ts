/**
 * Reads the report on fulfillments: how long orders have been waiting for shipment, and how carriers
 * delivered the parcels that were shipped in a period.
 */
import { type RawBuilder, sql } from "kysely";
import { formatUtcTimeSql } from "#database/sql-fragments.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import type { OrderStatus } from "#commerce/orders/order-states.ts";
import { buildReportScopeSqlCondition, type ReportScope } from "./report-scope.ts";

/** The number of orders and units that have been waiting for shipment for a certain number of days. */
export interface UnshippedOrdersByAge {
  /** Lower bound of the age group: minimum number of full days since the order was placed. */
  readonly fromDays: number;
  /**
   * Upper bound of the age group: number of full days since the order was placed, exclusive; null in the last
   * group.
   */
  readonly toDays: number | null;
  readonly orders: number;
  /** Number of units of the orders in this age group that are neither shipped nor canceled. */
  readonly units: number;
}

/** An order that is waiting for shipment. */
export interface UnshippedOrder {
  readonly orderId: string;
  readonly number: string;
  readonly status: OrderStatus;
  readonly placedAt: string;
  readonly ageDays: number;
  readonly units: number;
}

/** Delivery numbers of one carrier for the parcels that were shipped in a period. */
export interface CarrierShipmentFigures {
  /** Name of the carrier; null for parcels without a carrier. */
  readonly carrier: string | null;
  readonly parcels: number;
  readonly delivered: number;
  /** Number of parcels that were lost, damaged or returned to the sender. */
  readonly failed: number;
  /** Number of parcels that arrived after their estimated delivery. */
  readonly late: number;
  /** Median time from shipment to delivery in hours; null if no parcel was delivered. */
  readonly medianDeliveryHours: number | null;
}

export interface FulfillmentReport {
  readonly unshipped: {
    readonly ages: readonly UnshippedOrdersByAge[];
    /** The orders that have been waiting for shipment for the longest time, the longest first. */
    readonly oldest: readonly UnshippedOrder[];
  };
  readonly carriers: readonly CarrierShipmentFigures[];
}

interface FulfillmentReportQuery extends ReportScope {
  readonly now: Date;
  /** Maximum number of waiting orders, and maximum number of carriers, in the report. */
  readonly first: number;
}

/** Lower bounds of the age groups of orders that wait for shipment, in days since the order was placed. */
const ageGroupDays = [0, 1, 2, 3, 7, 14, 30] as const;

/**
 * Reads the report on fulfillments. The period selects parcels by the time of their shipment. The waiting
 * orders are all orders that wait for shipment at the time `now`.
 */
export async function readFulfillmentReport(
  reader: DatabaseOrTransaction,
  query: FulfillmentReportQuery,
): Promise<FulfillmentReport> {
  const ages = await agesStatement(query).execute(reader);
  const oldest = await oldestStatement(query).execute(reader);
  const carriers = await carrierStatement(query).execute(reader);
  const byGroup = new Map(ages.rows.map(({ group, ...sums }) => [group, sums]));
  return {
    unshipped: {
      ages: ageGroupDays.map((fromDays, index) => ({
        fromDays,
        toDays: ageGroupDays[index + 1] ?? null,
        ...(byGroup.get(index + 1) ?? { orders: 0, units: 0 }),
      })),
      oldest: oldest.rows,
    },
    carriers: carriers.rows,
  };
}

/**
 * SQL for a `from` clause that returns the orders with units to be shipped. The partial index
 * `sales_order_unshipped` contains the same two conditions.
 */
const unshippedSql = ({ merchantId, marketIds, now }: FulfillmentReportQuery): RawBuilder<unknown> => sql`(
  select o.id, o.number, o.status, o.placed_at, greatest(floor(extract(epoch from ${now}::timestamptz -
    o.placed_at) / 86400), 0)::int as age_days, (
      select coalesce(sum(l.ordered - l.canceled - l.shipped), 0)::int from order_line l
      where l.order_id = o.id and l.requires_shipping) as units
  from sales_order o
  where o.status in ('pending', 'confirmed', 'on_hold')
    and o.fulfillment_status in ('unfulfilled', 'in_progress', 'partially_shipped')
    ${merchantId === null ? sql`` : sql`and o.merchant_id = ${merchantId}`}
    ${marketIds === null ? sql`` : sql`and o.market_id = any(${marketIds}::text[])`}
  offset 0) as u`;

function agesStatement(
  query: FulfillmentReportQuery,
): RawBuilder<{ readonly group: number; readonly orders: number; readonly units: number }> {
  return sql`
    select width_bucket(age_days, ${[...ageGroupDays]}::int[]) as group, count(*)::int as orders,
      sum(units)::int as units
    from ${unshippedSql(query)} where units > 0 group by 1`;
}

function oldestStatement(query: FulfillmentReportQuery): RawBuilder<UnshippedOrder> {
  return sql<UnshippedOrder>`
    select id as order_id, number, status, ${formatUtcTimeSql(sql`placed_at`)} as placed_at, age_days, units
    from ${unshippedSql(query)} where units > 0 order by u.placed_at, u.id limit ${query.first}`;
}

/**
 * The orders of the parcels are read only for a report on some markets, because a parcel does not store its
 * market.
 */
function carrierStatement({ first, ...scope }: FulfillmentReportQuery): RawBuilder<CarrierShipmentFigures> {
  const parcels =
    scope.marketIds === null
      ? sql`fulfillment f`
      : sql`(select f.*, o.market_id from fulfillment f join sales_order o on o.id = f.order_id) as f`;
  return sql<CarrierShipmentFigures>`
    select carrier, count(*)::int as parcels, count(*) filter (where status = 'delivered')::int as delivered,
      count(*) filter (where status in ('failed', 'returned_to_sender'))::int as failed,
      count(*) filter (where delivered_at > estimated_delivery_at)::int as late,
      percentile_cont(0.5) within group (order by extract(epoch from delivered_at - shipped_at)::float8 / 3600)
        filter (where delivered_at is not null) as median_delivery_hours
    from ${parcels} where f.type = 'shipping' and ${buildReportScopeSqlCondition(scope, "f", "shipped_at")}
    group by 1 order by parcels desc, carrier nulls last limit ${first}`;
}
