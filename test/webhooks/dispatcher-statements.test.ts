/**
 * The dispatcher writes results that arrive together in one statement, each only with its own lease. The
 * number of its statements does not grow with the number of deliveries, and it queries nothing if nothing is
 * to be sent. Results that were not written are repeated.
 */
import { beforeAll, beforeEach, expect, it } from "vitest";
import { createId } from "#foundation/ids.ts";
import { createLog } from "#foundation/log.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import {
  createWebhookDispatchRoundRunner,
  type WebhookDispatchRoundRunner,
} from "#webhooks/dispatch/round.ts";
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

  const round = (db = world.database.db): WebhookDispatchRoundRunner =>
    createWebhookDispatchRoundRunner({
      db,
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
  const sendEight = async (db = world.database.db) => {
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
    const one = round(db);
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

  it("writes all results in one statement that arrive together", async () => {
    const { one, deliveryIds, answerAll } = await sendEight();
    const before = written();
    answerAll();
    await one.waitUntilIdle();
    expect(written() - before).toBe(1);
    expect(await states(deliveryIds)).toEqual(
      deliveryIds.toSorted().map((id) => ({ id, status: "succeeded" })),
    );
    expect(await attemptsOf(deliveryIds)).toEqual(deliveryIds.toSorted());
    // One statement with two more attempts of each delivery, one of them failed, counts all of them.
    const more = deliveryIds.flatMap((deliveryId) =>
      [null, "timeout" as const].map((errorCode, index) => ({
        id: createId("webhookAttempt"),
        deliveryId,
        number: index + 2,
        startedAt: world.clock.now(),
        durationMs: 1,
        httpStatus: null,
        errorCode,
      })),
    );
    await world.database.db.insertInto("webhookAttempt").values(more).execute();
    const hours = await world.database.db
      .selectFrom("webhookEndpointHour as h")
      .innerJoin("webhookDelivery as d", "d.endpointId", "h.endpointId")
      .select(["h.attempts", "h.successes"])
      .where("d.id", "in", deliveryIds)
      .execute();
    expect(hours).toEqual(deliveryIds.map(() => ({ attempts: 3, successes: 2 })));
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

  it("sends deliveries again whose results could not be written, and records each attempt once", async () => {
    let isDatabaseLost = false;
    const losing = world.database.db.withPlugin({
      transformQuery: ({ node }) => {
        if (isDatabaseLost) throw new Error("The database is lost.");
        return node;
      },
      transformResult: ({ result }) => Promise.resolve(result),
    });
    const { one, deliveryIds, answerAll } = await sendEight(losing);
    isDatabaseLost = true;
    answerAll();
    await one.waitUntilIdle();
    expect(await states(deliveryIds)).toEqual(
      deliveryIds.toSorted().map((id) => ({ id, status: "sending" })),
    );

    const first = world.sent.splice(0);
    const other = round();
    world.clock.advance(19_000);
    expect(await other.run({ ...calls, wasNotified: true })).toBe(0);
    world.clock.advance(2_000);
    expect(await other.run({ ...calls, wasNotified: true })).toBe(8);
    await other.waitUntilIdle();
    const eventOf = ({ url, headers, body }: (typeof first)[number]) =>
      [url, headers["webhook-id"], headers["webhook-attempt"], body].join(" ");
    expect(world.sent.map(eventOf).toSorted()).toEqual(first.map(eventOf).toSorted());
    expect(await states(deliveryIds)).toEqual(
      deliveryIds.toSorted().map((id) => ({ id, status: "succeeded" })),
    );
    expect(await attemptsOf(deliveryIds)).toEqual(deliveryIds.toSorted());
  });

  it("creates, sends and finishes 64 deliveries with at most twelve statements", async () => {
    for (let shops = 0; shops < 4; shops += 1) {
      const shop = await world.merchant();
      for (let made = 0; made < 4; made += 1) await world.endpoint(shop);
      for (let made = 0; made < 4; made += 1) await world.event(shop);
    }
    world.clock.advance(1000);
    const one = round();
    statements.length = 0;
    expect(await one.run({ ...calls, wasNotified: true })).toBe(64);
    await one.waitUntilIdle();
    const sql = statements.splice(0);
    const ids = world.sent.map(({ headers }) => String(headers["webhook-delivery-id"]));
    expect(new Set(ids).size).toBe(64);
    expect(await attemptsOf(ids)).toEqual(ids.toSorted());
    expect(sql.length, sql.join("\n")).toBeLessThanOrEqual(12);
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
