/** Events are kept for 30 days and then deleted with their deliveries. */
import { beforeEach, expect, it } from "vitest";
import { sweeps } from "#app/sweeps.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import { useWorld } from "#test/support/use-world.ts";
import { makeEndpoint } from "#test/operations/webhook-calls.ts";
import { replayAsStaff } from "#test/operations/replay-calls.ts";
import { fanOutEventsToWebhookDeliveries } from "#webhooks/dispatch/fan-out.ts";
import { makeDeliveries, makeDelivery, makeEvent, makeEvents } from "./delivery-rows.ts";

const dayMs = 86_400_000;

describeOnBoth("old events", (_open, engine) => {
  const world = useWorld(engine);
  let endpointId: string;
  beforeEach(async () => {
    await world().database.db.deleteFrom("event").execute();
    ({ id: endpointId } = await makeEndpoint(world()));
    await world().database.db.deleteFrom("event").execute();
  });

  /** Gives all events a position in the event feed, without which they are not deleted, and deletes old ones. */
  const sweep = async (signal = new AbortController().signal): Promise<unknown> => {
    const now = world().clock.now();
    while ((await fanOutEventsToWebhookDeliveries(world().database.db, now)).events > 0);
    const found = sweeps.find(({ name }) => name === "delete old events");
    return found?.run(world().app.services, { now, signal });
  };
  const left = async (): Promise<Record<string, number>> => {
    const { db } = world().database;
    const tables = ["event", "webhookDelivery", "webhookAttempt"] as const;
    const counts = await Promise.all(
      tables.map(
        async (table) => [table, (await db.selectFrom(table).select("id").execute()).length] as const,
      ),
    );
    return Object.fromEntries(counts);
  };

  it("are deleted after 30 days with their deliveries, attempts and replays, not earlier", async () => {
    const [old, young] = [await makeEvent(world()), await makeEvent(world(), { ageMs: -1 })];
    const deliveryId = await makeDelivery(world(), { endpointId, eventId: old, attempts: 3 });
    expect((await replayAsStaff(world(), { deliveryId })).error).toBeUndefined();
    await makeDelivery(world(), { endpointId, eventId: young, attempts: 1 });
    world().clock.advance(30 * dayMs - 1);
    expect([await sweep(), await left()]).toEqual([0, { event: 2, webhookDelivery: 3, webhookAttempt: 4 }]);
    world().clock.advance(1);
    expect([await sweep(), await left()]).toEqual([1, { event: 1, webhookDelivery: 1, webhookAttempt: 1 }]);
    expect(
      (await world().database.db.selectFrom("event").select("id").execute()).map(({ id }) => id),
    ).toEqual([young]);
  });

  it("are deleted together with deliveries that still wait", async () => {
    const eventId = await makeEvent(world(), { ageMs: 30 * dayMs });
    for (const status of ["pending", "sending", "retrying"] as const) {
      const { id } = await makeEndpoint(world());
      await makeDelivery(world(), { endpointId: id, eventId, status });
    }
    await sweep();
    const waiting = await world()
      .database.db.selectFrom("webhookDelivery")
      .select("id")
      .where("eventId", "=", eventId)
      .execute();
    expect(waiting).toEqual([]);
  });

  it("are deleted in batches, all in one round unless the round is stopped", async () => {
    const events = await makeEvents(world(), 450, { ageMs: 31 * dayMs });
    await makeDeliveries(world(), events, { endpointId });
    expect([await sweep(AbortSignal.abort()), (await left())["event"]]).toEqual([200, 250]);
    expect([await sweep(), await left()]).toEqual([250, { event: 0, webhookDelivery: 0, webhookAttempt: 0 }]);
  });
});
