/** Migrations run all or none, each once, and are never edited. */
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { Client } from "pg";
import { type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { type DatabaseMigration, migrate, readMigrationFiles } from "#database/migrate.ts";
import { databaseUrl } from "#test/support/postgres.ts";
import { describeOnBoth, type Engine } from "#test/support/databases.ts";

const earlierChecksums = JSON.parse(
  readFileSync(new URL("../../schema/migrations/earlier-checksums.json", import.meta.url), "utf8"),
) as Record<string, string>;
const one: DatabaseMigration = {
  name: "0001-one",
  sql: "create table one (id int primary key); insert into one values (1);",
};
const two: DatabaseMigration = {
  name: "0002-two",
  sql: "alter table one add column name text; create table two (id int);",
};
const uniqueIndex: DatabaseMigration = {
  name: "0003-index",
  sql:
    "-- Runs outside of a transaction: the table is large.\n" +
    "create unique index concurrently if not exists one_by_name\n  on one (name);\n" +
    "drop index concurrently if exists one_by_nothing;\n",
};
const broken: DatabaseMigration = {
  name: "0003-broken",
  sql: "drop table two; create table three (id int); insert into three select 1/0;",
};

/** Opens a database without any tables, not even the migrator's. */
async function openEmpty(engine: Engine): Promise<OpenedDatabase> {
  if (engine === "pglite") return openDatabase({});
  const name = `empty_${randomBytes(8).toString("hex")}`;
  const client = new Client({ connectionString: inject("postgresUrl") });
  await client.connect();
  await client.query(`create database ${name}`).finally(() => client.end());
  return openDatabase({ url: databaseUrl(inject("postgresUrl"), name) });
}

const validIndexesOf = (database: OpenedDatabase): Promise<unknown[]> =>
  database.script(async (run) => {
    const [rows = []] = await run(
      "select relname as name from pg_index join pg_class on oid = indexrelid " +
        "where indisvalid and indrelid = 'one'::regclass order by 1",
    );
    return rows.map(({ name }) => name);
  });

const tablesOf = (database: OpenedDatabase): Promise<unknown[]> =>
  database.script(async (run) => {
    const [rows = []] = await run(
      "select table_name, column_name from information_schema.columns where table_schema = 'public' " +
        "order by 1, 2",
    );
    return rows.map((row) => `${String(row["table_name"])}.${String(row["column_name"])}`);
  });

describeOnBoth("migrate", (_open, engine) => {
  let database: OpenedDatabase;
  beforeAll(async () => {
    database = await openEmpty(engine);
  });
  afterAll(() => database.close());
  beforeEach(() => database.script((run) => run("drop schema public cascade; create schema public")));

  it("applies pending migrations in order, once", async () => {
    expect(await migrate(database, [one])).toEqual(["0001-one"]);
    expect(await migrate(database, [one])).toEqual([]);
    expect(await migrate(database, [one, two])).toEqual(["0002-two"]);
    expect(await tablesOf(database)).toEqual([
      "one.id",
      "one.name",
      "schema_migration.applied_at",
      "schema_migration.checksum",
      "schema_migration.name",
      "two.id",
    ]);
  });

  it("rolls back the whole run if one migration fails", async () => {
    await migrate(database, [one]);
    const before = await tablesOf(database);
    await expect(migrate(database, [one, two, broken])).rejects.toThrow(
      /^Migration 0003-broken failed and changed nothing: division by zero$/,
    );
    expect(await tablesOf(database)).toEqual(before);
    expect(await database.script((run) => run("select id from one"))).toEqual([[{ id: 1 }]]);
    expect(await migrate(database, [one, two])).toEqual(["0002-two"]);
  });

  it("leaves an empty database empty if the first migration fails", async () => {
    await expect(migrate(database, [broken])).rejects.toThrow("Migration 0003-broken failed");
    expect(await tablesOf(database)).toEqual([]);
  });

  it("refuses a released migration that was edited, and changes nothing", async () => {
    await migrate(database, [one]);
    const edited = { ...one, sql: one.sql.replace("values (1)", "values (2)") };
    await expect(migrate(database, [edited, two])).rejects.toThrow(
      "Migration 0001-one differs from the applied migration",
    );
    expect(await tablesOf(database)).not.toContain("two.id");
  });

  it("creates and drops indexes outside of a transaction, between other migrations", async () => {
    const three = { name: "0004-three", sql: "create table three (id int)" };
    const names = [one, two, uniqueIndex, three].map(({ name }) => name);
    expect(await migrate(database, [one, two, uniqueIndex, three])).toEqual(names);
    expect(await validIndexesOf(database)).toEqual(["one_by_name", "one_pkey"]);
    expect(await migrate(database, [one, two, uniqueIndex, three])).toEqual([]);
  });

  it("creates an index again of which an interrupted migration has left an invalid one", async () => {
    await migrate(database, [one, two]);
    await database.script((run) => run("update one set name = 'a'; insert into one values (2, 'a')"));
    await expect(migrate(database, [one, two, uniqueIndex])).rejects.toThrow(
      /^Migration 0003-index failed and is repeated from its beginning by the next run: could not create/,
    );
    expect(await validIndexesOf(database)).toEqual(["one_pkey"]);
    await database.script((run) => run("delete from one where id = 2"));
    expect(await migrate(database, [one, two, uniqueIndex])).toEqual(["0003-index"]);
    expect(await validIndexesOf(database)).toEqual(["one_by_name", "one_pkey"]);
  });

  it("refuses other statements outside of a transaction", async () => {
    const sql = `${uniqueIndex.sql}update one set name = 'b';`;
    await expect(migrate(database, [one, two, { ...uniqueIndex, sql }])).rejects.toThrow(
      "but not: update one set name = 'b'",
    );
  });

  it("accepts a released migration of which only comments were edited", async () => {
    await migrate(database, [one]);
    const commented = { ...one, sql: `-- A better comment.\n\n${one.sql}` };
    expect(await migrate(database, [commented, two])).toEqual(["0002-two"]);
  });

  it("accepts the checksums of an earlier release, which included the comments", async () => {
    const name = "0010-checkout-page";
    const migration = { name, sql: one.sql };
    await migrate(database, [migration]);
    const store = (checksum: string) =>
      database.script((run) => run(`update schema_migration set checksum = '${checksum}'`));
    await store(earlierChecksums[name] ?? "");
    expect(await migrate(database, [migration])).toEqual([]);
    await store("0".repeat(64));
    await expect(migrate(database, [migration])).rejects.toThrow(`Migration ${name} differs`);
  });
});

it("migrating makes two processes that start at once wait for each other", async () => {
  const first = await openEmpty("postgres");
  try {
    const slow = { ...one, sql: `${one.sql} select pg_sleep(0.2);` };
    const applied = await Promise.all([migrate(first, [slow]), migrate(first, [slow])]);
    expect(applied.flat()).toEqual(["0001-one"]);
  } finally {
    await first.close();
  }
});

describe("a migration beside a running service", () => {
  let database: OpenedDatabase;
  beforeAll(async () => {
    database = await openEmpty("postgres");
    await migrate(database, [one]);
  });
  afterAll(() => database.close());

  it("gives up the lock of a table that a transaction uses, and runs again later", async () => {
    const reasons: string[] = [];
    await database.script(async (run) => {
      await run("begin; select * from one");
      await expect(
        migrate(database, [one, two], {
          lockTimeoutMs: 20,
          retryDelaysMs: [10],
          onRetry: (reason) => void reasons.push(reason),
        }),
      ).rejects.toThrow(
        "Migration 0002-two failed and changed nothing: canceling statement due to lock timeout",
      );
      expect(reasons).toEqual([
        "Migration 0002-two failed and changed nothing: canceling statement due to lock timeout. " +
          "The migrations from 0002-two on run again in 0.01 s.",
      ]);
      await migrate(database, [one, two], {
        lockTimeoutMs: 20,
        retryDelaysMs: Array.from({ length: 500 }, () => 10),
        onRetry: () => void run("commit"),
      });
    });
    expect(await tablesOf(database)).toContain("two.id");
  });

  it("creates an index while other processes wait to migrate, and while rows are written", async () => {
    await database.script(async (run) => {
      await run("begin; insert into one values (7, 'x')");
      const migrating = Promise.all([1, 2, 3].map(() => migrate(database, [one, two, uniqueIndex])));
      await database.script(async (other) => {
        await expect
          .poll(() =>
            other(
              "select 1 from pg_stat_activity " +
                "where query like 'create unique index%' and datname = current_database()",
            ),
          )
          .toEqual([[{ "?column?": 1 }]]);
      });
      await database.script((other) => other("insert into one values (8, 'y')"));
      await run("commit");
      expect((await migrating).flat()).toEqual(["0003-index"]);
    });
    expect(await validIndexesOf(database)).toContain("one_by_name");
  });
});

it("migrations have unique numbers in one order", () => {
  const names = readMigrationFiles().map(({ name }) => name);
  names.forEach((name, index) =>
    expect(name).toMatch(new RegExp(`^${String(index + 1).padStart(4, "0")}-[a-z0-9-]+$`)),
  );
});
