/**
 * The dispatcher is fair: a slow receiver occupies few slots, an installation with many deliveries gets no
 * extra turns, and new events are delivered immediately.
 */
import { afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { Webhook } from "standardwebhooks";
import { createId } from "#foundation/ids.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import type { WebhookHttpRequest } from "#webhooks/safe-request.ts";
import { createWebhookSecret, createWebhookSecretHint } from "#webhooks/signatures.ts";
import {
  arrived,
  createDispatchWorld,
  type DispatchWorld,
  type EndpointMade,
  type Installed,
} from "./dispatch-world.ts";

describeOnBoth("the dispatcher", (open) => {
  let world: DispatchWorld;
  beforeAll(async () => {
    world = createDispatchWorld(await open({ poolSize: 10 }));
  });
  beforeEach(async () => {
    // Suspends the installations of earlier tests, so that their deliveries do not count.
    await world.database.db.updateTable("installation").set({ status: "suspended" }).execute();
    world.sent.length = 0;
    world.answer = () => arrived;
  });
  afterEach(() => vi.useRealTimers());

  const endpoints = async (shop: Installed, count: number): Promise<EndpointMade[]> => {
    const made: EndpointMade[] = [];
    for (let index = 0; index < count; index += 1) made.push(await world.endpoint(shop));
    return made;
  };
  const events = async (shop: Installed, count: number): Promise<void> => {
    for (let made = 0; made < count; made += 1) await world.event(shop);
  };
  const sentTo = ({ url }: EndpointMade): WebhookHttpRequest[] =>
    world.sent.filter((request) => request.url === url);

  it("gives a silent receiver four slots and one installation sixteen, while others proceed", async () => {
    const [shop, other] = [await world.merchant(), await world.merchant()];
    const [holes, good, elsewhere] = [
      await endpoints(shop, 1),
      await endpoints(shop, 3),
      await endpoints(other, 1),
    ];
    world.clock.advance(1000);
    const { promise: end, resolve } = Promise.withResolvers<void>();
    world.answer = async ({ url }) => {
      if (holes.some((hole) => hole.url === url)) await end;
      return arrived;
    };
    for (const one of [shop, other]) await events(one, 10);
    const dispatcher = world.dispatcher();
    dispatcher.start();
    await expect
      .poll(() => [...good, ...elsewhere].map((one) => sentTo(one).length))
      .toEqual([10, 10, 10, 10]);
    expect(holes.map((hole) => sentTo(hole).length)).toEqual([4]);

    holes.push(...(await endpoints(shop, 6)));
    world.clock.advance(1000);
    for (const one of [shop, other]) await events(one, 5);
    dispatcher.wake();
    await expect.poll(() => elsewhere.map((one) => sentTo(one).length)).toEqual([15]);
    await expect.poll(() => holes.reduce((sum, hole) => sum + sentTo(hole).length, 0)).toBe(16);
    await world.event(other);
    dispatcher.wake();
    await expect.poll(() => elsewhere.map((one) => sentTo(one).length)).toEqual([16]);
    expect(holes.reduce((sum, hole) => sum + sentTo(hole).length, 0)).toBe(16);
    expect(Math.max(...holes.map((hole) => sentTo(hole).length))).toBe(4);
    resolve();
    await dispatcher.stop();
  });

  it("takes turns: sends each endpoint's oldest delivery before the second of any endpoint", async () => {
    const shop = await world.merchant();
    const [busy] = await endpoints(shop, 1);
    await events(shop, 10);
    // The endpoint's token bucket is empty after the first delivery.
    await world.dispatcher().drain();
    const quiet = await endpoints(shop, 2);
    world.clock.advance(1000);
    await events(shop, 1);
    world.sent.length = 0;
    await world.dispatcher({ sendingMax: 3 }).drain();
    expect(new Set(world.sent.slice(0, 3).map(({ url }) => url))).toEqual(
      new Set([busy, ...quiet].map((one) => one?.url)),
    );
    expect(world.sent).toHaveLength(12);
  });

  it("limits an endpoint's deliveries per second, and bursts to a fifth of that", async () => {
    const shop = await world.merchant();
    const [slow, usual] = [await world.endpoint(shop, { maxPerSecond: 10 }), await world.endpoint(shop)];
    await world.database.db
      .updateTable("webhookEndpoint")
      .set({ maxPerSecond: null })
      .where("id", "=", usual.id)
      .execute();
    world.clock.advance(10_000);
    await events(shop, 40);
    const after = async (ms: number): Promise<number[]> => {
      world.clock.advance(ms);
      await world.dispatcher().drain();
      return [slow, usual].map((one) => sentTo(one).length);
    };
    expect(await after(0)).toEqual([2, 5]);
    expect(await after(40)).toEqual([2, 6]);
    expect(await after(60)).toEqual([3, 7]);
    let last: number[] = [];
    for (let turn = 0; turn < 10; turn += 1) last = await after(100);
    expect(last).toEqual([13, 32]);
    expect(await after(60_000)).toEqual([15, 37]);
  });

  it("signs with both secrets while both are valid, and then only with the new one", async () => {
    const shop = await world.merchant();
    const endpoint = await world.endpoint(shop);
    const { db } = world.database;
    const [secretId, secret] = [createId("webhookSecret"), createWebhookSecret()];
    const now = world.clock.now();
    await db
      .updateTable("webhookSecret")
      .set({ expiresAt: new Date(now.getTime() + 60_000) })
      .where("endpointId", "=", endpoint.id)
      .execute();
    const sealed = world.keyring.seal(secret, { table: "webhook_secret", column: "sealed", rowId: secretId });
    await db
      .insertInto("webhookSecret")
      .values({
        id: secretId,
        endpointId: endpoint.id,
        version: 2,
        ...sealed,
        hint: createWebhookSecretHint(secret),
        createdAt: now,
        expiresAt: null,
      })
      .execute();
    for (const ms of [1000, 59_000]) {
      world.clock.advance(ms);
      await world.event(shop);
      await world.dispatcher().drain();
    }
    const verifies = (request: WebhookHttpRequest, key: string): boolean => {
      try {
        return new Webhook(key).verify(String(request.body), { ...request.headers }) !== undefined;
      } catch {
        return false;
      }
    };
    expect(
      world.sent.map((request) => [secret, endpoint.secret].map((key) => verifies(request, key))),
    ).toEqual([
      [true, true],
      [true, false],
    ]);
    expect(world.sent.map(({ headers }) => headers["webhook-signature"]?.split(" ").length)).toEqual([2, 1]);
  });

  it.each([false, true])(
    "sends deliveries without a new event as soon as it is woken, without polling (beside events: %s)",
    async (isBusy) => {
      const [shop, other] = [await world.merchant(), await world.merchant()];
      const endpoint = await world.endpoint(shop, { eventTypes: ["cart.created"] });
      world.clock.advance(1000);
      const eventId = await world.event(shop);
      await world.dispatcher().drain();
      vi.useFakeTimers({ toFake: ["setInterval"] });
      const dispatcher = world.dispatcher();
      dispatcher.start();
      // The poll at the start is over.
      await world.event(other);
      dispatcher.wake();
      await expect.poll(async () => (await waitingToFanOut(world)).length).toBe(0);
      const createdAt = world.clock.now();
      const { merchantId, installationId } = shop;
      await world.database.db
        .insertInto("webhookDelivery")
        .values({
          id: createId("webhookDelivery"),
          merchantId,
          installationId,
          eventId,
          endpointId: endpoint.id,
          replayOf: null,
          replayReason: null,
          replayNote: null,
          status: "pending",
          nextAttemptAt: createdAt,
          lease: null,
          createdAt,
        })
        .execute();
      if (isBusy) await world.event(other);
      dispatcher.wake();
      await expect.poll(() => sentTo(endpoint).length).toBe(1);
      await dispatcher.stop();
    },
  );
});

const waitingToFanOut = ({ database }: DispatchWorld) =>
  database.db.selectFrom("event").select("id").where("fannedOutAt", "is", null).execute();
