/** DATABASE_READ_URL: only reports, other queries of analysts, and public reads go to the replica. */
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openDatabase } from "#database/connect.ts";
import { migrate } from "#database/migrate.ts";
import { databaseUrl } from "#test/support/postgres.ts";
import { createWorld, type World } from "#test/support/world.ts";
import { periodArgumentsOfDemo } from "#test/support/test-clock.ts";

const search = "/api/v1/search?q=&locale=en&market=DE&sort=relevance&page=1&pageSize=1";
const query = `{
  report: webhookHealthReport(${periodArgumentsOfDemo()}) { totals { attempts } }
  products { totalCount }
}`;

async function found({ get }: World): Promise<number> {
  const { status, body } = await get(search);
  expect(status).toBe(200);
  return body.meta.totalItems as number;
}

describe("with DATABASE_READ_URL", () => {
  const name = `replica_${process.pid}_${Date.now()}`;
  const url = databaseUrl(inject("postgresUrl"), name);
  const run = async (sql: string, server = inject("postgresUrl")): Promise<void> => {
    const root = await openDatabase({ url: server });
    await root.script((script) => script(sql)).finally(() => root.close());
  };
  // A replica with maximal lag: it has the tables but no rows.
  beforeAll(async () => {
    await run(`create database ${name} template migrated`);
    const replica = await openDatabase({ url });
    await migrate(replica).finally(() => replica.close());
  });
  // Fails if a connection to the replica is still open.
  afterAll(() => run(`drop database ${name}`));

  it("analysts' reports and other queries read the replica", async () => {
    await using world = await createWorld("postgres", { environment: { DATABASE_READ_URL: url } });
    const { body } = await world.graphql(query, { token: "analyst" });
    expect(body.data).toEqual({ report: { totals: { attempts: 0 } }, products: { totalCount: 0 } });
    // An operator may write next, so operators read the primary.
    const operator = await world.graphql(query, { token: "operator" });
    expect(operator.body.data.products.totalCount).toBeGreaterThan(20);
    await using same = await createWorld();
    const without = await same.graphql(query, { token: "analyst" });
    expect(without.body.data.report.totals.attempts).toBeGreaterThan(0);
    expect(without.body.data.products.totalCount).toBeGreaterThan(20);
  });

  it("public requests read the replica, and requests with a key do not", async () => {
    await using world = await createWorld("postgres", { environment: { DATABASE_READ_URL: url } });
    expect(await found(world)).toBe(0);
    expect(
      (await world.get("/api/v1/catalog/merchants/lindenhof/products/fjell-2-trekking-tent")).status,
    ).toBe(404);
    expect((await world.getWithKey("/api/v1/open/identity")).status).toBe(200);
  });

  it("analysts' exports are created on the primary, and wait for a replica that is behind", async () => {
    await using world = await createWorld("postgres", { environment: { DATABASE_READ_URL: url } });
    const created = await world.graphql("mutation { exportCreate(input: { kind: ORDERS }) { id } }", {
      token: "analyst",
    });
    await world.app.exports.drain();
    const { id } = created.body.data.exportCreate;
    const read = await world.graphql(`{ export(id: "${id}") { status totalRows } }`, { token: "analyst" });
    expect(read.body.data.export).toEqual({ status: "RUNNING", totalRows: null });
    expect(world.logged.map(({ err }) => (err as { message?: string } | undefined)?.message)).toContain(
      "The replica has not received the export yet.",
    );
  });

  it("the primary answers if the replica fails, which is logged once", async () => {
    await using world = await createWorld("postgres", { environment: { DATABASE_READ_URL: url } });
    await run("alter table search_document rename to of_an_older_release", url);
    const both = await Promise.all([found(world), found(world)]).finally(() =>
      run("alter table of_an_older_release rename to search_document", url),
    );
    expect(Math.min(...both)).toBeGreaterThan(20);
    const reports = world.logged.filter(({ msg }) => String(msg).startsWith("The replica does not answer"));
    expect(reports).toHaveLength(1);
  });

  it("analysts learn that the replica is down, and the shop continues", async () => {
    await using world = await createWorld("postgres", {
      environment: { DATABASE_READ_URL: "postgres://postgres@127.0.0.1:1/none" },
    });
    for (const field of [
      'webhookHealthReport(from: "2026-01-01", to: "2026-01-01") { totals { attempts } }',
      "products { totalCount }",
    ]) {
      const { body } = await world.graphql(`{ ${field} }`, { token: "analyst" });
      expect(body.errors[0].extensions.code).toBe("service_unavailable");
    }
    expect(await found(world)).toBeGreaterThan(20);
  });
});
