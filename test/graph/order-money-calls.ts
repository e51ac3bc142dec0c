/**
 * Cancels and pays orders for tests: over GraphQL, each call with a new idempotency key. Compares all tables
 * that a call could write.
 */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect } from "vitest";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import type { FulfillmentStatus } from "#commerce/orders/order-states.ts";
import { computeOutstandingAmountMinor } from "#commerce/orders/order-statuses.ts";
import { runInTransaction } from "#database/transaction.ts";
import { insertTableRows } from "#demo/rows/insert-rows.ts";
import { createId } from "#foundation/ids.ts";
import { type GraphAnswer, askGraph, type Frontend, variantOf } from "#test/operations/cart-calls.ts";
import { readTableStates } from "#test/support/all-rows.ts";
import { defaultBuyer, insertOrder, type OrderOverrides, readOrder } from "#test/support/orders.ts";
import type { World } from "#test/support/world.ts";

const orderFields =
  "id version status paymentStatus fulfillmentStatus cancellation { reason actor } totals { refunded { " +
  "amountMinor } outstanding { amountMinor } }";
const paymentFields =
  "id status capturedAmount { amountMinor } voidedAmount { amountMinor } refundedAmount { amountMinor " +
  "} disputedAt disputeReason";

const mutations = {
  orderCancel: ["orderId", "OrderCancelInput", orderFields],
  orderCancellationApprove: ["orderId", "OrderCancellationAnswerInput", orderFields],
  orderCancellationDecline: ["orderId", "OrderCancellationAnswerInput", orderFields],
  paymentCapture: ["paymentId", "PaymentCaptureInput", paymentFields],
  paymentVoid: ["paymentId", "PaymentVoidInput", paymentFields],
  paymentDisputeOpen: ["paymentId", "PaymentDisputeOpenInput", paymentFields],
  paymentDisputeClose: ["paymentId", "PaymentDisputeCloseInput", paymentFields],
  refundCreate: [
    "orderId",
    "RefundCreateInput",
    "id status reason note amount { amountMinor } lines { lineId quantity amount { amountMinor } } " +
      "shipping { amountMinor }",
  ],
} as const;
export type OrderMutation = keyof typeof mutations;

export interface OrderCall extends Frontend {
  readonly id: string;
  readonly input?: Readonly<Record<string, unknown>>;
  readonly key?: string;
}

export const asBuyer: Frontend = { token: "storefront", buyer: defaultBuyer };

/** Calls a mutation, by default as the merchant. */
export function call(
  world: World,
  field: OrderMutation,
  { id, input = {}, key = randomUUID(), ...frontend }: OrderCall,
): Promise<GraphAnswer> {
  const [target, type, selection] = mutations[field];
  const query = `mutation ($id: ID!, $key: String!, $input: ${type}!) { ${field}(${target}: $id,
    idempotencyKey: $key, input: $input) { ${selection} } }`;
  return askGraph(world, query, { id, key, input }, { token: "admin", ...frontend });
}

/** Calls a mutation and returns its data. Fails the test if the mutation is refused. */
export async function done(
  world: World,
  field: OrderMutation,
  request: OrderCall,
): Promise<GraphAnswer["data"]> {
  const { data, error } = await call(world, field, request);
  expect(error).toBeUndefined();
  return data;
}

/** An order whose payment the test provider knows as well. */
export async function makeOrder(world: World, overrides: OrderOverrides = {}): Promise<OrderAggregate> {
  const order = await insertOrder(world, overrides);
  const at = new Date(order.placedAt);
  for (const { id, amountMinor, capturedMinor } of order.payments)
    await world.database.db
      .insertInto("testProviderPayment")
      .values({
        reference: id,
        token: "tok_success",
        status: "authorized",
        currency: order.currency,
        amountMinor,
        capturedMinor,
        decidedAt: at,
        createdAt: at,
      })
      .execute();
  return order;
}

/** Plans a fulfillment of every line: all units, or this quantity. */
export async function planFulfillment(
  { database, clock }: World,
  order: OrderAggregate,
  { status, quantity }: { readonly status: FulfillmentStatus; readonly quantity?: number },
): Promise<string> {
  // Ids are ordered by time.
  clock.advance(1_000);
  const id = createId("fulfillment", clock.now().getTime());
  const at = clock.now();
  await runInTransaction(database.db, async (transaction) => {
    await insertTableRows(transaction, {
      fulfillment: [
        {
          id,
          orderId: order.id,
          merchantId: order.merchant.id,
          status,
          type: "shipping",
          version: 1,
          packingStartedAt: status === "pending" ? null : at,
          createdAt: at,
          updatedAt: at,
        },
      ],
      fulfillmentLine: order.lines.map((line) => ({
        fulfillmentId: id,
        orderLineId: line.id,
        quantity: quantity ?? line.ordered,
      })),
    });
    await sql`update sales_order set version = version + 1 where id = ${order.id}`.execute(transaction);
  });
  return id;
}

export function paymentOf(order: OrderAggregate): OrderAggregate["payments"][number] {
  const [payment] = order.payments;
  if (payment === undefined) throw new Error("The order has no payment.");
  return payment;
}

export function lineOf(order: OrderAggregate, sku: string): OrderAggregate["lines"][number] {
  const line = order.lines.find(({ display }) => display.sku === sku);
  if (line === undefined) throw new Error(`The order has no ${sku}.`);
  return line;
}

/**
 * Checks that captured − refunded + outstanding = total − reduced, and that the order's lines, refunds and
 * payments agree.
 */
export function expectBalance(order: OrderAggregate): void {
  const [captured, refunded] = [
    order.payments.reduce((sum, { capturedMinor }) => sum + capturedMinor, 0),
    order.payments.reduce((sum, { refundedMinor }) => sum + refundedMinor, 0),
  ];
  expect(captured - refunded + computeOutstandingAmountMinor(order)).toBe(
    order.totalMinor - order.reducedMinor,
  );
  const paidBack = order.refunds
    .filter(({ status }) => status === "succeeded")
    .reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  expect(refunded).toBe(paidBack);
}

export interface Stock {
  readonly onHand: number;
  readonly reserved: number;
}

export async function stockOf(world: World, sku: string): Promise<Stock> {
  const variantId = await variantOf(world, sku);
  return world.database.db
    .selectFrom("stockLevel")
    .select(["onHand", "reserved"])
    .where("variantId", "=", variantId)
    .executeTakeFirstOrThrow();
}

/** The stock figures as if the order did not exist. They stay the same during the order's life. */
export async function stockWithout(world: World, orderId: string, sku: string): Promise<Stock> {
  const { ordered, canceled, allocated } = lineOf(await readOrder(world, orderId), sku);
  const { onHand, reserved } = await stockOf(world, sku);
  return { onHand: onHand + allocated, reserved: reserved - (ordered - canceled - allocated) };
}

/** The types of the events of the order and its parts, in order. */
export async function orderEventTypes(
  { database }: World,
  order: Pick<OrderAggregate, "id">,
): Promise<string[]> {
  const { rows } = await sql<{ type: string }>`
    select e.type from event e where e.subject_id = ${order.id}
      or e.subject_id in (select id from payment where order_id = ${order.id} union all select id from refund
      where order_id = ${order.id}
        union all select id from fulfillment where order_id = ${order.id})
    order by e.id`.execute(database.db);
  return rows.map(({ type }) => type).toSorted();
}

const tables =
  "sales_order order_line fulfillment fulfillment_line payment payment_operation refund order_timeline stock_level stock_movement promotion promotion_code promotion_buyer promotion_use event idempotency_record".split(
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

/** Returns code, reason and faulty fields of a refusal. Fails the test if the call wrote anything. */
export async function refused(world: World, field: OrderMutation, request: OrderCall): Promise<Refusal> {
  const before = await writtenRows(world);
  const { data, error } = await call(world, field, request);
  expect(data).toBeNull();
  expect(await writtenRows(world)).toBe(before);
  return {
    code: error.code,
    reason: error.conflict?.reason ?? null,
    fields: error.details.map((detail: { field: string; code: string }) => `${detail.field} ${detail.code}`),
  };
}

export const refusal = (reason: string, ...fields: readonly string[]): Refusal => ({
  code: "invalid_state",
  reason,
  fields,
});
