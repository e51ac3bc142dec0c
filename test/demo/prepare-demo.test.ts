/**
 * Preparing the demo checks the folder before it creates secrets, creates what demo.json lacks, and keeps the
 * rest.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { hashCheckoutPageSecret } from "#commerce/checkout/session-page.ts";
import { findOauthClient } from "#access/oauth/oauth-clients.ts";
import { authenticateStaffByPassword } from "#access/people/staff-sign-in.ts";
import { DataFolderUnusableError } from "#database/folder-lock.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { type PartialDemoJsonFileContent, readDemoJsonFile, writeDemoJsonFile } from "#demo/demo-file.ts";
import { orderScenarios } from "#demo/orders/order-scenarios.ts";
import { prepareDemoDataAndFile } from "#demo/prepare-demo.ts";
import { seedDemo } from "#demo/seed-demo.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import { demoRender } from "#test/support/copies.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import { temporaryFolder } from "#test/support/process.ts";

const now = new Date("2026-06-01T12:00:00.000Z");
const keyring = createEncryptionKeyring([{ id: "test", key: randomBytes(32) }]);
const keys = {
  full: "k1",
  catalogRead: "k2",
  checkoutQuote: "k3",
  webhooksRead: "k4",
  webhooksWrite: "k5",
  noScope: "k6",
  expired: "k7",
  revoked: "k8",
  otherMerchant: "k9",
};
const tokens = { storefront: "t1", browser: "t5", admin: "t2", analyst: "t3", operator: "t4" };
const prepare = (
  database: OpenedDatabase,
  dataDir: string,
  at = now,
): ReturnType<typeof prepareDemoDataAndFile> =>
  prepareDemoDataAndFile(database, {
    dataDir,
    publicUrl: "https://api.test",
    now: at,
    keyring,
    render: demoRender(database),
  });

describeOnPostgres("preparing the demo", (open, engine) => {
  it("creates the folder with access for its owner only", async () => {
    const dataDir = join(temporaryFolder(), "not", "there");
    const demo = await prepare(await open(), dataDir);
    expect(demo?.baseUrl).toBe("https://api.test");
    expect(readDemoJsonFile(dataDir)).toEqual(demo);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(readdirSync(dataDir)).toEqual(["demo.json"]);
  });

  it("seeds nothing if the folder cannot be used", async () => {
    const database = await open();
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    const refused = prepare(database, join(file, "data"));
    await expect(refused).rejects.toThrow(DataFolderUnusableError);
    await expect(refused).rejects.toThrow(`DATA_DIR ${join(file, "data")} cannot be used: ENOTDIR`);
    expect(await database.db.selectFrom("merchant").select("id").execute()).toEqual([]);
    expect(await database.db.selectFrom("apiKey").select("id").execute()).toEqual([]);
  });

  it("adds carts, orders and promotions to the demo of an earlier version, and keeps its keys", async () => {
    const database = await open();
    const dataDir = temporaryFolder();
    const { merchants, products } = await runInTransaction(database.db, (transaction) =>
      seedDemo(transaction, { now }),
    );
    const earlier = {
      baseUrl: "https://old.test",
      keys,
      tokens,
      merchants,
      products: [...products],
      later: { kept: true },
    };
    writeDemoJsonFile(dataDir, earlier);
    const demo = await prepare(database, dataDir);
    const anything = expect.any(Object) as unknown;
    expect(demo).toEqual({
      ...earlier,
      baseUrl: "https://api.test",
      carts: anything,
      sessions: anything,
      checkout: anything,
      orders: anything,
      promotionCodes: anything,
      webhooks: anything,
      staff: anything,
      oauthClient: anything,
    });
    expect(readDemoJsonFile(dataDir)).toEqual(demo);
    const carts = await database.db.selectFrom("cart").select(["id", "status"]).execute();
    expect(carts.map(({ id }) => id)).toEqual(expect.arrayContaining(Object.values(demo?.carts ?? {})));
    expect(carts).toHaveLength(10 + orderScenarios.length);
    expect(await database.db.selectFrom("apiKey").select("id").execute()).toEqual([]);

    expect(await prepare(database, dataDir)).toEqual(demo);
    expect(await database.db.selectFrom("cart").select("id").execute()).toHaveLength(
      10 + orderScenarios.length,
    );
  });

  it(
    "adds an account and an OAuth client to the demo of an earlier version, and creates new ones if " +
      "demo.json lacks them",
    async () => {
      const database = await open();
      const dataDir = temporaryFolder();
      const prepareExistingDemo = async () =>
        (await prepare(database, dataDir)) ?? expect.fail("There is no demo.");
      const first = await prepareExistingDemo();
      const { staff: _staff, oauthClient: _client, ...earlier } = first;
      writeDemoJsonFile(dataDir, earlier);
      const second = await prepareExistingDemo();
      expect(second).toEqual({ ...first, staff: second.staff, oauthClient: second.oauthClient });
      for (const { staff, oauthClient } of [first, second]) {
        expect(await authenticateStaffByPassword(database.db, staff.email, staff.password)).toMatchObject({
          merchantId: first.merchants.first.id,
          name: "Demo",
        });
        const client = {
          appName: "Demo integration",
          authMethod: "none",
          redirectUris: [oauthClient.redirectUri],
        };
        expect(await findOauthClient(database.db, oauthClient.clientId)).toMatchObject(client);
      }
      expect([first.staff.email, second.staff.email]).toEqual([
        "demo@lindenhof.example",
        "demo.2@lindenhof.example",
      ]);
      expect(await prepare(database, dataDir)).toEqual(second);
    },
  );

  it("adds checkouts and orders to the demo of an earlier version, and keeps its other carts and codes", async () => {
    const database = await open();
    const dataDir = temporaryFolder();
    const first = await prepare(database, dataDir);
    const { sessions: _sessions, orders: _orders, ...earlier } = first ?? { sessions: {}, orders: {} };
    writeDemoJsonFile(dataDir, earlier as PartialDemoJsonFileContent);
    const second = await prepare(database, dataDir);
    expect(second).toEqual({
      ...first,
      carts: { ...first?.carts, locked: expect.any(String), completed: expect.any(String) },
      sessions: expect.any(Object),
      checkout: { url: expect.stringMatching(/^https:\/\/api\.test\/checkout\//) },
      orders: expect.any(Object),
    });
    expect(second?.webhooks).toEqual(first?.webhooks);
    const idsOf = (demo: typeof first): string[] =>
      Object.values({ ...demo?.sessions }).concat(Object.values({ ...demo?.orders }));
    const ids = [first, second].flatMap(idsOf);
    expect(new Set(ids).size).toBe(2 * 13);
    const session = await database.db
      .selectFrom("hostedCheckoutSession")
      .select("cartId")
      .where("id", "=", second?.sessions.open ?? "")
      .execute();
    expect(session).toEqual([{ cartId: second?.carts.locked }]);
    expect(await prepare(database, dataDir)).toEqual(second);
  });

  it("opens another checkout when the last one has ended, and keeps everything else", async () => {
    const database = await open();
    const dataDir = temporaryFolder();
    const first = (await prepare(database, dataDir)) ?? expect.fail("There is no demo.");
    const url = first.checkout?.url ?? "";
    expect(url).toMatch(/^https:\/\/api\.test\/checkout\/[\w-]{43}$/);
    const digest = hashCheckoutPageSecret(url.split("/").at(-1) ?? "");
    const { id } = await database.db
      .selectFrom("hostedCheckoutSession")
      .select("id")
      .where("urlDigest", "=", digest)
      .executeTakeFirstOrThrow();
    expect(id).toBe(first.sessions.open);
    const tomorrow = new Date(now.getTime() + 25 * 3_600_000);
    const second = (await prepare(database, dataDir, tomorrow)) ?? expect.fail("There is no demo.");
    expect(second.checkout?.url).not.toBe(url);
    expect(second.sessions.open).not.toBe(first.sessions.open);
    expect(second).toEqual({
      ...first,
      carts: { ...first.carts, locked: second.carts.locked },
      sessions: { ...first.sessions, open: second.sessions.open },
      checkout: second.checkout,
    });
    expect(await prepare(database, dataDir, tomorrow)).toEqual(second);
  });

  it("creates new carts and keys if demo.json was deleted, and keeps the promotions", async () => {
    const database = await open();
    const dataDir = temporaryFolder();
    const first = await prepare(database, dataDir);
    const promotions = await database.db
      .selectFrom("promotion")
      .select(["id", "used"])
      .orderBy("id")
      .execute();
    rmSync(join(dataDir, "demo.json"));
    const second = await prepare(database, dataDir);
    expect(second?.merchants).toEqual(first?.merchants);
    expect(second?.promotionCodes).toEqual(first?.promotionCodes);
    expect(second?.keys.full).not.toBe(first?.keys.full);
    const both = [...Object.values(first?.carts ?? {}), ...Object.values(second?.carts ?? {})];
    expect(new Set(both).size).toBe(18);
    const carts = await database.db
      .selectFrom("cart")
      .select(["id", "status"])
      .where("id", "in", both)
      .execute();
    const statusOf = (demo: typeof first, name: "active" | "locked" | "completed"): unknown =>
      carts.find(({ id }) => id === demo?.carts[name])?.status;
    for (const demo of [first, second])
      expect([statusOf(demo, "active"), statusOf(demo, "locked"), statusOf(demo, "completed")]).toEqual([
        "active",
        "locked",
        "completed",
      ]);
    expect(await database.db.selectFrom("promotion").select(["id", "used"]).orderBy("id").execute()).toEqual(
      promotions,
    );
  });

  it("still prepares the demo if the merchants now sell other products to other countries", async () => {
    const database = await open();
    const { merchants } = await runInTransaction(database.db, (transaction) =>
      seedDemo(transaction, { now }),
    );
    await database.script((run) =>
      run("delete from market_country where country <> 'JP'; update product set status = 'archived'"),
    );
    await database.script((run) =>
      run(`insert into market_country (merchant_id, country, market_id, position)
        select '${merchants.second.id}', 'AT', id, 0 from market where merchant_id = '${merchants.second.id}'
        limit 1`),
    );
    const demo = await prepare(database, temporaryFolder());
    const countries = await database.db
      .selectFrom("cart")
      .select("country")
      .distinct()
      .orderBy("country")
      .execute();
    expect(countries).toEqual([{ country: "AT" }, { country: "JP" }]);
    expect(await database.db.selectFrom("cartLine").select("id").execute()).toEqual([]);
    expect(Object.keys(demo?.carts ?? {})).toHaveLength(9);
    expect([demo?.sessions, demo?.orders, demo?.webhooks]).toEqual([undefined, undefined, undefined]);
    expect(await database.db.selectFrom("webhookEndpoint").select("id").execute()).toEqual([]);
    expect(await database.db.selectFrom("hostedCheckoutSession").select("id").execute()).toEqual([]);
  });

  it("still prepares the demo, without partial orders, if the merchant's policies refuse a scenario's step", async () => {
    const database = await open();
    const { merchants } = await runInTransaction(database.db, (transaction) =>
      seedDemo(transaction, { now }),
    );
    await database.script((run) =>
      run(`update policy set rules = '{"mode": "none"}' where type in ('return', 'cancellation')`),
    );
    const demo = await prepare(database, temporaryFolder());
    expect(demo?.merchants).toEqual(merchants);
    expect([demo?.sessions, demo?.orders, Object.keys(demo?.carts ?? {}).length]).toEqual([
      undefined,
      undefined,
      9,
    ]);
    for (const table of ["salesOrder", "hostedCheckoutSession", "payment"] as const)
      expect(await database.db.selectFrom(table).select("id").execute()).toEqual([]);
    expect(
      await database.db.selectFrom("stockLevel").select("variantId").where("reserved", ">", 0).execute(),
    ).toEqual([]);
  });

  it("needs no folder for a database with other data", async () => {
    const database = await open();
    await database.script((run) =>
      run(`insert into merchant (id, slug, name, mode, default_locale, default_market, created_at, updated_at)
        values ('mer_1', 'other', 'Other', 'live', 'de', 'DE', now(), now())`),
    );
    const folder = temporaryFolder();
    expect(await prepare(database, join(folder, engine))).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  });
});
