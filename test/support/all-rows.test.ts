import { sql } from "kysely";
import { expect, it } from "vitest";
import { digestTables, readTableStates } from "./all-rows.ts";
import { describeOnBoth } from "./databases.ts";

describeOnBoth("the state of tables", (open) => {
  it("changes with each insert, update and delete, and only in the written table", async () => {
    const database = await open();
    const { db } = database;
    const read = () => readTableStates({ database }, ["written", "unwritten"]);
    await sql`create table written (id int, value int)`.execute(db);
    await sql`create table unwritten (id int, value int)`.execute(db);
    const states = [await read()];
    for (const write of [
      sql`insert into written values (1, 1), (2, 1)`,
      sql`update written set value = 2 where id = 1`,
      sql`update written set value = 1 where id = 1`,
      sql`delete from written where id = 1`,
      sql`insert into written values (1, 1)`,
      sql`delete from written`,
    ]) {
      await write.execute(db);
      states.push(await read());
    }
    expect(new Set(states.map(({ written }) => written)).size).toBe(states.length - 1);
    expect(states.at(-1)).toEqual(states[0]);
    expect(new Set(states.map(({ unwritten }) => unwritten)).size).toBe(1);
  });

  it("stays the same after a rollback and after reads with locks", async () => {
    const database = await open();
    const { db } = database;
    await sql`create table written (id int)`.execute(db);
    await sql`insert into written values (1)`.execute(db);
    const before = await digestTables({ database });
    const failing = db.transaction().execute(async (transaction) => {
      await sql`insert into written values (2)`.execute(transaction);
      throw new Error("This transaction is rolled back.");
    });
    await expect(failing).rejects.toThrow("rolled back");
    await db
      .transaction()
      .execute((transaction) => sql`select * from written for update`.execute(transaction));
    expect(await digestTables({ database })).toEqual(before);
  });

  it("ignores the time of the last use of a credential, and no other column of its row", async () => {
    const database = await open();
    const { db } = database;
    await sql`create table used (id int, last_used_at timestamptz)`.execute(db);
    await sql`insert into used values (1, now()), (2, now())`.execute(db);
    const read = () => readTableStates({ database }, ["used"]);
    const before = await read();
    await sql`update used set last_used_at = now() + interval '1 day' where id = 1`.execute(db);
    expect(await read()).toEqual(before);
    await sql`update used set id = 3 where id = 1`.execute(db);
    expect(await read()).not.toEqual(before);
  });
});
