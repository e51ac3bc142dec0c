/**
 * Endpoints with the delivery order `subject`: deliveries about one subject are sent one after the other in
 * the order of the events, by several dispatchers at once and after a process died; other subjects do not
 * wait.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { sql } from "kysely";
import { createSeededRandom } from "#bench/random.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import { allowEndpointDeliveriesInAnyOrder } from "#webhooks/delivery-order.ts";
import { runInTransaction } from "#database/transaction.ts";
import { endUndeliverableWebhookDeliveries } from "#webhooks/sweeps.ts";
import type { WebhookHttpRequest } from "#webhooks/safe-request.ts";
import {
  arrived,
  createDispatchWorld,
  type DispatchWorld,
  type Installed,
  refused,
} from "./dispatch-world.ts";

describeOnBoth("deliveries in the order of their subject", (open, engine) => {
  let world: DispatchWorld;
  let shop: Installed;
  beforeAll(async () => {
    world = createDispatchWorld(await open({ poolSize: 12 }));
  });
  beforeEach(async () => {
    shop = await world.merchant();
    world.sent.length = 0;
    world.answer = () => arrived;
  });
  const endpoint = async (deliveryOrder: "any" | "subject" = "subject"): Promise<string> => {
    const { id } = await world.endpoint(shop);
    await world.database.db
      .updateTable("webhookEndpoint")
      .set({ deliveryOrder })
      .where("id", "=", id)
      .execute();
    return id;
  };
  const events = async (...subjectIds: string[]): Promise<string[]> => {
    const ids: string[] = [];
    for (const subjectId of subjectIds) ids.push(await world.event(shop, { subjectId }));
    return ids;
  };
  const idOf = ({ headers }: WebhookHttpRequest): string => headers["webhook-id"] ?? "";
  const sentIds = (): string[] => world.sent.map(idOf);
  const drain = async (): Promise<void> => {
    // Fills the token buckets of the endpoints.
    world.clock.advance(1_000);
    await world.dispatcher().drain();
  };
  /** Creates the deliveries of new events without sending them. */
  const createOnly = (): Promise<void> => world.dispatcher({ sendingMax: 0 }).drain();
  const states = async (endpointId: string): Promise<string[]> => {
    const { rows } = await sql<{ state: string }>`
      select d.status || case when d.next_attempt_at = 'infinity' then ' held' else '' end as state
      from webhook_delivery d join event e on e.id = d.event_id where d.endpoint_id = ${endpointId}
      order by e.position`.execute(world.database.db);
    return rows.map(({ state }) => state);
  };

  it("wait for the retries of an earlier one, while other subjects are sent", async () => {
    const endpointId = await endpoint();
    const [first = "", second = "", third = "", other = ""] = await events("a", "a", "a", "b");
    world.answer = (request) => (idOf(request) === first ? refused() : arrived);
    await drain();
    expect(sentIds().toSorted()).toEqual([first, other].toSorted());
    expect(await states(endpointId)).toEqual(["retrying", "pending held", "pending held", "succeeded"]);
    world.answer = () => arrived;
    world.clock.advance(6_000);
    await drain();
    expect(sentIds().slice(2)).toEqual([first, second, third]);
  });

  it("are sent after an earlier one is exhausted, and do not wait with the order `any`", async () => {
    const endpointId = await endpoint();
    const [gone = "", next = ""] = await events("c", "c");
    world.answer = (request) => (idOf(request) === gone ? refused() : arrived);
    await createOnly();
    await sql`update webhook_delivery set status = 'retrying', attempt_count = 9 where event_id = ${gone}`.execute(
      world.database.db,
    );
    await drain();
    expect(sentIds()).toEqual([gone, next]);
    expect(await states(endpointId)).toEqual(["exhausted", "succeeded"]);
    const unordered = await endpoint("any");
    const [failing = ""] = await events("d", "d");
    world.answer = (request) => (idOf(request) === failing ? refused() : arrived);
    await drain();
    expect(await states(unordered)).toEqual(["retrying", "succeeded"]);
    expect((await states(endpointId)).slice(2)).toEqual(["retrying", "pending held"]);
  });

  it("keep their order while several dispatchers send, receivers fail, and events go on", async () => {
    await endpoint();
    const subjects = ["s0", "s1", "s2", "s3", "s4"];
    const written: string[] = [];
    const done = new Map<string, string[]>(subjects.map((subject) => [subject, []]));
    const subjectOf = new Map<string, string>();
    const sending = new Set<string>();
    const overlaps: string[] = [];
    const random = createSeededRandom(7);
    world.answer = async (request) => {
      const subject = subjectOf.get(idOf(request));
      if (subject === undefined) return arrived;
      if (sending.has(subject)) overlaps.push(idOf(request));
      sending.add(subject);
      await sleep(random() * 4);
      sending.delete(subject);
      if (random() < 0.2) return refused();
      done.get(subject)?.push(idOf(request));
      return arrived;
    };
    const dispatchers = [world.dispatcher({ scale: 0 }), world.dispatcher({ scale: 0 })];
    for (let round = 0; round < 6; round += 1) {
      for (const subject of [...subjects, ...subjects]) {
        const id = await world.event(shop, { subjectId: subject });
        written.push(id);
        subjectOf.set(id, subject);
      }
      world.clock.advance(1_000);
      await Promise.all(dispatchers.map((dispatcher) => dispatcher.drain()));
    }
    const isDone = (): boolean => [...done.values()].flat().length >= written.length;
    while (!isDone()) {
      world.clock.advance(60_000);
      await Promise.all(dispatchers.map((dispatcher) => dispatcher.drain()));
    }
    expect(overlaps).toEqual([]);
    for (const subject of subjects)
      expect(done.get(subject)).toEqual(written.filter((id) => subjectOf.get(id) === subject));
  });

  it("keep their order after the process that sent the first one died", async () => {
    const endpointId = await endpoint();
    const ids = await events("e", "e");
    await createOnly();
    const leaseEnd = new Date(world.clock.now().getTime() + 20_000);
    await sql`update webhook_delivery set status = 'sending', lease = 'dead', attempt_count = 1,
      next_attempt_at = ${leaseEnd}::timestamptz where event_id = ${ids[0]}`.execute(world.database.db);
    await drain();
    expect([sentIds(), await states(endpointId)]).toEqual([[], ["sending", "pending held"]]);
    world.clock.advance(20_000);
    await drain();
    expect(sentIds()).toEqual(ids);
  });

  it("are not held for ever if an earlier one is skipped, canceled, deleted, or the option is removed", async () => {
    const endpointId = await endpoint();
    const { db } = world.database;
    const end = async (change: (firstId: string) => Promise<unknown>): Promise<string[]> => {
      await sql`delete from webhook_delivery where endpoint_id = ${endpointId}`.execute(db);
      const [first = ""] = await events("f", "f", "f");
      await createOnly();
      await change(first);
      return states(endpointId);
    };
    const ended = (status: string) => (id: string) =>
      sql`update webhook_delivery set status = ${status}, next_attempt_at = null, finished_at = created_at
        where event_id = ${id}`.execute(db);
    for (const status of ["skipped", "canceled", "succeeded"])
      expect(await end(ended(status))).toEqual([status, "pending", "pending held"]);
    expect(await end((id) => db.deleteFrom("event").where("id", "=", id).execute())).toEqual([
      "pending",
      "pending held",
    ]);
    expect(
      await end(() =>
        runInTransaction(db, (transaction) =>
          allowEndpointDeliveriesInAnyOrder(transaction, endpointId, world.clock.now()),
        ),
      ),
    ).toEqual(["pending", "pending", "pending"]);
    await sql`update webhook_endpoint set status = 'deleted' where id = ${endpointId}`.execute(db);
    await endUndeliverableWebhookDeliveries(db, world.clock.now());
    expect(await states(endpointId)).toEqual(["canceled", "canceled", "canceled"]);
  });

  it.runIf(engine === "postgres")(
    "are released if the earlier one ends while the delivery is being created",
    async () => {
      const endpointId = await endpoint();
      const { db } = world.database;
      const [first = ""] = await events("g");
      await createOnly();
      await events("g");
      const { promise: commit, resolve } = Promise.withResolvers<void>();
      const { promise: ended, resolve: didEnd } = Promise.withResolvers<void>();
      const finish = runInTransaction(db, async (transaction) => {
        await sql`update webhook_delivery set status = 'succeeded', next_attempt_at = null,
          finished_at = created_at where event_id = ${first}`.execute(transaction);
        didEnd();
        await commit;
      });
      await ended;
      let isCreated = false;
      const creating = createOnly().then(() => (isCreated = true));
      // Creating the second delivery waits for the transaction that ends the first one.
      await expect
        .poll(async () => {
          const { rows } = await sql`select from pg_stat_activity where wait_event_type = 'Lock'
            and datname = current_database()`.execute(db);
          return isCreated || rows.length > 0;
        })
        .toBe(true);
      resolve();
      await Promise.all([finish, creating]);
      expect(await states(endpointId)).toEqual(["succeeded", "pending"]);
    },
  );
});
