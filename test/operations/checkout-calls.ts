/** Creates and changes checkout sessions for tests: over GraphQL, and over REST to cancel a session. */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import { expireCheckoutSessions } from "#commerce/checkout/release-sessions.ts";
import type { Answer, World } from "#test/support/world.ts";
import {
  askGraph,
  type GraphAnswer,
  berlin,
  cartFields,
  changeCart,
  deliveryOf,
  type ExpectedConflict,
  type Frontend,
  makeCart,
  type NewCart,
} from "./cart-calls.ts";

export const sessionsUrl = "/api/v1/open/hosted/checkout/sessions";
export const returnUrls = {
  successUrl: "https://shop.example/thanks",
  cancelUrl: "https://shop.example/cart",
};

/** All fields of the REST answer, in the order of REST. */
export const sessionFields = `id version status cartId cartVersion orderId
  merchant { id slug name } market currency locale
  amountTotal { amountMinor currency exponent } paymentStatus url successUrl cancelUrl
  expiresAt createdAt completedAt canceledAt
  cancellation { reason note actor } cartStatus`;
const selection = `${sessionFields} submittedAt updatedAt cart { ${cartFields} }`;

export interface NewSession extends Frontend {
  readonly cartId: string;
  readonly input?: Readonly<Record<string, unknown>>;
  readonly merchantId?: string;
}

export function trySession(
  world: World,
  { cartId, input = {}, merchantId, ...frontend }: NewSession,
): Promise<GraphAnswer> {
  const query = `mutation ($merchantId: ID, $input: HostedCheckoutSessionCreateInput!) {
    hostedCheckoutSessionCreate(merchantId: $merchantId, input: $input) { ${selection} } }`;
  return askGraph(world, query, { merchantId, input: { cartId, ...returnUrls, ...input } }, frontend);
}

/** Opens a session and returns it. The cart has one line unless `input` says otherwise. */
export async function makeSession(
  world: World,
  { input, ...cart }: Partial<NewSession> & Omit<NewCart, "input"> = {},
): Promise<GraphAnswer["data"]> {
  const cartId = cart.cartId ?? (await makeCart(world, { lines: { "KIT-KVERN": 1 }, ...cart })).id;
  const { data, error } = await trySession(world, {
    ...cart,
    cartId,
    ...(input === undefined ? {} : { input }),
  });
  expect(error).toBeUndefined();
  return data;
}

/** Opens a session that can be submitted: 84.90 for the goods and 4.90 for shipping. */
export async function makeReadySession(
  world: World,
  lines: Readonly<Record<string, number>> = { "KIT-KVERN": 1 },
): Promise<GraphAnswer["data"]> {
  const { id: cartId } = await makeCart(world, { lines });
  await changeCart(world, "cartAddressSet", { cartId, input: { address: berlin } });
  await changeCart(world, "cartDeliveryOptionSelect", {
    cartId,
    input: { optionId: await deliveryOf(world, "standard") },
  });
  return makeSession(world, { cartId });
}

const mutations = {
  hostedCheckoutSessionAddressSet: "HostedCheckoutSessionAddressSetInput",
  hostedCheckoutSessionContactSet: "HostedCheckoutSessionContactSetInput",
  hostedCheckoutSessionDeliveryOptionSelect: "HostedCheckoutSessionDeliveryOptionSelectInput",
  hostedCheckoutSessionPromotionApply: "HostedCheckoutSessionPromotionApplyInput",
  hostedCheckoutSessionPromotionRemove: "HostedCheckoutSessionPromotionRemoveInput",
  hostedCheckoutSessionCancel: "HostedCheckoutCancelRequest",
} as const;
export type SessionMutation = keyof typeof mutations;

export interface SessionChange extends Frontend {
  readonly sessionId: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly merchantId?: string;
}

export function changeSession(
  world: World,
  field: SessionMutation,
  { sessionId, input, merchantId, ...frontend }: SessionChange,
): Promise<GraphAnswer> {
  const query = `mutation ($merchantId: ID, $sessionId: ID!, $input: ${mutations[field]}!) {
    ${field}(merchantId: $merchantId, sessionId: $sessionId, input: $input) { ${selection} } }`;
  return askGraph(world, query, { merchantId, sessionId, input }, frontend);
}

export function readSession(world: World, sessionId: string, frontend: Frontend = {}): Promise<GraphAnswer> {
  return askGraph(
    world,
    `query ($id: ID!) { hostedCheckoutSession(id: $id) { ${selection} } }`,
    { id: sessionId },
    frontend,
  );
}

export interface CancelRequest {
  readonly sessionId: string;
  readonly body?: unknown;
  readonly key?: keyof DemoJsonFileContent["keys"];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Cancels a session over REST. */
export function cancelSession(
  world: World,
  { sessionId, body = { reason: "buyer_changed_mind" }, key = "full", headers = {} }: CancelRequest,
): Promise<Answer> {
  const authorization = `Bearer ${world.demo.keys[key]}`;
  return world.send({
    method: "POST",
    url: `${sessionsUrl}/${sessionId}/cancel`,
    headers: { authorization, "idempotency-key": randomUUID(), ...headers },
    body,
  });
}

/** Runs the periodic sweep that expires sessions. */
export function sweepSessions({ app, clock }: World): Promise<number> {
  return expireCheckoutSessions({ ...app.services, now: clock.now() });
}

export function sessionConflict({
  id,
  status,
  version,
  reason = null,
  data = {},
}: Omit<ExpectedConflict, "code">): unknown {
  return { resource: "checkout_session", id, currentStatus: status, currentVersion: version, reason, data };
}

export interface StockFigures {
  readonly onHand: number;
  readonly reserved: number;
}

export function stockOf({ database }: World, sku: string): Promise<StockFigures> {
  return database.db
    .selectFrom("stockLevel as s")
    .innerJoin("variant as v", "v.id", "s.variantId")
    .select(["s.onHand", "s.reserved"])
    .where("v.sku", "=", sku)
    .executeTakeFirstOrThrow();
}

/** The holds of all sessions on a SKU, oldest first. */
export function holdsOf(
  { database }: World,
  sku: string,
): Promise<{ sessionId: string; quantity: number; expiresAt: Date | null }[]> {
  return database.db
    .selectFrom("stockHold as h")
    .innerJoin("variant as v", "v.id", "h.variantId")
    .select(["h.sessionId", "h.quantity", "h.expiresAt"])
    .where("v.sku", "=", sku)
    .orderBy("h.sessionId")
    .execute();
}
