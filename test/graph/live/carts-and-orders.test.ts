/**
 * Subscriptions of a cart and an order: they send the current state, then each change by any process, under
 * the rules of the queries.
 */
import { setTimeout as wait } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { sent } from "#test/graph/fulfillment-calls.ts";
import { askGraph, changeCart, linesOf, makeCart, makeForeignCart } from "#test/operations/cart-calls.ts";
import { defaultBuyer, insertOrder } from "#test/support/orders.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { anotherProcess, useStreams } from "./streams.ts";

const cartChanged =
  "subscription ($id: ID!) { cartChanged(id: $id) { id version totalQuantity buyer { reference } } }";
const orderChanged =
  "subscription ($id: ID!) { orderChanged(id: $id) { id version status buyer { reference } } }";
const looks = /^select id, version from (?:cart|sales_order) where/;

describe("subscriptions", () => {
  const world = useWorld("postgres", { environment: { PORT: "0" } });
  beforeAll(async () => {
    await world().app.listen();
  });
  const followed = useStreams(world);

  it("send a cart as it is, then after each change, in order", async () => {
    const { id } = await makeCart(world());
    const stream = await followed({ query: cartChanged, variables: { id } });
    expect(stream.response.status).toBe(200);
    expect(Object.fromEntries(stream.response.headers)).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    });
    expect(stream.response.headers.get("content-encoding")).toBe(null);
    expect(await stream.next()).toEqual({
      data: { cartChanged: { id, version: 1, totalQuantity: 0, buyer: { reference: null } } },
      extensions: { cost: { requested: expect.any(Number), limit: 20_000 } },
    });
    const lines = await linesOf(world(), { "KIT-KVERN": 1 });
    for (const version of [2, 3, 4]) {
      await changeCart(world(), "cartLinesAdd", { cartId: id, input: { lines } });
      expect((await stream.next()).data.cartChanged).toMatchObject({ version, totalQuantity: version - 1 });
    }
  });

  it("send an order after each change", async () => {
    const { id, version } = await insertOrder(world());
    const stream = await followed({ query: orderChanged, variables: { id } });
    expect((await stream.next()).data.orderChanged).toMatchObject({ id, version, status: "CONFIRMED" });
    await sent(world(), "orderHold", { id, input: { reason: "Ask the buyer." } });
    expect((await stream.next()).data.orderChanged).toMatchObject({
      id,
      version: version + 1,
      status: "ON_HOLD",
    });
  });

  it("send changes of another process", async () => {
    await using other = await anotherProcess(world());
    const { id } = await makeCart(world());
    const stream = await followed({ query: cartChanged, variables: { id } });
    expect((await stream.next()).data.cartChanged).toMatchObject({ version: 1 });
    const lines = await linesOf(world(), { "KIT-KVERN": 1 });
    for (const version of [2, 3]) {
      const changed = await changeCart({ ...world(), ...sendingTo(other) }, "cartLinesAdd", {
        cartId: id,
        input: { lines },
      });
      expect(changed.data.version).toBe(version);
      expect((await stream.next()).data.cartChanged).toMatchObject({ version, totalQuantity: version - 1 });
    }
  });

  const sendingTo = ({
    server,
  }: Awaited<ReturnType<typeof anotherProcess>>): Pick<ReturnType<typeof world>, "send"> => ({
    send: async ({ method, url, headers = {}, body }) => {
      const request = {
        method: method as "POST",
        url,
        headers: { "content-type": "application/json", ...headers },
        payload: JSON.stringify(body),
      };
      const { statusCode, headers: got, body: text } = await server.inject(request);
      return { status: statusCode, headers: got as Record<string, string>, text, body: JSON.parse(text) };
    },
  });

  it("read all subscribed objects in one statement, and run none without subscribers", async () => {
    const carts = [await makeCart(world()), await makeCart(world()), await makeCart(world())];
    const streams = await Promise.all(
      carts.map(({ id }) => followed({ query: cartChanged, variables: { id } })),
    );
    for (const stream of streams) await stream.next();
    world().statements.length = 0;
    await expect.poll(() => world().statements.filter((text) => looks.test(text)).length).toBeGreaterThan(0);
    expect(new Set(world().statements.filter((text) => looks.test(text))).size).toBe(1);
    for (const { leave } of streams) leave();
    await expect.poll(() => world().app.services.watch?.watchers()).toBe(0);
    // A read that began before the last subscriber left may still be answered.
    await wait(500);
    world().statements.length = 0;
    // Longer than the interval between two reads.
    await wait(1_000);
    expect(world().statements.filter((text) => looks.test(text))).toEqual([]);
  });

  it("send nothing that the query would not return, and end", async () => {
    const ended = async (request: Parameters<typeof followed>[0]): Promise<unknown> => {
      const stream = await followed(request);
      return [stream.response.status, ...(await stream.rest()).map(({ data }) => data)];
    };
    const foreign = await makeForeignCart(world());
    const ofBuyer = await makeCart(world(), { token: "admin", input: { buyerReference: "somebody" } });
    const { id: orderId } = await insertOrder(world());
    const noCart = [200, { cartChanged: null }];
    const noOrder = [200, { orderChanged: null }];
    expect(await ended({ query: cartChanged, variables: { id: "cart_none" } })).toEqual(noCart);
    expect(await ended({ query: cartChanged, variables: { id: foreign } })).toEqual(noCart);
    expect(
      await ended({
        query: cartChanged,
        variables: { id: ofBuyer.id },
        token: "storefront",
        headers: { "x-buyer-reference": "other" },
      }),
    ).toEqual(noCart);
    expect(await ended({ query: orderChanged, variables: { id: "ord_none" } })).toEqual(noOrder);
    expect(await ended({ query: orderChanged, variables: { id: orderId }, token: "storefront" })).toEqual(
      noOrder,
    );
  });

  it.each(["storefront", "admin", "operator", "analyst"] as const)(
    "send %s the same data as the query",
    async (token) => {
      const { id } = await insertOrder(world());
      const buyer = token === "storefront" ? { buyer: defaultBuyer } : {};
      const headers = token === "storefront" ? { "x-buyer-reference": defaultBuyer } : {};
      const { data } = await askGraph(
        world(),
        "query ($id: ID!) { order(id: $id) { id version status buyer { reference } } }",
        { id },
        { token, ...buyer },
      );
      const stream = await followed({ query: orderChanged, variables: { id }, token, headers });
      expect((await stream.next()).data.orderChanged).toEqual(data);
    },
  );

  it("end when the object no longer belongs to the subscriber", async () => {
    const { id } = await makeCart(world());
    const stream = await followed({
      query: cartChanged,
      variables: { id },
      token: "storefront",
      headers: { "x-buyer-reference": "somebody" },
    });
    expect((await stream.next()).data.cartChanged).toMatchObject({ version: 1 });
    const set = await changeCart(world(), "cartBuyerSet", {
      cartId: id,
      token: "admin",
      input: { buyerReference: "somebody-else" },
    });
    expect(set.error).toBe(undefined);
    expect((await stream.rest()).map(({ data }) => data)).toEqual([{ cartChanged: null }]);
  });

  it("load fresh data for each event, without cached rows of the last one", async () => {
    const { id } = await makeCart(world());
    const stream = await followed({
      query:
        "subscription ($id: ID!) { cartChanged(id: $id) { version merchant { name } lines { quantity } } }",
      variables: { id },
    });
    expect((await stream.next()).data.cartChanged.lines).toEqual([]);
    const lines = await linesOf(world(), { "KIT-KVERN": 2 });
    await changeCart(world(), "cartLinesAdd", { cartId: id, input: { lines } });
    const { data } = await askGraph(
      world(),
      "query ($id: ID!) { cart(id: $id) { version merchant { name } lines { quantity } } }",
      { id },
    );
    expect((await stream.next()).data.cartChanged).toEqual(data);
  });
});

describe.each(["pglite", "postgres"] as const)("a change of a subscribed object on %s", (engine) => {
  const world = useWorld(engine);

  it("runs no additional statement", async () => {
    const { id } = await makeCart(world());
    const lines = await linesOf(world(), { "KIT-KVERN": 1 });
    const change = async (): Promise<string[]> => {
      const all = await statementsOf(world(), () =>
        changeCart(world(), "cartLinesAdd", { cartId: id, input: { lines } }),
      );
      return all.filter((text) => !looks.test(text));
    };
    await change();
    const alone = await change();
    const versions: (number | null)[] = [];
    const stop = world().app.services.watch?.carts.watch(id, (version) => void versions.push(version));
    expect(await change()).toEqual(alone);
    await expect.poll(() => versions.at(-1)).toBe(4);
    stop?.();
    expect(alone.join()).not.toContain("notify");
  });
});
