/**
 * The TypeScript client against a running service: a whole purchase by a storefront and an integrator over
 * HTTP. With `CONTRACT_PROXY=1` (`npm run test:workflows`) a proxy validates every request and answer against
 * the contract.
 */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type CommerceClient, CommerceApiError, createCommerceClient } from "#client/index.ts";
import { type CommerceEvent, verifyWebhook } from "#client/webhooks.ts";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import {
  toCheckout,
  createSessionWrite,
  openCheckout,
  readSession,
  createSubmitWrite,
} from "#soak/checkout-shop.ts";
import { createCartWrite, requireData, openCart, openShop, parseAnswer, type Shop } from "#soak/shop.ts";
import { type Service, startService } from "#soak/service.ts";
import { demoPlace } from "#test/support/copies.ts";
import { type ContractProxy, startContractProxy } from "#test/workflows/contract-proxy.ts";
import { startCuttingHttp } from "./cutting-http.ts";

let service: Service;
let shop: Shop;
let commerce: CommerceClient;
let proxy: ContractProxy | undefined;
const isProxied = process.env["CONTRACT_PROXY"] === "1";
beforeAll(async () => {
  service = await startService(await demoPlace("pglite"));
  shop = await openShop(service.ask, service.access);
  if (isProxied) proxy = await startContractProxy(service.port);
  commerce = createCommerceClient({ baseUrl: origin(), apiKey: service.access.keys.full });
});
afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const direct = (): string => `http://127.0.0.1:${service.port}`;
const origin = (): string => proxy?.origin ?? direct();
const address = {
  recipientName: "Anna Beispiel",
  line1: "Musterweg 1",
  postalCode: "10115",
  city: "Berlin",
  countryCode: "DE",
};

async function refused(call: Promise<unknown>): Promise<CommerceApiError> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof CommerceApiError) return error;
  throw new Error("It was not refused.", { cause: error });
}

interface Arrived {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Starts a webhook receiver that stores events about orders. */
async function startReceiver(): Promise<{ readonly url: string; readonly arrived: readonly Arrived[] }> {
  const arrived: Arrived[] = [];
  const server = createServer((request, response) => {
    const take = async (): Promise<void> => {
      const body = await buffer(request);
      // A new endpoint also gets a ping.
      if (request.headers["webhook-event-type"] === "order.placed")
        arrived.push({ headers: request.headers, body });
      response.writeHead(204).end();
    };
    void take();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`, arrived };
}

describe("a purchase", () => {
  it("goes from the search to the order, with an authentic webhook, which can be replayed", async () => {
    const receiver = await startReceiver();
    const { data: endpoint } = await commerce.post("/api/v1/open/webhooks/endpoints", {
      body: { url: receiver.url, eventTypes: ["order.placed"] },
    });

    const visitor = createCommerceClient({ baseUrl: origin() });
    const query = { q: "tent", locale: "en", market: "DE", sort: "relevance", pageSize: 2 } as const;
    const { value: found } = await visitor.search(query)[Symbol.asyncIterator]().next();
    const path = { merchantSlug: found?.merchant.slug ?? "", productSlug: found?.slug ?? "" };
    const { data: product } = await visitor.get(
      "/api/v1/catalog/merchants/{merchantSlug}/products/{productSlug}",
      {
        params: { path },
        headers: { "accept-language": "en" },
      },
    );
    expect(product.title).toBe(found?.title);

    const cart = { path: { cartId: (await openCart(service.ask, shop)).id } };
    await commerce.put("/api/v1/open/storefront/carts/{cartId}/address", { params: cart, body: { address } });
    const { data: first } = await commerce.put("/api/v1/open/storefront/carts/{cartId}/promotion", {
      params: cart,
      body: { code: shop.codes[0] ?? "" },
    });
    const removal = { expectedVersion: first.cartVersion, reason: "buyer_request" } as const;
    const { data: removed } = await commerce.delete("/api/v1/open/storefront/carts/{cartId}/promotion", {
      params: cart,
      body: removal,
    });
    expect(removed).toMatchObject({ state: "none", cartVersion: first.cartVersion + 1 });
    const { data: promoted } = await commerce.put("/api/v1/open/storefront/carts/{cartId}/promotion", {
      params: cart,
      body: { code: shop.codes[0] ?? "" },
    });
    const { data: seen } = await commerce.get("/api/v1/open/storefront/carts/{cartId}", { params: cart });
    expect(seen).toMatchObject({
      version: promoted.cartVersion,
      totals: promoted.totals,
      delivery: { options: expect.anything() },
    });

    const input = { optionId: seen.delivery?.options[0]?.id };
    await graph(
      createCartWrite(shop, { mutation: "cartDeliveryOptionSelect", input, cartId: cart.path.cartId })
        .request,
    );
    const checkout = toCheckout(
      parseAnswer(await service.ask(createSessionWrite(shop, cart.path.cartId).request)),
    );
    await graph(createSubmitWrite(shop, checkout).request);
    await expect
      .poll(() => readSession(service.ask, shop, checkout.sessionId))
      .toMatchObject({ status: "COMPLETED" });
    const orderId = String((await readSession(service.ask, shop, checkout.sessionId)).orderId);

    const order = { path: { orderId } };
    const { data: placed } = await commerce.get("/api/v1/open/storefront/orders/{orderId}", {
      params: order,
    });
    expect(placed).toMatchObject({ cartId: cart.path.cartId, totals: { total: checkout.amountTotal } });
    const { data: cancellation } = await commerce.get(
      "/api/v1/open/storefront/orders/{orderId}/cancellation-eligibility",
      { params: order },
    );
    expect(cancellation.decision).toBe("allowed");
    const { data: afterSales } = await commerce.get(
      "/api/v1/open/storefront/orders/{orderId}/after-sales-eligibility",
      { params: order },
    );
    expect(afterSales.orderId).toBe(orderId);

    await expect.poll(() => receiver.arrived).toHaveLength(1);
    const trust = { secret: endpoint.secret.value };
    const [arrived] = receiver.arrived as [Arrived];
    expect(numberOf(await verifyWebhook(arrived, trust))).toBe(placed.number);

    const id = String(arrived.headers["webhook-delivery-id"]);
    await expect.poll(() => statusOf(id)).toBe("succeeded");
    const replay = { params: { path: { id } }, body: { reason: "testing", force: true } } as const;
    await commerce.post("/api/v1/open/webhooks/deliveries/{id}/replay", replay);
    await expect.poll(() => receiver.arrived).toHaveLength(2);
    const again = receiver.arrived[1] as Arrived;
    expect([again.headers["webhook-replay"], await verifyWebhook(again, trust)]).toEqual([
      "true",
      await verifyWebhook(arrived, trust),
    ]);
    await expect(
      verifyWebhook({ ...again, body: Buffer.concat([again.body, Buffer.from(" ")]) }, trust),
    ).rejects.toThrow("no_matching_signature");
  });

  it("is abandoned: its session is canceled and its cart revoked, each only once", async () => {
    const { sessionId, cartId } = await openCheckout(service.ask, shop);
    const session = { params: { path: { sessionId } }, body: { reason: "buyer_changed_mind" } } as const;
    const cancel = () => commerce.post("/api/v1/open/hosted/checkout/sessions/{sessionId}/cancel", session);
    const { data: canceled } = await cancel();
    expect(canceled).toMatchObject({
      status: "canceled",
      cartStatus: "active",
      cancellation: { reason: "buyer_changed_mind", actor: "api_key" },
    });
    expect(await refused(cancel())).toMatchObject({
      code: "checkout_session_canceled",
      status: 409,
      retryable: false,
    });

    const params = { path: { cartId } };
    const revoke = (expectedVersion: number) =>
      commerce.post("/api/v1/open/storefront/carts/{cartId}/revoke", { params, body: { expectedVersion } });
    const wrong = await refused(revoke(1));
    expect(wrong).toMatchObject({ code: "cart_version_conflict", conflict: { id: cartId } });
    expect((await revoke(wrong.conflict?.currentVersion ?? 0)).data.status).toBe("revoked");
  });
});

const graph = async (asked: Parameters<Service["ask"]>[0]): Promise<unknown> =>
  requireData(parseAnswer(await service.ask(asked)));

const numberOf = (event: CommerceEvent): string =>
  event.type === "order.placed" && "number" in event.data.object
    ? event.data.object.number
    : `It is ${event.type}.`;

async function statusOf(deliveryId: string): Promise<string | undefined> {
  const { data } = await commerce.get("/api/v1/open/webhooks/events");
  return data.events.flatMap(({ deliveries }) => deliveries).find(({ id }) => id === deliveryId)?.status;
}

describe("a refusal", () => {
  it("is thrown with the service's error", async () => {
    const params = { path: { cartId: (await openCart(service.ask, shop)).id } };
    const error = await refused(
      commerce.put("/api/v1/open/storefront/carts/{cartId}/address", {
        params,
        body: { address: { ...address, postalCode: "1" } },
      }),
    );
    expect(error).toMatchObject({
      name: "CommerceApiError",
      status: 400,
      code: "address_invalid",
      retryable: false,
      requestId: expect.stringMatching(/^req_/),
      details: [{ in: "body", field: "/address/postalCode" }],
      conflict: null,
      docUrl: expect.stringContaining("#address_invalid"),
    });
  });

  it.each([
    ["a key without the scope", "noScope", 403, "scope_missing"],
    ["a key that is over", "expired", 401, "api_key_expired"],
    ["no key", undefined, 401, "credentials_missing"],
  ] as const)(
    "is thrown for %s",
    async (_name, key: keyof DemoJsonFileContent["keys"] | undefined, status, code) => {
      const apiKey = key === undefined ? {} : { apiKey: service.access.keys[key] };
      // The proxy itself would refuse this request.
      const other = createCommerceClient({ baseUrl: direct(), ...apiKey });
      expect(await refused(other.get("/api/v1/open/webhooks/endpoints"))).toMatchObject({ status, code });
    },
  );
});

describe.each(["head", "body"] as const)("an answer that is cut before the end of its %s", (place) => {
  it("is requested again, and the operation has one effect", async () => {
    const cutting = await startCuttingHttp(service.port);
    const retries = { waitMsBase: 1 };
    const careful = createCommerceClient({
      baseUrl: cutting.origin,
      apiKey: service.access.keys.full,
      retries,
    });
    const { id: cartId, version } = await openCart(service.ask, shop);
    cutting.cutNext(place);
    const { data } = await careful.put("/api/v1/open/storefront/carts/{cartId}/promotion", {
      params: { path: { cartId } },
      body: { code: shop.codes[1] ?? "" },
    });
    expect([data.cartVersion, cutting.keys.length, new Set(cutting.keys).size]).toEqual([version + 1, 2, 1]);
    const { data: cart } = await careful.get("/api/v1/open/storefront/carts/{cartId}", {
      params: { path: { cartId } },
    });
    expect(cart.version).toBe(version + 1);
  });
});

describe.runIf(isProxied)("the contract proxy", () => {
  it("refuses requests and answers that violate the contract", async () => {
    const server = createServer((_, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end('{"data":{}}'),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    await using wrong = await startContractProxy((server.address() as AddressInfo).port);
    const retries = { attemptsMax: 1 };
    const client = createCommerceClient({ baseUrl: wrong.origin, apiKey: service.access.keys.full, retries });
    expect((await refused(client.get("/api/v1/open/identity"))).status).toBe(500);
    const params = { path: { cartId: "cart_1" } };
    const tooLong = client.put("/api/v1/open/storefront/carts/{cartId}/promotion", {
      params,
      body: { code: "X".repeat(257) },
    });
    expect((await refused(tooLong)).status).toBe(422);
  });
});
