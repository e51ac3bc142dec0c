/**
 * Sends the model's commands as GraphQL mutations, reads results back, and digests all rows that a refusal
 * must not change.
 */
import { randomUUID } from "node:crypto";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { findOrders } from "#commerce/orders/find-orders.ts";
import { askGraph, type GraphAnswer } from "#test/operations/cart-calls.ts";
import { readTableStates } from "#test/support/all-rows.ts";
import type { ReuseComparison } from "#test/support/reuse-comparison.ts";
import type { World } from "#test/support/world.ts";

export interface Call {
  readonly field: string;
  /** The ids of the changed objects, by argument name. */
  readonly on: Readonly<Record<string, string>>;
  readonly input: Readonly<Record<string, unknown>>;
  /** The selected fields of the result; its id by default. */
  readonly answer?: string | undefined;
}

export interface Front {
  readonly world: World;
  /** Compares the answers about the model's cart and order with those of a service that keeps nothing. */
  readonly comparison: ReuseComparison;
  /** Input types by mutation. */
  readonly inputs: ReadonlyMap<string, string>;
  /** Ids of the events that were compared, and of earlier ones. */
  readonly seen: Set<string>;
  /** The clock's time at the last comparison. */
  lookedAt: Date;
  /** How often each command succeeded, and was refused. */
  readonly done: Map<string, number>;
  readonly refused: Map<string, number>;
}

interface Introspected {
  readonly fields: readonly {
    readonly name: string;
    readonly args: readonly {
      readonly name: string;
      readonly type: { readonly ofType: { name: string } | null };
    }[];
  }[];
}

export async function openFront(world: World, comparison: ReuseComparison): Promise<Front> {
  const query = `{ __type(name: "Mutation") { fields { name args { name type { ofType { name } } } } } }`;
  const { fields } = (await askGraph(world, query, {}, { token: "admin" })).data as Introspected;
  const inputs = fields.map(
    ({ name, args }) =>
      [name, args.find((argument) => argument.name === "input")?.type.ofType?.name ?? ""] as const,
  );
  const events = await world.database.db.selectFrom("event").select("id").execute();
  return {
    world,
    comparison,
    inputs: new Map(inputs),
    seen: new Set(events.map(({ id }) => id)),
    lookedAt: world.clock.now(),
    done: new Map(),
    refused: new Map(),
  };
}

/** Sends a mutation with a new idempotency key. */
export function send(
  { world, inputs }: Front,
  { field, on, input, answer = "id" }: Call,
): Promise<GraphAnswer> {
  const names = Object.keys(on);
  const variables = names.map((name) => `$${name}: ID!, `).join("");
  const passed = names.map((name) => `${name}: $${name}, `).join("");
  const query = `mutation (${variables}$key: String!, $input: ${inputs.get(field)}!) {
    ${field}(${passed}idempotencyKey: $key, input: $input) { ${answer} } }`;
  return askGraph(world, query, { ...on, key: randomUUID(), input }, { token: "admin" });
}

export async function readOrder({ world }: Front, orderId: string): Promise<OrderAggregate> {
  const order = (await findOrders(world.database.db, [orderId])).get(orderId);
  if (order === undefined) throw new Error(`There is no order ${orderId}.`);
  return order;
}

const tables =
  "cart hosted_checkout_session stock_hold stock_level payment payment_operation refund sales_order " +
  "order_line fulfillment fulfillment_line order_return return_line order_timeline " +
  "test_provider_payment event idempotency_record stock_movement promotion_use test_provider_entry";

/** Row count and newest write of all tables that a command could change. */
export async function rowsOf({ world }: Front): Promise<string> {
  return JSON.stringify(await readTableStates(world, tables.split(" ")), undefined, 1);
}
