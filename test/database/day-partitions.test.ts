/**
 * The tables that are partitioned by day (migration 0045): partitions are created ahead and dropped, an
 * insert never fails for lack of a partition, and statements read only the partitions that they need.
 */
import { sql } from "kysely";
import { Client } from "pg";
import { expect, it } from "vitest";
import { type Database, type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { createDayPartitions, dropDayPartitions } from "#database/day-partitions.ts";
import { answerRetentionMs } from "#database/idempotency.ts";
import { deleteExpiredIdempotencyRecords } from "#database/idempotency-maintenance.ts";
import { deleteExpiredApiRequestLogEntries } from "#access/request-log.ts";
import { createId, getLowestIdAtTime } from "#foundation/ids.ts";
import { createDatabase } from "#test/support/create-database.ts";
import { describeOnBoth } from "#test/support/databases.ts";

const dayMs = 86_400_000;
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10).replaceAll("-", "");
/**
 * Noon of the day on which the copied database was migrated, which may be yesterday. The tests do not depend
 * on the time of day.
 */
let noon: number;
const after = (days: number): Date => new Date(noon + days * dayMs);

async function insertRequests(db: Database, at: Date, count = 1): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => createId("request", at.getTime()));
  await sql`insert into api_request (id, merchant_id, installation_id, credential_id, operation, method, status,
      duration_ms, at)
    select id, 'mer_1', 'ins_1', 'key_1', 'getPublicCart', 'GET', 200, 1, ${at}::timestamptz
    from unnest(${ids}::text[]) as id`.execute(db);
  return ids;
}

/** Returns the number of rows in each partition that has rows. */
async function countByPartition(db: Database): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string; count: number }>`
    select tableoid::regclass::text as name, count(*)::integer as count from api_request
    group by 1 order by 1`.execute(db);
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

/** Returns noon of the day of the oldest partition, in milliseconds since 1970. */
async function findFirstNoon(db: Database): Promise<number> {
  const { rows } = await sql<{ day: string }>`
    select min(substring(inhrelid::regclass::text from '\\d{8}$')) as day from pg_inherits
    where inhparent = 'api_request'::regclass`.execute(db);
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(rows[0]?.day ?? "") ?? [];
  const firstNoon = Date.UTC(Number(year), Number(month) - 1, Number(day), 12);
  const todayNoon = Date.now() - (Date.now() % dayMs) + dayMs / 2;
  expect([todayNoon, todayNoon - dayMs]).toContain(firstNoon);
  return firstNoon;
}

async function explain(db: Database, statement: ReturnType<typeof sql>): Promise<string> {
  const { rows } = await sql<Record<string, string>>`explain (costs off) ${statement}`.execute(db);
  return rows.map((row) => Object.values(row)[0]).join("\n");
}

describeOnBoth("day partitions", (openDatabases) => {
  // The session settings of these tests are for all statements, so the pool has one connection.
  const open = async (): Promise<OpenedDatabase> => {
    const database = await openDatabases({ poolSize: 1 });
    noon = await findFirstNoon(database.db);
    return database;
  };
  it("begin at the same ids in SQL as in the code", async () => {
    const { db } = await open();
    for (const at of [0, 1, 31, 32, noon, 1_700_000_000_123, 2 ** 45 + 7]) {
      const { rows } = await sql<{ id: string }>`
        select lowest_id_at_time('req', ${new Date(at)}::timestamptz) as id`.execute(db);
      expect(rows).toEqual([{ id: getLowestIdAtTime("request", at) }]);
    }
  });

  it("exist for four days after the migration, and take the rows of a day", async () => {
    const { db } = await open();
    for (const day of [-1, 0, 3, 4]) await insertRequests(db, after(day));
    expect(await countByPartition(db)).toEqual({
      api_request_default: 2,
      [`api_request_${dayOf(noon)}`]: 1,
      [`api_request_${dayOf(noon + 3 * dayMs)}`]: 1,
    });
  });

  it("take over the rows that were inserted before them when the clock has jumped by a month", async () => {
    const { db } = await open();
    const [id] = await insertRequests(db, after(31));
    expect(await createDayPartitions(db, after(31))).toBe(4);
    expect(await createDayPartitions(db, after(31))).toBe(0);
    expect(await createDayPartitions(db, after(32))).toBe(1);
    const day = dayOf(noon + 31 * dayMs);
    expect(await countByPartition(db)).toEqual({ [`api_request_${day}`]: 1 });
    expect(await db.selectFrom("apiRequest").select("id").execute()).toEqual([{ id }]);
    await insertRequests(db, after(32));
    expect(await countByPartition(db)).toHaveProperty(`api_request_${dayOf(noon + 32 * dayMs)}`, 1);
  });

  it("are not created for a day with many rows in the default partition, which are deleted later", async () => {
    const { db } = await open();
    await insertRequests(db, after(40), 10_001);
    expect(await createDayPartitions(db, after(40))).toBe(3);
    await insertRequests(db, after(40));
    await insertRequests(db, after(41));
    expect(await countByPartition(db)).toEqual({
      api_request_default: 10_002,
      [`api_request_${dayOf(noon + 41 * dayMs)}`]: 1,
    });
    expect(await deleteExpiredApiRequestLogEntries(db, after(44))).toBe(10_002);
    expect(Object.values(await countByPartition(db))).toEqual([1]);
  });

  it("are dropped when all of their days are over, oldest first, and not earlier", async () => {
    const { db } = await open();
    for (const day of [0, 1, 2]) await insertRequests(db, after(day));
    expect(await dropDayPartitions(db, after(0))).toEqual([]);
    expect(await dropDayPartitions(db, after(2))).toEqual(
      [0, 1].map((day) => `api_request_${dayOf(noon + day * dayMs)}`),
    );
    expect(await countByPartition(db)).toEqual({ [`api_request_${dayOf(noon + 2 * dayMs)}`]: 1 });
    // A late row of a dropped day is stored all the same.
    await insertRequests(db, after(0));
    expect(await countByPartition(db)).toHaveProperty("api_request_default", 1);
  });

  it("are the only ones that a statement reads if it names an id or the newest rows", async () => {
    const { db } = await open();
    const [id] = await insertRequests(db, after(1));
    await sql`set enable_seqscan = off`.execute(db);
    const day = dayOf(noon + dayMs);
    const byId = await explain(db, sql`select * from api_request where id = ${id}`);
    expect(byId.match(/Index Scan using \S+ on \S+/g)).toEqual([
      `Index Scan using api_request_${day}_pkey on api_request_${day}`,
    ]);
    // The rows of each partition are read in the order of an index, so no rows are sorted.
    const list = await explain(
      db,
      sql`select * from api_request where installation_id = 'ins_1' and id > ${getLowestIdAtTime("request", noon)}
        order by id desc limit 20`,
    );
    expect(list).not.toMatch(/-> +(Incremental )?Sort|Seq Scan/);
  });

  it("are not needed by the records of idempotency keys, whose sweep reads an index", async () => {
    const { db } = await open();
    await sql`insert into idempotency_record (owner_id, idempotency_key, fingerprint, status, content_type, sealed,
        data_key, key_id, created_at)
      select 'ins_1', int4send(number), '', 200, '', '', '', 'k1', ${after(0)}::timestamptz - number * interval '1 minute'
      from generate_series(1, 5000) as number`.execute(db);
    await sql`analyze idempotency_record`.execute(db);
    const plan = await explain(
      db,
      sql`delete from idempotency_record where (owner_id, idempotency_key) in (
        select owner_id, idempotency_key from idempotency_record
        where created_at <= ${after(-1)} order by created_at limit 1000)`,
    );
    expect(plan).toContain("idempotency_record_by_age");
    expect(plan).not.toContain("Sort");
    const end = new Date(noon + answerRetentionMs - 60 * 60_000);
    expect(await deleteExpiredIdempotencyRecords(db, end)).toBe(5000 - 59);
  });
});

it("partitions are created once by two processes, and dropped without queuing readers", async () => {
  const url = await createDatabase();
  await using stack = new AsyncDisposableStack();
  const [one, two] = [await openDatabase({ url }), await openDatabase({ url })];
  for (const database of [one, two]) stack.defer(() => database.close());
  noon = await findFirstNoon(one.db);
  const created = await Promise.all([one, two, one, two].map(({ db }) => createDayPartitions(db, after(20))));
  expect(created.reduce((sum, count) => sum + count, 0)).toBe(4);

  const reader = new Client({ connectionString: url });
  await reader.connect();
  stack.defer(() => reader.end());
  await reader.query("begin; select from api_request");
  const dropping = dropDayPartitions(one.db, after(1));
  // Would fail if it waited for a lock for longer than the drop may wait for its own.
  await sql`set statement_timeout = '5s'`.execute(two.db);
  for (let time = 0; time < 20; time += 1) await two.db.selectFrom("apiRequest").select("id").execute();
  expect(await dropping).toEqual([]);
  await reader.query("rollback");
  expect(await dropDayPartitions(one.db, after(1))).toEqual([`api_request_${dayOf(noon)}`]);
});
