/** Where a story is: which cart, session and order it is about by now, and for whom its next step is taken, and when. */
import { sql } from "kysely";
import type { OrderCommandContext } from "#commerce/orders/change-order.ts";
import type { LineQuantity } from "#commerce/orders/order-aggregate.ts";
import type { OrderActor } from "#commerce/orders/order-states.ts";
import type { SessionCommandContext } from "#commerce/checkout/change-session.ts";
import type { Transaction } from "#database/transaction.ts";

export interface Subjects {
  readonly cartId: string;
  readonly sessionId: string | null;
  readonly orderId: string | null;
}

export interface Scene extends Subjects {
  readonly transaction: Transaction;
  readonly tenantFor: (actor: OrderActor) => OrderCommandContext & SessionCommandContext;
}

/** Takes the story on by one step; gives what it is about from then on, where that is new. */
export type Step = (scene: Scene) => Promise<Partial<Subjects>>;

export function sessionOf({ sessionId }: Scene): string {
  if (sessionId === null) throw new Error("The demo's story has no checkout yet.");
  return sessionId;
}

export function orderIdOf({ orderId }: Scene): string {
  if (orderId === null) throw new Error("The demo's story has no order yet.");
  return orderId;
}

/** The parts that a story goes on with are looked up by themselves: reading a whole order each time would take longer than what is done with it. */
export async function lineOf(scene: Scene, sku: string): Promise<{ readonly id: string; readonly ordered: number }> {
  const { rows } = await sql<{ id: string; ordered: number }>`
    select id, ordered from order_line where order_id = ${orderIdOf(scene)} and display->>'sku' = ${sku}`.execute(scene.transaction);
  return found(rows[0], sku);
}

/** The newest one. */
export async function partOf(scene: Scene, part: "fulfillment" | "payment" | "orderReturn"): Promise<string> {
  const rows = scene.transaction.selectFrom(part).select("id").where("orderId", "=", orderIdOf(scene));
  return found(await rows.orderBy("id", "desc").limit(1).executeTakeFirst(), part).id;
}

export async function returnLinesOf({ transaction }: Scene, returnId: string): Promise<readonly LineQuantity[]> {
  return transaction.selectFrom("returnLine").select(["orderLineId as lineId", "quantity"]).where("returnId", "=", returnId).execute();
}

function found<Row>(row: Row | undefined, what: string): Row {
  if (row === undefined) throw new Error(`The demo's order has no ${what} yet.`);
  return row;
}
