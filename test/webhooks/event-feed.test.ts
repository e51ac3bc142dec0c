/**
 * The event feed: positions are given after the commit and keep the order of each subject; a cursor continues
 * without a gap, ends with a clear error after retention or a restore, and skips events of other types.
 */
import { beforeAll, expect, it } from "vitest";
import { sql } from "kysely";
import type { Failure } from "#foundation/failure.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { describeOnBoth, describeOnPostgres } from "#test/support/databases.ts";
import { fanOutEventsToWebhookDeliveries } from "#webhooks/dispatch/fan-out.ts";
import { getEventFeedEndCursor, readEventFeed } from "#webhooks/event-feed.ts";
import { deleteExpiredEvents } from "#webhooks/sweeps.ts";
import { createDispatchWorld, type DispatchWorld, type Installed } from "./dispatch-world.ts";

const dayMs = 86_400_000;

type Read = Partial<Parameters<typeof readEventFeed>[1]>;

const createReader =
  (world: () => DispatchWorld, shop: () => Installed) =>
  async (read: Read = {}) => {
    const { merchantId } = shop();
    const options = { merchantId, types: null, after: null, limit: 100, ...read };
    const { events, ...page } = await readEventFeed(world().database.db, options);
    return { ...page, ids: events.map(({ id }) => id) };
  };

describeOnBoth("the event feed", (open) => {
  let world: DispatchWorld;
  let shop: Installed;
  beforeAll(async () => {
    world = createDispatchWorld(await open());
    shop = await world.merchant();
  });
  const read = createReader(
    () => world,
    () => shop,
  );
  const position = (): Promise<unknown> =>
    fanOutEventsToWebhookDeliveries(world.database.db, world.clock.now());
  const faultOf = async (after: string): Promise<unknown> =>
    read({ after }).then(
      () => undefined,
      ({ parts }: Failure) => parts.details?.[0],
    );

  it("has new events in the order of their inserts, page by page, of one merchant or of all", async () => {
    const start = (await read()).cursor;
    const other = await world.merchant();
    const ids = [await world.event(shop), await world.event(shop)];
    const foreign = await world.event(other);
    ids.push(await world.event(shop));
    expect((await read({ after: start })).ids).toEqual([]);
    await position();
    const first = await read({ after: start, limit: 2 });
    expect([first.ids, first.hasMore]).toEqual([ids.slice(0, 2), true]);
    const second = await read({ after: first.cursor, limit: 2 });
    expect([second.ids, second.hasMore]).toEqual([ids.slice(2), false]);
    expect((await read({ after: second.cursor })).ids).toEqual([]);
    expect((await read({ after: start, merchantId: null })).ids).toEqual([
      ...ids.slice(0, 2),
      foreign,
      ...ids.slice(2),
    ]);
  });

  it("can begin at its end, and moves the cursor past events of other types", async () => {
    const after = await getEventFeedEndCursor(world.database.db);
    await world.event(shop, { type: "order.updated" });
    await position();
    const wanted = ["order.placed"];
    const empty = await read({ after, types: wanted });
    expect([empty.ids, empty.hasMore]).toEqual([[], false]);
    expect(empty.cursor).toBe(await getEventFeedEndCursor(world.database.db));
    const id = await world.event(shop);
    await position();
    expect((await read({ after: empty.cursor, types: wanted })).ids).toEqual([id]);
    expect((await read({ after, types: wanted })).ids).toEqual([id]);
  });

  it("checks a limited number of events per page for a rare type, and goes on behind them", async () => {
    const after = await getEventFeedEndCursor(world.database.db);
    await sql`insert into event (id, merchant_id, type, schema_version, subject_type, subject_id, subject_version,
      snapshot, thin, occurred_at, position)
      select 'evt_many_' || n, ${shop.merchantId}, 'order.updated', 1, 'order', 'ord', 1, '{}', '{}',
        ${world.clock.now()}::timestamptz, (select last_position from event_feed) + n
      from generate_series(1, 5001) n`.execute(world.database.db);
    await sql`update event_feed set last_position = last_position + 5001`.execute(world.database.db);
    const id = await world.event(shop);
    await position();
    const first = await read({ after, types: ["order.placed"] });
    expect([first.ids, first.hasMore]).toEqual([[], true]);
    const second = await read({ after: first.cursor, types: ["order.placed"] });
    expect([second.ids, second.hasMore]).toEqual([[id], false]);
  });

  it("gives positions also to events from before the feed existed, and sends them to no endpoint", async () => {
    const after = await getEventFeedEndCursor(world.database.db);
    await world.endpoint(shop, { eventTypes: ["order.placed"] });
    const ids = [await world.event(shop), await world.event(shop)].toSorted();
    const { db } = world.database;
    await sql`update event set insert_number = null, fanned_out_at = occurred_at where id = any(${ids})`.execute(
      db,
    );
    await position();
    expect((await read({ after })).ids).toEqual(ids);
    expect(await db.selectFrom("webhookDelivery").select("id").where("eventId", "in", ids).execute()).toEqual(
      [],
    );
  });

  it("refuses a cursor after which events were deleted, and one of a lost or another database", async () => {
    const old = await getEventFeedEndCursor(world.database.db);
    await world.event(shop);
    await position();
    const beforeDeletion = await getEventFeedEndCursor(world.database.db);
    world.clock.advance(30 * dayMs);
    const unpositioned = await world.event(shop);
    await deleteExpiredEvents(world.database.db, world.clock.now());
    expect(await faultOf(old)).toMatchObject({
      field: "/after",
      code: "expired",
      message: expect.stringContaining("Events after it have been deleted, because events are stored for 30"),
    });
    expect((await read({ after: beforeDeletion })).ids).toEqual([]);
    await position();
    expect((await read({ after: beforeDeletion })).ids).toEqual([unpositioned]);
    expect((await read()).ids).toEqual([unpositioned]);
    const end = await getEventFeedEndCursor(world.database.db);
    await sql`update event_feed set last_position = last_position - 1`.execute(world.database.db);
    expect(await faultOf(end)).toMatchObject({ field: "/after", code: "unknown" });
    await sql`update event_feed set last_position = last_position + 1`.execute(world.database.db);
    await world.database.db.deleteFrom("webhookDelivery").execute();
    await sql`update event set id = ${createId("event")} where id = ${unpositioned}`.execute(
      world.database.db,
    );
    expect(await faultOf(end)).toMatchObject({ field: "/after", code: "unknown" });
    for (const after of ["", "x", Buffer.from("1:2:3:4").toString("base64url")])
      expect(await faultOf(after)).toMatchObject({ field: "/after", code: "invalid_format" });
  });
});

describeOnPostgres("the event feed beside open transactions", (open) => {
  let world: DispatchWorld;
  let shop: Installed;
  beforeAll(async () => {
    world = createDispatchWorld(await open({ poolSize: 8 }));
    shop = await world.merchant();
  });
  const read = createReader(
    () => world,
    () => shop,
  );

  it("gets an event that was inserted early and committed late; insert numbers alone would miss it", async () => {
    const { db } = world.database;
    const after = await getEventFeedEndCursor(db);
    const { promise: commit, resolve } = Promise.withResolvers<void>();
    const { promise: inserted, resolve: didInsert } = Promise.withResolvers<string>();
    const slow = runInTransaction(db, async (transaction: Transaction) => {
      const inside = createDispatchWorld({ ...world.database, db: transaction });
      didInsert(await inside.event(shop));
      await commit;
    });
    const late = await inserted;
    const early = await world.event(shop);
    await fanOutEventsToWebhookDeliveries(db, world.clock.now());
    const first = await read({ after });
    expect(first.ids).toEqual([early]);
    resolve();
    await slow;
    await fanOutEventsToWebhookDeliveries(db, world.clock.now());
    expect((await read({ after: first.cursor })).ids).toEqual([late]);
    const { rows } = await sql<{ id: string }>`
      select id from event where id in (${late}, ${early}) order by insert_number`.execute(db);
    expect(rows.map(({ id }) => id)).toEqual([late, early]);
  });

  it("waits for a locked event, so that no later event of the subject overtakes it", async () => {
    const { db } = world.database;
    const after = await getEventFeedEndCursor(db);
    const ids = [
      await world.event(shop, { subjectId: "ord_1" }),
      await world.event(shop, { subjectId: "ord_1" }),
    ];
    const { promise: unlocked, resolve } = Promise.withResolvers<void>();
    const { promise: locked, resolve: didLock } = Promise.withResolvers<void>();
    const holding = runInTransaction(db, async (transaction) => {
      await sql`select from event where id = ${ids[0]} for update`.execute(transaction);
      didLock();
      await unlocked;
    });
    await locked;
    const positioning = fanOutEventsToWebhookDeliveries(db, world.clock.now());
    await expect
      .poll(async () => {
        const { rows } = await sql`select from pg_stat_activity where wait_event_type = 'Lock'
          and datname = current_database()`.execute(db);
        return rows.length;
      })
      .toBe(1);
    expect((await read({ after })).ids).toEqual([]);
    resolve();
    await Promise.all([holding, positioning]);
    expect((await read({ after })).ids).toEqual(ids);
  });
});
