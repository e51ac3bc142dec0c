/**
 * Calls every operation that has an id in its path with an id of another merchant or another installation.
 * The answer is "not found", with an API key and with a token, and nothing changes.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { askGraph, makeForeignCart } from "#test/operations/cart-calls.ts";
import { createWebhook, makeEndpoint, receiver } from "#test/operations/webhook-calls.ts";
import { digestTables, withoutProofs } from "#test/support/all-rows.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { createTokenClient, type TokenClient } from "#test/support/token-client.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer, World } from "#test/support/world.ts";
import { makeDelivery } from "#test/webhooks/delivery-rows.ts";
import { requestOf, validCalls } from "./valid-calls.ts";

const world = useWorld();
let contract: Contract;
let client: TokenClient;
/** The foreign ids, by operation and parameter or by parameter only. */
let foreign: Readonly<Record<string, readonly string[]>> = {};

const withIds = ["Delivery", "SignatureFixture", "Cart", "Order", "Session"];
const operationIds = Object.keys(validCalls).filter(
  (id) => withIds.some((part) => id.includes(part)) || id === "getPublicMerchantProduct",
);

/** The error code for an unknown id, by operation and parameter or by parameter only. */
const codes: Readonly<Record<string, string>> = {
  "getInstallationWebhookSignatureFixture.id": "webhook_endpoint_not_found",
  "replayInstallationWebhookDelivery.id": "webhook_delivery_not_found",
  cartId: "cart_not_found",
  orderId: "order_not_found",
  sessionId: "checkout_session_not_found",
  merchantSlug: "product_not_found",
  productSlug: "product_not_found",
};

beforeAll(async () => {
  contract = await readContract(world());
  client = await createTokenClient(world());
  await client.send({ url: "/api/v1/open/identity" });
  const { demo, database } = world();
  const { db } = database;
  const { id: ofMerchant } = await makeEndpoint(world(), { key: "otherMerchant" });
  const ofInstallation = await endpointOfNeighbour(world());
  const { slug } = await db
    .selectFrom("productSlug")
    .select("slug")
    .where("merchantId", "=", demo.merchants.second.id)
    .executeTakeFirstOrThrow();
  foreign = {
    "getInstallationWebhookSignatureFixture.id": [ofMerchant, ofInstallation],
    "replayInstallationWebhookDelivery.id": [
      await makeDelivery(world(), { endpointId: ofMerchant }),
      await makeDelivery(world(), { endpointId: ofInstallation }),
    ],
    cartId: [demo.carts.otherMerchant, await makeForeignCart(world())],
    orderId: [demo.orders.otherMerchant],
    sessionId: [demo.sessions.otherMerchant],
    merchantSlug: [demo.merchants.second.slug],
    productSlug: [slug],
  };
});

/** Creates an endpoint of another installation of the same merchant. */
async function endpointOfNeighbour(at: World): Promise<string> {
  const operate = async (mutation: string): Promise<Record<string, string>> =>
    (await askGraph(at, `mutation { ${mutation} }`, {}, { token: "operator" })).data;
  const { id: appId } = await operate('appCreate(input: { name: "Neighbour" }) { id }');
  const merchantId = at.demo.merchants.first.id;
  const { id: installationId } = await operate(
    `installationCreate(input: { merchantId: "${merchantId}", appId: "${appId}", scopes: ` +
      "[WEBHOOKS_WRITE] }) { id }",
  );
  const { value } = await operate(
    `apiKeyCreate(input: { installationId: "${installationId}", name: "Key", scopes: ` +
      "[WEBHOOKS_WRITE] }) { value }",
  );
  const { body } = await createWebhook(at, {
    headers: { authorization: `Bearer ${value}` },
    body: { url: receiver(), eventTypes: ["*"] },
  });
  return body.data.endpoint.id;
}

it("every operation with a path parameter is tested", () => {
  const withPath = contract.operations
    .filter(({ path }) => path.includes("{"))
    .map(({ operationId }) => operationId);
  expect(operationIds.toSorted()).toEqual(withPath.toSorted());
});

describe("a foreign id is answered like an unknown id by", () => {
  it.each(operationIds)("%s", async (operationId) => {
    const operation = contract.operations.find((candidate) => candidate.operationId === operationId);
    if (operation === undefined) throw new Error(`There is no operation ${operationId}.`);
    const parts = (await validCalls[operationId]?.make(world())) ?? {};
    const rowsBefore = withoutProofs(await digestTables(world()));
    for (const [, name = ""] of operation.path.matchAll(/\{(\w+)\}/g)) {
      const ids = foreign[`${operationId}.${name}`] ?? foreign[name] ?? [];
      const code = codes[`${operationId}.${name}`] ?? codes[name];
      expect(ids).not.toEqual([]);
      for (const id of ids)
        await expectNotFound({ id, code }, (at) =>
          requestOf(operation, { ...parts, path: { ...parts.path, [name]: at } }),
        );
    }
    expect(withoutProofs(await digestTables(world()))).toEqual(rowsBefore);
  });
});

type Sent = ReturnType<typeof requestOf>;
const withKey = (request: Sent): Promise<Answer> =>
  world().send({
    ...request,
    headers: { authorization: `Bearer ${world().demo.keys.full}`, "idempotency-key": randomUUID() },
  });
const withToken = (request: Sent): Promise<Answer> =>
  client.send({ ...request, headers: { "idempotency-key": randomUUID() } });

async function expectNotFound(
  { id, code }: { readonly id: string; readonly code: string | undefined },
  request: (id: string) => Sent,
): Promise<void> {
  const unknown = id.includes("_") ? `${id.slice(0, id.indexOf("_") + 1)}${"0".repeat(26)}` : `${id}-0`;
  for (const send of [withKey, withToken]) {
    const answer = await send(request(id));
    expect({ id, status: answer.status, code: answer.body.error?.code }).toEqual({ id, status: 404, code });
    if (code !== "product_not_found") expect(shownOf(answer)).toEqual(shownOf(await send(request(unknown))));
  }
}

const shownOf = ({ status, body }: Answer): unknown => ({
  status,
  error: { ...body.error, requestId: null },
});
