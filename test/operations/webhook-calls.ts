/**
 * Creates and changes webhook endpoints for tests: over REST for an installation, over GraphQL for a
 * merchant's staff. Each call has a new idempotency key.
 */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import type { Answer, World } from "#test/support/world.ts";
import { type GraphAnswer, askGraph, type Frontend } from "./cart-calls.ts";

export const endpointsUrl = "/api/v1/open/webhooks/endpoints";

/** The URL of a new receiver. */
export const receiver = (): string => `https://r-${randomUUID()}.shop.example.com/hooks`;

export interface EndpointRequest {
  readonly body?: unknown;
  readonly key?: keyof DemoJsonFileContent["keys"];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Creates an endpoint over REST. */
export function createWebhook(
  world: World,
  { body, key = "full", headers = {} }: EndpointRequest = {},
): Promise<Answer> {
  const authorization = `Bearer ${world.demo.keys[key]}`;
  const sent = body ?? { url: receiver(), eventTypes: ["*"] };
  return world.send({
    method: "POST",
    url: endpointsUrl,
    headers: { authorization, "idempotency-key": randomUUID(), ...headers },
    body: sent,
  });
}

export interface MadeEndpoint {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
}

/** Creates an endpoint and returns it with its secret. */
export async function makeEndpoint(
  world: World,
  { key = "full", ...input }: { key?: "full" | "otherMerchant"; [field: string]: unknown } = {},
): Promise<MadeEndpoint> {
  const { status, body } = await createWebhook(world, {
    key,
    body: { url: receiver(), eventTypes: ["*"], ...input },
  });
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
  return { id: body.data.endpoint.id, url: body.data.endpoint.url, secret: body.data.secret.value };
}

export const endpointFields = `id url description status disabledReason disabledAt
  eventTypes payloadMode apiVersion maxPerSecond
  secrets { version hint createdAt expiresAt }
  health { state consecutiveFailures successRate24h lastSuccessAt lastFailureAt lastFailure { code httpStatus } }
  metadata version createdAt updatedAt`;
const withSecret = `endpoint { ${endpointFields} } secret { version value shownOnce }`;

const mutations = {
  webhookEndpointUpdate: ["WebhookEndpointUpdateInput", endpointFields],
  webhookEndpointEnable: ["WebhookEndpointTransitionInput", endpointFields],
  webhookEndpointDisable: ["WebhookEndpointTransitionInput", endpointFields],
  webhookEndpointTest: ["WebhookEndpointTransitionInput", endpointFields],
  webhookEndpointDelete: ["WebhookEndpointTransitionInput", "endpointId"],
  webhookSecretRotate: ["WebhookSecretRotateInput", withSecret],
} as const;
export type EndpointMutation = keyof typeof mutations;

export interface EndpointChange extends Frontend {
  readonly endpointId: string;
  readonly input?: Readonly<Record<string, unknown>>;
  readonly merchantId?: string;
}

/** Changes an endpoint over GraphQL, as staff. */
export function changeEndpoint(
  world: World,
  field: EndpointMutation,
  { endpointId, input = {}, merchantId, token = "admin" }: EndpointChange,
): Promise<GraphAnswer> {
  const [type, selection] = mutations[field];
  const query = `mutation ($merchantId: ID, $endpointId: ID!, $key: String!, $input: ${type}!) {
    ${field}(merchantId: $merchantId, endpointId: $endpointId, idempotencyKey: $key, input: $input) {
    ${selection} } }`;
  return askGraph(world, query, { merchantId, endpointId, key: randomUUID(), input }, { token });
}

export interface NewEndpoint extends Frontend {
  readonly installationId?: string | undefined;
  readonly merchantId?: string;
  readonly input?: Readonly<Record<string, unknown>>;
}

export function tryEndpoint(
  world: World,
  { installationId, merchantId, input = {}, token = "admin" }: NewEndpoint,
): Promise<GraphAnswer> {
  const query = `mutation ($merchantId: ID, $installationId: ID, $key: String, $input:
    PublicWebhookCreateRequest!) {
    webhookEndpointCreate(merchantId: $merchantId, installationId: $installationId, idempotencyKey: $key,
    input: $input) { ${withSecret} } }`;
  const variables = {
    merchantId,
    installationId,
    key: randomUUID(),
    input: { url: receiver(), eventTypes: ["*"], ...input },
  };
  return askGraph(world, query, variables, { token });
}

export function readEndpoint(
  world: World,
  id: string,
  token: keyof DemoJsonFileContent["tokens"] = "admin",
): Promise<GraphAnswer> {
  return askGraph(
    world,
    `query ($id: ID!) { webhookEndpoint(id: $id) { ${endpointFields} } }`,
    { id },
    { token },
  );
}

/** The deliveries of an endpoint with their event types, oldest first. */
export function deliveriesOf(
  { database }: World,
  endpointId: string,
): Promise<{ type: string; status: string; nextAttemptAt: Date | null }[]> {
  return database.db
    .selectFrom("webhookDelivery as d")
    .innerJoin("event as e", "e.id", "d.eventId")
    .select(["e.type", "d.status", "d.nextAttemptAt"])
    .where("d.endpointId", "=", endpointId)
    .orderBy("d.id")
    .execute();
}

export async function installationOf(
  { database, demo }: World,
  key: "full" | "otherMerchant" = "full",
): Promise<string> {
  const { first, second } = demo.merchants;
  const row = await database.db
    .selectFrom("installation")
    .select("id")
    .where("merchantId", "=", key === "full" ? first.id : second.id)
    .orderBy("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Deletes all endpoints: an installation has at most 16, and the tests of a file must not share them. */
export async function clearEndpoints({ database }: World): Promise<void> {
  await database.db
    .updateTable("webhookEndpoint")
    .set({ status: "deleted", disabledReason: null, disabledAt: null })
    .execute();
}
