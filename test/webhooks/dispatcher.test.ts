/**
 * Every event reaches each subscribed and permitted endpoint at least once, also if a dispatcher dies, and no
 * endpoint waits for another's receiver.
 */
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Webhook } from "standardwebhooks";
import { describeOnBoth } from "#test/support/databases.ts";
import { arrived, createDispatchWorld, type DispatchWorld, refused } from "./dispatch-world.ts";

describeOnBoth("the dispatcher", (open) => {
  let world: DispatchWorld;
  beforeAll(async () => {
    world = createDispatchWorld(await open({ poolSize: 10 }));
  });
  beforeEach(() => {
    world.sent.length = 0;
    world.answer = () => arrived;
    // Deliveries of earlier tests are not due any more.
    world.clock.advance(1000);
  });

  const deliveries = (endpointId: string) =>
    world.database.db
      .selectFrom("webhookDelivery")
      .selectAll()
      .where("endpointId", "=", endpointId)
      .orderBy("createdAt")
      .orderBy("id")
      .execute();
  const attempts = (deliveryId: string) =>
    world.database.db
      .selectFrom("webhookAttempt")
      .selectAll()
      .where("deliveryId", "=", deliveryId)
      .orderBy("number")
      .execute();

  it("signs and sends the stored body, and names its subject in the headers", async () => {
    const shop = await world.merchant();
    const endpoint = await world.endpoint(shop);
    const id = await world.event(shop);
    await world.dispatcher().drain();
    const [request] = world.sent;
    const [delivery] = await deliveries(endpoint.id);
    const { snapshot } = await world.database.db
      .selectFrom("event")
      .select("snapshot")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    expect(world.sent).toHaveLength(1);
    expect(request).toMatchObject({ url: endpoint.url, body: snapshot, isLoopbackAllowed: true });
    expect(request?.headers).toMatchObject({
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-event-type": "order.placed",
      "webhook-delivery-id": delivery?.id,
      "webhook-installation-id": shop.installationId,
      "webhook-attempt": "1",
      "webhook-replay": "false",
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/),
    });
    expect(new Webhook(endpoint.secret).verify(snapshot, { ...request?.headers })).toEqual(
      JSON.parse(snapshot),
    );
    expect(delivery).toMatchObject({
      status: "succeeded",
      attemptCount: 1,
      nextAttemptAt: null,
      lease: null,
      finishedAt: world.clock.now(),
    });
    expect(await attempts(delivery?.id ?? "")).toMatchObject([
      { number: 1, httpStatus: 204, errorCode: null, durationMs: 3 },
    ]);
  });

  it("sends each endpoint its subscribed event types, and nothing of other merchants", async () => {
    const [shop, other] = [await world.merchant(), await world.merchant()];
    const all = await world.endpoint(shop);
    const orders = await world.endpoint(shop, { eventTypes: ["order.*"], payloadMode: "thin" });
    const one = await world.endpoint(shop, { eventTypes: ["cart.created"] });
    const gone = await world.endpoint(shop, { status: "deleted" });
    const foreign = await world.endpoint(other);
    await world.event(shop);
    await world.dispatcher().drain();
    const { id } = JSON.parse(String(world.sent.find(({ url }) => url === orders.url)?.body)).data.object;
    expect(world.sent.map(({ url }) => url).toSorted()).toEqual([all.url, orders.url].toSorted());
    expect(JSON.parse(String(world.sent.find(({ url }) => url === orders.url)?.body)).data).toEqual({
      object: { id },
    });
    for (const { id: endpointId } of [one, gone, foreign]) expect(await deliveries(endpointId)).toEqual([]);
  });

  it("withholds events outside of scopes, of other installations, and of an endpoint itself", async () => {
    const shop = await world.merchant();
    const endpoint = await world.endpoint(shop);
    const { db } = world.database;
    await db.updateTable("installation").set({ scopes: [] }).where("id", "=", shop.installationId).execute();
    await world.event(shop);
    await world.event(shop, { type: "promotion.started", subjectType: "promotion" });
    await world.event(shop, {
      type: "promotion.ended",
      subjectType: "promotion",
      installationId: (await world.merchant()).installationId,
    });
    await world.event(shop, {
      type: "promotion.updated",
      subjectType: "webhook_endpoint",
      subjectId: endpoint.id,
    });
    await world.dispatcher().drain();
    expect(world.sent.map(({ headers }) => headers["webhook-event-type"])).toEqual(["promotion.started"]);
  });

  it("skips a disabled endpoint, and resumes its started deliveries when it is enabled", async () => {
    const shop = await world.merchant();
    const endpoint = await world.endpoint(shop, { status: "disabled" });
    await world.event(shop);
    await world.dispatcher().drain();
    expect(await deliveries(endpoint.id)).toMatchObject([
      { status: "skipped", attemptCount: 0, nextAttemptAt: null },
    ]);
    expect(world.sent).toEqual([]);
  });

  it("follows the retry schedule to its end, and gives up after ten attempts", async () => {
    const shop = await world.merchant();
    const endpoint = await world.endpoint(shop);
    world.answer = () => refused();
    await world.event(shop);
    const begun = world.clock.now().getTime();
    const at: number[] = [];
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      await world.dispatcher().drain();
      expect(world.sent).toHaveLength(attempt);
      at.push((world.clock.now().getTime() - begun) / 1000);
      const [delivery] = await deliveries(endpoint.id);
      if (delivery?.nextAttemptAt === null || delivery?.nextAttemptAt === undefined) break;
      world.clock.at = new Date(delivery.nextAttemptAt.getTime() - 1);
      await world.dispatcher().drain();
      expect(world.sent).toHaveLength(attempt);
      world.clock.advance(1);
    }
    const delays = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
    expect(at).toEqual(
      delays.map((_, index) => delays.slice(0, index + 1).reduce((sum, delay) => sum + delay, 0)),
    );
    expect(world.sent.map(({ headers }) => headers["webhook-attempt"])).toEqual(
      delays.map((_, index) => String(index + 1)),
    );
    expect(new Set(world.sent.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    const [delivery] = await deliveries(endpoint.id);
    expect(delivery).toMatchObject({ status: "exhausted", attemptCount: 10 });
    expect((await attempts(delivery?.id ?? "")).map(({ number }) => number)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ]);
  });

  it("repeats the attempt of a dispatcher that died, and ignores a result that is too late", async () => {
    const shop = await world.merchant();
    const endpoint = await world.endpoint(shop);
    await world.event(shop);
    const { promise: never, resolve: late } = Promise.withResolvers<void>();
    world.answer = async () => {
      await never;
      return refused();
    };
    const dead = world.dispatcher();
    const dying = dead.drain();
    await expect.poll(() => world.sent.length).toBe(1);
    world.clock.advance(19_999);
    world.answer = () => arrived;
    await world.dispatcher().drain();
    expect(world.sent).toHaveLength(1);
    world.clock.advance(1);
    await world.dispatcher().drain();
    expect(world.sent.map(({ headers }) => headers["webhook-attempt"])).toEqual(["1", "1"]);
    late();
    await dying;
    expect(await deliveries(endpoint.id)).toMatchObject([{ status: "succeeded", attemptCount: 1 }]);
    expect(await attempts((await deliveries(endpoint.id))[0]?.id ?? "")).toHaveLength(1);
  });

  it("releases running deliveries when it is stopped, and the next one sends them at once", async () => {
    const shop = await world.merchant();
    const endpoint = await world.endpoint(shop);
    await world.event(shop);
    world.answer = ({ signal }) =>
      new Promise((_done, failed) => signal?.addEventListener("abort", () => failed(new Error("stopped"))));
    const stopping = world.dispatcher({ stopMsMax: 10 });
    stopping.start();
    await expect.poll(() => world.sent.length).toBe(1);
    await stopping.stop();
    expect(await deliveries(endpoint.id)).toMatchObject([
      { status: "pending", attemptCount: 0, nextAttemptAt: world.clock.now() },
    ]);
    world.answer = () => arrived;
    world.clock.advance(100);
    await world.dispatcher().drain();
    expect(await deliveries(endpoint.id)).toMatchObject([{ status: "succeeded", attemptCount: 1 }]);
  });

  describe("several dispatchers at once", () => {
    it("send each delivery once", async () => {
      const shop = await world.merchant();
      const endpoints = [await world.endpoint(shop), await world.endpoint(shop)];
      for (let count = 0; count < 20; count += 1) await world.event(shop);
      const all = [world.dispatcher(), world.dispatcher(), world.dispatcher()];
      for (let turn = 0; turn < 12; turn += 1) {
        await Promise.all(all.map((one) => one.drain()));
        world.clock.advance(200);
      }
      expect(world.sent).toHaveLength(40);
      expect(new Set(world.sent.map(({ headers }) => headers["webhook-delivery-id"])).size).toBe(40);
      for (const { id } of endpoints)
        expect((await deliveries(id)).every(({ status }) => status === "succeeded")).toBe(true);
    });
  });
});
