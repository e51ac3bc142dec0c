/**
 * The metrics of waiting work, on both database engines: only deliveries that could be sent count as late,
 * the database is read rarely, and a database that does not answer causes no delay.
 */
import { CompiledQuery, sql } from "kysely";
import { Registry } from "prom-client";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Database, OpenedDatabase } from "#database/connect.ts";
import { createId } from "#foundation/ids.ts";
import { createWebhookAttemptMetrics } from "#observability/service-metrics.ts";
import { createQueueMetricsReader } from "#observability/queue-metrics.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import { TestClock } from "#test/support/test-clock.ts";
import {
  arrived,
  createDispatchWorld,
  type DispatchWorld,
  type Installed,
  refused,
} from "#test/webhooks/dispatch-world.ts";
import { readScrape, type Scrape } from "./scrape.ts";

const minuteMs = 60_000;

describeOnPostgres("the waiting work", (open, engine) => {
  let world: DispatchWorld;
  const statements: CompiledQuery[] = [];
  let database: OpenedDatabase;
  beforeAll(async () => {
    database = await open({ onStatement: ({ query }) => statements.push(query) });
    world = createDispatchWorld(database);
  });
  afterEach(async () => {
    world.answer = () => arrived;
    await database.db.deleteFrom("webhookDelivery").execute();
  });

  const readNow = async (countMax?: number): Promise<Scrape> => {
    const registry = await createQueueMetricsReader({ db: database.db, clock: world.clock, countMax })();
    return readScrape(await registry.metrics());
  };
  const valuesOf = ({ value }: Scrape): Record<string, number | undefined> => ({
    due: value("commerce_webhook_deliveries_due"),
    dueAge: value("commerce_webhook_oldest_due_age_seconds"),
    breakers: value("commerce_webhook_breakers_open"),
    events: value("commerce_events_waiting"),
    eventAge: value("commerce_events_oldest_waiting_age_seconds"),
  });

  /** Inserts events that were fanned out before, each with a delivery due at this endpoint. */
  const insertDue = async (
    { merchantId, installationId }: Installed,
    endpointId: string,
    count = 1,
  ): Promise<void> => {
    const [prefix, at] = [createId("event"), world.clock.now()];
    await sql`with made as (
      insert into event (id, merchant_id, type, schema_version, subject_type, subject_id, subject_version,
      snapshot, thin, occurred_at, fanned_out_at, position)
      select ${prefix} || n, ${merchantId}, 'order.placed', 1, 'order', ${prefix} || n, 1, '{}', '{}',
      ${at}::timestamptz, ${at}::timestamptz, n
      from generate_series(1, ${count}::integer) n returning id
    ) insert into webhook_delivery (id, merchant_id, installation_id, event_id, endpoint_id, status,
    next_attempt_at, created_at)
      select id, ${merchantId}, ${installationId}, id, ${endpointId}, 'pending', ${at}::timestamptz,
      ${at}::timestamptz from made`.execute(database.db);
  };

  it("is zero at first, then events, then due deliveries, and zero again once they are sent", async () => {
    expect(valuesOf(await readNow())).toEqual({ due: 0, dueAge: 0, breakers: 0, events: 0, eventAge: 0 });
    const installed = await world.merchant();
    await world.endpoint(installed);
    await world.event(installed);
    world.clock.advance(minuteMs);
    await world.event(installed);
    expect(valuesOf(await readNow())).toEqual({ due: 0, dueAge: 0, breakers: 0, events: 2, eventAge: 60 });

    world.answer = () => refused(503, 600);
    const dispatcher = world.dispatcher();
    await dispatcher.drain();
    expect(valuesOf(await readNow())).toEqual({ due: 0, dueAge: 0, breakers: 0, events: 0, eventAge: 0 });
    world.clock.advance(20 * minuteMs);
    const { due, dueAge } = valuesOf(await readNow());
    expect(due).toBe(2);
    expect(dueAge).toBeGreaterThan(300);
    expect(dueAge).toBeLessThan(20 * 60);

    world.answer = () => arrived;
    await dispatcher.drain();
    expect(valuesOf(await readNow())).toEqual({ due: 0, dueAge: 0, breakers: 0, events: 0, eventAge: 0 });
  });

  it.each<[string, (db: Database, endpointId: string) => Promise<unknown>, number]>([
    [
      "an endpoint that is switched off",
      (db, id) =>
        db
          .updateTable("webhookEndpoint")
          .set({ status: "auto_disabled", disabledReason: "failing", disabledAt: new Date() })
          .where("id", "=", id)
          .execute(),
      0,
    ],
    [
      "an endpoint that is only probed",
      (db, id) =>
        db
          .updateTable("webhookEndpointHealth")
          .set({ probeAt: new Date() })
          .where("endpointId", "=", id)
          .execute(),
      1,
    ],
    [
      "an installation that may not read it any more",
      (db, id) =>
        db
          .updateTable("installation")
          .set({ scopes: [] })
          .where("id", "in", (query) =>
            query.selectFrom("webhookEndpoint").select("installationId").where("id", "=", id),
          )
          .execute(),
      0,
    ],
    [
      "an installation that is suspended",
      (db, id) =>
        db
          .updateTable("installation")
          .set({ status: "suspended" })
          .where("id", "in", (query) =>
            query.selectFrom("webhookEndpoint").select("installationId").where("id", "=", id),
          )
          .execute(),
      0,
    ],
  ])("excludes deliveries due at %s", async (_what, change, breakers) => {
    const installed = await world.merchant();
    const { id } = await world.endpoint(installed);
    await insertDue(installed, id);
    expect(valuesOf(await readNow())).toMatchObject({ due: 1, breakers: 0 });
    await change(database.db, id);
    expect(valuesOf(await readNow())).toMatchObject({ due: 0, dueAge: 0, breakers });
  });

  it("is not late while its receiver has reached its limit of running deliveries or its rate", async () => {
    const installed = await world.merchant();
    await world.endpoint(installed);
    for (let count = 0; count < 6; count += 1) await world.event(installed);
    // The token bucket is empty until then.
    world.clock.advance(1_000);
    const answer = Promise.withResolvers<typeof arrived>();
    world.answer = () => answer.promise;
    const before = world.sent.length;
    const draining = world.dispatcher().drain();
    await expect.poll(() => world.sent.length - before).toBe(4);
    world.clock.advance(10_000);
    expect(valuesOf(await readNow())).toMatchObject({ due: 2, dueAge: 0 });
    answer.resolve(arrived);
    await draining;

    const slow = await world.endpoint(installed, { maxPerSecond: 1 });
    await insertDue(installed, slow.id, 3);
    await database.db
      .updateTable("webhookEndpointHealth")
      .set({ tokens: -4, tokensAt: world.clock.now() })
      .where("endpointId", "=", slow.id)
      .execute();
    world.clock.advance(4_000);
    expect(valuesOf(await readNow())).toMatchObject({ due: 3, dueAge: 0 });
    world.clock.advance(1_000);
    expect(valuesOf(await readNow())).toMatchObject({ due: 3, dueAge: 5 });
  });

  it("counts for the age if the clock was set back after the rate limit was used up", async () => {
    const installed = await world.merchant();
    const { id } = await world.endpoint(installed);
    await insertDue(installed, id);
    const tokensAt = new Date(world.clock.now().getTime() + 60 * minuteMs);
    await database.db
      .updateTable("webhookEndpointHealth")
      .set({ tokens: 0, tokensAt })
      .where("endpointId", "=", id)
      .execute();
    world.clock.advance(minuteMs);
    expect(valuesOf(await readNow())).toMatchObject({ due: 1, dueAge: 60 });
    await world.dispatcher().drain();
    expect(valuesOf(await readNow())).toMatchObject({ due: 0, dueAge: 0 });
  });

  it("is as old as the oldest delivery, however many are counted before it", async () => {
    const installed = await world.merchant();
    const endpoints = [
      await world.endpoint(installed),
      await world.endpoint(installed),
      await world.endpoint(installed),
    ];
    const [last = "", ...others] = endpoints
      .map(({ id }) => id)
      .toSorted()
      .toReversed();
    await insertDue(installed, last);
    world.clock.advance(minuteMs);
    for (const id of others) await insertDue(installed, id, 3);
    expect(valuesOf(await readNow(4))).toMatchObject({ due: 4, dueAge: 60 });
  });

  it.runIf(engine === "postgres")("is found without reading all events, however many wait", async () => {
    const installed = await world.merchant();
    const { id } = await world.endpoint(installed);
    await insertDue(installed, id, 3_000);
    await database.db
      .updateTable("installation")
      .set({ scopes: [] })
      .where("id", "=", installed.installationId)
      .execute();
    await sql`analyze event, webhook_delivery, webhook_endpoint, webhook_endpoint_health,
      installation`.execute(database.db);
    statements.length = 0;
    expect(valuesOf(await readNow())).toMatchObject({ due: 0, dueAge: 0 });
    const [{ sql: text, parameters }] = statements as [CompiledQuery];
    const plan = await database.db.executeQuery(CompiledQuery.raw(`explain ${text}`, [...parameters]));
    const lines = JSON.stringify(plan.rows);
    expect(lines).toContain("Index Scan using event_pkey on event e");
    expect(lines).not.toMatch(/Seq Scan on event|hashed SubPlan/);
  });

  it("is counted by outcome and timed; the first attempt of an event also by its waiting time", async () => {
    const registry = new Registry();
    const dispatcher = world.dispatcher({ onAttempt: createWebhookAttemptMetrics(registry) });
    const installed = await world.merchant();
    await world.endpoint(installed);
    await world.event(installed);
    world.clock.advance(2_000);
    const answers = [
      refused(503),
      { ...refused(), httpStatus: null, errorCode: "blocked_address" as const },
      refused(799),
      arrived,
    ];
    for (const answer of answers) {
      world.answer = () => answer;
      await dispatcher.drain();
      world.clock.advance(24 * 60 * minuteMs);
    }
    const { value } = readScrape(await registry.metrics());
    const outcomes = ["5xx", "blocked_address", "other", "2xx"].map((outcome) =>
      value("commerce_webhook_attempts_total", { outcome }),
    );
    expect(outcomes).toEqual([1, 1, 1, 1]);
    expect(value("commerce_webhook_attempts_total")).toBe(4);
    expect(value("commerce_webhook_attempt_duration_seconds_count")).toBe(4);
    expect([
      value("commerce_webhook_first_attempt_delay_seconds_count"),
      value("commerce_webhook_first_attempt_delay_seconds_sum"),
    ]).toEqual([1, 2]);
  });

  it("is counted separately if the attempt failed in this service or was interrupted", async () => {
    const registry = new Registry();
    const dispatcher = world.dispatcher({ onAttempt: createWebhookAttemptMetrics(registry), stopMsMax: 1 });
    const outcomes = async (): Promise<(number | undefined)[]> => {
      const { value } = readScrape(await registry.metrics());
      const counted = ["fault", "interrupted"].map((outcome) =>
        value("commerce_webhook_attempts_total", { outcome }),
      );
      return [...counted, value("commerce_webhook_attempt_duration_seconds_count")];
    };
    const installed = await world.merchant();
    await world.endpoint(installed);
    await world.event(installed);
    world.answer = () => Promise.reject(new Error("A fault of our own."));
    await dispatcher.drain();
    expect(await outcomes()).toEqual([1, undefined, 0]);

    world.clock.advance(24 * 60 * minuteMs);
    const before = world.sent.length;
    world.answer = ({ signal }) =>
      new Promise((_answer, reject) =>
        signal?.addEventListener("abort", () => reject(new Error("It ends."))),
      );
    dispatcher.start();
    await expect.poll(() => world.sent.length - before).toBe(1);
    await dispatcher.stop();
    expect(await outcomes()).toEqual([1, 1, 0]);
  });

  it("is read once in five seconds in one statement, however many readers there are", async () => {
    const read = createQueueMetricsReader({ db: database.db, clock: world.clock });
    statements.length = 0;
    await Promise.all([read(), read(), read()]);
    world.clock.advance(4_999);
    await read();
    expect(statements).toHaveLength(1);
    world.clock.advance(1);
    await read();
    expect(statements).toHaveLength(2);
  });
});

describe("an unreachable database", () => {
  /** A database that neither answers nor fails until the test decides. */
  function createAway(): { db: Database; asked: () => number; fail: () => void } {
    const waiting: ((error: Error) => void)[] = [];
    const executeQuery = (): Promise<never> => new Promise((_answer, reject) => waiting.push(reject));
    const db = {
      getExecutor: () => ({
        transformQuery: (query: unknown) => query,
        compileQuery: () => ({}),
        executeQuery,
      }),
    };
    const fail = (): void => waiting.forEach((reject) => reject(new Error("The connection is gone.")));
    return { db: db as unknown as Database, asked: () => waiting.length, fail };
  }

  it("is reported, hides the other metrics, and is not queried again for half a minute", async () => {
    const clock = new TestClock();
    const { db, asked, fail } = createAway();
    const read = createQueueMetricsReader({ db, clock, timeoutMs: 20 });
    const look = async (): Promise<void> => {
      const found = readScrape(await (await read()).metrics());
      expect([...found.types.keys()]).toEqual(["commerce_database_up"]);
      expect(found.value("commerce_database_up")).toBe(0);
    };
    await look();
    clock.advance(30_000);
    await look();
    expect(asked()).toBe(1);
    fail();
    clock.advance(29_999);
    await look();
    expect(asked()).toBe(1);
    clock.advance(1);
    await look();
    expect(asked()).toBe(2);
  });

  it("that fails at once is queried again after the usual pause", async () => {
    const clock = new TestClock();
    const { db, asked, fail } = createAway();
    const read = createQueueMetricsReader({ db, clock });
    const first = read();
    fail();
    expect(await (await first).metrics()).toContain("commerce_database_up 0");
    clock.advance(5_000);
    const second = read();
    fail();
    await second;
    expect(asked()).toBe(2);
  });
});
