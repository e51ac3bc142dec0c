/** Erasing stored answers: found by their content and emptied, while their keys stay used. */
import { createHash } from "node:crypto";
import { beforeAll, beforeEach, expect, it } from "vitest";
import type { Database } from "#database/connect.ts";
import { createIdempotentRequestRunner, type StoredIdempotentAnswer } from "#database/idempotency.ts";
import {
  eraseStoredAnswersOfIdempotencyRecords,
  findIdempotencyRecordsByBody,
  type IdempotencyRecordKey,
} from "#database/idempotency-maintenance.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import { describeOnBoth } from "#test/support/databases.ts";

const keyring = createEncryptionKeyring([{ id: "k1", key: Buffer.alloc(32, 7) }]);
const now = new Date("2026-05-01T10:00:00.000Z");
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
const keyOf = (ownerId: string, key: string): IdempotencyRecordKey => ({
  ownerId,
  idempotencyKey: digest(key),
});
const placesOf = (keys: readonly IdempotencyRecordKey[]): string[] =>
  keys
    .map(({ ownerId, idempotencyKey }) => `${ownerId} ${Buffer.from(idempotencyKey).toString("hex")}`)
    .toSorted();

describeOnBoth("an idempotency record", (open) => {
  let db: Database;
  let at = now;
  const ask = (ownerId: string, key: string, body: string) =>
    createIdempotentRequestRunner({ db, keyring, clock: { now: () => at } })(
      { ownerId, merchantId: null, key, fingerprint: digest(key) },
      () => Promise.resolve<StoredIdempotentAnswer>({ status: 200, contentType: "text/plain", body }),
    );
  const find = (ownerIds: readonly string[], since?: Date): Promise<IdempotencyRecordKey[]> =>
    findIdempotencyRecordsByBody(db, keyring, {
      ownerIds,
      matchesBody: (body) => body.includes("Anna"),
      ...(since === undefined ? {} : { since }),
    });
  beforeAll(async () => {
    ({ db } = await open());
  });
  beforeEach(async () => {
    at = now;
    await db.deleteFrom("idempotencyRecord").execute();
    for (const [ownerId, key, body] of [
      ["ins_1", "a", "Anna"],
      ["ins_1", "b", "Berta"],
      ["ins_2", "a", "Anna"],
      ["ins_3", "a", "Anna"],
    ] as const)
      await ask(ownerId, key, body);
  });

  it("is found by its answer's content, only for the given owners", async () => {
    expect(placesOf(await find(["ins_1", "ins_2"]))).toEqual(
      placesOf([keyOf("ins_1", "a"), keyOf("ins_2", "a")]),
    );
    expect(await find(["ins_4"])).toEqual([]);
    expect(await find([])).toEqual([]);
  });

  it("is found from a given time on, inclusive", async () => {
    at = new Date(now.getTime() + 1);
    await ask("ins_1", "late", "Anna");
    expect(placesOf(await find(["ins_1"], at))).toEqual(placesOf([keyOf("ins_1", "late")]));
    expect(await find(["ins_1"], now)).toHaveLength(2);
  });

  it("is found once among any number of records", async () => {
    const rows = Array.from({ length: 600 }, (_, index) => ({
      ...keyOf("ins_9", String(index)),
      fingerprint: digest("a"),
      status: 200,
      contentType: "text/plain",
      ...keyring.seal("Anna", {
        table: "idempotency_record",
        column: "sealed",
        rowId: `ins_9 ${digest(String(index)).toString("base64")}`,
      }),
      createdAt: now,
    }));
    await db.insertInto("idempotencyRecord").values(rows).execute();
    const found = await find(["ins_1", "ins_9"]);
    expect([found.length, new Set(placesOf(found)).size]).toEqual([601, 601]);
  });

  it("that cannot be decrypted is found too, but other errors are thrown", async () => {
    const other = createEncryptionKeyring([{ id: "k2", key: Buffer.alloc(32, 8) }]);
    expect(
      await findIdempotencyRecordsByBody(db, other, {
        ownerIds: ["ins_1"],
        matchesBody: () => expect.unreachable(),
      }),
    ).toHaveLength(2);
    const broken = { ...keyring, open: () => expect.unreachable("The disk is gone.") };
    await expect(
      findIdempotencyRecordsByBody(db, broken, { ownerIds: ["ins_1"], matchesBody: () => true }),
    ).rejects.toThrow("The disk is gone.");
  });

  it("is emptied once, however often it is listed, and its key stays used", async () => {
    const key = keyOf("ins_1", "a");
    const empty = (keys: readonly IdempotencyRecordKey[]): Promise<number> =>
      runInTransaction(db, (transaction) =>
        eraseStoredAnswersOfIdempotencyRecords(transaction, keyring, keys),
      );
    expect(await empty([key, { ...key }, keyOf("ins_1", "none")])).toBe(1);
    expect(placesOf(await find(["ins_1", "ins_2"]))).toEqual(placesOf([keyOf("ins_2", "a")]));
    await expect(ask("ins_1", "a", "Anna")).rejects.toMatchObject({ code: "idempotency_key_reused" });
    expect(await ask("ins_2", "a", "")).toMatchObject({ isReplay: true, recorded: { body: "Anna" } });
    expect(await ask("ins_1", "b", "")).toMatchObject({ isReplay: true, recorded: { body: "Berta" } });
    expect(
      await findIdempotencyRecordsByBody(db, keyring, {
        ownerIds: ["ins_1"],
        matchesBody: (body) => body === "",
      }),
    ).toHaveLength(1);
    expect(await empty([])).toBe(0);
  });
});
