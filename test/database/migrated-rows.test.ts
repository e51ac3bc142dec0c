/** Migrations that change stored rows: the rows of earlier releases, before and after the migration. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { migrate, readMigrationFiles } from "#database/migrate.ts";

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
