/**
 * The disk is full: refused writes leave nothing, an embedded database that cannot continue ends the process,
 * and everything recovers when there is space again.
 */
import { spawnSync } from "node:child_process";
import { sql } from "kysely";
import { describe, expect, it, vi } from "vitest";
import { startService } from "#soak/service.ts";
import {
  type HttpAnswer,
  type Write,
  createAddressWrite,
  openCart,
  openShop,
  parseAnswer,
  createStockWrite,
} from "#soak/shop.ts";
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
    "refuses writes or ends the process, and loses no answered write",
    async () => {
      await using service = await startService(await demoPlace("pglite"));
      const { ask } = service;
      const shop = await openShop(ask, service.access);
      const { id } = await openCart(ask, shop);
      const first = createAddressWrite(shop, id);
      const answered: [Write, HttpAnswer][] = [[first, await ask(first.request)]];
      // A limit on file sizes fails every write, like a full disk. PostgreSQL refuses a write if a table cannot
      // grow. If the write-ahead log cannot be written, which happens in one of the first rounds, PostgreSQL
      // ends with a PANIC, and the service ends the process.
      for (let round = 1; service.faults.length === 0 && round <= roundsMax; round += 1) {
        const write = createAddressWrite(shop, id);
        limitFiles(service.pid(), "0");
        const refused = await ask(write.request).then(parseAnswer, () => undefined);
        limitFiles(service.pid(), "unlimited");
        // PostgreSQL has no SQLSTATE for a limit on file sizes, so the service reports an internal error. It has
        // one for a full disk, for which the service answers 503.
        if (refused !== undefined) expect(refused).toMatchObject({ status: 500, code: "internal_error" });
        const answer = await ask(write.request).catch(async () => {
          // The process has ended: before it answered, or after the answer, while it did other work.
          await vi.waitUntil(() => service.faults.length > 0, { timeout: 10_000 });
          await service.start();
          return ask(write.request);
        });
        answered.push([write, answer]);
      }
      expect(service.faults).toEqual([
        expect.stringMatching(/\(1\).*embedded_database_crashed.*could not write.*next start recovers/s),
      ]);
      // Each write had exactly one effect: it raised the version of the cart by one.
      expect(answered.map(([, { text }]) => JSON.parse(text).data.cartVersion)).toEqual(
        answered.map((_, index) => index + 2),
      );
      for (const [write, { text }] of answered) {
        const again = await ask(write.request);
        expect([parseAnswer(again).isReplay, again.text]).toEqual([true, text]);
      }
    },
    startMsMax,
  );
});

/** Far more rounds than needed: the process usually ends in the first or second round. */
const roundsMax = 50;

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
