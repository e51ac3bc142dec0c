/** Duplicates of a slow write are refused at once and block nothing that others need. */
import { Client } from "pg";
import { expect, it } from "vitest";
import { openDatabase } from "#database/connect.ts";
import { prepareDemoDataAndFile } from "#demo/prepare-demo.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import { createAddressWrite, openCart, openShop, parseAnswer } from "#soak/shop.ts";
import { demoRender } from "#test/support/copies.ts";
import { createDatabase } from "#test/support/create-database.ts";
import { temporaryFolder } from "#test/support/process.ts";
import { TestClock } from "#test/support/test-clock.ts";
import { publicUrl } from "#test/support/world.ts";
import { askOf, startBeside } from "./ask.ts";

const pools = { first: 1, second: 2 };

it("fifty duplicates take no connection from others, in the same process and in another", async () => {
  const url = await createDatabase();
  const clock = new TestClock();
  const [here, there] = await Promise.all([
    openDatabase({ url, poolSize: pools.second }),
    openDatabase({ url, poolSize: pools.first }),
  ]);
  const keyring = createEncryptionKeyring([{ id: "k1", key: Buffer.alloc(32, 7) }]);
  const demo = await prepareDemoDataAndFile(here, {
    dataDir: temporaryFolder(),
    publicUrl,
    now: clock.now(),
    keyring,
    render: demoRender(here),
  });
  if (demo === undefined) throw new Error("The database was not empty.");
  const apps = [await startBeside({ clock }, here), await startBeside({ clock }, there)];
  const [askHere, askThere] = apps.map(askOf);
  if (askHere === undefined || askThere === undefined) throw new Error("Two apps were started.");
  const shop = await openShop(askHere, demo);
  const cart = await openCart(askHere, shop);
  const identity = {
    method: "GET",
    url: "/api/v1/open/identity",
    headers: { authorization: `Bearer ${demo.keys.full}` },
    body: undefined,
  } as const;

  // Another transaction locks the cart, so the write waits as long as the test wants.
  const holder = new Client({ connectionString: url });
  await holder.connect();
  await holder.query("begin");
  await holder.query("select id from cart where id = $1 for update", [cart.id]);
  const write = createAddressWrite(shop, cart.id);
  const first = askHere(write.request);
  await expect
    .poll(
      async () =>
        (
          await holder.query<{ count: number }>(
            `select count(*)::int as count from pg_locks join pg_stat_activity using (pid)
              where not granted and datname = current_database()`,
          )
        ).rows[0]?.count,
    )
    .toBe(1);

  for (const ask of [askHere, askThere]) {
    const duplicates = Array.from({ length: 50 }, async () => parseAnswer(await ask(write.request)));
    expect((await ask(identity)).status).toBe(200);
    for (const { status, code } of await Promise.all(duplicates))
      expect([status, code]).toEqual([409, "idempotency_in_progress"]);
    expect((await ask(identity)).status).toBe(200);
  }

  await holder.query("rollback");
  const done = parseAnswer(await first);
  expect([done.status, done.isReplay]).toEqual([200, false]);
  for (const ask of [askHere, askThere])
    expect(parseAnswer(await ask(write.request))).toMatchObject({
      status: 200,
      isReplay: true,
      text: done.text,
    });
  await holder.end();
  for (const app of apps) await app.close();
  await Promise.all([here.close(), there.close()]);
});
