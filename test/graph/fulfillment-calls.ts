/**
 * Confirms, holds and fulfills orders for tests: over GraphQL, as the merchant, each call with a new
 * idempotency key.
 */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { type GraphAnswer, askGraph, type Frontend } from "#test/operations/cart-calls.ts";
import { readTableStates } from "#test/support/all-rows.ts";
import { readOrder } from "#test/support/orders.ts";
import type { World } from "#test/support/world.ts";

const orderFields = "id version status holdReason paymentStatus fulfillmentStatus";
const fulfillmentFields = `id orderId returnId status type lines { lineId quantity } carrier trackingNumber trackingUrl packingStartedAt shippedAt
  estimatedDeliveryAt deliveredAt version createdAt updatedAt`;

const mutations = {
  orderConfirm: ["orderId", "OrderStepInput", orderFields],
  orderHold: ["orderId", "OrderHoldInput", orderFields],
  orderRelease: ["orderId", "OrderStepInput", orderFields],
  fulfillmentCreate: ["orderId", "FulfillmentCreateInput", fulfillmentFields],
  fulfillmentPack: ["fulfillmentId", "FulfillmentStepInput", fulfillmentFields],
  fulfillmentShip: ["fulfillmentId", "FulfillmentShipInput", fulfillmentFields],
  fulfillmentTrack: ["fulfillmentId", "FulfillmentTrackInput", fulfillmentFields],
  fulfillmentDeliver: ["fulfillmentId", "FulfillmentStepInput", fulfillmentFields],
  fulfillmentFail: ["fulfillmentId", "FulfillmentStepInput", fulfillmentFields],
  fulfillmentCancel: ["fulfillmentId", "FulfillmentStepInput", fulfillmentFields],
} as const;
export type SendingMutation = keyof typeof mutations;

export interface SendingCall extends Frontend {
  readonly id: string;
  readonly input?: Readonly<Record<string, unknown>>;
}

export function send(
  world: World,
  field: SendingMutation,
  { id, input = {}, ...frontend }: SendingCall,
): Promise<GraphAnswer> {
  const [target, type, selection] = mutations[field];
  const query = `mutation ($id: ID!, $key: String!, $input: ${type}!) { ${field}(${target}: $id,
    idempotencyKey: $key, input: $input) { ${selection} } }`;
  return askGraph(world, query, { id, key: randomUUID(), input }, { token: "admin", ...frontend });
}

/** Calls a mutation and returns its data. Fails the test if the mutation is refused. */
export async function sent(
  world: World,
  field: SendingMutation,
  call: SendingCall,
): Promise<GraphAnswer["data"]> {
  const { data, error } = await send(world, field, call);
  expect(error).toBeUndefined();
  return data;
}

/** The mutation and input of each move. */
export const moves = {
  pack: ["fulfillmentPack", {}],
  ship: ["fulfillmentShip", {}],
  in_transit: ["fulfillmentTrack", { status: "IN_TRANSIT" }],
  out_for_delivery: ["fulfillmentTrack", { status: "OUT_FOR_DELIVERY" }],
  ready_for_pickup: ["fulfillmentTrack", { status: "READY_FOR_PICKUP" }],
  returned_to_sender: ["fulfillmentTrack", { status: "RETURNED_TO_SENDER" }],
  deliver: ["fulfillmentDeliver", {}],
  fail: ["fulfillmentFail", {}],
  cancel: ["fulfillmentCancel", {}],
} as const satisfies Record<string, readonly [SendingMutation, object]>;
export type Move = keyof typeof moves;

export function make(world: World, move: Move, id: string): Promise<GraphAnswer> {
  const [field, input] = moves[move];
  return send(world, field, { id, input });
}

/** Makes the moves one after the other. Fails the test if a move is refused. */
export async function made(world: World, id: string, names: readonly Move[]): Promise<GraphAnswer["data"]> {
  let last: GraphAnswer["data"];
  for (const name of names) {
    const [field, input] = moves[name];
    last = await sent(world, field, { id, input });
  }
  return last;
}

const tables =
  "sales_order order_line fulfillment fulfillment_line order_timeline payment stock_level stock_movement event idempotency_record".split(
    " ",
  );

/** Row count and newest write of every table that a fulfillment could write. */
async function writtenRows(world: World): Promise<string> {
  return JSON.stringify(await readTableStates(world, tables), undefined, 1);
}

/** Returns the answer of the call. Fails the test if the call wrote anything. */
export async function untouched<Result>(world: World, call: () => Promise<Result>): Promise<Result> {
  const before = await writtenRows(world);
  const result = await call();
  expect(await writtenRows(world)).toBe(before);
  return result;
}

/** The allocated, shipped and delivered quantities by SKU. */
export async function countsOf(
  world: World,
  orderId: string,
): Promise<Record<string, [number, number, number]>> {
  const { lines } = await readOrder(world, orderId);
  return Object.fromEntries(
    lines.map(({ display, allocated, shipped, delivered }) => [display.sku, [allocated, shipped, delivered]]),
  );
}

/** The on-hand and reserved quantities. */
export async function stockOf({ database }: World, variantId: string): Promise<[number, number]> {
  const { onHand, reserved } = await database.db
    .selectFrom("stockLevel")
    .select(["onHand", "reserved"])
    .where("variantId", "=", variantId)
    .executeTakeFirstOrThrow();
  return [onHand, reserved];
}

export async function setStock(
  { database }: World,
  variantId: string,
  level: { readonly onHand: number; readonly reserved: number },
): Promise<void> {
  await database.db
    .updateTable("stockLevel")
    .set({ ...level, backorderLimit: level.reserved })
    .where("variantId", "=", variantId)
    .execute();
}

export const orderConflictOf = (
  order: Pick<OrderAggregate, "id" | "status" | "version">,
  parts: object = {},
): unknown => ({
  resource: "order",
  id: order.id,
  currentStatus: order.status,
  currentVersion: order.version,
  reason: null,
  data: {},
  ...parts,
});
