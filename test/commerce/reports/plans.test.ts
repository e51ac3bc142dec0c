/** Some reports must read indexes only, because the tables of a million orders take seconds to read. */
import { CompiledQuery } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readBuyerReport } from "#commerce/reports/buyer-report.ts";
import type { ReportScope } from "#commerce/reports/report-scope.ts";
import { readFunnelReport } from "#commerce/reports/shopping-report.ts";
import { type Database, type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { divideIntoBuckets, toPeriod } from "#foundation/period.ts";
import { copyDemo } from "#test/support/copies.ts";

let database: OpenedDatabase;
const statements: CompiledQuery[] = [];

beforeAll(async () => {
  const demo = await copyDemo("postgres");
  database = await openDatabase({ ...demo.database, onStatement: ({ query }) => statements.push(query) });
  await database.script((run) => run("vacuum analyze sales_order, cart, hosted_checkout_session"));
});
afterAll(() => database.close());

const period = toPeriod({ from: "2026-01-01", to: "2026-12-31", timeZone: "UTC" });
const reports: readonly [
  string,
  (db: Database, scope: ReportScope) => Promise<unknown>,
  readonly string[],
][] = [
  ["buyers", readBuyerReport, ["sales_order_by_buyer_placement"]],
  [
    "the funnel",
    (db, scope) =>
      readFunnelReport(db, {
        ...scope,
        buckets: divideIntoBuckets(period, "month"),
        now: period.endsAt,
      }),
    ["cart_by_merchant_id", "hosted_checkout_session_by_cart_id"],
  ],
];

it.each(reports)("the report on %s reads indexes only", async (_name, read, indexes) => {
  const { merchantId } = await database.db
    .selectFrom("salesOrder")
    .select("merchantId")
    .limit(1)
    .executeTakeFirstOrThrow();
  statements.length = 0;
  await read(database.db, { merchantId, marketIds: null, period });
  const [statement] = statements;
  const plan = await database.db.connection().execute(async (connection) => {
    // The demo has few rows, for which other ways are cheaper.
    for (const way of ["seqscan", "bitmapscan", "hashjoin", "nestloop"])
      await connection.executeQuery(CompiledQuery.raw(`set enable_${way} = off`));
    const { rows } = await connection.executeQuery<Record<string, unknown>>(
      CompiledQuery.raw(`explain (costs off) ${statement?.sql}`, [...(statement?.parameters ?? [])]),
    );
    return rows.flatMap((row) => Object.values(row)).join("\n");
  });
  for (const index of indexes) expect(plan).toContain(`Index Only Scan using ${index} `);
  expect(plan).not.toMatch(/(?:Seq|Index|Heap) Scan .*on (?:sales_order|cart|hosted_checkout_session)\b/);
});
