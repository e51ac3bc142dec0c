/** The delivery log uses indexes, however many deliveries exist and however few match. */
import { CompiledQuery, type KyselyPlugin, sql } from "kysely";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { Database } from "#database/connect.ts";
import { countRowsUpToLimit } from "#database/sql-fragments.ts";
import { getLowestIdAtTime } from "#foundation/ids.ts";
import { endUndeliverableWebhookDeliveries } from "#webhooks/sweeps.ts";
import { findEventsReadableByInstallations } from "#webhooks/delivery-log.ts";
import {
  type EndpointDeliveryFilter,
  buildEndpointDeliveryIdSqlQuery,
  findWebhookDeliveriesPage,
} from "#webhooks/delivery-pages.ts";
import type { DeliveryStatus } from "#webhooks/delivery-rules.ts";
import { installationOf, makeEndpoint } from "#test/operations/webhook-calls.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import { useWorld } from "#test/support/use-world.ts";
import { makeDeliveries, makeEvents } from "./delivery-rows.ts";

describeOnPostgres("the delivery log", (_open, engine) => {
  const world = useWorld(engine);

  /** Runs `work` and returns the query plans of its statements with their row counts. */
  async function plansOf(work: (reader: Database) => Promise<unknown>): Promise<string[]> {
    const { db } = world().database;
    const made: CompiledQuery[] = [];
    const spy: KyselyPlugin = {
      transformQuery: ({ node, queryId }) => {
        made.push(db.getExecutor().compileQuery(node, queryId));
        return node;
      },
      transformResult: ({ result }) => Promise.resolve(result),
    };
    await work(db.withPlugin(spy));
    const plans: string[] = [];
    for (const { sql: text, parameters } of made) {
      const { rows } = await db.executeQuery<Record<string, string>>(
        CompiledQuery.raw(`explain (analyze) ${text}`, [...parameters]),
      );
      plans.push(rows.map((row) => Object.values(row)[0]).join("\n"));
    }
    return plans;
  }

  /**
   * The largest number of rows that a step of the plan discarded. A small table may be scanned completely for
   * a join.
   */
  const passedOver = (plan: string): number =>
    Math.max(
      0,
      ...[...plan.matchAll(/Rows Removed by Filter: (\d+)/g)].map(([, removed]) => Number(removed)),
    );

  const setScopes = async (scopes: string[]): Promise<unknown> =>
    world()
      .database.db.updateTable("installation")
      .set({ scopes })
      .where("id", "=", await installationOf(world()))
      .execute();

  it.each([["all of it", ["catalog:read"], 200] as const, ["few kinds of it", [], 1] as const])(
    "of an installation is as fast for a viewer of %s",
    async (_name, scopes, count) => {
      const { database, demo, clock } = world();
      const installationId = await installationOf(world());
      await sql`delete from webhook_delivery`.execute(database.db);
      await sql`delete from event`.execute(database.db);
      await setScopes(["catalog:read", "webhooks:write"]);
      const { id: endpointId } = await makeEndpoint(world());
      const lost = await makeEvents(world(), 150, { ageMs: 86_400_000 });
      await makeDeliveries(world(), lost, { endpointId });
      const timeOfNewer = getLowestIdAtTime("event", clock.now().getTime() - 3_600_000).slice(0, -16);
      await sql`
        insert into event (id, merchant_id, type, schema_version, subject_type, subject_id, subject_version,
        snapshot, thin, occurred_at, fanned_out_at)
        select ${timeOfNewer} || lpad(n::text, 16, '0'),
        ${demo.merchants.first.id}, 'cart.updated', 1, 'cart',
          'cart_x', 1, '{"x":"' || repeat('.', 500) || '"}', '{}', ${clock.now()}::timestamptz,
          ${clock.now()}::timestamptz
        from generate_series(1, 20000) n`.execute(database.db);
      await database.script((run) => run("analyze"));
      await setScopes([...scopes]);
      let events = 0;
      const plans = await plansOf(async (reader) => {
        events =
          (await findEventsReadableByInstallations(reader, [installationId], clock.now())).get(installationId)
            ?.events.length ?? 0;
      });
      expect([plans.length, events]).toEqual([2, count]);
      // A scan through the log in search of a missing kind would exceed this bound.
      for (const plan of plans) expect(passedOver(plan)).toBeLessThan(500);
    },
  );

  describe("of an endpoint", () => {
    const counts: readonly (readonly [DeliveryStatus, number])[] = [
      ["succeeded", 1950],
      ["exhausted", 30],
      ["retrying", 9],
      ["pending", 6],
      ["canceled", 4],
      ["sending", 1],
    ];
    const kept: { id: string; status: DeliveryStatus }[] = [];
    let endpointId = "";

    beforeAll(async () => {
      const { database } = world();
      await setScopes(["catalog:read", "webhooks:write"]);
      endpointId = (await makeEndpoint(world())).id;
      const { id: otherId } = await makeEndpoint(world());
      // Deletes the deliveries of the welcome events of both endpoints.
      await sql`delete from webhook_delivery`.execute(database.db);
      const events = await makeEvents(world(), 2000);
      await makeDeliveries(world(), events, { endpointId: otherId, status: "succeeded" });
      for (const [status, count] of counts)
        for (const id of await makeDeliveries(world(), events.splice(0, count), { endpointId, status }))
          kept.push({ id, status });
      kept.sort((a, b) => (a.id < b.id ? -1 : 1));
      await database.script((run) => run("vacuum analyze"));
    });

    const filterOf = (status: DeliveryStatus | null): EndpointDeliveryFilter => ({
      merchantId: world().demo.merchants.first.id,
      endpointId,
      status,
    });
    const anyStatus = fc.constantFrom<DeliveryStatus | null>(
      null,
      "skipped",
      ...counts.map(([status]) => status),
    );

    it("has the same page as the installation's list", async () => {
      const place = fc.option(fc.nat(1999), { nil: undefined });
      await fc.assert(
        fc.asyncProperty(
          anyStatus,
          place,
          place,
          fc.integer({ min: 1, max: 101 }),
          fc.boolean(),
          async (status, from, to, limit, isInverted) => {
            const [after, before] = [from, to].map((index) =>
              index === undefined ? undefined : kept[index]?.id,
            );
            const found = await findWebhookDeliveriesPage(world().database.db, filterOf(status), {
              after,
              before,
              limit,
              isInverted,
            });
            const listed = kept.filter(
              ({ id, ...one }) =>
                (status ?? one.status) === one.status && id > (after ?? "") && id < (before ?? "~"),
            );
            const ids = (isInverted ? listed.toReversed() : listed).slice(0, limit).map(({ id }) => id);
            expect(found.map(({ id }) => id)).toEqual(ids);
          },
        ),
        { numRuns: 60 },
      );
    });

    it("has counts equal to the list, and shows nothing to another merchant", async () => {
      const { db } = world().database;
      const foreign = { ...filterOf(null), merchantId: world().demo.merchants.second.id };
      expect(await countRowsUpToLimit(buildEndpointDeliveryIdSqlQuery(db, filterOf(null)), db)).toBe(2000);
      expect(await countRowsUpToLimit(buildEndpointDeliveryIdSqlQuery(db, filterOf("exhausted")), db)).toBe(
        30,
      );
      expect(await countRowsUpToLimit(buildEndpointDeliveryIdSqlQuery(db, foreign), db)).toBe(0);
      expect(await findWebhookDeliveriesPage(db, foreign, { limit: 21, isInverted: false })).toEqual([]);
    });

    it.each([null, "exhausted", "retrying", "skipped", "succeeded"] as const)(
      "reads at most a page per status for one of %s",
      async (status) => {
        const limit = 21;
        const steps = [
          { isInverted: false },
          { isInverted: true },
          { isInverted: false, after: kept[1500]?.id },
          { isInverted: true, before: kept[500]?.id },
        ];
        for (const step of steps) {
          const plans = await plansOf((reader) =>
            findWebhookDeliveriesPage(reader, filterOf(status), { ...step, limit }),
          );
          expect(plans.length).toBe(1);
          const [plan = ""] = plans;
          const read = [
            ...plan.matchAll(/webhook_delivery_by_endpoint on .*rows=([\d.]+) loops=(\d+)\)/g),
          ].map(([, rows, loops]) => Number(rows) * Number(loops));
          expect([read.length, passedOver(plan) < 100, plan.includes("webhook_delivery_pkey")]).toEqual([
            1,
            true,
            false,
          ]);
          expect(read[0]).toBeLessThanOrEqual(limit * (status === null ? counts.length : 1));
        }
      },
    );

    it("is not read by the job that closes hopeless deliveries if there are none", async () => {
      const plans = await plansOf((reader) => endUndeliverableWebhookDeliveries(reader, world().clock.now()));
      expect(plans.length).toBe(1);
    });
  });
});
