/**
 * The demo's webhook endpoint and deliveries have the states that demo.json names, and start no attempt for
 * hours.
 */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { runInTransaction } from "#database/transaction.ts";
import { seedDemoWebhooks } from "#demo/webhooks/seed-webhooks.ts";
import { demoRender } from "#test/support/copies.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import { createWorld, type World } from "#test/support/world.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";

const hourMs = 3_600_000;

interface Delivery {
  readonly id: string;
  readonly status: string;
  readonly attemptCount: number;
  readonly nextAttemptAt: string | null;
  readonly replayable: boolean;
  readonly lastAttempt: { readonly at: string; readonly errorCode: string | null } | null;
}

const readEventLog = async (
  world: World,
): Promise<{ type: string; timestamp: string; subject: { id: string }; deliveries: Delivery[] }[]> =>
  (await world.getWithKey("/api/v1/open/webhooks/events")).body.data.events;

const replay = (world: World, deliveryId: string, body: object) =>
  world.send({
    method: "POST",
    url: `/api/v1/open/webhooks/deliveries/${deliveryId}/replay`,
    headers: { authorization: `Bearer ${world.demo.keys.full}`, "idempotency-key": randomUUID() },
    body,
  });

describeOnPostgres("the demo's webhooks", (_open, engine) => {
  it("are a healthy, enabled endpoint with order events whose deliveries have every status", async () => {
    await using world = await createWorld(engine);
    const { webhooks, orders } = world.demo;
    const { body } = await world.getWithKey("/api/v1/open/webhooks/endpoints");
    expect(body.data.endpoints).toHaveLength(1);
    expect(body.data.endpoints[0]).toMatchObject({
      id: webhooks.endpoint,
      url: "http://127.0.0.1:4399/webhooks",
      status: "enabled",
      version: 3,
      secrets: [{ version: 1 }],
      health: {
        state: "healthy",
        consecutiveFailures: 0,
        lastFailure: { code: "connection", httpStatus: null },
      },
    });
    const log = await readEventLog(world);
    expect(
      log.map(({ type, deliveries }) => [
        type,
        deliveries.map(({ status, attemptCount, replayable }) => [status, attemptCount, replayable]),
      ]),
    ).toEqual([
      ["order.canceled", [["succeeded", 1, true]]],
      ["order.completed", [["retrying", 7, false]]],
      ["webhook.ping", [["succeeded", 1, true]]],
      ["fulfillment.shipped", [["skipped", 0, true]]],
      ["return.closed", [["exhausted", 10, true]]],
      ["webhook.ping", [["succeeded", 1, true]]],
    ]);
    expect([log[0]?.subject.id, log[1]?.subject.id]).toEqual([orders.canceled, orders.delivered]);
    expect([log[0], log[4], log[1]].map((event) => event?.deliveries[0]?.id)).toEqual([
      webhooks.deliveries.succeeded,
      webhooks.deliveries.exhausted,
      webhooks.deliveries.retrying,
    ]);
  });

  it("have attempts in the past, and the next attempt in more than seven hours", async () => {
    await using world = await createWorld(engine);
    const now = world.clock.now();
    const { db } = world.database;
    const attempts = await db.selectFrom("webhookAttempt").selectAll().orderBy("startedAt").execute();
    expect(attempts).toHaveLength(20);
    expect(attempts.filter(({ startedAt }) => startedAt > now)).toEqual([]);
    const { nextAttemptAt } = await db
      .selectFrom("webhookDelivery")
      .select("nextAttemptAt")
      .where("id", "=", world.demo.webhooks.deliveries.retrying)
      .executeTakeFirstOrThrow();
    expect((nextAttemptAt?.getTime() ?? 0) - now.getTime()).toBeGreaterThan(7 * hourMs);
    const event = await db
      .selectFrom("event")
      .select(["snapshot", "occurredAt"])
      .where("type", "=", "order.canceled")
      .executeTakeFirstOrThrow();
    const { timestamp, data } = JSON.parse(event.snapshot);
    expect([timestamp, data.object.id, data.object.status]).toEqual([
      event.occurredAt.toISOString(),
      world.demo.orders.canceled,
      "canceled",
    ]);
    // No delivery is due after an hour, so that no attempt is made.
    world.clock.advance(hourMs);
    await world.app.deliveries.drain();
    expect(await db.selectFrom("webhookAttempt").select("id").execute()).toHaveLength(20);
  });

  it("can be replayed, and fail if no server listens, without disabling the endpoint", async () => {
    await using world = await createWorld(engine, { environment: { WEBHOOK_ALLOW_LOOPBACK: "1" } });
    const { endpoint, deliveries } = world.demo.webhooks;
    expect((await replay(world, deliveries.retrying, { reason: "testing" })).body.error.code).toBe(
      "delivery_in_progress",
    );
    expect((await replay(world, deliveries.succeeded, { reason: "testing" })).body.error.code).toBe(
      "delivery_already_succeeded",
    );
    for (const [id, force] of [
      [deliveries.succeeded, true],
      [deliveries.exhausted, false],
    ] as const)
      expect((await replay(world, id, { reason: "testing", force })).status).toBe(200);
    await world.app.deliveries.drain();
    const replays = await world.database.db
      .selectFrom("webhookDelivery as d")
      .innerJoin("webhookAttempt as a", "a.deliveryId", "d.id")
      .select(["d.status", "a.errorCode"])
      .where("d.replayNo", ">", 0)
      .execute();
    expect(replays).toEqual([
      { status: "retrying", errorCode: "connection" },
      { status: "retrying", errorCode: "connection" },
    ]);
    const endpoints = await world.database.db
      .selectFrom("webhookEndpoint")
      .select("status")
      .where("id", "=", endpoint)
      .execute();
    expect(endpoints).toEqual([{ status: "enabled" }]);
  });

  it("are replaced when seeded again, and left out if the installation cannot have another endpoint", async () => {
    await using world = await createWorld(engine);
    const { database, demo, clock } = world;
    const installation = await database.db
      .selectFrom("installation")
      .select("id")
      .where("merchantId", "=", demo.merchants.first.id)
      .executeTakeFirstOrThrow();
    const owner = { id: demo.merchants.first.id, installationId: installation.id };
    const keyring = createEncryptionKeyring([{ id: "k1", key: Buffer.alloc(32, 7) }]);
    const seed = () =>
      runInTransaction(database.db, (transaction) =>
        seedDemoWebhooks(transaction, {
          owner,
          orders: demo.orders,
          keyring,
          render: demoRender(database),
          now: clock.now(),
        }),
      );
    const { webhooks } = await seed();
    expect(webhooks?.endpoint).not.toBe(demo.webhooks.endpoint);
    const stored = async () =>
      database.db.selectFrom("webhookEndpoint").select(["id", "status"]).orderBy("status").execute();
    expect(await stored()).toEqual([
      { id: demo.webhooks.endpoint, status: "deleted" },
      { id: webhooks?.endpoint, status: "enabled" },
    ]);
    await database.script((run) =>
      run(`update webhook_endpoint set url_normalized = 'https://a.example' where status = 'enabled';
        insert into webhook_endpoint (id, merchant_id, installation_id, url, url_normalized, event_types,
        created_at, updated_at)
        select 'whe_' || n, '${owner.id}', '${owner.installationId}', 'https://a.example',
        'https://a.example/' || n, '{*}', now(), now()
        from generate_series(1, 15) n`),
    );
    expect(await seed()).toEqual({});
    expect(await stored()).toHaveLength(17);
  });
});
