/**
 * The authorization server stores its items under digests, encrypted, until they expire; each is consumed
 * once.
 */
import { beforeAll, expect, it } from "vitest";
import {
  markOauthServerRecordConsumed,
  deleteOauthServerRecord,
  findOauthServerRecord,
  type NewOauthServerRecord,
  saveOauthServerRecord,
  insertOauthServerRecordIfNew,
  linkOauthInteractionToGrant,
  deleteExpiredOauthServerRecords,
} from "#access/oauth/oauth-items.ts";
import type { Database } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import { describeOnPostgres, manyConnections } from "#test/support/databases.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const inMs = (ms: number): Date => new Date(now.getTime() + ms);
const keyring = createEncryptionKeyring([{ id: "k1", key: new Uint8Array(32).fill(1) }]);

describeOnPostgres("a stored item", (open) => {
  let db: Database;
  const item = (changed: Partial<NewOauthServerRecord> = {}): NewOauthServerRecord => ({
    kind: "Session",
    id: "the secret id",
    payload: { accountId: "the person" },
    grantId: null,
    uid: "the other id",
    expiresAt: inMs(1_000),
    ...changed,
  });
  const find = (value: string, at: Date, by: "id" | "uid" = "id", kind = "Session") =>
    findOauthServerRecord({ db, keyring }, { kind, by, value, now: at });

  beforeAll(async () => {
    ({ db } = await open({ poolSize: manyConnections }));
  });

  it("is found under either id until it expires, and is unreadable in the table", async () => {
    await saveOauthServerRecord({ db, keyring }, item());
    for (const by of ["id", "uid"] as const)
      expect(await find(by === "id" ? "the secret id" : "the other id", now, by)).toEqual({
        payload: { accountId: "the person" },
        consumedAt: null,
        grantId: null,
      });
    expect(await find("the secret id", inMs(999))).toBeDefined();
    expect(await find("the secret id", inMs(1_000))).toBeUndefined();
    expect(await find("the secret id", now, "uid")).toBeUndefined();
    expect(await find("the secret id", now, "id", "Interaction")).toBeUndefined();
    const rows = await db.selectFrom("oauthItem").selectAll().execute();
    const text = rows.map((row) =>
      Object.values(row)
        .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value)))
        .join(" "),
    );
    for (const secret of ["the secret id", "the other id", "the person"])
      expect(text.join(" ")).not.toContain(secret);
  });

  it("cannot be decrypted in another row", async () => {
    await saveOauthServerRecord({ db, keyring }, item({ id: "one" }));
    await saveOauthServerRecord({ db, keyring }, item({ id: "two", uid: null }));
    const rows = await db.selectFrom("oauthItem").selectAll().execute();
    const sealed = rows.find(({ uidDigest }) => uidDigest !== null);
    if (sealed === undefined) throw new Error("There is none.");
    await db
      .updateTable("oauthItem")
      .set({ sealed: sealed.sealed, dataKey: sealed.dataKey })
      .where("uidDigest", "is", null)
      .execute();
    await expect(find("two", now)).rejects.toThrow("does not decrypt");
    await deleteOauthServerRecord(db, { kind: "Session", id: "two" });
  });

  it("is replaced with its current content, consumed or not", async () => {
    const code = item({ kind: "AuthorizationCode", id: "code", uid: null, grantId: "grt_1" });
    await saveOauthServerRecord({ db, keyring }, code);
    await markOauthServerRecordConsumed({ db, keyring }, { kind: "AuthorizationCode", id: "code", now });
    await saveOauthServerRecord({ db, keyring }, { ...code, payload: { accountId: "another" } });
    expect(await find("code", now, "id", "AuthorizationCode")).toEqual({
      payload: { accountId: "another" },
      consumedAt: now,
      grantId: "grt_1",
    });
  });

  it("is consumed by one of many concurrent requests; the others learn its owner", async () => {
    await saveOauthServerRecord(
      { db, keyring },
      item({ kind: "AuthorizationCode", id: "wanted", uid: null, grantId: "grt_2" }),
    );
    const taken = await Promise.all(
      Array.from({ length: 20 }, () =>
        markOauthServerRecordConsumed({ db, keyring }, { kind: "AuthorizationCode", id: "wanted", now }),
      ),
    );
    expect(taken.filter(({ isFirstUse }) => isFirstUse)).toEqual([
      { isFirstUse: true, grantId: "grt_2", consumedAt: now },
    ]);
    expect(taken.filter(({ isFirstUse, grantId }) => !isFirstUse && grantId === "grt_2")).toHaveLength(19);
    expect(
      await markOauthServerRecordConsumed({ db, keyring }, { kind: "AuthorizationCode", id: "unknown", now }),
    ).toEqual({
      isFirstUse: false,
      grantId: null,
      consumedAt: null,
    });
  });

  it("leaves the given remainder for the given time, and only for the request that consumed it", async () => {
    const code = item({
      kind: "AuthorizationCode",
      id: "used",
      uid: null,
      payload: { clientId: "the app", nonce: "long" },
    });
    await saveOauthServerRecord({ db, keyring }, code);
    const toConsumedRecord = (payload: NewOauthServerRecord["payload"]) => ({
      payload: { clientId: payload["clientId"], used: true },
      expiresAt: inMs(5_000),
    });
    const take = () =>
      markOauthServerRecordConsumed(
        { db, keyring },
        { kind: "AuthorizationCode", id: "used", now, toConsumedRecord },
      );
    expect((await Promise.all([take(), take(), take()])).filter(({ isFirstUse }) => isFirstUse)).toHaveLength(
      1,
    );
    const left = { payload: { clientId: "the app", used: true }, consumedAt: now, grantId: null };
    expect(await find("used", inMs(4_999), "id", "AuthorizationCode")).toEqual(left);
    expect(await find("used", inMs(5_000), "id", "AuthorizationCode")).toBeUndefined();
  });

  it("names the grant that resulted from it, also after it was stored again", async () => {
    const interaction = item({ kind: "Interaction", id: "asked", uid: null });
    await saveOauthServerRecord({ db, keyring }, interaction);
    await runInTransaction(db, (transaction) =>
      linkOauthInteractionToGrant(transaction, { kind: "Interaction", id: "asked", grantId: "grt_3" }),
    );
    await saveOauthServerRecord({ db, keyring }, interaction);
    expect(await find("asked", now, "id", "Interaction")).toMatchObject({
      consumedAt: null,
      grantId: "grt_3",
    });
  });

  it("is not consumed once it has expired", async () => {
    await saveOauthServerRecord({ db, keyring }, item({ kind: "AuthorizationCode", id: "late", uid: null }));
    expect(
      await markOauthServerRecordConsumed(
        { db, keyring },
        { kind: "AuthorizationCode", id: "late", now: inMs(1_000) },
      ),
    ).toEqual({
      isFirstUse: false,
      grantId: null,
      consumedAt: null,
    });
  });

  it("is stored once by one of many, and again only after it expired", async () => {
    const proof = item({ kind: "ReplayDetection", id: "proof", uid: null });
    const kept = await Promise.all(
      Array.from({ length: 20 }, () => insertOauthServerRecordIfNew({ db, keyring }, proof, now)),
    );
    expect(kept.filter(Boolean)).toHaveLength(1);
    expect(await insertOauthServerRecordIfNew({ db, keyring }, proof, inMs(999))).toBe(false);
    expect(
      await insertOauthServerRecordIfNew({ db, keyring }, { ...proof, expiresAt: inMs(3_000) }, inMs(1_000)),
    ).toBe(true);
    expect(await insertOauthServerRecordIfNew({ db, keyring }, proof, inMs(1_000))).toBe(false);
  });

  it("is swept only when it has expired", async () => {
    await db.deleteFrom("oauthItem").execute();
    await saveOauthServerRecord({ db, keyring }, item({ id: "old" }));
    await saveOauthServerRecord({ db, keyring }, item({ id: "young", expiresAt: inMs(2_000) }));
    expect(await deleteExpiredOauthServerRecords(db, inMs(1_000))).toBe(1);
    expect(await find("young", now)).toBeDefined();
    expect(await db.selectFrom("oauthItem").select("kind").execute()).toHaveLength(1);
  });
});
