/**
 * Writes the rows of returns, and changes the quantities of order lines accordingly. The caller must have
 * locked the order.
 */
import { sql } from "kysely";
import type { OrderCommandContext } from "#commerce/orders/change-order.ts";
import type { OrderLineIdAndQuantity, OrderReturn } from "#commerce/orders/order-aggregate.ts";
import type { ReturnStatus } from "#commerce/orders/order-states.ts";
import type { Transaction } from "#database/transaction.ts";
import { isWithdrawalOfUnsentUnits } from "./obstacles.ts";
import { isRefundRequestForUndeliveredUnits } from "./reasons.ts";

/** A return to insert into the database, with its requested lines. */
export interface NewReturn extends Omit<
  OrderReturn,
  "declineReason" | "inspectionNote" | "requestedAt" | "closedAt" | "version" | "updatedAt" | "lines"
> {
  readonly orderId: string;
  readonly lines: readonly OrderLineIdAndQuantity[];
}

export async function insertReturn(
  transaction: Transaction,
  { merchantId, now }: OrderCommandContext,
  { lines, ...row }: NewReturn,
): Promise<void> {
  await transaction
    .insertInto("orderReturn")
    .values({ ...row, merchantId, requestedAt: now, updatedAt: now })
    .execute();
  await transaction
    .insertInto("returnLine")
    .values(lines.map(({ lineId, quantity }) => ({ returnId: row.id, orderLineId: lineId, quantity })))
    .execute();
}

/**
 * Returns true if the requested units of the return are included in the `returnRequested` quantity of their
 * order line. Units that were never delivered or never sent are not included, because they cannot come back.
 */
export function isReturnWithUnitsToSendBack(found: Pick<OrderReturn, "kind" | "reason" | "method">): boolean {
  return !isRefundRequestForUndeliveredUnits(found) && !isWithdrawalOfUnsentUnits(found);
}

/** The new status of a return; for some statuses also the reason or note that explains the status. */
export interface ReturnStatusUpdate {
  readonly id: string;
  readonly status: ReturnStatus;
  readonly declineReason?: string;
  readonly inspectionNote?: string | null;
}

export async function updateReturnStatus(
  transaction: Transaction,
  { now }: OrderCommandContext,
  { id, status, declineReason, inspectionNote }: ReturnStatusUpdate,
): Promise<void> {
  await transaction
    .updateTable("orderReturn")
    .set((row) => ({
      status,
      version: row("version", "+", 1),
      updatedAt: now,
      ...(declineReason === undefined ? {} : { declineReason }),
      ...(inspectionNote === undefined ? {} : { inspectionNote }),
      ...(status === "closed" ? { closedAt: now } : {}),
    }))
    .where("id", "=", id)
    .execute();
}

/** New unit counts of one return line. A count that is left out stays unchanged. */
export interface ReturnLineUnitCountUpdate {
  readonly lineId: string;
  readonly received?: number;
  readonly accepted?: number;
  readonly restocked?: number;
}

/** Sets the unit counts of return lines. A count that is left out stays unchanged. */
export async function updateReturnLineUnitCounts(
  transaction: Transaction,
  { returnId, lines }: { readonly returnId: string; readonly lines: readonly ReturnLineUnitCountUpdate[] },
): Promise<void> {
  await sql`
    update return_line l
    set received = coalesce(c.received, l.received), accepted = coalesce(c.accepted, l.accepted), restocked =
    coalesce(c.restocked, l.restocked)
    from json_to_recordset(${JSON.stringify(lines)}::json) as c("lineId" text, received int, accepted int,
    restocked int)
    where l.return_id = ${returnId} and l.order_line_id = c."lineId"`.execute(transaction);
}

/** Numbers to add to the unit counts and the reduced amount of an order line; left-out numbers add 0. */
export interface OrderLineReturnAndRefundIncrement {
  readonly lineId: string;
  readonly returnRequested?: number;
  readonly returned?: number;
  readonly refunded?: number;
  readonly reducedMinor?: number;
}

/**
 * Adds the given numbers to the unit counts and reduced amounts of order lines. A number that is left out
 * adds 0.
 */
export async function incrementOrderLineReturnsAndRefunds(
  transaction: Transaction,
  moves: readonly OrderLineReturnAndRefundIncrement[],
): Promise<void> {
  await sql`
    update order_line l
    set return_requested = l.return_requested + coalesce(m."returnRequested", 0), returned = l.returned +
    coalesce(m.returned, 0),
      refunded = l.refunded + coalesce(m.refunded, 0), reduced_minor = l.reduced_minor +
      coalesce(m."reducedMinor", 0)
    from json_to_recordset(${JSON.stringify(moves)}::json)
      as m("lineId" text, "returnRequested" int, returned int, refunded int, "reducedMinor" bigint)
    where l.id = m."lineId"`.execute(transaction);
}
