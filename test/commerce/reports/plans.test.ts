/**
 * Plans with some thousand orders: some reports must read indexes only, because the tables of a million
 * orders take seconds to read, and each page of a list must read about as many rows as it has.
 */
import { buildASTSchema, isObjectType, parse, type FieldNode, type GraphQLObjectType, visit } from "graphql";
import { readFileSync } from "node:fs";
import { CompiledQuery } from "kysely";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createListQueries, type FilterSubjects } from "#bench/list-queries.ts";
import { copyProducts } from "#bench/copy-products.ts";
import { addListRows } from "#bench/list-rows.ts";
import { openPlanReader, type PlanReader } from "#bench/query-plans.ts";
import { findFilterSubjects } from "#bench/report-queries.ts";
import { readBuyerReport } from "#commerce/reports/buyer-report.ts";
import { type ProductReportGroup, readProductReport } from "#commerce/reports/product-report.ts";
import type { ReportScope } from "#commerce/reports/report-scope.ts";
import { readSalesReport } from "#commerce/reports/sales-report.ts";
import { readCheckoutFunnelReport } from "#commerce/reports/shopping-report.ts";
import { readTaxesByCountry } from "#commerce/reports/tax-report.ts";
import { type Database, type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { seedBulkOrders } from "#demo/bulk/seed-bulk-orders.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import { dividePeriodIntoBuckets, validateAndResolvePeriod } from "#foundation/period.ts";
import { copyDemo } from "#test/support/copies.ts";
import { periodOfDemo } from "#test/support/test-clock.ts";

/** Rows that the statement of a page may read: far fewer than the 1500 orders, events or carts. */
const rowsReadMax = 300;
/** Adds former prices of the variant whose prices the test lists, in each market more than a page may read. */
const formerPrices = `
  insert into price (variant_id, market_id, merchant_id, amount_minor, valid_from, valid_until)
  select p.variant_id, p.market_id, p.merchant_id, p.amount_minor, p.valid_from - n * interval '1 hour',
    p.valid_from - (n - 1) * interval '1 hour'
  from generate_series(1, ${rowsReadMax + 100}) as n, (
    select distinct on (market_id) * from price
    where variant_id = (select variant_id from stock_movement order by id desc limit 1)
    order by market_id, valid_from) as p`;
/**
 * Counts the tables of which VACUUM could not yet mark most pages as visible to all, because an automatic
 * ANALYZE ran at the same time. PostgreSQL would prefer other plans than index-only scans for them.
 */
const partlyVisibleTables = `
  select count(*)::integer as count from pg_class
  where relkind = 'r' and relnamespace = 'public'::regnamespace and relallvisible < 0.9 * relpages`;

let database: OpenedDatabase;
let plans: PlanReader;
const statements: CompiledQuery[] = [];

beforeAll(async () => {
  const demo = await copyDemo("postgres");
  const { ownerUrl: url = "" } = demo.database;
  database = await openDatabase({ url, onStatement: ({ query }) => statements.push(query) });
  const { id: merchantId } = await database.db
    .selectFrom("salesOrder")
    .innerJoin("merchant", "merchant.id", "salesOrder.merchantId")
    .select("merchant.id")
    .groupBy("merchant.id")
    .orderBy(({ fn }) => fn.countAll(), "desc")
    .limit(1)
    .executeTakeFirstOrThrow();
  const keyring = createEncryptionKeyring([{ id: "k1", key: Buffer.alloc(32, 7) }]);
  await seedBulkOrders(database.db, { merchantId, count: 50, now: new Date(), keyring });
  const client = new Client({ connectionString: url });
  await client.connect();
  await copyProducts(client, 20);
  await addListRows(client, 1500);
  await client.query(formerPrices);
  const vacuum = async (): Promise<boolean> => {
    await client.query("vacuum analyze");
    return (await client.query<{ count: number }>(partlyVisibleTables)).rows[0]?.count === 0;
  };
  await vi.waitUntil(vacuum, { timeout: 45_000 });
  // PostgreSQL would read the small tables of this test as a whole, also if an index serves the query.
  const name = decodeURIComponent(new URL(url).pathname.slice(1));
  for (const way of ["seqscan", "hashjoin", "mergejoin"])
    await client.query(`alter database ${client.escapeIdentifier(name)} set enable_${way} = off`);
  await client.end();
  plans = await openPlanReader(url);
}, 300_000);
afterAll(async () => {
  await plans?.close();
  await database?.close();
});

const period = validateAndResolvePeriod({ ...periodOfDemo(), timeZone: "UTC" });
type ReadReport = (db: Database, scope: ReportScope) => Promise<unknown>;
const readSales: ReadReport = (db, scope) =>
  readSalesReport(db, {
    ...scope,
    buckets: dividePeriodIntoBuckets(period, "month"),
    currencies: ["EUR"],
  });
const readProductsBy =
  (groupBy: ProductReportGroup): ReadReport =>
  (db, scope) =>
    readProductReport(db, { ...scope, groupBy, currencies: ["EUR"], sort: "net", first: 10 });
const readTaxes: ReadReport = (db, scope) => readTaxesByCountry(db, { ...scope, first: 10 });

/** Explains the first statement of a report, with other settings of PostgreSQL's planner. */
async function explainReport(read: ReadReport, settings: Readonly<Record<string, string>>): Promise<string> {
  const { merchantId } = await database.db
    .selectFrom("salesOrder")
    .select("merchantId")
    .limit(1)
    .executeTakeFirstOrThrow();
  statements.length = 0;
  await read(database.db, { merchantId, marketIds: null, period });
  const [statement] = statements;
  return database.db.transaction().execute(async (transaction) => {
    for (const [name, value] of Object.entries(settings))
      await transaction.executeQuery(CompiledQuery.raw(`set local ${name} = ${value}`));
    const { rows } = await transaction.executeQuery<Record<string, unknown>>(
      CompiledQuery.raw(`explain (costs off) ${statement?.sql}`, [...(statement?.parameters ?? [])]),
    );
    return rows.flatMap((row) => Object.values(row)).join("\n");
  });
}

const orderLineIndexes = ["order_line_by_order", "sales_order_by_placement"];
const reports: readonly [string, ReadReport, readonly string[]][] = [
  ["buyers", readBuyerReport, ["sales_order_by_buyer_placement"]],
  ["sales", readSales, ["sales_order_by_placement"]],
  ["products", readProductsBy("product"), orderLineIndexes],
  ["products by category", readProductsBy("category"), orderLineIndexes],
  ["products by country", readProductsBy("country"), orderLineIndexes],
  [
    "the funnel",
    (db, scope) =>
      readCheckoutFunnelReport(db, {
        ...scope,
        buckets: dividePeriodIntoBuckets(period, "month"),
        now: period.endsAt,
      }),
    ["cart_of_merchant", "hosted_checkout_session_by_cart_id"],
  ],
];

it.each(reports)("the report on %s reads indexes only", async (_name, read, indexes) => {
  // The demo has few rows, for which other ways are cheaper.
  const ways = ["seqscan", "bitmapscan", "hashjoin", "nestloop"];
  const plan = await explainReport(read, Object.fromEntries(ways.map((way) => [`enable_${way}`, "off"])));
  for (const index of indexes) expect(plan).toContain(`Index Only Scan using ${index} `);
  // Some reports have further parts, which look up a few orders and order lines by these indexes: the refunded
  // orders, the orders and order lines of earlier releases, one order line of each list of categories, and one
  // of each deleted variant.
  const lookups =
    /^(?:sales_order_(?:pkey|by_merchant|without_units)|order_line_(?:by_variant|(?:by|without)_category_hash))$/;
  const tables = "sales_order|order_line|cart|hosted_checkout_session";
  const scans = plan.matchAll(
    new RegExp(`(?:Seq|Index|Heap) Scan (?:using (\\w+) )?on (?:${tables})\\b.*`, "g"),
  );
  expect([...scans].filter(([, index = ""]) => !lookups.test(index)).map(([scan]) => scan)).toEqual([]);
});

it.each([
  ["sales", readSales],
  ["taxes", readTaxes],
])("parallel processes may add up the amounts of the report on %s", async (_name, read) => {
  // With few orders, PostgreSQL seldom finds parallel processes worthwhile. With this setting, it uses them wherever
  // the statement allows them.
  expect(await explainReport(read, { debug_parallel_query: "on" })).toContain("Gather");
});

it("the report on taxes finds the orders with several tax lines by their index", async () => {
  expect(await explainReport(readTaxes, {})).toContain(" using sales_order_mixed_taxes ");
});

describe("lists", () => {
  const unknown = "none";
  const anySubjects: FilterSubjects = {
    orderId: unknown,
    orderNumber: unknown,
    marketId: unknown,
    categoryId: unknown,
    brand: unknown,
    variantId: unknown,
    promotionId: unknown,
    endpointId: unknown,
    installationId: unknown,
    apiKeyId: unknown,
  };
  let subjects: FilterSubjects;
  beforeAll(async () => {
    subjects = await findFilterSubjects((query) => plans.ask(query));
  });

  it("have a variant with more prices in each market than a page may read", async () => {
    const prices = await database.db
      .selectFrom("price")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("variantId", "=", subjects.variantId)
      .groupBy("marketId")
      .execute();
    expect(prices).not.toEqual([]);
    for (const { count } of prices) expect(count).toBeGreaterThan(rowsReadMax);
  });

  it("are all measured, with each of their filters", () => {
    const schema = buildASTSchema(parse(readFileSync("schema/schema.graphql", "utf8")), {
      assumeValidSDL: true,
    });
    const measured = new Map<string, Set<string>>();
    const collect = ({ name, arguments: args = [] }: FieldNode): void => {
      const known = measured.get(name.value) ?? new Set();
      measured.set(name.value, known);
      for (const { name: argument } of args) known.add(argument.value);
    };
    for (const { query } of createListQueries(anySubjects)) visit(parse(`{ ${query} }`), { Field: collect });
    const lists = Object.values(schema.getTypeMap())
      .filter((type): type is GraphQLObjectType => isObjectType(type))
      .flatMap((type) => Object.values(type.getFields()))
      .filter(({ type }) => /Connection!?$/.test(String(type)));
    expect(lists.length).toBeGreaterThan(25);
    const missing = lists.flatMap(({ name, args }) =>
      args
        .map((argument) => argument.name)
        .filter((argument) => !["merchantId", "after", "before", "last"].includes(argument))
        .filter((argument) => measured.get(name)?.has(argument) !== true)
        .map((argument) => `${name}(${argument})`),
    );
    expect(missing).toEqual([]);
  });

  const names = createListQueries(anySubjects).map(({ name }) => name);
  it.each(names.filter((name) => !name.endsWith("total count")))(
    "%s: a page reads few rows",
    async (name) => {
      const query = createListQueries(subjects).find((list) => list.name === name)?.query ?? "";
      const page = (await plans.explain(query)).find(({ selectsPage }) => selectsPage);
      expect(page?.rowsRead, page?.text).toBeLessThanOrEqual(rowsReadMax);
    },
  );
});
