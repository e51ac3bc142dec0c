/** A streaming standby as DATABASE_READ_URL: its lag is measured, and reads avoid it while it is far behind. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createServiceApp } from "#app/app.ts";
import { createReplicaLagMonitor } from "#app/replica-lag.ts";
import { parseServiceSettings } from "#app/settings.ts";
import { type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { migrate } from "#database/migrate.ts";
import { prepareDemoDataAndFile } from "#demo/prepare-demo.ts";
import { createLog } from "#foundation/log.ts";
import { encryptionKeys } from "#test/support/copies.ts";
import { type PostgresServer, startPostgres, startStandby } from "#test/support/postgres.ts";
import { temporaryFolder } from "#test/support/process.ts";

describe("a streaming replica", () => {
  const servers: PostgresServer[] = [];
  let primary: OpenedDatabase;
  let replica: OpenedDatabase;
  const logged: { readonly event?: string }[] = [];
  const log = createLog("info", {
    write: (line) => void logged.push(JSON.parse(line) as { readonly event?: string }),
  });
  const eventsOf = (): unknown[] => logged.map(({ event }) => event);
  const pauseReplica = async (): Promise<void> => {
    await run(replica, "select pg_wal_replay_pause()");
    await expect
      .poll(() => run(replica, "select pg_get_wal_replay_pause_state() as state"))
      .toEqual([[{ state: "paused" }]]);
  };
  const run = (database: OpenedDatabase, sql: string): Promise<unknown> =>
    database.script((script) => script(sql));

  beforeAll(async () => {
    // Otherwise, a committed change would be in the log of the primary only some 100 ms later.
    const server = await startPostgres({ synchronous_commit: "on" });
    servers.push(server);
    primary = await openDatabase({ url: server.url });
    await migrate(primary);
    const standby = await startStandby(server);
    servers.unshift(standby);
    replica = await openDatabase({ url: standby.url });
  });
  afterAll(async () => {
    await primary?.close();
    await replica?.close();
    for (const server of servers) await server.stop();
  });

  it("has a lag as long as the oldest change that it has not replayed is old", async () => {
    logged.length = 0;
    let now = 0;
    const monitor = createReplicaLagMonitor({
      primary: primary.db,
      replica: replica.db,
      lagSecondsMax: 5,
      log,
      nowMs: () => now,
    });
    const measured = async (): Promise<number> => {
      await monitor.measure();
      return monitor.lagSeconds();
    };
    await expect.poll(measured).toBe(0);
    // All positions that were measured until now are replayed before time passes.
    const [[{ lsn }]] = (await run(primary, "select pg_current_wal_lsn() as lsn")) as [[{ lsn: string }]];
    await expect
      .poll(() => run(replica, `select pg_last_wal_replay_lsn() >= '${lsn}' as done`))
      .toEqual([[{ done: true }]]);
    // Time alone makes no lag.
    now += 60_000;
    await expect.poll(measured).toBe(0);

    await pauseReplica();
    await run(primary, "create table lagging (id int)");
    await monitor.measure();
    now += 4_000;
    expect(await measured()).toBe(4);
    expect(monitor.isBehind()).toBe(false);
    now += 2_000;
    expect(await measured()).toBe(6);
    expect(monitor.isBehind()).toBe(true);
    expect(eventsOf()).toEqual(["replica_behind"]);

    await run(replica, "select pg_wal_replay_resume()");
    await expect.poll(measured).toBe(0);
    expect(monitor.isBehind()).toBe(false);
    expect(eventsOf()).toEqual(["replica_behind", "replica_caught_up"]);
  });

  it("is behind if it does not answer, and has no lag if it is no standby", async () => {
    logged.length = 0;
    let now = 0;
    const closed = await openDatabase({ url: "postgres://postgres@127.0.0.1:1/none" });
    const options = { primary: primary.db, lagSecondsMax: 5, log, nowMs: () => now };
    const unreachable = createReplicaLagMonitor({ ...options, replica: closed.db });
    const ordinary = createReplicaLagMonitor({ ...options, replica: primary.db });
    for (const monitor of [unreachable, ordinary]) await monitor.measure();
    now += 6_000;
    for (const monitor of [unreachable, ordinary]) await monitor.measure();
    expect([unreachable.lagSeconds(), ordinary.lagSeconds()]).toEqual([6, 0]);
    expect([unreachable.isBehind(), ordinary.isBehind()]).toEqual([true, false]);
    expect(eventsOf()).toEqual(["replica_lag_unknown", "replica_behind"]);
    await closed.close();
  });

  it("is read by the public and by analysts only while it is not behind", async () => {
    const [standby, server] = servers;
    await using stack = new AsyncDisposableStack();
    const app = await createServiceApp({
      settings: parseServiceSettings({
        PORT: "0",
        DATABASE_URL: server?.url,
        DATABASE_READ_URL: standby?.url,
        DATABASE_READ_LAG_MAX: "1",
        ENCRYPTION_KEYS: encryptionKeys,
        RATE_LIMIT_SCALE: "0",
      }),
      log: createLog("silent"),
    });
    stack.defer(() => app.close());
    await pauseReplica();
    const { tokens } =
      (await prepareDemoDataAndFile(app.database, {
        ...app.services,
        dataDir: temporaryFolder(),
        now: new Date(),
      })) ?? expect.fail("The database was not empty.");
    const found = async (): Promise<number> => {
      const url = "/api/v1/search?q=&locale=en&market=DE&sort=relevance&page=1&pageSize=1";
      const { statusCode, body } = await app.server.inject({ url });
      return statusCode === 200 ? (JSON.parse(body) as { meta: { totalItems: number } }).meta.totalItems : 0;
    };
    const analyst = async (): Promise<number> => {
      const response = await app.server.inject({
        method: "POST",
        url: "/graphql",
        headers: { authorization: `Bearer ${tokens.analyst}` },
        payload: { query: "{ products { totalCount } }" },
      });
      return response.json<{ data: { products: { totalCount: number } } }>().data.products.totalCount;
    };
    const metric = async (name: string): Promise<number> => {
      const { body } = await app.server.inject({ url: "/metrics", headers: { host: "127.0.0.1" } });
      return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(body)?.[1]);
    };
    // Nothing has been measured yet, so the replica is read.
    expect([await found(), await analyst()]).toEqual([0, 0]);
    await app.listen();
    await expect.poll(() => metric("commerce_replica_behind")).toBe(1);
    expect(await metric("commerce_replica_lag_seconds")).toBeGreaterThan(1);
    expect(await found()).toBeGreaterThan(20);
    expect(await analyst()).toBeGreaterThan(20);
    await run(replica, "select pg_wal_replay_resume()");
    await expect.poll(() => metric("commerce_replica_behind")).toBe(0);
    expect(await found()).toBeGreaterThan(20);
  });
});
