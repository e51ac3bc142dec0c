/** Replays webhook deliveries for tests, over REST and over GraphQL, each call with a new idempotency key. */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import type { Answer, World } from "#test/support/world.ts";
import { deliveryRows } from "#test/webhooks/delivery-rows.ts";
import { type GraphAnswer, askGraph, type Frontend } from "./cart-calls.ts";

export interface ReplayRequest {
  readonly body?: unknown;
  readonly key?: keyof DemoJsonFileContent["keys"];
  readonly idempotencyKey?: string;
}

export const replayUrl = (deliveryId: string): string =>
  `/api/v1/open/webhooks/deliveries/${deliveryId}/replay`;

/** Replays a delivery over REST. */
export function replay(
  world: World,
  deliveryId: string,
  { body = { reason: "testing" }, key = "full", idempotencyKey = randomUUID() }: ReplayRequest = {},
): Promise<Answer> {
  const headers = { authorization: `Bearer ${world.demo.keys[key]}`, "idempotency-key": idempotencyKey };
  return world.send({ method: "POST", url: replayUrl(deliveryId), headers, body });
}

/** Returns the answer of the call. Fails the test if the call created a delivery. */
export async function withoutDelivery<Result>(world: World, call: () => Promise<Result>): Promise<Result> {
  const before = await deliveryRows(world);
  const result = await call();
  expect(await deliveryRows(world)).toEqual(before);
  return result;
}

export interface GraphReplay extends Frontend {
  readonly deliveryId: string;
  readonly merchantId?: string;
  readonly input?: Readonly<Record<string, unknown>>;
}

/** Replays a delivery over GraphQL, as staff. */
export function replayAsStaff(
  world: World,
  { deliveryId, merchantId, input = {}, token = "admin" }: GraphReplay,
): Promise<GraphAnswer> {
  const query = `mutation ($merchantId: ID, $deliveryId: ID!, $key: String, $input:
    PublicWebhookReplayRequest!) {
    webhookDeliveryReplay(merchantId: $merchantId, deliveryId: $deliveryId, idempotencyKey: $key, input:
    $input) {
      delivery { id status replayOf replayReason replayNote endpointId } original { id status } } }`;
  return askGraph(
    world,
    query,
    { merchantId, deliveryId, key: randomUUID(), input: { reason: "TESTING", ...input } },
    { token },
  );
}

export interface BulkCall extends Frontend {
  readonly merchantId?: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Replays many deliveries: all exhausted ones of the last 29 days unless `input` says otherwise. */
export function replayMany(
  world: World,
  { merchantId, input, token = "admin" }: BulkCall,
): Promise<GraphAnswer> {
  const query = `mutation ($merchantId: ID, $key: String!, $input: WebhookDeliveriesReplayInput!) {
    webhookDeliveriesReplay(merchantId: $merchantId, idempotencyKey: $key, input: $input) { replayed skipped {
    reason count } hasMore endCursor } }`;
  const now = world.clock.now().getTime();
  const window = {
    since: new Date(now - 29 * 86_400_000).toISOString(),
    until: new Date(now + 1).toISOString(),
  };
  return askGraph(
    world,
    query,
    {
      merchantId,
      key: randomUUID(),
      input: { ...window, status: "EXHAUSTED", reason: "RECEIVER_OUTAGE", ...input },
    },
    { token },
  );
}
