/**
 * Helpers for tests that pay a checkout: they create a cart of the demo's first merchant in Germany, open and
 * submit its checkout session, run payment operations, and read the resulting rows.
 */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect } from "vitest";
import { runDuePaymentOperations } from "#commerce/payments/driver.ts";
import type { PaymentProvider } from "#commerce/payments/provider.ts";
import {
  type GraphAnswer,
  askGraph,
  berlin,
  changeCart,
  deliveryOf,
  type Frontend,
  makeCart,
  type NewCart,
} from "#test/operations/cart-calls.ts";
import { makeSession } from "#test/operations/checkout-calls.ts";
import type { World } from "#test/support/world.ts";

const sessionFields =
  "id version status cartId cartVersion orderId paymentStatus cartStatus expiresAt amountTotal { " +
  "amountMinor currency }";

const mutations = {
  hostedCheckoutSessionSubmit: ["HostedCheckoutSessionSubmitInput", "String!"],
  hostedCheckoutSessionComplete: ["HostedCheckoutSessionCompleteInput", "String!"],
  hostedCheckoutSessionFail: ["HostedCheckoutSessionFailInput", "String!"],
  hostedCheckoutSessionCancel: ["HostedCheckoutCancelRequest", "String"],
} as const;

export interface SessionCall extends Frontend {
  readonly id: string;
  readonly input?: Readonly<Record<string, unknown>>;
}

export function callSession(
  world: World,
  field: keyof typeof mutations,
  { id, input = {}, ...frontend }: SessionCall,
): Promise<GraphAnswer> {
  const [type, key] = mutations[field];
  const query = `mutation ($id: ID!, $key: ${key}, $input: ${type}!) { ${field}(sessionId: $id,
    idempotencyKey: $key, input: $input) { ${sessionFields} } }`;
  return askGraph(world, query, { id, key: randomUUID(), input }, frontend);
}

export interface Checkout {
  readonly id: string;
  readonly cartId: string;
  readonly amountTotal: { readonly amountMinor: number; readonly currency: string };
  readonly version: number;
}

/** Creates a cart with an address and a delivery option, and opens a checkout session that can be submitted. */
export async function openCheckout(
  world: World,
  { lines = { "KIT-KVERN": 1 }, code, ...cart }: NewCart & { readonly code?: string } = {},
): Promise<Checkout> {
  const { id: cartId } = await makeCart(world, { lines, ...cart });
  expect(
    (await changeCart(world, "cartAddressSet", { cartId, input: { address: berlin } })).error,
  ).toBeUndefined();
  const optionId = await deliveryOf(world, "standard");
  expect(
    (await changeCart(world, "cartDeliveryOptionSelect", { cartId, input: { optionId } })).error,
  ).toBeUndefined();
  if (code !== undefined)
    expect(
      (await changeCart(world, "cartPromotionApply", { cartId, input: { code } })).error,
    ).toBeUndefined();
  return makeSession(world, { cartId });
}

/** Submits the session. Expects the session's displayed amount, unless `input` contains another. */
export function submit(
  world: World,
  { id, amountTotal }: Checkout,
  paymentToken: string | null = "tok_success",
  input: object = {},
): Promise<GraphAnswer> {
  const { amountMinor, currency } = amountTotal;
  return callSession(world, "hostedCheckoutSessionSubmit", {
    id,
    input: { expectedAmount: { amountMinor, currency }, paymentToken, ...input },
  });
}

/** Submits the session and asserts that it is processing and that its cart is locked. */
export async function submitted(world: World, checkout: Checkout, paymentToken: string): Promise<void> {
  // Ids created in the same millisecond have no order, so later events get a later millisecond.
  world.clock.advance(1);
  const { data, error } = await submit(world, checkout, paymentToken);
  world.clock.advance(1);
  expect(error).toBeUndefined();
  expect(data).toMatchObject({
    status: "PROCESSING",
    paymentStatus: "PROCESSING",
    orderId: null,
    cartStatus: "LOCKED",
  });
}

/** Runs all due payment operations with the built-in provider, or with the methods that `behave` replaces. */
export function drive(
  { app: { payments } }: World,
  behave: (provider: PaymentProvider) => Partial<PaymentProvider> = () => ({}),
): Promise<void> {
  const { provider } = payments.parts;
  return runDuePaymentOperations({ ...payments.parts, provider: { ...provider, ...behave(provider) } });
}

/** Wraps a provider method: the provider carries the request out, but its answer is lost. */
export const lost =
  <Question, Answer>(ask: (question: Question) => Promise<Answer>) =>
  async (question: Question): Promise<never> => {
    await ask(question);
    throw new Error("The connection was lost.");
  };

export async function sessionOf(
  { database }: World,
  { id }: Pick<Checkout, "id">,
): Promise<{ status: string; orderId: string | null; version: number }> {
  return database.db
    .selectFrom("hostedCheckoutSession")
    .select(["status", "orderId", "version"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
}

export async function paymentsOf(
  { database }: World,
  { id }: Pick<Checkout, "id">,
): Promise<Record<string, unknown>[]> {
  return database.db
    .selectFrom("payment")
    .select([
      "status",
      "amountMinor",
      "capturedMinor",
      "voidedMinor",
      "refundedMinor",
      "failureCode",
      "tokenSealed",
    ])
    .where("sessionId", "=", id)
    .orderBy("createdAt")
    .orderBy("id")
    .execute();
}

/** The test provider's entries for all payments of a session. */
export async function ledgerOf({ database }: World, { id }: Pick<Checkout, "id">): Promise<string[]> {
  const { rows } = await sql<{ entry: string }>`
    select e.kind || ' ' || e.amount_minor || ' ' || e.outcome as entry from test_provider_entry e
    join payment p on p.id = e.reference
    where p.session_id = ${id} order by e.created_at, e.kind`.execute(database.db);
  return rows.map(({ entry }) => entry);
}

export async function ordersOf(
  { database }: World,
  { cartId }: Pick<Checkout, "cartId">,
): Promise<{ id: string; paymentStatus: string; totalMinor: number }[]> {
  return database.db
    .selectFrom("salesOrder")
    .select(["id", "paymentStatus", "totalMinor"])
    .where("cartId", "=", cartId)
    .execute();
}

/**
 * Types of the events published for a checkout session, its cart, payments, refunds and orders, in the order
 * of the events' ids.
 */
export async function publishedEventTypes(
  { database }: World,
  { id, cartId }: Pick<Checkout, "id" | "cartId">,
): Promise<string[]> {
  const { rows } = await sql<{ type: string }>`
    select type from event where subject_id in (${id}, ${cartId}) or subject_id in (select p.id from payment p
    where p.session_id = ${id})
      or subject_id in (select r.id from refund r join payment p on p.id = r.payment_id
      where p.session_id = ${id})
      or subject_id in (select o.id from sales_order o where o.session_id = ${id}) order by id`.execute(
    database.db,
  );
  return rows.map(({ type }) => type);
}

export interface StockSeen {
  readonly onHand: number;
  readonly reserved: number;
  /** Units held by all checkout sessions, plus ordered units that are not allocated yet. */
  readonly promised: number;
}

export async function stockOf({ database }: World, sku: string): Promise<StockSeen> {
  const { rows } = await sql<StockSeen>`
    select s.on_hand, s.reserved, coalesce((select sum(quantity) from stock_hold h
    where h.variant_id = v.id), 0)::int
      + coalesce((select sum(l.ordered - l.canceled - l.allocated) from order_line l
      where l.variant_id = v.id), 0)::int as promised
    from variant v join stock_level s on s.variant_id = v.id where v.sku = ${sku}`.execute(database.db);
  const [seen] = rows;
  if (seen === undefined) throw new Error(`There is no stock of ${sku}.`);
  return seen;
}
