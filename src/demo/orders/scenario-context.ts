/**
 * The context of a scenario step: the cart, checkout session and order of the scenario, and the queries that
 * find the parts of its order.
 */
import { sql } from "kysely";
import type { SessionCommandContext } from "#commerce/checkout/change-session.ts";
import type { OrderCommandContext } from "#commerce/orders/change-order.ts";
import type { LineQuantity } from "#commerce/orders/order-aggregate.ts";
import type { OrderActor } from "#commerce/orders/order-states.ts";
import type { Transaction } from "#database/transaction.ts";
import { settlePendingPayments } from "#demo/rows/order-money-rows.ts";

/**
 * Where a story is: which cart, session and order it is about by now, and for whom its next step is taken,
 * and when.
 */
export interface ScenarioSubjects {
  readonly cartId: string;
  readonly sessionId: string | null;
  readonly orderId: string | null;
}

export interface ScenarioContext extends ScenarioSubjects {
  readonly transaction: Transaction;
  readonly contextFor: (actor: OrderActor) => OrderCommandContext & SessionCommandContext;
}

/** Takes the story on by one step; gives what it is about from then on, where that is new. */
export type ScenarioStep = (context: ScenarioContext) => Promise<Partial<ScenarioSubjects>>;

export function requireSessionId({ sessionId }: ScenarioContext): string {
  if (sessionId === null) throw new Error("The demo's story has no checkout yet.");
  return sessionId;
}

export function requireOrderId({ orderId }: ScenarioContext): string {
  if (orderId === null) throw new Error("The demo's story has no order yet.");
  return orderId;
}

/**
 * The parts that a story goes on with are looked up by themselves: reading a whole order each time would take
 * longer than what is done with it.
 */
export async function findOrderLine(
  context: ScenarioContext,
  sku: string,
): Promise<{ readonly id: string; readonly ordered: number }> {
  const { rows } = await sql<{ id: string; ordered: number }>`
    select id, ordered from order_line where order_id = ${requireOrderId(context)} and display->>'sku' = ${sku}`.execute(
    context.transaction,
  );
  return requireRow(rows[0], sku);
}

/** The newest one. */
export async function findNewestPartId(
  context: ScenarioContext,
  part: "fulfillment" | "payment" | "orderReturn",
): Promise<string> {
  const rows = context.transaction
    .selectFrom(part)
    .select("id")
    .where("orderId", "=", requireOrderId(context));
  return requireRow(await rows.orderBy("id", "desc").limit(1).executeTakeFirst(), part).id;
}

export async function loadReturnLines(
  { transaction }: ScenarioContext,
  returnId: string,
): Promise<readonly LineQuantity[]> {
  return transaction
    .selectFrom("returnLine")
    .select(["orderLineId as lineId", "quantity"])
    .where("returnId", "=", returnId)
    .execute();
}

function requireRow<Row>(row: Row | undefined, name: string): Row {
  if (row === undefined) throw new Error(`The demo's order has no ${name} yet.`);
  return row;
}

export async function settleSessionPayments(context: ScenarioContext): Promise<void> {
  await settlePendingPayments(context.transaction, context.contextFor("system"), {
    sessionId: requireSessionId(context),
  });
}
