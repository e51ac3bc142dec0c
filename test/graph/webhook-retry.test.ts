/**
 * Webhook deliveries for a merchant's staff: the body that is sent, a waiting delivery that is retried at
 * once, the pause of an endpoint, and the count of a bulk replay before it is made.
 */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { beforeEach, expect, it } from "vitest";
import { type GraphAnswer, askGraph } from "#test/operations/cart-calls.ts";
import { replayAsStaff, replayMany, withoutDelivery } from "#test/operations/replay-calls.ts";
import { changeEndpoint, makeEndpoint } from "#test/operations/webhook-calls.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import { useWorld } from "#test/support/use-world.ts";
import { makeDeliveries, makeDelivery, makeEvent, makeEvents } from "#test/webhooks/delivery-rows.ts";

const dayMs = 86_400_000;

describeOnPostgres("webhook deliveries that wait", (_open, engine) => {
  const world = useWorld(engine);
  let endpointId: string;
  beforeEach(async () => {
    await sql`delete from webhook_delivery`.execute(world().database.db);
    ({ id: endpointId } = await makeEndpoint(world()));
    await sql`delete from webhook_delivery`.execute(world().database.db);
  });

  const retry = (deliveryId: string, expectedAttemptCount: number): Promise<GraphAnswer> =>
    askGraph(
      world(),
      `mutation ($deliveryId: ID!, $key: String!, $input: WebhookDeliveryRetryInput!) {
        webhookDeliveryRetry(deliveryId: $deliveryId, idempotencyKey: $key, input: $input) {
        id status attemptCount nextAttemptAt } }`,
      { deliveryId, key: randomUUID(), input: { expectedAttemptCount } },
      { token: "admin" },
    );

  /** Inserts a delivery whose next attempt is due in an hour. */
  async function makeWaiting(): Promise<string> {
    const deliveryId = await makeDelivery(world(), { endpointId, status: "retrying", attempts: 2 });
    const inAnHour = new Date(world().clock.now().getTime() + 3_600_000);
    await world()
      .database.db.updateTable("webhookDelivery")
      .set({ attemptCount: 2, nextAttemptAt: inAnHour })
      .where("id", "=", deliveryId)
      .execute();
    return deliveryId;
  }

  it("are due at once after a retry, also if it is sent twice", async () => {
    const deliveryId = await makeWaiting();
    const due = world().clock.now().toISOString();
    for (let time = 0; time < 2; time += 1) {
      const { data } = await retry(deliveryId, 2);
      expect(data).toEqual({ id: deliveryId, status: "RETRYING", attemptCount: 2, nextAttemptAt: due });
    }
  });

  it("are not retried after another attempt, when finished, or at a disabled endpoint", async () => {
    const waiting = await makeWaiting();
    const finished = await makeDelivery(world(), {
      endpointId,
      eventId: await makeEvent(world()),
      attempts: 1,
    });
    for (const [id, count] of [
      [waiting, 1],
      [finished, 1],
    ] as const) {
      const { error } = await withoutDelivery(world(), () => retry(id, count));
      expect(error).toMatchObject({ code: "version_conflict", conflict: { resource: "webhook_delivery" } });
    }
    await changeEndpoint(world(), "webhookEndpointDisable", { endpointId });
    const { error } = await withoutDelivery(world(), () => retry(waiting, 2));
    expect(error.code).toBe("webhook_endpoint_disabled");
    expect((await retry("whd_00000000000000000000000000", 0)).error.code).toBe("webhook_delivery_not_found");
  });

  it("show their body to staff, in the endpoint's payload mode, and not to analysts", async () => {
    const eventId = await makeEvent(world());
    const deliveryId = await makeDelivery(world(), { endpointId, eventId });
    const read = async (token: "admin" | "analyst"): Promise<string | null> => {
      const query = "query ($id: ID!) { webhookDelivery(id: $id) { body } }";
      return (await askGraph(world(), query, { id: deliveryId }, { token })).data.body;
    };
    expect(JSON.parse((await read("admin")) ?? "")).toMatchObject({
      id: eventId,
      data: { object: { note: "Grüße" } },
    });
    expect(await read("analyst")).toBeNull();
    await sql`update webhook_endpoint set payload_mode = 'thin' where id = ${endpointId}`.execute(
      world().database.db,
    );
    expect(await read("admin")).not.toContain("Grüße");
  });

  it("are counted for a bulk replay as the replay then counts them", async () => {
    const ids = await makeDeliveries(world(), await makeEvents(world(), 5), { endpointId });
    await replayAsStaff(world(), { deliveryId: ids[0] ?? "" });
    const now = world().clock.now().getTime();
    const period = {
      since: new Date(now - dayMs).toISOString(),
      until: new Date(now + 1).toISOString(),
    };
    const preview = (variables: Readonly<Record<string, unknown>>): Promise<GraphAnswer> =>
      askGraph(
        world(),
        `query ($endpointId: ID!, $since: DateTime!, $until: DateTime!, $after: String) {
          webhookReplayPreview(endpointId: $endpointId, since: $since, until: $until, status: EXHAUSTED,
          after: $after) { replayable limit hasMore skipped { reason count } } }`,
        { endpointId, ...period, ...variables },
        { token: "admin" },
      );
    const { data } = await withoutDelivery(world(), () => preview({}));
    const skipped = [{ reason: "DELIVERY_IN_PROGRESS", count: 1 }];
    expect(data).toEqual({ replayable: 4, limit: 1000, hasMore: false, skipped });
    const replayed = await replayMany(world(), { input: { endpointId, ...period } });
    expect(replayed.data).toMatchObject({ replayed: 4, skipped });
    const rest = await preview({ after: replayed.data.endCursor });
    expect(rest.data).toEqual({ replayable: 0, limit: 1000, hasMore: false, skipped: [] });
    expect((await preview({ since: period.until })).error.details).toMatchObject([{ code: "too_small" }]);
    const { id: foreign } = await makeEndpoint(world(), { key: "otherMerchant" });
    expect((await preview({ endpointId: foreign })).data).toBeNull();
  });

  it("say until when an endpoint is paused", async () => {
    const query = "query ($id: ID!) { webhookEndpoint(id: $id) { health { state pausedUntil } } }";
    const read = async () =>
      (await askGraph(world(), query, { id: endpointId }, { token: "admin" })).data.health;
    expect(await read()).toMatchObject({ pausedUntil: null });
    const until = new Date(world().clock.now().getTime() + 60_000);
    await sql`update webhook_endpoint_health set probe_at = ${until}::timestamptz
      where endpoint_id = ${endpointId}`.execute(world().database.db);
    expect(await read()).toEqual({ state: "FAILING", pausedUntil: until.toISOString() });
    await changeEndpoint(world(), "webhookEndpointDisable", { endpointId });
    expect(await read()).toMatchObject({ pausedUntil: null });
  });
});
