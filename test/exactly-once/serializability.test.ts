/**
 * Histories of concurrent clients at two processes, judged by the checker: a short version of `npm run soak`.
 * The checker also proves that it finds faults: reads of a delayed replica, and orders without their lock.
 */
import { expect, it } from "vitest";
import { openDatabase } from "#database/connect.ts";
import { runSerializability } from "#soak/serializability/serializability.ts";
import { startService } from "#soak/service.ts";
import { demoPlace } from "#test/support/copies.ts";
import { startPostgres, startStandby } from "#test/support/postgres.ts";

/** Cold starts of processes on a busy machine. */
const startsMsMax = 240_000;

const isOverAt =
  (size: number) =>
  ({ operations }: { readonly operations: number }): boolean =>
    operations >= size;

/** PGlite runs one transaction at a time, so fewer operations overlap, and its history is shorter. */
it.each([
  ["pglite", 600],
  ["postgres", 1_200],
] as const)(
  "clients see a strictly serializable history on %s",
  async (engine, operations) => {
    const place = await demoPlace(engine);
    await using first = await startService(place);
    await using second = engine === "pglite" ? undefined : await startService(place);
    const { violations, counts } = await runSerializability({
      engine,
      ports: [first, ...(second === undefined ? [] : [second])].map(({ port }) => port),
      ask: first.ask,
      access: first.access,
      clients: 12,
      partSize: 600,
      isOver: isOverAt(operations),
      // With the usual parts, a history of this length would sometimes have no operation of unknown outcome.
      faults: { impatience: 0.02, cuts: 0.02 },
    });
    expect(violations).toEqual([]);
    expect(counts["operations"]).toBeGreaterThanOrEqual(operations);
    for (const name of ["unknown outcomes", "refused", "codes"]) expect(counts[name]).toBeGreaterThan(0);
    expect([...first.faults, ...(second?.faults ?? [])]).toEqual([]);
  },
  startsMsMax,
);

it(
  "the checker finds the lost updates of orders that are changed without a lock",
  async () => {
    const place = await demoPlace("postgres");
    // Without the lock, the trigger still refuses a version that is not the next one.
    const owner = new URL(place.databaseUrl ?? "");
    owner.username = "postgres";
    await runSql(owner.href, "drop trigger order_saved on sales_order");
    const hook = new URL("./without-order-lock.ts", import.meta.url).href;
    const environment = { ...place.environment, NODE_OPTIONS: `--import ${hook}` };
    await using service = await startService({ ...place, environment });
    const { violations } = await runSerializability({
      engine: "postgres",
      ports: [service.port],
      ask: service.ask,
      access: service.access,
      clients: 12,
      partSize: 600,
      isOver: isOverAt(600),
      load: "orders",
    });
    expect(violations).toContainEqual(expect.stringMatching(/^lost update: version of ord_/));
  },
  startsMsMax,
);

it(
  "the checker finds the outdated answers of a replica that is 300 ms behind, and that they are consistent",
  async () => {
    await using stack = new AsyncDisposableStack();
    const primary = await startPostgres({ synchronous_commit: "on" });
    stack.defer(() => primary.stop());
    const seeded = stack.use(await startService({ databaseUrl: primary.url }));
    await seeded.kill();
    const standby = await startStandby(primary);
    stack.defer(() => standby.stop());
    await runSql(
      standby.url,
      "alter system set recovery_min_apply_delay = '300ms'",
      "select pg_reload_conf()",
    );
    const environment = { DATABASE_READ_URL: standby.url, DEMO: "0" };
    await using service = await startService({
      databaseUrl: primary.url,
      folder: seeded.folder,
      environment,
    });
    const { violations } = await runSerializability({
      engine: "postgres",
      ports: [service.port],
      ask: service.ask,
      access: service.access,
      clients: 12,
      partSize: 600,
      isOver: isOverAt(600),
      readToken: "analyst",
    });
    expect(violations).not.toEqual([]);
    // Two clients may each read too old a state of what the other one has written (G2-item).
    for (const violation of violations)
      expect(violation).toMatch(/^(?:G-single|G2-item)-(?:session|realtime): /);
  },
  startsMsMax,
);

async function runSql(url: string, ...statements: string[]): Promise<void> {
  const database = await openDatabase({ url });
  await database
    .script(async (run) => {
      for (const statement of statements) await run(statement);
    })
    .finally(() => database.close());
}
