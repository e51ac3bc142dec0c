/** Transactions are atomic and isolated, and no statement bypasses them. */
import { beforeAll, beforeEach, expect, it } from "vitest";
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import {
  getViolatedConstraintName,
  isDatabaseUnreachableError,
  toServiceUnavailableIfTemporary,
  getSqlState,
  uniqueViolation,
} from "#database/database-errors.ts";
import { runInTransaction } from "#database/transaction.ts";
import { openDatabase } from "#database/connect.ts";
import { createFailure, toFailure } from "#foundation/failure.ts";
import { describeOnBoth, openFresh } from "#test/support/databases.ts";

const at = new Date("2026-01-01T00:00:00.000Z");
const insert = (db: Pick<Database, "insertInto">, id: string): Promise<unknown> =>
  db.insertInto("app").values({ id, name: id, createdAt: at }).execute();
const idsOf = async (db: Database): Promise<string[]> =>
  (await db.selectFrom("app").select("id").orderBy("id").execute()).map(({ id }) => id);

class Thrown extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

describeOnBoth("a transaction", (open) => {
  let db: Database;
  beforeAll(async () => {
    ({ db } = await open({ poolSize: 4 }));
  });
  beforeEach(() => db.deleteFrom("app").execute());

  it("commits everything and returns the work's result", async () => {
    const result = await runInTransaction(db, async (transaction) => {
      await insert(transaction, "a");
      await insert(transaction, "b");
      return "done";
    });
    expect(result).toBe("done");
    expect(await idsOf(db)).toEqual(["a", "b"]);
  });

  it("rolls back if the work throws, and throws the same error", async () => {
    const failure = createFailure("product_not_found");
    const work = runInTransaction(db, async (transaction) => {
      await insert(transaction, "a");
      throw failure;
    });
    await expect(work).rejects.toBe(failure);
    expect(await idsOf(db)).toEqual([]);
  });

  it("rolls back if a statement fails, and leaves the connection clean", async () => {
    const error = await runInTransaction(db, async (transaction) => {
      await insert(transaction, "a");
      await insert(transaction, "a");
    }).catch((thrown: unknown) => thrown);
    expect(getSqlState(error)).toBe(uniqueViolation);
    expect(getViolatedConstraintName(error)).toBe("app_pkey");
    expect(await idsOf(db)).toEqual([]);
    await runInTransaction(db, (transaction) => insert(transaction, "b"));
    expect(await idsOf(db)).toEqual(["b"]);
  });

  it("refuses a statement on the root handle inside of it, at once, and rolls back", async () => {
    const work = runInTransaction(db, async (transaction) => {
      await insert(transaction, "a");
      await idsOf(db);
    });
    await expect(work).rejects.toThrow("A statement on the root handle inside a transaction");
    const nested = runInTransaction(db, () =>
      runInTransaction(db, (transaction) => insert(transaction, "b")),
    );
    await expect(nested).rejects.toThrow("A statement on the root handle inside a transaction");
    expect(await idsOf(db)).toEqual([]);
  });

  it("lets other callers use the root handle meanwhile", async () => {
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    const running = runInTransaction(db, async (transaction) => {
      await insert(transaction, "a");
      await mayEnd;
    });
    const reading = idsOf(db);
    end();
    await running;
    expect([[], ["a"]]).toContainEqual(await reading);
    expect(await idsOf(db)).toEqual(["a"]);
  });

  it("is isolated: each of 20 concurrent ones sees its row, and failed ones leave none", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `t${String(index).padStart(2, "0")}`);
    const results = await Promise.allSettled(
      names.map((name, index) =>
        runInTransaction(db, async (transaction) => {
          await insert(transaction, `${name}-1`);
          await new Promise((go) => setImmediate(go));
          const own = await transaction
            .selectFrom("app")
            .select("id")
            .where("id", "like", `${name}-%`)
            .execute();
          await insert(transaction, `${name}-2`);
          if (index % 2 === 1) throw new Error(name);
          return own.length;
        }),
      ),
    );
    expect(
      results.map((result) =>
        result.status === "fulfilled" ? result.value : (result.reason as Error).message,
      ),
    ).toEqual(names.map((name, index) => (index % 2 === 1 ? name : 1)));
    expect(await idsOf(db)).toEqual(
      names.filter((_, index) => index % 2 === 0).flatMap((name) => [`${name}-1`, `${name}-2`]),
    );
  });

  it.each(["40001", "40P01"])(
    "runs the whole work again after a conflict (%s), at most three times",
    async (code) => {
      let runs = 0;
      const give = (after: number): Promise<number> =>
        runInTransaction(db, async (transaction) => {
          runs += 1;
          await insert(transaction, `${code}-${after}-${runs}`);
          if (runs < after) throw new Thrown(code);
          return runs;
        });
      expect(await give(3)).toBe(3);
      expect(await idsOf(db)).toEqual([`${code}-3-3`]);
      runs = 0;
      await expect(give(4)).rejects.toMatchObject({ code });
      expect(runs).toBe(3);
      expect(await idsOf(db)).toEqual([`${code}-3-3`]);
    },
  );

  it("is not run again after any other error", async () => {
    let runs = 0;
    const work = runInTransaction(db, async (transaction) => {
      runs += 1;
      await sql`select 1/0`.execute(transaction);
    });
    await expect(work).rejects.toMatchObject({ code: "22012" });
    expect(runs).toBe(1);
  });
});

describeOnBoth("the values of both drivers", (open) => {
  it("are the same: bigint as a number, timestamps as dates, arrays, JSON, bytes", async () => {
    const { db } = await open();
    const { rows } = await sql`
      select 9007199254740991::bigint as big, timestamptz '2026-01-31T09:15:00.123Z' as at, array['a','b'] as
      list, '{"snake_case": 1}'::json as json,
        '\\x0102'::bytea as bytes, count(*) as amount from app`.execute(db);
    const [row] = rows as Record<string, unknown>[];
    expect(row).toMatchObject({
      big: Number.MAX_SAFE_INTEGER,
      at: new Date("2026-01-31T09:15:00.123Z"),
      list: ["a", "b"],
      amount: 0,
    });
    expect(row?.["json"]).toEqual({ snake_case: 1 });
    expect(Buffer.from(row?.["bytes"] as Uint8Array)).toEqual(Buffer.from([1, 2]));
  });
});

it("PostgreSQL works without prepared statements too, as behind an old pooler", async () => {
  const { db, ...database } = await openFresh("postgres", { prepared: false });
  for (let count = 0; count < 3; count += 1) await insert(db, `p${count}`);
  expect(await idsOf(db)).toEqual(["p0", "p1", "p2"]);
  await database.close();
});

it("an unreachable database is distinguished from a wrong statement", async () => {
  const away = await openDatabase({ url: "postgres://127.0.0.1:1/none" });
  try {
    const error: unknown = await sql`select 1`.execute(away.db).catch((thrown: unknown) => thrown);
    expect(isDatabaseUnreachableError(error)).toBe(true);
    expect(toServiceUnavailableIfTemporary(toFailure(error))).toMatchObject({
      code: "service_unavailable",
      status: 503,
      parts: { retryAfterSeconds: 2 },
    });
  } finally {
    await away.close();
  }
  expect(isDatabaseUnreachableError(new Thrown("22012"))).toBe(false);
  expect(toServiceUnavailableIfTemporary(toFailure(new Thrown("22012")))).toMatchObject({
    code: "internal_error",
  });
  for (const code of ["57P01", "08006", "53300", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"])
    expect(isDatabaseUnreachableError(new Error("outer", { cause: new Thrown(code) }))).toBe(true);
});
