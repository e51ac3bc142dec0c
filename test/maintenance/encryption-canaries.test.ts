/** Keys that do not belong to the database are refused at the start, before a value is encrypted with them. */
import { expect, it } from "vitest";
import { rotateOauthSigningKeys } from "#access/oauth/signing-keys.ts";
import { createVerifiedEncryptionKeyring, deleteUnusedEncryptionCanaries } from "#app/encryption-canaries.ts";
import type { Database } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createEncryptionKeyring, type EncryptionKey } from "#foundation/encryption.ts";
import { describeOnBoth } from "#test/support/databases.ts";

const keyOf = (id: string, byte: number): EncryptionKey => ({ id, key: Buffer.alloc(32, byte) });
const [old, next] = [keyOf("old", 1), keyOf("new", 2)];
const impostor = keyOf("old", 3);

const start = (db: Database, ...encryptionKeys: EncryptionKey[]) =>
  createVerifiedEncryptionKeyring(db, { encryptionKeys, dataDir: "" });
const canariesOf = async (db: Database): Promise<string[]> =>
  (await db.selectFrom("encryptionCanary").select("id").orderBy("id").execute()).map(({ id }) => id);
const lacksOld = "lacks the key old, which has encrypted values of this database";
const isOther = "The key old of ENCRYPTION_KEYS is not the key old that has encrypted values";

describeOnBoth("the keys at a start", (open) => {
  it("must be those that have encrypted values, also in the first start of an empty database", async () => {
    const { db } = await open();
    await start(db, old);
    expect(await canariesOf(db)).toEqual(["old"]);
    await expect(start(db, impostor)).rejects.toThrow(isOther);
    await expect(start(db, next)).rejects.toThrow(lacksOld);
    await expect(start(db, next, impostor)).rejects.toThrow(isOther);
    // A refused start leaves nothing behind.
    expect(await canariesOf(db)).toEqual(["old"]);
  });

  it("can be rotated: the second key is announced, then used, then the old one is released", async () => {
    const { db } = await open();
    await start(db, old, next);
    expect(await canariesOf(db)).toEqual(["old"]);
    const both = await start(db, next, old);
    expect(await canariesOf(db)).toEqual(["new", "old"]);
    await expect(start(db, next)).rejects.toThrow(lacksOld);
    await deleteUnusedEncryptionCanaries(db, createEncryptionKeyring([next]));
    expect(await canariesOf(db)).toEqual(["new", "old"]);
    await deleteUnusedEncryptionCanaries(db, both);
    expect((await start(db, next)).currentKeyId).toBe("new");
  });

  it("must decrypt the values of a database that an earlier release has filled", async () => {
    const { db } = await open();
    await runInTransaction(db, (transaction) =>
      rotateOauthSigningKeys(transaction, createEncryptionKeyring([old]), new Date()),
    );
    expect(await canariesOf(db)).toEqual([]);
    await expect(start(db, next)).rejects.toThrow(lacksOld);
    await expect(start(db, impostor)).rejects.toThrow(isOther);
    await start(db, next, old);
    expect(await canariesOf(db)).toEqual(["new"]);
  });

  it("are the same for processes that start at the same time", async () => {
    const { db } = await open();
    const starts = await Promise.allSettled([start(db, old), start(db, impostor), start(db, old)]);
    const refused = starts.filter(({ status }) => status === "rejected");
    expect([1, 2]).toContain(refused.length);
    expect(await canariesOf(db)).toEqual(["old"]);
  });
});
