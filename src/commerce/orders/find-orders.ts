/** Finds orders otherwise than by their ids: lists for who runs a merchant, and what a part belongs to. */
import { type SelectQueryBuilder, sql } from "kysely";
import { toId } from "#commerce/catalog/write-tenant.ts";
import type { Tables } from "#database/tables.ts";
import type { Reader } from "#database/transaction.ts";
import { utc } from "#database/sql-fragments.ts";
import type { OrderAggregate, OrderPayment, OrderRefund } from "./order-aggregate.ts";
import type { OrderActor, OrderStatus } from "./order-states.ts";
import { type PaymentView, type RefundView, toPayment, toRefund } from "./render-parts.ts";

export interface OrderFilter {
  /** Null: of all merchants. */
  readonly merchantId: string | null;
  /** Null: of all buyers. */
  readonly buyerReference: string | null;
  readonly status: OrderStatus | null;
}

/** A query still to be paged or counted. */
export function orderList(
  reader: Reader,
  { merchantId, buyerReference, status }: OrderFilter,
): SelectQueryBuilder<Tables, "salesOrder", { id: string }> {
  let list = reader.selectFrom("salesOrder").select("salesOrder.id");
  if (merchantId !== null) list = list.where("salesOrder.merchantId", "=", merchantId);
  if (buyerReference !== null) list = list.where("salesOrder.buyerReference", "=", buyerReference);
  if (status !== null) list = list.where("salesOrder.status", "=", status);
  return list;
}

export interface PartOwner {
  readonly merchantId: string;
  /** Null: it belongs to a checkout alone. */
  readonly orderId: string | null;
}

/** Undefined: there is no such part. Tenancy is the caller's. */
export async function findPartOwner(reader: Reader, { part, id }: { readonly part: OrderPart; readonly id: string }): Promise<PartOwner | undefined> {
  const { rows } = await sql<PartOwner>`select merchant_id, order_id from ${sql.table(partTables[part])} where id = ${toId(id)}`.execute(reader);
  return rows[0];
}

/** Of a checkout that has no order, or none yet. */
export async function findLonePayment(reader: Reader, id: string): Promise<PaymentView | null> {
  const { rows } = await sql<Omit<OrderPayment, "pending" | "provider"> & { readonly sessionId: string; readonly currency: string }>`
    select id, session_id, currency, status, method_type, amount_minor, captured_minor, voided_minor, refunded_minor, failure_code,
      ${utc(sql`disputed_at`)} as disputed_at, dispute_reason, version, ${utc(sql`created_at`)} as created_at, ${utc(sql`updated_at`)} as updated_at
    from payment where id = ${toId(id)} and order_id is null`.execute(reader);
  const [payment] = rows;
  return payment === undefined ? null : toPayment(payment, { ...payment, orderId: null });
}

/** Of a payment that came too late for an order. */
export async function findLoneRefund(reader: Reader, id: string): Promise<RefundView | null> {
  const { rows } = await sql<OrderRefund & { readonly currency: string }>`
    select id, payment_id, return_id, status, amount_minor, currency, reason, note, lines, shipping_minor, version,
      ${utc(sql`created_at`)} as created_at, ${utc(sql`updated_at`)} as updated_at
    from refund where id = ${toId(id)} and order_id is null`.execute(reader);
  const [refund] = rows;
  return refund === undefined ? null : toRefund(refund, { currency: refund.currency, orderId: null });
}

/** The table of each kind of part. */
export const partTables = {
  payment: "payment",
  refund: "refund",
  fulfillment: "fulfillment",
  return: "order_return",
  warranty: "warranty_registration",
} as const;

export type OrderPart = keyof typeof partTables;

/** A buyer's frontend sees the orders of the buyer it acts for, and no others. */
export function isForeignOrder(
  { buyerReference }: Pick<OrderAggregate, "buyerReference">,
  asker: { readonly actor: OrderActor; readonly buyerReference: string | null },
): boolean {
  return asker.actor === "buyer" ? buyerReference === null || buyerReference !== asker.buyerReference : false;
}
