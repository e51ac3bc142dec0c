/**
 * The data that a step of an order scenario works with: the cart, checkout session and order of the scenario,
 * and queries that find the parts of the order, for example its newest payment.
 */
import { sql } from "kysely";
import type { CheckoutSessionCommandContext } from "#commerce/checkout/change-session.ts";
import type { OrderCommandContext } from "#commerce/orders/change-order.ts";
import type { OrderLineIdAndQuantity } from "#commerce/orders/order-aggregate.ts";
import type { OrderActor } from "#commerce/orders/order-states.ts";
import type { Transaction } from "#database/transaction.ts";
import { markPendingPaymentOperationsSucceeded } from "#demo/rows/order-money-rows.ts";

/**
 * Ids of the objects that the earlier steps of a scenario have created. The ids of checkout session and order
 * are null until a step has created the object.
 */
export interface DemoOrderScenarioObjectIds {
  readonly cartId: string;
  readonly sessionId: string | null;
  readonly orderId: string | null;
}

/**
 * The input of a step of an order scenario: the ids of the scenario's objects, the transaction, and a command
 * context for each kind of actor. The context contains the time of the step.
 */
export interface DemoOrderScenarioContext extends DemoOrderScenarioObjectIds {
  readonly transaction: Transaction;
  readonly commandContextFor: (actor: OrderActor) => OrderCommandContext & CheckoutSessionCommandContext;
}

/**
 * A function that executes one step of an order scenario and returns the ids of the objects that the step has
 * created.
 */
export type DemoOrderScenarioStep = (
  context: DemoOrderScenarioContext,
) => Promise<Partial<DemoOrderScenarioObjectIds>>;

export function requireScenarioCheckoutSessionId({ sessionId }: DemoOrderScenarioContext): string {
  if (sessionId === null) throw new Error("The scenario must start a checkout before this step.");
  return sessionId;
}

export function requireScenarioOrderId({ orderId }: DemoOrderScenarioContext): string {
  if (orderId === null) throw new Error("The scenario must place an order before this step.");
  return orderId;
}

/** Finds the order line of a SKU. Reads only this line, because loading the whole order would be slow. */
export async function findScenarioOrderLine(
  context: DemoOrderScenarioContext,
  sku: string,
): Promise<{ readonly id: string; readonly ordered: number }> {
  const { rows } = await sql<{ id: string; ordered: number }>`
    select id, ordered from order_line where order_id = ${requireScenarioOrderId(context)}
    and display->>'sku' = ${sku}`.execute(context.transaction);
  return requireRow(rows[0], sku);
}

/**
 * Returns the id of the newest fulfillment, payment or return of the scenario's order. `part` chooses one of
 * these three tables.
 */
export async function findNewestOrderPartId(
  context: DemoOrderScenarioContext,
  part: "fulfillment" | "payment" | "orderReturn",
): Promise<string> {
  const rows = context.transaction
    .selectFrom(part)
    .select("id")
    .where("orderId", "=", requireScenarioOrderId(context));
  return requireRow(await rows.orderBy("id", "desc").limit(1).executeTakeFirst(), part).id;
}

/** Loads the order lines and quantities of a return. */
export async function loadReturnLines(
  { transaction }: DemoOrderScenarioContext,
  returnId: string,
): Promise<readonly OrderLineIdAndQuantity[]> {
  return transaction
    .selectFrom("returnLine")
    .select(["orderLineId as lineId", "quantity"])
    .where("returnId", "=", returnId)
    .execute();
}

function requireRow<Row>(row: Row | undefined, name: string): Row {
  if (row === undefined) throw new Error(`The scenario's order must have a ${name} before this step.`);
  return row;
}

/** Records success for all payment operations of the scenario's checkout session that are still pending. */
export async function markScenarioPaymentOperationsSucceeded(
  context: DemoOrderScenarioContext,
): Promise<void> {
  await markPendingPaymentOperationsSucceeded(context.transaction, context.commandContextFor("system"), {
    sessionId: requireScenarioCheckoutSessionId(context),
  });
}
