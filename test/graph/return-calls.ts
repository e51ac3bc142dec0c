/** Makes and changes returns and warranties for tests: over GraphQL, each call with a new idempotency key. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect } from "vitest";
import type { OrderAggregate, OrderReturn } from "#commerce/orders/order-aggregate.ts";
import { type GraphAnswer, askGraph, type Frontend } from "#test/operations/cart-calls.ts";
import { readTableStates } from "#test/support/all-rows.ts";
import { defaultBuyer, type OrderOverrides, readOrder } from "#test/support/orders.ts";
import type { World } from "#test/support/world.ts";
import { makeOrder } from "./order-money-calls.ts";

const returnFields =
  "id orderId status kind reason note declineReason inspectionNote method settlement refund { " +
  "amountMinor } fee { amountMinor } exchangeVariantId fulfillmentIds lines { lineId quantity received " +
  "accepted restocked } version closedAt";
const warrantyFields =
  "id orderId lineId serialNumber status startsAt endsAt repairsLeft replacementsLeft version claims { " +
  "id kind status description resolution }";
const fulfillmentFields = "id status returnId version";

const mutations = {
  returnRequest: ["orderId", "ReturnRequestInput", returnFields],
  returnApprove: ["returnId", "ReturnTransitionInput", returnFields],
  returnDecline: ["returnId", "ReturnDeclineInput", returnFields],
  returnTrack: ["returnId", "ReturnTransitionInput", returnFields],
  returnReceive: ["returnId", "ReturnReceiveInput", returnFields],
  returnInspect: ["returnId", "ReturnInspectInput", returnFields],
  returnClose: ["returnId", "ReturnTransitionInput", returnFields],
  returnCancel: ["returnId", "ReturnTransitionInput", returnFields],
  warrantyRegister: ["orderId", "WarrantyRegisterInput", warrantyFields],
  warrantyClaimOpen: ["warrantyId", "WarrantyClaimOpenInput", warrantyFields],
  warrantyClaimResolve: ["claimId", "WarrantyClaimResolveInput", warrantyFields],
  fulfillmentCreate: ["orderId", "FulfillmentCreateInput", fulfillmentFields],
  fulfillmentPack: ["fulfillmentId", "FulfillmentStepInput", fulfillmentFields],
  fulfillmentShip: ["fulfillmentId", "FulfillmentShipInput", fulfillmentFields],
  fulfillmentDeliver: ["fulfillmentId", "FulfillmentStepInput", fulfillmentFields],
} as const;
export type AfterSalesMutation = keyof typeof mutations;

export interface AfterSalesCall extends Frontend {
  readonly id: string;
  readonly input?: Readonly<Record<string, unknown>>;
}

export const asBuyer: Frontend = { token: "storefront", buyer: defaultBuyer };

/** Calls a mutation, by default as the merchant. */
export function call(
  world: World,
  field: AfterSalesMutation,
  { id, input = {}, ...frontend }: AfterSalesCall,
): Promise<GraphAnswer> {
  const [target, type, selection] = mutations[field];
  const query = `mutation ($id: ID!, $key: String!, $input: ${type}!) { ${field}(${target}: $id,
    idempotencyKey: $key, input: $input) { ${selection} } }`;
  return askGraph(world, query, { id, key: randomUUID(), input }, { token: "admin", ...frontend });
}

/** Calls a mutation and returns its data. Fails the test if the mutation is refused. */
export async function done(
  world: World,
  field: AfterSalesMutation,
  request: AfterSalesCall,
): Promise<GraphAnswer["data"]> {
  const { data, error } = await call(world, field, request);
  expect(error).toBeUndefined();
  return data;
}

/** An order that was delivered two days ago, with a payment that the test provider knows. */
export function makeDelivered(world: World, overrides: OrderOverrides = {}): Promise<OrderAggregate> {
  return makeOrder(world, {
    deliveredAt: new Date(world.clock.now().getTime() - 2 * 86_400_000),
    ...overrides,
  });
}

export async function returnOf(world: World, orderId: string): Promise<OrderReturn> {
  const found = (await readOrder(world, orderId)).returns.at(-1);
  if (found === undefined) throw new Error("The order has no return.");
  return found;
}

const tables =
  "sales_order order_line order_return return_line fulfillment fulfillment_line payment_operation refund warranty_registration warranty_claim order_timeline stock_level stock_movement event idempotency_record".split(
    " ",
  );

async function writtenRows(world: World): Promise<string> {
  return JSON.stringify(await readTableStates(world, tables), undefined, 1);
}

export interface Refusal {
  readonly code: string;
  readonly reason: string | null;
  readonly fields: readonly string[];
}

export async function withoutTrace<Result>(world: World, work: () => Promise<Result>): Promise<Result> {
  const before = await writtenRows(world);
  const result = await work();
  expect(await writtenRows(world)).toBe(before);
  return result;
}

/** Returns code, reason and faulty fields of a refusal. Fails the test if the call wrote anything. */
export async function refused(
  world: World,
  field: AfterSalesMutation,
  request: AfterSalesCall,
): Promise<Refusal> {
  const { data, error } = await withoutTrace(world, () => call(world, field, request));
  expect(data).toBeNull();
  return {
    code: error.code,
    reason: error.conflict?.reason ?? null,
    fields: error.details.map((detail: { field: string; code: string }) => `${detail.field} ${detail.code}`),
  };
}

export const conflict = (reason: string | null, ...fields: readonly string[]): Refusal => ({
  code: "invalid_state",
  reason,
  fields,
});
export const invalid = (...fields: readonly string[]): Refusal => ({
  code: "invalid_field",
  reason: null,
  fields,
});

/** The sorted event types of the order's returns, exchanges, warranties, fulfillments and refunds. */
export async function partEventTypes(
  { database }: World,
  { id }: Pick<OrderAggregate, "id">,
): Promise<string[]> {
  const { rows } = await sql<{ type: string }>`
    select e.type from event e where e.subject_id in (
      select id from order_return where order_id = ${id} union all select id from refund
      where order_id = ${id}
      union all select id from fulfillment where order_id = ${id} union all select id
      from warranty_registration where order_id = ${id})`.execute(database.db);
  return rows.map(({ type }) => type).toSorted();
}
