/** Units that nothing is promised for, as they are written down: of what got lost with the fulfillment it was lost with, of an exchange with its next. */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import type { LineQuantity, OrderAggregate } from "./order-aggregate.ts";

export async function markUnreserved(transaction: Transaction, fulfillmentId: string, lines: readonly LineQuantity[]): Promise<void> {
  const missing = lines.filter(({ quantity }) => quantity > 0);
  if (missing.length === 0) return;
  await sql`
    update fulfillment_line f set unreserved = m.quantity
    from unnest(${missing.map(({ lineId }) => lineId)}::text[], ${missing.map(({ quantity }) => quantity)}::int[]) as m(line_id, quantity)
    where f.fulfillment_id = ${fulfillmentId} and f.order_line_id = m.line_id`.execute(transaction);
}

export interface DroppedUnits {
  readonly order: Pick<OrderAggregate, "fulfillments">;
  /** Of what was ordered, or of this exchange. */
  readonly returnId: string | null;
  readonly lines: readonly LineQuantity[];
}

/** They are promised by now, or given up; those that were lost first go first. */
export async function dropUnreserved(transaction: Transaction, { order, returnId, lines }: DroppedUnits): Promise<void> {
  const left = new Map(lines.map(({ lineId, quantity }) => [lineId, quantity]));
  for (const fulfillment of order.fulfillments.filter((found) => found.returnId === returnId)) {
    for (const { lineId, unreserved = 0 } of fulfillment.lines) {
      const dropped = Math.min(unreserved, left.get(lineId) ?? 0);
      if (dropped === 0) continue;
      left.set(lineId, (left.get(lineId) ?? 0) - dropped);
      const line = transaction.updateTable("fulfillmentLine").set((row) => ({ unreserved: row("unreserved", "-", dropped) }));
      await line.where("fulfillmentId", "=", fulfillment.id).where("orderLineId", "=", lineId).execute();
    }
  }
}
