/**
 * The disk is full: refused writes leave nothing, reads work, and everything recovers when there is space
 * again.
 */
import { spawnSync } from "node:child_process";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { startService } from "#soak/service.ts";
import { createAddressWrite, openCart, openShop, parseAnswer, createStockWrite } from "#soak/shop.ts";
import { demoPlace } from "#test/support/copies.ts";
import { createWorld } from "#test/support/world.ts";
import { askOf, environment } from "#test/exactly-once/ask.ts";

const hasLimits = spawnSync("prlimit", ["--version"], { stdio: "ignore" }).status === 0;
if (!hasLimits)
  process.stderr.write(
    "test/faults/full-disk.test.ts skips the embedded database: prlimit is not installed (Debian: " +
      "util-linux).\n",
  );

/** A cold start on a busy machine. */
const startMsMax = 240_000;

describe.runIf(hasLimits)("an embedded database on a full disk", () => {
  it(
    "refuses writes, changes nothing, and recovers when there is space again",
    async () => {
      await using service = await startService(await demoPlace("pglite"));
      const { ask } = service;
      const shop = await openShop(ask, service.access);
      const { id } = await openCart(ask, shop);
      const [before, during] = [createAddressWrite(shop, id), createAddressWrite(shop, id)];
      const kept = await ask(before.request);
      // A limit on file sizes fails every write like a full disk. PostgreSQL has no error code for it, so the
      // service reports an internal error.
      limitFiles(service.pid(), "0");
      expect(parseAnswer(await ask(during.request))).toMatchObject({ status: 500, code: "internal_error" });
      limitFiles(service.pid(), "unlimited");

      const [done, again] = [parseAnswer(await ask(during.request)), await ask(before.request)];
      expect([done.status, done.isReplay, JSON.parse(done.text).data.cartVersion]).toEqual([200, false, 3]);
      expect([parseAnswer(again).isReplay, again.text]).toEqual([true, kept.text]);
      expect(service.faults).toEqual([]);
    },
    startMsMax,
  );
});

const limitFiles = (pid: number, bytes: string): void =>
  void spawnSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:`]);

it.each(["pglite", "postgres"] as const)(
  "a full disk (%s) is reported as 503, leaves nothing, and the same request succeeds later",
  async (engine) => {
    await using world = await createWorld(engine, { environment });
    const ask = askOf(world.app);
    const { db } = world.database;
    const shop = await openShop(ask, world.demo);
    const write = createStockWrite(shop, shop.variantIds[0] ?? "");
    // Raises PostgreSQL's error of a full disk at the last statement, when all other work is done.
    await sql`create function refuse() returns trigger language plpgsql as $$ begin raise exception
      'could not extend file' using errcode = 'disk_full'; end $$`.execute(db);
    await sql`create trigger full_disk before insert on idempotency_record
      for each row execute function refuse()`.execute(db);
    const refused = await ask(write.request);
    expect(parseAnswer(refused)).toMatchObject({ status: 503, code: "service_unavailable" });
    expect(refused.text).not.toContain("extend");
    const moved = async (): Promise<number> =>
      (await db.selectFrom("stockMovement").select("id").where("note", "=", write.key).execute()).length;
    expect(await moved()).toBe(0);

    await world.database.script((run) => run("drop trigger full_disk on idempotency_record"));
    const done = await ask(write.request);
    expect([parseAnswer(done).status, parseAnswer(done).isReplay, await moved()]).toEqual([200, false, 1]);
  },
  startMsMax,
);
