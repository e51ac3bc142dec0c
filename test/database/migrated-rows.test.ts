/** Migrations that change stored rows: the rows of earlier releases, before and after the migration. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { dropDayPartitions } from "#database/day-partitions.ts";
import { migrate, readMigrationFiles } from "#database/migrate.ts";
import { createId } from "#foundation/ids.ts";

let database: OpenedDatabase;
beforeAll(async () => {
  database = await openDatabase({});
});
afterAll(() => database.close());

/** Applies all migrations before the named one, and then the SQL that inserts rows. */
async function openBefore(name: string, rows: string): Promise<void> {
  await database.script((run) => run("drop schema public cascade; create schema public"));
  await migrate(
    database,
    readMigrationFiles().filter((migration) => migration.name < name),
  );
  // Without foreign keys, the rows need no merchants and orders.
  await database.script((run) => run(`set session_replication_role = replica; ${rows}`));
}

it("0037 settles returns with store credit by the original payment, and removes the rule of policies", async () => {
  const returnsBefore = [
    ["approved", "store_credit"],
    ["approved", "original_payment"],
    ["approved", "replacement"],
    ["approved", null],
    ["closed", "store_credit"],
  ] as const;
  const rows = returnsBefore.map(
    ([status, settlement], index) =>
      `('ret_${index}', 'ord_1', 'mer_1', 'return_refund', '${status}', 'other', ${
        settlement === null ? "null" : `'${settlement}'`
      }, now(), now())`,
  );
  await openBefore(
    "0037-remove-unused-values",
    `insert into order_return (id, order_id, merchant_id, kind, status, reason, settlement, requested_at,
      updated_at) values ${rows.join()};
    insert into policy (id, merchant_id, type, summaries, updated_at, rules) values
      ('pol_1', 'mer_1', 'return', '{}', now(), '{"storeCredit": true, "windowDays": 60}'),
      ('pol_2', 'mer_2', 'return', '{}', now(), '{"windowDays": 14}');`,
  );
  await migrate(database, readMigrationFiles());
  const [returns, policies] = await database.script((run) =>
    run("select settlement from order_return order by id; select rules from policy order by id"),
  );
  expect(returns?.map(({ settlement }) => settlement)).toEqual([
    "original_payment",
    "original_payment",
    "replacement",
    null,
    null,
  ]);
  expect(policies).toEqual([{ rules: { windowDays: 60 } }, { rules: { windowDays: 14 } }]);
  await expect(
    database.script((run) => run("update order_return set settlement = 'store_credit'")),
  ).rejects.toThrow("order_return_settlement_check");
});

it("0042 sums up the reduced taxes of orders that have tax lines, without a new version of the orders", async () => {
  const line = (reducedTaxMinor: number): string => JSON.stringify({ taxMinor: 90, reducedTaxMinor });
  const order = (id: string, reducedMinor: number, taxLines: string): string =>
    `('${id}', 'mer_1', '${id}', 'paid', 'unfulfilled', 'none', '${id}', '${id}', 'mkt_1', 'DE', 'UTC', 'EUR', true,
      'en', 1000, 0, 0, 180, 1000, ${reducedMinor}, '[]', now(), now(), ${taxLines})`;
  await openBefore(
    "0042-report-speed",
    `insert into sales_order (id, merchant_id, number, payment_status, fulfillment_status, return_status, cart_id,
      session_id, market_id, country, time_zone, currency, tax_included, locale, subtotal_minor, discount_minor,
      shipping_discount_minor, tax_minor, total_minor, reduced_minor, promotions, placed_at, updated_at, tax_lines)
    values ${order("ord_1", 100, `'[${line(7)}, ${line(4)}]'`)}, ${order("ord_2", 100, "null")};
    reset session_replication_role;`,
  );
  await migrate(database, readMigrationFiles());
  const [orders] = await database.script((run) =>
    run("select version, reduced_tax_minor from sales_order order by id"),
  );
  expect(orders).toEqual([
    { version: 1, reduced_tax_minor: 11 },
    { version: 1, reduced_tax_minor: null },
  ]);
  await expect(database.script((run) => run("update sales_order set updated_at = now()"))).rejects.toThrow(
    "version 1 must be followed by 2",
  );
});

it("0045 keeps logged requests in a partition of the days until today, and moves later ids", async () => {
  const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10).replaceAll("-", "");
  /** Migrates on one day, which the migration chooses. At midnight, it migrates once more. */
  const migrateOnOneDay = async (): Promise<{ now: number; days: number[]; ids: string[] }> => {
    const now = Date.now();
    const days = [-40, -1, 0, 2].map((day) => now + day * 86_400_000);
    const ids = days.map((at) => createId("request", at));
    await openBefore(
      "0045-day-partitions",
      `insert into api_request (id, merchant_id, installation_id, credential_id, operation, method, status, duration_ms, at)
      select id, 'mer_1', 'ins_1', 'key_1', 'getPublicCart', 'GET', 200, 1, now() from unnest('{${ids.join()}}'::text[]) as id;
    reset session_replication_role`,
    );
    await migrate(database, readMigrationFiles());
    return dayOf(Date.now()) === dayOf(now) ? { now, days, ids } : migrateOnOneDay();
  };
  const { now, days, ids } = await migrateOnOneDay();
  const [rows] = await database.script((run) =>
    run("select id, tableoid::regclass::text as partition from api_request order by id"),
  );
  const earlier = `api_request_until_${dayOf(now)}`;
  const later = `api_request_${dayOf(days[3] ?? 0)}`;
  const places = [earlier, earlier, earlier, later];
  expect(rows).toEqual(ids.map((id, index) => ({ id, partition: places[index] })));
  await expect(
    database.script((run) => run(`insert into api_request select * from api_request where id = '${ids[0]}'`)),
  ).rejects.toThrow("duplicate key");
  expect(await dropDayPartitions(database.db, new Date(now))).toEqual([]);
  expect(await dropDayPartitions(database.db, new Date(now + 86_400_000))).toEqual([earlier]);
});
