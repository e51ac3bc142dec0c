/**
 * A request repeated with one idempotency key has one effect: in one process, in two, and when the connection
 * breaks at the commit.
 */
import { createHash } from "node:crypto";
import { CompiledQuery, sql } from "kysely";
import { Client } from "pg";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "#database/connect.ts";
import {
  type IdempotencyKeyClaim,
  createIdempotentRequestRunner,
  type IdempotentRequestRunner,
  answerRetentionMs,
  type StoredIdempotentAnswer,
} from "#database/idempotency.ts";
import { deleteExpiredIdempotencyRecords } from "#database/idempotency-maintenance.ts";
import type { RowLockWithReadQuery, Transaction } from "#database/transaction.ts";
import { isDatabaseUnreachableError } from "#database/database-errors.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import { createFailure } from "#foundation/failure.ts";
import { createDatabase } from "#test/support/create-database.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import { TestClock } from "#test/support/test-clock.ts";
import { startCuttingProxy } from "./cutting-proxy.ts";

const keyring = createEncryptionKeyring([{ id: "k1", key: Buffer.alloc(32, 7) }]);
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
const claimOf = (
  parts: Partial<{ ownerId: string; key: string; asked: string }> = {},
): IdempotencyKeyClaim => {
  const { ownerId = "ins_1", key = "k-1", asked = "a" } = parts;
  return { ownerId, merchantId: null, key, fingerprint: digest(asked) };
};

const effect = async (transaction: Transaction, id: string): Promise<void> => {
  await transaction.insertInto("app").values({ id, name: id, createdAt: new Date() }).execute();
};
const effectsIn = async (db: Database): Promise<string[]> =>
  (await db.selectFrom("app").select("id").orderBy("id").execute()).map(({ id }) => id);
const recordsIn = async (db: Database): Promise<number> =>
  (await db.selectFrom("idempotencyRecord").select("ownerId").execute()).length;
const answerOf = (id: string): StoredIdempotentAnswer => ({
  status: 200,
  contentType: "application/json; charset=utf-8",
  body: `{"data":"${id} – ünïcode \\u2028"}`,
});

/** Creates work that inserts a distinct row at each run. */
function countedWork(name = "e"): {
  readonly work: (transaction: Transaction) => Promise<StoredIdempotentAnswer>;
  readonly runs: () => number;
} {
  let runs = 0;
  return {
    runs: () => runs,
    work: async (transaction) => {
      runs += 1;
      const id = `${name}${runs}`;
      await effect(transaction, id);
      return answerOf(id);
    },
  };
}

describeOnBoth("a request with an idempotency key", (open) => {
  let db: Database;
  let doOnce: IdempotentRequestRunner;
  let clock: TestClock;
  beforeAll(async () => {
    ({ db } = await open({ poolSize: 4 }));
  });
  beforeEach(async () => {
    await db.deleteFrom("app").execute();
    await db.deleteFrom("idempotencyRecord").execute();
    clock = new TestClock(new Date("2026-05-01T10:00:00.000Z"));
    doOnce = createIdempotentRequestRunner({ db, keyring, clock });
  });

  it("has its effect once, and every retry gets the same answer, byte for byte", async () => {
    const { work, runs } = countedWork();
    expect(await doOnce(claimOf(), work)).toEqual({ recorded: answerOf("e1"), isReplay: false });
    for (let times = 0; times < 3; times += 1)
      expect(await doOnce(claimOf(), work)).toEqual({ recorded: answerOf("e1"), isReplay: true });
    expect([runs(), await effectsIn(db), await recordsIn(db)]).toEqual([1, ["e1"], 1]);
  });

  it("is refused and has no effect if the key was used for another request", async () => {
    const { work, runs } = countedWork();
    await doOnce(claimOf(), work);
    await expect(doOnce(claimOf({ asked: "b" }), work)).rejects.toMatchObject({
      code: "idempotency_key_reused",
      status: 409,
    });
    expect([runs(), await effectsIn(db)]).toEqual([1, ["e1"]]);
    expect(await doOnce(claimOf(), work)).toEqual({ recorded: answerOf("e1"), isReplay: true });
  });

  it.each([
    ["a refusal", (): Error => createFailure("cart_not_found")],
    ["a conflict", (): Error => createFailure("cart_version_conflict")],
    ["a bug", (): Error => new Error("Something broke.")],
  ])(
    "leaves nothing after %s: the key can be used again, also for another request",
    async (_name, failure) => {
      const error = failure();
      const refused = async (transaction: Transaction): Promise<StoredIdempotentAnswer> => {
        await effect(transaction, "refused");
        throw error;
      };
      await expect(doOnce(claimOf(), refused)).rejects.toBe(error);
      expect([await effectsIn(db), await recordsIn(db)]).toEqual([[], 0]);
      expect(await doOnce(claimOf({ asked: "b" }), countedWork().work)).toEqual({
        recorded: answerOf("e1"),
        isReplay: false,
      });
    },
  );

  it("does not share its key with other owners", async () => {
    const [mine, theirs] = [countedWork("mine"), countedWork("theirs")];
    await doOnce(claimOf({ ownerId: "ins_1" }), mine.work);
    expect(await doOnce(claimOf({ ownerId: "ins_2", asked: "b" }), theirs.work)).toEqual({
      recorded: answerOf("theirs1"),
      isReplay: false,
    });
    expect(await effectsIn(db)).toEqual(["mine1", "theirs1"]);
  });

  it("is remembered for seven days; then its key is new again", async () => {
    const { work, runs } = countedWork();
    await doOnce(claimOf(), work);
    clock.advance(answerRetentionMs - 1);
    expect(await doOnce(claimOf(), work)).toEqual({ recorded: answerOf("e1"), isReplay: true });
    clock.advance(1);
    expect(await doOnce(claimOf({ asked: "b" }), work)).toEqual({
      recorded: answerOf("e2"),
      isReplay: false,
    });
    clock.advance(answerRetentionMs - 1);
    expect(await doOnce(claimOf({ asked: "b" }), work)).toEqual({ recorded: answerOf("e2"), isReplay: true });
    expect([runs(), await recordsIn(db), answerRetentionMs]).toEqual([2, 1, 7 * 24 * 3_600_000]);
  });

  it("has the same record if the row that it locks is read together with the record", async () => {
    const { work, runs } = countedWork();
    const received: unknown[] = [];
    const lockAndRead: RowLockWithReadQuery = {
      row: { table: "cart", id: "cart_missing", merchantId: "mer_missing" },
      reads: [CompiledQuery.raw("select $1::int as first, $2::int as second where $1::int > 1", [2, 3])],
      receive: (_transaction, rows) => void received.push(rows),
    };
    const answers = [];
    for (const passedMs of [0, answerRetentionMs - 1, 1]) {
      clock.advance(passedMs);
      answers.push(await doOnce(claimOf(), work, lockAndRead));
    }
    expect(answers).toEqual([
      { recorded: answerOf("e1"), isReplay: false },
      { recorded: answerOf("e1"), isReplay: true },
      { recorded: answerOf("e2"), isReplay: false },
    ]);
    // No cart was found and locked, so no rows are received.
    expect([runs(), await recordsIn(db), received]).toEqual([2, 1, []]);
  });

  it("runs alone: a concurrent duplicate is refused at once, and other keys are not blocked", async () => {
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    const first = doOnce(claimOf(), async (transaction) => {
      start();
      await mayEnd;
      await effect(transaction, "first");
      return answerOf("first");
    });
    await started;
    const second = countedWork("second");
    // If this call waited, it would wait forever, because the first call ends only afterwards.
    await expect(doOnce(claimOf(), second.work)).rejects.toMatchObject({
      code: "idempotency_in_progress",
      status: 409,
    });
    await expect(doOnce(claimOf({ asked: "b" }), second.work)).rejects.toMatchObject({
      code: "idempotency_in_progress",
    });
    end();
    expect(await first).toEqual({ recorded: answerOf("first"), isReplay: false });
    expect(await doOnce(claimOf(), second.work)).toEqual({ recorded: answerOf("first"), isReplay: true });
    expect(second.runs()).toBe(0);
  });

  it("runs again after a failure during which duplicates were refused", async () => {
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    const failing = doOnce(claimOf(), async () => {
      await mayEnd;
      throw createFailure("cart_not_found");
    });
    await expect(doOnce(claimOf(), countedWork().work)).rejects.toMatchObject({
      code: "idempotency_in_progress",
    });
    end();
    await expect(failing).rejects.toMatchObject({ code: "cart_not_found" });
    expect(await doOnce(claimOf(), countedWork().work)).toEqual({
      recorded: answerOf("e1"),
      isReplay: false,
    });
  });

  it("sent 50 times at once has one effect; the other calls are replays or refused", async () => {
    const { work, runs } = countedWork();
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => doOnce(claimOf(), work)));
    const answers = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const codes = results.flatMap((result) =>
      result.status === "rejected" ? [(result.reason as { code: string }).code] : [],
    );
    expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
    expect(new Set(answers.map(({ recorded }) => recorded.body))).toEqual(new Set([answerOf("e1").body]));
    expect(new Set([...codes, "idempotency_in_progress"])).toEqual(new Set(["idempotency_in_progress"]));
    expect([runs(), await effectsIn(db)]).toEqual([1, ["e1"]]);
  });

  it.each(["40001", "40P01"])(
    "is run again completely after a serialization failure or deadlock (%s), and is recorded once",
    async (code) => {
      const { work, runs } = countedWork();
      const result = await doOnce(claimOf(), async (transaction) => {
        const recorded = await work(transaction);
        if (runs() < 3) throw Object.assign(new Error("could not serialize access"), { code });
        return recorded;
      });
      expect(result).toEqual({ recorded: answerOf("e3"), isReplay: false });
      expect([await effectsIn(db), await recordsIn(db)]).toEqual([["e3"], 1]);
    },
  );

  it("is stored so that neither the answer nor the key is readable in the table", async () => {
    const secret = "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ";
    await doOnce(claimOf({ key: "key-in-clear" }), () =>
      Promise.resolve({ ...answerOf("x"), body: `{"secret":"${secret}"}` }),
    );
    const row = await db.selectFrom("idempotencyRecord").selectAll().executeTakeFirstOrThrow();
    const bytes = Object.values(row).map((value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value),
    );
    for (const text of bytes) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain("key-in-clear");
    }
    expect(row).toMatchObject({ status: 200, contentType: "application/json; charset=utf-8", keyId: "k1" });
  });

  it("never gets another record's answer: a moved sealed answer cannot be decrypted", async () => {
    await doOnce(claimOf({ key: "a" }), countedWork().work);
    await db
      .updateTable("idempotencyRecord")
      .set({ idempotencyKey: digest("b") })
      .execute();
    await expect(doOnce(claimOf({ key: "b" }), countedWork().work)).rejects.toThrow("does not decrypt");
  });

  it("is swept after its retention, a thousand at a time until the sweep is stopped", async () => {
    const old = clock.now();
    const rows = Array.from({ length: 2001 }, (_, index) => ({
      ownerId: "ins_1",
      idempotencyKey: digest(String(index)),
      fingerprint: digest("a"),
      status: 200,
      contentType: "text/plain",
      ...keyring.seal("x", { table: "t", column: "c", rowId: "r" }),
      createdAt: old,
    }));
    await db.insertInto("idempotencyRecord").values(rows).execute();
    clock.advance(1);
    await doOnce(claimOf(), countedWork().work);
    expect(await deleteExpiredIdempotencyRecords(db, new Date(old.getTime() + answerRetentionMs - 1))).toBe(
      0,
    );
    const then = new Date(old.getTime() + answerRetentionMs);
    expect([
      await deleteExpiredIdempotencyRecords(db, then, AbortSignal.abort()),
      await deleteExpiredIdempotencyRecords(db, then),
      await deleteExpiredIdempotencyRecords(db, then),
    ]).toEqual([1000, 1001, 0]);
    expect(await doOnce(claimOf(), countedWork().work)).toEqual({ recorded: answerOf("e1"), isReplay: true });
  });
});

describe("two processes on one PostgreSQL", () => {
  const now = (): Date => new Date();

  it("detect each other's requests at once, without waiting and without a second effect", async () => {
    const url = await createDatabase();
    const [one, two] = await Promise.all([
      openDatabase({ url, poolSize: 1 }),
      openDatabase({ url, poolSize: 1 }),
    ]);
    const [here, there] = [
      createIdempotentRequestRunner({ db: one.db, keyring, clock: { now } }),
      createIdempotentRequestRunner({ db: two.db, keyring, clock: { now } }),
    ];
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    const first = here(claimOf(), async (transaction) => {
      await effect(transaction, "here");
      start();
      await mayEnd;
      return answerOf("here");
    });
    await started;
    const other = countedWork("there");
    // The second process has one connection. It refuses 20 duplicates and serves unrelated queries while the
    // first request is held open.
    const turnedAway = await Promise.allSettled(
      Array.from({ length: 20 }, () => there(claimOf(), other.work)),
    );
    for (const result of turnedAway)
      expect(result).toMatchObject({ status: "rejected", reason: { code: "idempotency_in_progress" } });
    expect(await there(claimOf({ key: "k-2" }), other.work)).toEqual({
      recorded: answerOf("there1"),
      isReplay: false,
    });
    end();
    expect(await first).toEqual({ recorded: answerOf("here"), isReplay: false });
    expect(await there(claimOf(), other.work)).toEqual({ recorded: answerOf("here"), isReplay: true });
    expect(await effectsIn(one.db)).toEqual(["here", "there1"]);
    await Promise.all([one.close(), two.close()]);
  });

  it("that both did the work keep one effect, because the record's primary key decides", async () => {
    const url = await createDatabase();
    const database = await openDatabase({ url, poolSize: 2 });
    const { db } = database;
    const doOnce = createIdempotentRequestRunner({ db, keyring, clock: { now } });
    const beside = new Client({ connectionString: url });
    await beside.connect();
    await doOnce(claimOf(), countedWork("earlier").work);
    await beside.query("create table kept as table idempotency_record; delete from idempotency_record");
    const late = await doOnce(claimOf(), async (transaction) => {
      await effect(transaction, "late");
      // Simulates a process without the lock, which commits the same key first.
      await beside.query("insert into idempotency_record table kept");
      return answerOf("late");
    });
    expect(late).toEqual({ recorded: answerOf("earlier1"), isReplay: true });
    expect(await effectsIn(db)).toEqual(["earlier1"]);

    await beside.query("delete from idempotency_record");
    const other = doOnce(claimOf({ asked: "b" }), async (transaction) => {
      await effect(transaction, "other");
      await beside.query("insert into idempotency_record table kept");
      return answerOf("other");
    });
    await expect(other).rejects.toMatchObject({ code: "idempotency_key_reused" });
    expect(await effectsIn(db)).toEqual(["earlier1"]);
    await beside.end();
    await database.close();
  });
});

describe("a lost connection", () => {
  const now = (): Date => new Date();

  async function behindProxy(): Promise<{
    db: Database;
    doOnce: IdempotentRequestRunner;
    proxy: Awaited<ReturnType<typeof startCuttingProxy>>;
    end: () => Promise<void>;
  }> {
    const url = await createDatabase();
    const proxy = await startCuttingProxy(Number(new URL(url).port));
    const through = new URL(url);
    through.port = String(proxy.port);
    const database = await openDatabase({ url: through.href, poolSize: 2 });
    await sql`select 1`.execute(database.db);
    const end = async (): Promise<void> => {
      await database.close();
      await proxy.stop();
    };
    return {
      db: database.db,
      doOnce: createIdempotentRequestRunner({ db: database.db, keyring, clock: { now } }),
      proxy,
      end,
    };
  }

  it("after the server committed causes no error: the stored answer is looked up and returned", async () => {
    const { db, doOnce, proxy, end } = await behindProxy();
    for (let time = 1; time <= 20; time += 1) {
      const { work, runs } = countedWork(`t${time}-`);
      const claim = claimOf({ key: `k-${time}` });
      proxy.cutNext("answer");
      expect(await doOnce(claim, work)).toEqual({ recorded: answerOf(`t${time}-1`), isReplay: false });
      expect(proxy.cuts()).toBe(time);
      expect(await doOnce(claim, work)).toEqual({ recorded: answerOf(`t${time}-1`), isReplay: true });
      expect(runs()).toBe(1);
    }
    expect([(await effectsIn(db)).length, await recordsIn(db)]).toEqual([20, 20]);
    await end();
  });

  it("before the server committed is an error of unknown outcome, and a retry does the work", async () => {
    const { db, doOnce, proxy, end } = await behindProxy();
    for (let time = 1; time <= 20; time += 1) {
      const { work, runs } = countedWork(`t${time}-`);
      const claim = claimOf({ key: `k-${time}` });
      proxy.cutNext("commit");
      await expect(doOnce(claim, work)).rejects.toMatchObject({
        code: "service_unavailable",
        status: 503,
        parts: { retryAfterSeconds: 2 },
      });
      expect(proxy.cuts()).toBe(time);
      // PostgreSQL may need a moment to notice the closed connection.
      await expect
        .poll(() => doOnce(claim, work).catch(({ code }: { code: string }) => code))
        .toMatchObject({ recorded: answerOf(`t${time}-2`) });
      expect(runs()).toBe(2);
    }
    expect([(await effectsIn(db)).length, await recordsIn(db)]).toEqual([20, 20]);
    await end();
  });

  it("before the commit causes its original error, and the retry does the work", async () => {
    const { doOnce, proxy, end } = await behindProxy();
    const lost = doOnce(claimOf(), async (transaction) => {
      proxy.cutAll();
      await effect(transaction, "never");
      return answerOf("never");
    });
    expect(isDatabaseUnreachableError(await lost.catch((thrown: unknown) => thrown))).toBe(true);
    await expect
      .poll(() => doOnce(claimOf(), countedWork().work).catch(String))
      .toEqual({ recorded: answerOf("e1"), isReplay: false });
    await end();
  });
});
