/** Reports are limited per query and in parallel, so that other requests always find a free connection. */
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { manyConnections } from "#test/support/databases.ts";
import { useWorld } from "#test/support/use-world.ts";

const aliases = (count: number): string =>
  Array.from(
    { length: count },
    (_, index) =>
      `a${index}: salesReport(from: "2025-01-01", to: "2026-12-31", interval: MONTH) { currencies { currency } }`,
  ).join(" ");

describe("the limit of reports per query", () => {
  const world = useWorld();

  it("is below twenty", async () => {
    const many = await world().graphql(`{ ${aliases(20)} }`, { token: "analyst" });
    expect(many.body.errors[0].extensions).toMatchObject({
      code: "malformed_request",
      details: [{ in: "limit", field: "cost" }],
    });
    const fewer = await world().graphql(`{ ${aliases(18)} }`, { token: "analyst" });
    expect(fewer.body.errors).toBeUndefined();
    expect(Object.keys(fewer.body.data)).toHaveLength(18);
  });

  const [from, to] = ["2024-01-01", "2025-12-31"];
  const sales =
    "currency orders canceledOrders units grossMinor reducedMinor netMinor refundedMinor discountMinor " +
    "shippingMinor taxMinor averageOrderMinor";
  const funnel =
    "carts checkouts submittedCheckouts orders sessions conversionRate outcomes { status reason sessions }";
  const health =
    "attempts successes failures successRate failuresByCode { code count } p50DurationMs p95DurationMs";
  const period = "period { from to timeZone startsAt endsAt }";
  const wide = [
    `salesReport(from: "${from}", to: "${to}") { ${period} currencies { currency totals { ` +
      `${sales} } buckets { day startsAt endsAt ${sales} } } }`,
    `funnelReport(from: "${from}", to: "${to}") { ${period} totals { ${funnel} } buckets { day ` +
      `startsAt endsAt ${funnel} } }`,
    `webhookHealthReport(from: "${from}", to: "${to}") { buckets { day startsAt endsAt ` +
      `${health} } endpoints { endpointId endpoint { url status } attempts failures } }`,
  ];
  it("allows two years of days with all fields", async () => {
    for (const report of wide) {
      const { body } = await world().graphql(`{ ${report} }`, { token: "analyst" });
      expect(body.errors).toBeUndefined();
      expect(body.extensions.cost).toMatchObject({ limit: 20_000 });
    }
  });
});

describe("while reports take long", () => {
  const world = useWorld("postgres", { poolSize: manyConnections });

  /** The number of the database's connections that wait for the table. */
  const stuck = async (): Promise<number> => {
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(world().database.db);
    return rows[0]?.count ?? 0;
  };

  it("three run at once, and other requests are answered", async () => {
    const held = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const lock = world().database.script(async (run) => {
      await run("begin; lock table refund in access exclusive mode");
      locked.resolve();
      await held.promise;
      await run("rollback");
    });
    await locked.promise;
    try {
      const reports = Promise.all(
        [1, 2].map(() => world().graphql(`{ ${aliases(10)} }`, { token: "analyst" })),
      );
      await expect.poll(stuck).toBe(3);
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => world().getWithKey("/api/v1/open/identity")),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
      expect(await stuck()).toBe(3);
      held.resolve();
      await reports;
    } finally {
      held.resolve();
      await lock;
    }
    expect((await world().graphql(`{ ${aliases(10)} }`, { token: "analyst" })).body.errors).toBeUndefined();
  });
});
