/** Reports only read: the database refuses every write, and cancels statements that take too long. */
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { createReportQueryRunner } from "#database/read-only.ts";
import { useWorld } from "#test/support/use-world.ts";

describe.each(["pglite", "postgres"] as const)("a report's transaction on %s", (engine) => {
  const world = useWorld(engine);

  it("refuses every write, while other transactions can write", async () => {
    const { db } = world().database;
    const readOnly = createReportQueryRunner(db);
    const name = async (): Promise<unknown> =>
      (await db.selectFrom("merchant").select("name").orderBy("id").executeTakeFirst())?.name;
    const before = await name();
    for (const write of [
      sql`update merchant set name = 'x'`,
      sql`create table planted (id int)`,
      sql`select nextval('order_timeline_id_seq')`,
    ])
      await expect(readOnly((reader) => write.execute(reader))).rejects.toMatchObject({ code: "25006" });
    expect(await name()).toBe(before);
    await db.updateTable("merchant").set({ name: "renamed" }).execute();
    expect(await name()).toBe("renamed");
  });

  it("restores the connection's settings", async () => {
    const { db } = world().database;
    await createReportQueryRunner(db)((reader) => sql`select 1`.execute(reader));
    const { rows } = await sql<
      Record<string, string>
    >`select current_setting('statement_timeout') as timeout, current_setting('transaction_read_only') as
      read_only`.execute(db);
    expect(rows).toEqual([{ timeout: "0", readOnly: "off" }]);
  });
});

describe("on postgres", () => {
  const world = useWorld();

  it("plans each run of a statement for its own values", async () => {
    const plans = await createReportQueryRunner(world().database.db)(async (reader) => {
      for (let run = 0; run < 7; run += 1)
        await sql`select id from merchant where id > ${`m${run}`}`.execute(reader);
      return sql`select generic_plans, custom_plans from pg_prepared_statements
        where statement like 'select id from merchant where id > %'`.execute(reader);
    });
    expect(plans.rows).toEqual([{ genericPlans: 0, customPlans: 7 }]);
  });

  it("a statement that takes too long is canceled by the database, and the error says so", async () => {
    const readOnly = createReportQueryRunner(world().database.db, { timeoutMs: 100 });
    await expect(readOnly((reader) => sql`select pg_sleep(30)`.execute(reader))).rejects.toMatchObject({
      code: "upstream_timeout",
      message: "The report took longer than the limit of 0.1 s. Request fewer days, or one merchant.",
    });
    const again = createReportQueryRunner(world().database.db);
    await expect(again((reader) => sql`select 1 as one`.execute(reader))).resolves.toMatchObject({
      rows: [{ one: 1 }],
    });
  });
});
