/**
 * Key rotation: every encrypted row is rewrapped with the first key while the service writes, and can then be
 * decrypted without the old key.
 */
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { countRowsWithOldEncryptionKey, rewrapDataKeys, sealedColumns } from "#app/rewrap.ts";
import { erasePersonalData } from "#commerce/addresses/personal-data.ts";
import { connectPaymentProvider } from "#commerce/payments/connections.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import { berlin, changeCart, makeCart } from "#test/operations/cart-calls.ts";
import { makeReadySession } from "#test/operations/checkout-calls.ts";
import { makeEndpoint } from "#test/operations/webhook-calls.ts";
import { letIn, redeem } from "#test/oauth/token-requests.ts";
import { encryptionKeys } from "#test/support/copies.ts";
import { readSealedRows } from "#test/support/sealed-rows.ts";
import { createWorld, type World } from "#test/support/world.ts";

const newKey = Buffer.alloc(32, 9);
const [oldId = "", oldBase64 = ""] = encryptionKeys.split(":");
const oldKey = { id: oldId, key: Buffer.from(oldBase64, "base64") };
const both = createEncryptionKeyring([{ id: "k2", key: newKey }, oldKey]);
const onlyNew = createEncryptionKeyring([{ id: "k2", key: newKey }]);

/** Writes a row of every kind that is encrypted. */
async function write(world: World): Promise<void> {
  await makeReadySession(world);
  await makeEndpoint(world);
  await redeem(world, await letIn(world));
  const { id: cartId } = await makeCart(world, { lines: { "KIT-KVERN": 1 } });
  await changeCart(world, "cartAddressSet", { cartId, input: { address: berlin } });
  const merchantId = world.demo.merchants.second.id;
  const account = { provider: "stripe", accountId: "acct_1", accountName: null, mode: "test" } as const;
  const context = { merchantId, now: world.clock.now(), keyring: world.app.services.keyring };
  await runInTransaction(world.database.db, (transaction) =>
    connectPaymentProvider(transaction, context, {
      merchantId,
      account,
      secretKey: "sk_test_rewrapped",
      signingSecret: "whsec_rewrapped",
    }),
  );
}

describe.each(["postgres"] as const)("rewrapping on %s", (engine) => {
  it("rewraps every row with the first key while the service writes; the old key is unused", async () => {
    await using world = await createWorld(engine, {
      environment: { ENCRYPTION_KEYS: `k2:${newKey.toString("base64")},${encryptionKeys}` },
    });
    const { db } = world.database;
    await write(world);
    const before = await readSealedRows(db);
    const old = before.filter(({ keyId }) => keyId === oldKey.id);
    expect(new Set(before.map(({ table }) => table))).toEqual(
      new Set(sealedColumns.map(({ table }) => table)),
    );
    expect(old.length).toBeGreaterThan(10);
    expect(() => old[0]?.open(onlyNew)).toThrow(
      `was encrypted with the key ${oldKey.id}, which is not in ENCRYPTION_KEYS`,
    );
    const texts = before.map((row) => row.open(both));

    const stop = new AbortController();
    const writing = (async () => {
      for (let rounds = 0; rounds < 2 || !stop.signal.aborted; rounds += 1) await write(world);
    })();
    let seen = 0;
    const results = await rewrapDataKeys({ db, keyring: both, onProgress: (rows) => (seen += rows) });
    stop.abort();
    await writing;
    expect(results.flatMap(({ broken }) => broken)).toEqual([]);
    expect(results.map(({ left }) => left)).toEqual(sealedColumns.map(() => 0));
    expect(results.reduce((sum, { rewrapped }) => sum + rewrapped, 0)).toBe(old.length);
    expect(seen).toBe(old.length);

    const after = await readSealedRows(db);
    expect(after.length).toBeGreaterThan(before.length);
    expect(after.filter(({ keyId }) => keyId !== "k2")).toEqual([]);
    const opened = new Map(after.map((row) => [Buffer.from(row.sealed).toString("hex"), row.open(onlyNew)]));
    // Payloads stay the same, byte for byte, except of browser sessions that were used meanwhile.
    const kept = before.flatMap(({ sealed }, index) => {
      const text = opened.get(Buffer.from(sealed).toString("hex"));
      return text === undefined ? [] : [[text, texts[index]]];
    });
    expect(kept.length).toBeGreaterThan(10);
    for (const [now, then] of kept) expect(now).toBe(then);
    expect(await countRowsWithOldEncryptionKey({ db, keyring: both })).toBe(0);
    expect((await rewrapDataKeys({ db, keyring: both })).every(({ rewrapped }) => rewrapped === 0)).toBe(
      true,
    );
  });

  it("names rows that cannot be decrypted, leaves them, and continues with the rest", async () => {
    await using world = await createWorld(engine);
    const { db } = world.database;
    await write(world);
    const spoiled = await sql<{
      id: string;
    }>`update webhook_secret set data_key = '\\x00' where id = (select min(id) from webhook_secret)
      returning id`.execute(db);
    await sql`update idempotency_record set sealed = substring(sealed from 2)
      where idempotency_key = (select min(idempotency_key) from idempotency_record)`.execute(db);
    const results = await rewrapDataKeys({ db, keyring: both });
    expect(results.flatMap(({ broken }) => broken)).toEqual([
      `webhook_secret.sealed of ${spoiled.rows[0]?.id} is too short for an encrypted value.`,
      expect.stringMatching(/^idempotency_record\.sealed of \S+ \S+ does not decrypt/),
    ]);
    const rows = await readSealedRows(db);
    expect(rows.filter(({ keyId }) => keyId !== "k2").map(({ table }) => table)).toEqual([
      "webhook_secret",
      "idempotency_record",
    ]);
    expect(results.map(({ left }) => left)).toEqual(sealedColumns.map(() => 0));
    expect(await countRowsWithOldEncryptionKey({ db, keyring: both })).toBe(2);
  });

  it("does not restore rows that are erased meanwhile", async () => {
    await using world = await createWorld(engine);
    const { db } = world.database;
    const { id } = await db
      .selectFrom("personalData")
      .select("id")
      .where("erasedAt", "is", null)
      .executeTakeFirstOrThrow();
    let erasing: Promise<unknown> | undefined;
    // Changes rows between reading a page and writing it.
    const meddled = {
      ...both,
      rewrap: (...[sealed, place]: Parameters<typeof both.rewrap>) => {
        if (place.rowId === id)
          erasing = runInTransaction(db, (transaction) =>
            erasePersonalData(transaction, [id], world.clock.now()),
          );
        return both.rewrap(sealed, place);
      },
    };
    const results = await rewrapDataKeys({ db, keyring: meddled });
    await erasing;
    expect(results.map(({ broken, left }) => [broken, left])).toEqual(sealedColumns.map(() => [[], 0]));
    const row = await db
      .selectFrom("personalData")
      .selectAll()
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ sealed: null, dataKey: null, keyId: null, erasedAt: world.clock.now() });
  });

  it("continues where it stopped, over more than one page of rows", async () => {
    await using world = await createWorld(engine);
    const { db } = world.database;
    const template = await db
      .selectFrom("personalData")
      .selectAll()
      .where("erasedAt", "is", null)
      .executeTakeFirstOrThrow();
    const text = `many-${engine}`;
    for (let count = 0; count < 450; count += 1) {
      const id = `psd_${String(count).padStart(26, "0")}`;
      const oldRing = createEncryptionKeyring([oldKey]);
      await db
        .insertInto("personalData")
        .values({
          ...template,
          masked: JSON.stringify(template.masked),
          id,
          cartId: null,
          ...oldRing.seal(text, { table: "personal_data", column: "sealed", rowId: id }),
        })
        .execute();
    }
    let pages = 0;
    const stopped = rewrapDataKeys({
      db,
      keyring: both,
      onProgress: (rows) => {
        pages += 1;
        if (rows === 200) throw new Error("stopped");
      },
    });
    await expect(stopped).rejects.toThrow("stopped");
    expect(pages).toBeGreaterThan(0);
    const left = await countRowsWithOldEncryptionKey({ db, keyring: both });
    expect(left).toBeGreaterThan(250);
    const results = await rewrapDataKeys({ db, keyring: both });
    expect(results.reduce((sum, { rewrapped }) => sum + rewrapped, 0)).toBe(left);
    const rows = await readSealedRows(db);
    expect(rows.filter((row) => row.open(onlyNew) === text)).toHaveLength(450);
  });

  it("covers every column that holds a wrapped key", async () => {
    await using world = await createWorld(engine);
    const { rows } = await sql<{ tableName: string; columnName: string }>`
      select table_name, column_name from information_schema.columns where table_schema = 'public'
      and column_name like '%data_key'`.execute(world.database.db);
    expect(rows.map(({ tableName, columnName }) => `${tableName}.${columnName}`).toSorted()).toEqual(
      sealedColumns.map(({ table, dataKey }) => `${table}.${dataKey}`).toSorted(),
    );
    const { rows: bytes } = await sql<{ tableName: string; columnName: string }>`
      select table_name, column_name from information_schema.columns where table_schema = 'public'
      and column_name like '%sealed'`.execute(world.database.db);
    expect(bytes.map(({ tableName, columnName }) => `${tableName}.${columnName}`).toSorted()).toEqual(
      sealedColumns.map(({ table, sealed }) => `${table}.${sealed}`).toSorted(),
    );
  });
});
