/**
 * Builds the queries for filtered lists of orders and of their parts: payments, refunds, returns,
 * fulfillments and warranties. The queries return ids.
 */
import { type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { Tables } from "#database/tables.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { getLowestIdAtTime, type IdKind, blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import type { BuyerRepresentedByCaller } from "#commerce/carts/cart-status.ts";
import { createBuyerOwnershipSqlConditions } from "#commerce/carts/find-carts.ts";
import { type OrderPartKind, orderPartTables } from "./find-orders.ts";
import type {
  OrderFulfillmentStatus,
  OrderPaymentStatus,
  OrderReturnStatus,
  OrderStatus,
} from "./order-states.ts";

type Optional<Value> = Value | null | undefined;

export interface OrderFilter {
  /** The merchant whose orders are selected; null selects the orders of all merchants. */
  readonly merchantId: string | null;
  /**
   * The buyer whose orders are selected. If both the buyer reference and the buyer session are null, the
   * orders of all buyers are selected.
   */
  readonly buyer: BuyerRepresentedByCaller;
  /**
   * An additional SQL condition that selects the orders with one opaque buyer reference (`byr_…`); null if
   * the filter names no opaque reference.
   */
  readonly opaqueBuyer: RawBuilder<boolean> | null;
  readonly status?: Optional<OrderStatus>;
  readonly paymentStatus?: Optional<OrderPaymentStatus>;
  readonly fulfillmentStatus?: Optional<OrderFulfillmentStatus>;
  readonly returnStatus?: Optional<OrderReturnStatus>;
  readonly number?: Optional<string>;
  /** Ids of the markets in which the selected orders were placed; null for all markets. */
  readonly marketIds?: Optional<readonly string[]>;
  readonly country?: Optional<string>;
  readonly currency?: Optional<string>;
  /** Minimum total of the selected orders, in minor units, inclusive. */
  readonly totalMinorMin?: Optional<number>;
  /** Maximum total of the selected orders, in minor units, inclusive. */
  readonly totalMinorMax?: Optional<number>;
  /** Start of the period in which the selected orders were placed, inclusive. */
  readonly placedFrom?: Optional<Date>;
  /** End of the period in which the selected orders were placed, exclusive. */
  readonly placedTo?: Optional<Date>;
}

const lowestOrderId = (at: unknown): string => getLowestIdAtTime("order", Number(at));

/**
 * The SQL conditions of an order filter, without the conditions on the buyer. A field of the filter that has
 * no value adds no condition.
 */
const conditionsOf = (filter: OrderFilter): readonly RawBuilder<boolean>[] =>
  [
    [filter.merchantId, (id: unknown) => sql<boolean>`sales_order.merchant_id = ${id}`] as const,
    [filter.status, (status: unknown) => sql<boolean>`sales_order.status = ${status}`] as const,
    [
      filter.paymentStatus,
      (status: unknown) => sql<boolean>`sales_order.payment_status = ${status}`,
    ] as const,
    [
      filter.fulfillmentStatus,
      (status: unknown) => sql<boolean>`sales_order.fulfillment_status = ${status}`,
    ] as const,
    [filter.returnStatus, (status: unknown) => sql<boolean>`sales_order.return_status = ${status}`] as const,
    [
      filter.number,
      (number: unknown) =>
        sql<boolean>`sales_order.number = ${blankIdWithForbiddenCharacters(String(number))}`,
    ] as const,
    [
      filter.marketIds,
      // The condition for a single market is `=` and not `any`. PostgreSQL can then read the orders of this
      // market from an index in the order of their ids.
      (ids: unknown) =>
        Array.isArray(ids) && ids.length === 1
          ? sql<boolean>`sales_order.market_id = ${ids[0]}`
          : sql<boolean>`sales_order.market_id = any(${ids}::text[])`,
    ] as const,
    [filter.country, (country: unknown) => sql<boolean>`sales_order.country = ${country}`] as const,
    [filter.currency, (currency: unknown) => sql<boolean>`sales_order.currency = ${currency}`] as const,
    [
      filter.totalMinorMin,
      (minimum: unknown) => sql<boolean>`sales_order.total_minor >= ${minimum}`,
    ] as const,
    [
      filter.totalMinorMax,
      (maximum: unknown) => sql<boolean>`sales_order.total_minor <= ${maximum}`,
    ] as const,
    // The id of an order begins with the time at which the order was placed, so a period of time is a range
    // of ids.
    [filter.placedFrom, (from: unknown) => sql<boolean>`sales_order.id >= ${lowestOrderId(from)}`] as const,
    [filter.placedTo, (to: unknown) => sql<boolean>`sales_order.id < ${lowestOrderId(to)}`] as const,
  ].flatMap(([value, write]) => (value === null || value === undefined ? [] : [write(value)]));

/**
 * Returns the query that selects order ids and totals (in minor units). The caller adds the order and the
 * limit, or counts the rows.
 */
export function buildOrderIdSqlQuery(
  reader: DatabaseOrTransaction,
  filter: OrderFilter,
): SelectQueryBuilder<Tables, "salesOrder", { id: string; totalMinor: number }> {
  let list = reader.selectFrom("salesOrder").select(["salesOrder.id", "salesOrder.totalMinor"]);
  const conditions = [
    ...conditionsOf(filter),
    ...createBuyerOwnershipSqlConditions("sales_order", filter.buyer),
  ];
  if (filter.opaqueBuyer !== null) conditions.push(filter.opaqueBuyer);
  for (const condition of conditions) list = list.where(condition);
  return list;
}

/** The kinds of the ids of order parts (payments, refunds and so on), by the kind of part. */
const idKinds: Readonly<Record<OrderPartKind, IdKind>> = {
  payment: "payment",
  refund: "refund",
  fulfillment: "fulfillment",
  return: "return",
  warranty: "warranty",
};

export interface OrderPartFilter {
  readonly part: OrderPartKind;
  /** The merchant whose order parts are selected; null selects the parts of all merchants. */
  readonly merchantId: string | null;
  readonly status?: Optional<string>;
  /** Start of the period in which the selected order parts were created, inclusive. */
  readonly createdFrom?: Optional<Date>;
  /** End of the period in which the selected order parts were created, exclusive. */
  readonly createdTo?: Optional<Date>;
}

/** The ids of an order part and of its order; `orderId` is null for a payment or refund without an order. */
export interface OrderPartIdAndOrderId {
  readonly id: string;
  readonly orderId: string | null;
}

/**
 * Returns the query that selects the ids of order parts. Ids begin with the time of creation, so a period is
 * a range of ids.
 */
export function buildOrderPartIdSqlQuery(
  reader: DatabaseOrTransaction,
  { part, merchantId, status, createdFrom, createdTo }: OrderPartFilter,
): SelectQueryBuilder<Tables & { part: PartTable }, "part", OrderPartIdAndOrderId> {
  const lowest = (at: Date): string => getLowestIdAtTime(idKinds[part], at.getTime());
  let list = reader
    .selectFrom(sql<PartTable>`${sql.table(orderPartTables[part])}`.as("part"))
    .select(["part.id", "part.orderId"]);
  if (merchantId !== null) list = list.where("part.merchantId", "=", merchantId);
  if (typeof status === "string") list = list.where("part.status", "=", status);
  if (createdFrom instanceof Date) list = list.where("part.id", ">=", lowest(createdFrom));
  if (createdTo instanceof Date) list = list.where("part.id", "<", lowest(createdTo));
  return list;
}

/** The columns that all tables with parts of orders have in common, for example payments and refunds. */
interface PartTable {
  readonly id: string;
  readonly orderId: string | null;
  readonly merchantId: string;
  readonly status: string;
}
