/**
 * Two processes on one PostgreSQL: a subscriber at one process gets changes made through the other. A process
 * that is stopped ends its streams first.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { randomUUID } from "node:crypto";
import { type Service, startService } from "#soak/service.ts";
import { startReceiver } from "#soak/webhook-receiver.ts";
import { demoPlace } from "#test/support/copies.ts";
import { follow, type Followed } from "#test/graph/live/streams.ts";

/** Two cold starts on a busy machine. */
const startsMsMax = 240_000;
const cartChanged = "subscription ($id: ID!) { cartChanged(id: $id) { version } }";
const deliveryChanged =
  "subscription ($id: ID!) { deliveryChanged(endpointId: $id) { deliveries { id status } } }";

describe("two processes", () => {
  const stack = new AsyncDisposableStack();
  let serving: Service;
  let gateway: Service;
  beforeAll(async () => {
    const place = await demoPlace("postgres");
    const environment = { ...place.environment, WEBHOOK_ALLOW_LOOPBACK: "1", DEMO: "0" };
    [serving, gateway] = await Promise.all([
      startService({ ...place, environment }),
      startService({ ...place, command: "gateway", environment }),
    ]);
    for (const service of [serving, gateway]) stack.use(service);
  }, startsMsMax);
  afterAll(() => stack.disposeAsync());

  const post = async (url: string, token: string, body: unknown) => {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "idempotency-key": randomUUID(),
    };
    const { text } = await serving.ask({ method: "POST", url, headers, body: JSON.stringify(body) });
    return JSON.parse(text).data;
  };
  const mutate = (query: string): ReturnType<typeof post> =>
    post("/graphql", serving.access.tokens.storefront, { query });
  const makeCart = async (): Promise<string> =>
    (await mutate('mutation { cartCreate(input: { market: "DE", lines: [] }) { id } }')).cartCreate.id;
  const changeCart = (id: string, buyer: string): Promise<unknown> =>
    mutate(`mutation { cartBuyerSet(cartId: "${id}", input: { buyerReference: "${buyer}" }) { version } }`);
  const followAtGateway = (query: string, id: string): Promise<Followed> =>
    follow({ port: gateway.port, token: serving.access.tokens.admin, query, variables: { id } });

  it("deliver a cart's changes to subscribers of either", async () => {
    const id = await makeCart();
    const stream = await followAtGateway(cartChanged, id);
    expect((await stream.next()).data.cartChanged).toEqual({ version: 1 });
    for (const version of [2, 3]) {
      await changeCart(id, `buyer-${version}`);
      expect((await stream.next()).data.cartChanged).toEqual({ version });
    }
    stream.leave();
  });

  it("deliver an endpoint's deliveries to subscribers of either", async () => {
    await using receiver = await startReceiver({ reply: () => 204 });
    const made = await post("/api/v1/open/webhooks/endpoints", serving.access.keys.full, {
      url: `${receiver.origin}/hooks`,
      eventTypes: ["cart.created"],
    });
    const stream = await followAtGateway(deliveryChanged, made.endpoint.id);
    await makeCart();
    const states = new Map<string, string>();
    // The deliveries of the cart and of the endpoint's welcome event.
    while ([...states.values()].filter((status) => status === "SUCCEEDED").length < 2) {
      for (const { id, status } of (await stream.next()).data.deliveryChanged.deliveries)
        states.set(id, status);
    }
    expect(states.size).toBe(2);
    stream.leave();
  });

  it("end their streams when they are stopped, and exit", async () => {
    const id = await makeCart();
    const streams = await Promise.all([followAtGateway(cartChanged, id), followAtGateway(cartChanged, id)]);
    for (const stream of streams) await stream.next();
    const stopping = gateway.stop();
    for (const stream of streams) expect(await stream.rest()).toEqual([]);
    expect(await stopping).toBe(0);
  });
});
