/**
 * The dispatcher writes results that arrive together in one statement, each only with its own lease, and
 * queries nothing if nothing is to be sent.
 */
import { beforeAll, beforeEach, expect, it } from "vitest";
import { createLog } from "#foundation/log.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import { createWebhookDispatchRound, type WebhookDispatchRound } from "#webhooks/dispatch/round.ts";
import { arrived, createDispatchWorld, type DispatchWorld, type EndpointMade } from "./dispatch-world.ts";

const calls = { onAttemptEnded: () => undefined, onFullBatch: () => undefined };

describeOnBoth("the dispatcher", (open) => {
  let world: DispatchWorld;
  const statements: string[] = [];
  beforeAll(async () => {
    world = createDispatchWorld(
      await open({ poolSize: 10, onStatement: ({ query }) => statements.push(query.sql) }),
    );
  });
  beforeEach(async () => {
    // Suspends the installations of earlier tests, so that their deliveries do not count.
    await world.database.db.updateTable("installation").set({ status: "suspended" }).execute();
    world.sent.length = 0;
    world.answer = () => arrived;
  });

  const round = (): WebhookDispatchRound =>
    createWebhookDispatchRound({
      db: world.database.db,
      clock: world.clock,
      keyring: world.keyring,
      log: createLog("silent"),
      scale: 1,
      random: () => 0.5,
      render: () => Promise.resolve({ version: 1 }),
      sender: {
        send: async (request) => {
          world.sent.push(request);
          return world.answer(request);
        },
        close: () => Promise.resolve(),
      },
    });
  /** Creates one event for eight endpoints; all receivers answer when the test says so. */
  const sendEight = async () => {
    const shop = await world.merchant();
    const endpoints: EndpointMade[] = [];
    for (let made = 0; made < 8; made += 1) endpoints.push(await world.endpoint(shop));
    world.clock.advance(1000);
    await world.event(shop);
    const { promise, resolve } = Promise.withResolvers<void>();
    world.answer = async () => {
      await promise;
      return arrived;
    };
    const one = round();
    expect(await one.run({ ...calls, wasNotified: true })).toBe(8);
    await expect.poll(() => world.sent.length).toBe(8);
    const deliveryIds = endpoints.map(({ url }) =>
      String(world.sent.find((request) => request.url === url)?.headers["webhook-delivery-id"]),
    );
    return { one, deliveryIds, answerAll: resolve };
  };
  const written = () => statements.filter((text) => text.includes("insert into webhook_attempt")).length;
  const claims = () =>
    statements.filter((text) => text.includes("skip locked") && text.includes("webhook_secret")).length;
  const states = (deliveryIds: readonly string[]) =>
    world.database.db
      .selectFrom("webhookDelivery")
      .select(["id", "status"])
      .where("id", "in", deliveryIds)
      .orderBy("id")
      .execute();
  const attemptsOf = async (deliveryIds: readonly string[]) =>
    (
      await world.database.db
        .selectFrom("webhookAttempt")
        .select("deliveryId")
        .where("deliveryId", "in", deliveryIds)
        .orderBy("deliveryId")
        .execute()
    ).map(({ deliveryId }) => deliveryId);

  it("writes all results in one statement that arrive while the statement before runs", async () => {
    const { one, deliveryIds, answerAll } = await sendEight();
    const before = written();
    answerAll();
    await one.waitUntilIdle();
    expect(written() - before).toBe(2);
    expect(await states(deliveryIds)).toEqual(
      deliveryIds.toSorted().map((id) => ({ id, status: "succeeded" })),
    );
    expect(await attemptsOf(deliveryIds)).toEqual(deliveryIds.toSorted());
    const healths = await world.database.db
      .selectFrom("webhookEndpointHealth")
      .select("lastSuccessAt")
      .where("lastSuccessAt", "is not", null)
      .execute();
    expect(
      healths.filter(({ lastSuccessAt }) => lastSuccessAt?.getTime() === world.clock.now().getTime()),
    ).toHaveLength(8);
  });

  it("does not write results whose lease was lost, and writes all others", async () => {
    const { one, deliveryIds, answerAll } = await sendEight();
    const [canceled = "", ...others] = deliveryIds;
    const { db } = world.database;
    const now = world.clock.now();
    await db
      .updateTable("webhookDelivery")
      .set({ status: "canceled", nextAttemptAt: null, lease: null, finishedAt: now })
      .where("id", "=", canceled)
      .execute();
    answerAll();
    await one.waitUntilIdle();
    expect(await states([canceled])).toEqual([{ id: canceled, status: "canceled" }]);
    expect(await attemptsOf(deliveryIds)).toEqual(others.toSorted());
  });

  it("writes all other results if one cannot be written", async () => {
    const { one, deliveryIds, answerAll } = await sendEight();
    // The seventh result is in the middle of a batch.
    const [spoiled = ""] = deliveryIds.slice(6);
    const startedAt = world.clock.now();
    const attempt = {
      id: `wha_${spoiled}`,
      deliveryId: spoiled,
      number: 1,
      startedAt,
      durationMs: 1,
      httpStatus: 204,
      errorCode: null,
    };
    await world.database.db.insertInto("webhookAttempt").values(attempt).execute();
    answerAll();
    await one.waitUntilIdle();
    const status = (id: string): string => (id === spoiled ? "retrying" : "succeeded");
    expect(await states(deliveryIds)).toEqual(
      deliveryIds.toSorted().map((id) => ({ id, status: status(id) })),
    );
    expect(await attemptsOf(deliveryIds)).toEqual(deliveryIds.toSorted());
  });

  it("does not query again if everything was sent, and queries at once if a slot becomes free", async () => {
    const { one, answerAll } = await sendEight();
    answerAll();
    await one.waitUntilIdle();
    const before = claims();
    expect(await one.run({ ...calls, wasNotified: false })).toBe(0);
    expect(claims()).toBe(before);
    expect(one.hasActiveEndpoints()).toBe(false);

    const shop = await world.merchant();
    await world.endpoint(shop);
    world.clock.advance(1000);
    for (let made = 0; made < 5; made += 1) await world.event(shop);
    expect(await one.run({ ...calls, wasNotified: true })).toBe(4);
    await one.waitUntilIdle();
    expect(one.hasActiveEndpoints()).toBe(true);
    expect(await one.run({ ...calls, wasNotified: false })).toBe(1);
    await one.waitUntilIdle();
  });
});
