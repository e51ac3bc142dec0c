/**
 * Row level security is a second wall between merchants: in a transaction that belongs to one merchant,
 * PostgreSQL accepts no change of other merchants' rows, also by a statement that lacks its own condition.
 */
import { readFileSync } from "node:fs";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { createServiceApp } from "#app/app.ts";
import { parseServiceSettings } from "#app/settings.ts";
import { getSqlState } from "#database/database-errors.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { readDemoJsonFile } from "#demo/demo-file.ts";
import { createLog } from "#foundation/log.ts";
import { copyDemo, encryptionKeys } from "#test/support/copies.ts";
import { dropDatabase, query } from "#test/support/create-database.ts";
import { temporaryFolder } from "#test/support/process.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { buyerOf, makePayableSession } from "#test/web/checkout/buyer.ts";

const world = useWorld("postgres");

/** The tables with a column `merchant_id` and without a policy, each with its reason. */
const unrestricted: Readonly<Record<string, string>> = {};

interface TableWithMerchant {
  readonly name: string;
  readonly column: string;
  readonly isRestricted: boolean;
  /** True if a transaction of another merchant may read the rows, but not lock or change them. */
  readonly isReadable: boolean;
}

async function readTables(): Promise<readonly TableWithMerchant[]> {
  const { rows } = await sql<TableWithMerchant>`
    select relname as name, attname as "column", relrowsecurity as "isRestricted",
      exists (select from pg_policies where tablename = relname and cmd = 'SELECT') as "isReadable"
    from pg_class join pg_attribute on attrelid = pg_class.oid and not attisdropped
      and attname = case relname when 'merchant' then 'id' else 'merchant_id' end
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    order by relname`.execute(world().database.db);
  return rows;
}

const at = new Date("2026-01-01T00:00:00.000Z");

const runForMerchant = <Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> =>
  runInTransaction(world().database.db, work, { merchantId: world().demo.merchants.first.id });

describe("row level security", () => {
  it("applies to every table that has a merchant, except those with a reason", async () => {
    const tables = await readTables();
    expect(tables.length).toBeGreaterThan(50);
    expect(tables.filter(({ isRestricted }) => !isRestricted).map(({ name }) => name)).toEqual(
      Object.keys(unrestricted),
    );
  });

  it("hides from reads the rows of exactly those tables that docs/scaling.md lists", async () => {
    const document = readFileSync(new URL("../../docs/scaling.md", import.meta.url), "utf8");
    const [, list = ""] = /hidden from every\s+statement: ([^.]+)\./.exec(document) ?? [];
    const hidden = (await readTables()).filter(({ isReadable }) => !isReadable);
    expect([...list.matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual(hidden.map(({ name }) => name));
  });

  it("hides the rows of other merchants from the changes and locks of a merchant's transaction", async () => {
    const { db } = world().database;
    const { id } = world().demo.merchants.first;
    let foreignRows = 0;
    for (const { name, column, isReadable } of await readTables()) {
      const [table, merchant] = [sql.table(name), sql.ref(column)];
      const count = sql<{ mine: number; others: number }>`select
        count(*) filter (where ${merchant} = ${id})::int as mine,
        count(*) filter (where ${merchant} is distinct from ${id})::int as others from ${table}`;
      const [all] = (await count.execute(db)).rows;
      foreignRows += all?.others ?? 0;
      const seen = await runForMerchant(async (transaction) => {
        const others = sql<boolean>`${merchant} is distinct from ${id}`;
        const updated = await sql`update ${table} set ${merchant} = ${merchant} where ${others}`.execute(
          transaction,
        );
        const deleted = await sql`delete from ${table} where ${others}`.execute(transaction);
        const locked = await sql`select from ${table} where ${others} for update`.execute(transaction);
        return {
          counts: (await count.execute(transaction)).rows[0],
          changed: [updated.numAffectedRows, deleted.numAffectedRows, locked.rows.length],
        };
      });
      expect([name, seen.counts]).toEqual([name, isReadable ? all : { mine: all?.mine, others: 0 }]);
      expect([name, seen.changed]).toEqual([name, [0n, 0n, 0]]);
    }
    expect(foreignRows).toBeGreaterThan(200);
  });

  it("refuses to insert a row of another merchant, and to give a row to another merchant", async () => {
    const { first, second } = world().demo.merchants;
    const insert = (merchantId: string): Promise<unknown> =>
      runForMerchant((transaction) =>
        transaction
          .insertInto("taxClass")
          .values({ merchantId, code: "wall", name: "Wall", createdAt: at, updatedAt: at })
          .execute(),
      );
    const give = (): Promise<unknown> =>
      runForMerchant((transaction) =>
        transaction.updateTable("taxClass").set({ merchantId: second.id }).execute(),
      );
    await insert(first.id);
    for (const refused of [() => insert(second.id), give])
      expect(getSqlState(await refused().catch((error: unknown) => error))).toBe("42501");
  });

  it("ends with the transaction, also if the transaction is rolled back", async () => {
    const { db } = world().database;
    const countMerchants = async (): Promise<number> =>
      (await db.selectFrom("merchant").select("id").execute()).length;
    const all = await countMerchants();
    await Promise.all(Array.from({ length: 20 }, () => runForMerchant(() => Promise.resolve())));
    const failed = runForMerchant(() => Promise.reject(new Error("rolled back")));
    await expect(failed).rejects.toThrow("rolled back");
    expect(await Promise.all(Array.from({ length: 20 }, countMerchants))).toEqual(
      Array<number>(20).fill(all),
    );
  });

  it("finds no row if the id of the merchant is not an id, for example contains SQL", async () => {
    const keys = await runInTransaction(
      world().database.db,
      (transaction) => transaction.selectFrom("apiKey").select("id").execute(),
      { merchantId: "mer_1', true); drop table cart; --" },
    );
    expect(keys).toEqual([]);
  });
});

describe("a change by a caller who belongs to a merchant", () => {
  const beginForMerchant = "begin; set local commerce.merchant = '$1'";
  const beginsOf = async (call: () => Promise<unknown>): Promise<readonly string[]> =>
    (await statementsOf(world(), call)).filter((text) => text.startsWith("begin"));

  it("runs in a transaction of this merchant over REST and GraphQL, with and without a key", async () => {
    const { carts, keys, promotionCodes } = world().demo;
    const headers = { authorization: `Bearer ${keys.full}`, "idempotency-key": "wall" };
    const url = `/api/v1/open/storefront/carts/${carts.active}/promotion`;
    const apply = { method: "PUT", url, headers, body: { code: promotionCodes.percentage } };
    const create =
      (key: string): (() => Promise<unknown>) =>
      () =>
        world().graphql(
          `mutation { taxClassUpsert(${key} input: { code: "${key.length}", name: "x" }) { code } }`,
        );
    for (const call of [() => world().send(apply), create(""), create('idempotencyKey: "wall",')])
      expect(await beginsOf(call)).toEqual([beginForMerchant]);
  });

  it("runs in a transaction of the merchant that a caller of the platform names, with and without a key", async () => {
    const { database, demo } = world();
    await database.script((run) =>
      run(`create function note_merchant() returns trigger language plpgsql as $$
          begin new.name := current_setting('commerce.merchant', true); return new; end $$;
        create trigger note_merchant before insert on tax_class for each row execute function note_merchant()`),
    );
    const merchantId = demo.merchants.second.id;
    const merchantInTransaction = async (key: string): Promise<unknown> => {
      const input = `{ code: "platform${key.length}", name: "x" }`;
      const mutation = `taxClassUpsert(merchantId: "${merchantId}", ${key} input: ${input}) { name }`;
      const { body } = await world().graphql(`mutation { ${mutation} }`, { token: "operator" });
      return body.data?.taxClassUpsert?.name ?? body.errors;
    };
    const noted = [await merchantInTransaction(""), await merchantInTransaction('idempotencyKey: "wall",')];
    await database.script((run) => run("drop function note_merchant cascade"));
    expect(noted).toEqual([merchantId, merchantId]);
  });

  it("runs in a transaction of this merchant on the checkout page", async () => {
    const session = await makePayableSession(world());
    const buyer = buyerOf(world(), session.url);
    await buyer.open();
    const begins = await beginsOf(() => buyer.press("pay"));
    expect(begins.length).toBeGreaterThan(0);
    expect(new Set(begins)).toEqual(new Set([beginForMerchant]));
  });

  it("is answered with 500 and a log line if a statement writes a row of another merchant", async () => {
    await using stack = new AsyncDisposableStack();
    const { database, fill } = await copyDemo("postgres");
    stack.defer(() => dropDatabase(database.url ?? ""));
    const dataDir = temporaryFolder();
    fill(dataDir);
    const demo = readDemoJsonFile(dataDir);
    await query(
      database.ownerUrl ?? "",
      `create function give_away() returns trigger language plpgsql as $$
        begin new.merchant_id := '${demo?.merchants?.second.id}'; return new; end $$;
      create trigger give_away before update on cart for each row execute function give_away()`,
    );
    const logged: Record<string, unknown>[] = [];
    const app = await createServiceApp({
      settings: parseServiceSettings({
        DATABASE_URL: database.url,
        DATA_DIR: dataDir,
        ENCRYPTION_KEYS: encryptionKeys,
        RATE_LIMIT_SCALE: "0",
      }),
      log: createLog("info", {
        write: (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>),
      }),
    });
    stack.defer(() => app.close());
    const answer = await app.server.inject({
      method: "PUT",
      url: `/api/v1/open/storefront/carts/${demo?.carts?.active}/promotion`,
      headers: { authorization: `Bearer ${demo?.keys.full}`, "idempotency-key": "wall" },
      payload: { code: demo?.promotionCodes?.percentage },
    });
    expect(answer.statusCode).toBe(500);
    expect(logged.filter(({ event }) => event === "foreign_row_refused")).toMatchObject([
      {
        operationId: "applyPublicCartPromotion",
        statement: expect.stringMatching(/ /),
        reason: 'new row violates row-level security policy for table "cart"',
      },
    ]);
  });
});
