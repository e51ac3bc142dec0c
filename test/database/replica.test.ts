/** DATABASE_READ_URL: reports are read there, and nothing else is. */
import { describe, expect, it, inject } from "vitest";
import { openDatabase } from "#database/connect.ts";
import { migrate } from "#database/migrate.ts";
import { databaseUrl } from "#test/support/postgres.ts";
import { createWorld } from "#test/support/world.ts";

describe("with DATABASE_READ_URL", () => {
  it("reports are read there, in a pool of their own that is closed with the service", async () => {
    const server = inject("postgresUrl");
    const name = `replica_${process.pid}_${Date.now()}`;
    const root = await openDatabase({ url: server });
    await root.script((run) => run(`create database ${name} template migrated`));
    const url = databaseUrl(server, name);
    // A replica that lags: it has the tables and none of the rows.
    const replica = await openDatabase({ url });
    await migrate(replica).finally(() => replica.close());
    const query = '{ report: webhookHealthReport(from: "2026-01-01", to: "2027-01-01") { totals { attempts } } products { totalCount } }';
    {
      await using world = await createWorld("postgres", { environment: { DATABASE_READ_URL: url } });
      const { body } = await world.graphql(query, { token: "analyst" });
      expect(body.data.report).toEqual({ totals: { attempts: 0 } });
      expect(body.data.products.totalCount).toBeGreaterThan(20);
      await using same = await createWorld("postgres");
      expect((await same.graphql(query, { token: "analyst" })).body.data.report.totals.attempts).toBeGreaterThan(0);
    }
    // Nobody is connected to it any more, or this would be refused.
    await root.script((run) => run(`drop database ${name}`)).finally(() => root.close());
  });

  it("that is away is told as such, and the shop goes on", async () => {
    await using world = await createWorld("postgres", { environment: { DATABASE_READ_URL: "postgres://postgres@127.0.0.1:1/none" } });
    const report = await world.graphql('{ webhookHealthReport(from: "2026-01-01", to: "2026-01-01") { totals { attempts } } }', { token: "analyst" });
    expect(report.body.errors[0].extensions.code).toBe("service_unavailable");
    const { status } = await world.get("/api/v1/search?q=tent&locale=en&market=DE&sort=relevance&page=1&pageSize=1");
    expect(status).toBe(200);
  });
});
