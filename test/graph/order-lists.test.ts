/**
 * The lists of orders and of their parts: every filter and order compared with rows of the demo that are
 * selected otherwise, pages in both directions, refused arguments, and the number of statements.
 */
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { statementsOf, useWorld } from "#test/support/use-world.ts";

interface OrderRow {
  readonly id: string;
  readonly status: string;
  readonly paymentStatus: string;
  readonly fulfillmentStatus: string;
  readonly returnStatus: string;
  readonly country: string;
  readonly currency: string;
  readonly totalMinor: number;
  readonly marketId: string;
}

type Condition = (order: OrderRow) => boolean;

const world = useWorld();
let orders: OrderRow[];

const ask = async (field: string, selection: string, token = "analyst") => {
  const { body } = await world().graphql(`{ list: ${field} { ${selection} } }`, { token });
  return body.errors?.[0]?.extensions ?? body.data.list;
};
const idsOf = async (field: string): Promise<string[]> => {
  const { edges } = await ask(field, "edges { node { id } }");
  return edges.map(({ node }: { node: { id: string } }) => node.id);
};
const select = (condition: Condition): string[] =>
  orders.flatMap((order) => (condition(order) ? [order.id] : [])).toSorted();

beforeAll(async () => {
  orders = await world()
    .database.db.selectFrom("salesOrder")
    .select(["id", "status", "paymentStatus", "fulfillmentStatus", "returnStatus"])
    .select(["country", "currency", "totalMinor", "marketId"])
    .where("merchantId", "=", world().demo.merchants.first.id)
    .execute();
});

const countOf = (field: keyof OrderRow): number => new Set(orders.map((order) => order[field])).size;

it("has orders with several values of each filtered column", () => {
  for (const field of ["status", "paymentStatus", "fulfillmentStatus", "returnStatus", "country"] as const)
    expect([field, countOf(field) > 1]).toEqual([field, true]);
});

it.each(["status", "paymentStatus", "fulfillmentStatus", "returnStatus"] as const)(
  "filters orders by %s",
  async (field) => {
    for (const value of new Set(orders.map((order) => order[field])))
      expect(await idsOf(`orders(first: 100, ${field}: ${value.toUpperCase()})`)).toEqual(
        select((order) => order[field] === value),
      );
  },
);

it("filters orders by country, market and total, and combines the conditions", async () => {
  const [some] = orders;
  if (some === undefined) throw new Error("The demo has orders.");
  const { country, currency, marketId, totalMinor } = some;
  expect(await idsOf(`orders(first: 100, country: "${country}")`)).toEqual(
    select((order) => order.country === country),
  );
  const { handle } = await world()
    .database.db.selectFrom("market")
    .select("handle")
    .where("id", "=", marketId)
    .executeTakeFirstOrThrow();
  for (const market of [marketId, handle])
    expect(await idsOf(`orders(first: 100, market: "${market}")`)).toEqual(
      select((order) => order.marketId === marketId),
    );
  const inCurrency = `first: 100, currency: "${currency}"`;
  expect(await idsOf(`orders(${inCurrency}, totalMinorMin: ${totalMinor})`)).toEqual(
    select((order) => order.currency === currency && order.totalMinor >= totalMinor),
  );
  expect(
    await idsOf(
      `orders(${inCurrency}, totalMinorMax: ${totalMinor}, paymentStatus: PAID, country: "${country}")`,
    ),
  ).toEqual(
    select(
      (order) =>
        order.currency === currency &&
        order.totalMinor <= totalMinor &&
        order.paymentStatus === "paid" &&
        order.country === country,
    ),
  );
});

const compareIds = (one: OrderRow, other: OrderRow): number => (one.id < other.id ? -1 : 1);
const sorts: readonly [string, (one: OrderRow, other: OrderRow) => number][] = [
  ["OLDEST_FIRST", compareIds],
  ["NEWEST_FIRST", (one, other) => compareIds(other, one)],
  ["HIGHEST_TOTAL_FIRST", (one, other) => other.totalMinor - one.totalMinor || compareIds(other, one)],
  ["LOWEST_TOTAL_FIRST", (one, other) => one.totalMinor - other.totalMinor || compareIds(one, other)],
];

describe.each(sorts)("sorted %s", (sort, compare) => {
  it("lists every order once, page by page, forwards and backwards", async () => {
    const expected = orders
      .filter(({ currency }) => currency === "EUR")
      .toSorted(compare)
      .map(({ id }) => id);
    expect(expected.length).toBeGreaterThan(7);
    const selection = "edges { node { id } } pageInfo { endCursor startCursor hasNextPage hasPreviousPage }";
    const forwards: string[] = [];
    let after = "";
    for (let more = true; more;) {
      const { edges, pageInfo } = await ask(
        `orders(first: 3, sort: ${sort}, currency: "EUR"${after})`,
        selection,
      );
      forwards.push(...edges.map(({ node }: { node: { id: string } }) => node.id));
      after = `, after: "${pageInfo.endCursor}"`;
      more = pageInfo.hasNextPage;
    }
    expect(forwards).toEqual(expected);
    const last = await ask(`orders(last: 3, sort: ${sort}, currency: "EUR")`, selection);
    const before = await ask(
      `orders(last: 3, sort: ${sort}, currency: "EUR", before: "${last.pageInfo.startCursor}")`,
      selection,
    );
    const found = [before, last].flatMap(({ edges }) =>
      edges.map(({ node }: { node: { id: string } }) => node.id),
    );
    expect(found).toEqual(expected.slice(-6));
  });
});

it.each([
  ["sort: HIGHEST_TOTAL_FIRST", "/currency", '"currency" is required to filter or sort by totals.'],
  ["totalMinorMin: 1", "/currency", '"currency" is required to filter or sort by totals.'],
  [
    'sort: LOWEST_TOTAL_FIRST, currency: "EUR", after: "ord_01"',
    "/after",
    '"after" must be a cursor of this list in the same order.',
  ],
  [
    'sort: LOWEST_TOTAL_FIRST, currency: "EUR", before: "99999999999999999999:x"',
    "/before",
    '"before" must be a cursor of this list in the same order.',
  ],
])("refuses orders(%s) and names %s", async (args, field, message) => {
  const { code, details } = await ask(`orders(${args})`, "edges { cursor }");
  expect([code, details[0].field, details[0].message]).toEqual(["invalid_field", field, message]);
});

it("lists only the own buyer's orders to a storefront, whatever the filter", async () => {
  const refused = await ask("orders(paymentStatus: PAID)", "edges { cursor }", "storefront");
  expect(refused.code).toBe("role_not_allowed");
});

describe("the filter by buyer", () => {
  it("finds the orders with an opaque reference, as analyst and as admin", async () => {
    await sql`update sales_order set version = version + 1, buyer_reference = 'eyes-ä'
      where id in (select id from sales_order where merchant_id = ${world().demo.merchants.first.id}
        order by id limit 2)`.execute(world().database.db);
    const { edges } = await ask("orders(first: 100)", "edges { node { id buyer { reference } } }");
    const referenceOf = new Map<string, string>(
      edges.map(({ node }: { node: { id: string; buyer: { reference: string } } }) => [
        node.id,
        node.buyer.reference,
      ]),
    );
    expect(new Set(referenceOf.values()).size).toBeGreaterThan(2);
    for (const reference of new Set([...referenceOf.values()].slice(0, 6))) {
      const expected = [...referenceOf.keys()].filter((id) => referenceOf.get(id) === reference);
      expect(await idsOf(`orders(first: 100, buyerReference: "${reference}")`)).toEqual(expected);
      const asAdmin = await ask(`orders(buyerReference: "${reference}")`, "totalCount", "admin");
      expect(asAdmin.totalCount).toBe(expected.length);
    }
    expect(await idsOf(`orders(buyerReference: "byr_${"0".repeat(26)}")`)).toEqual([]);
  });

  it("refuses the frontend's reference for analysts, and finds its orders for admins", async () => {
    const query = 'orders(buyerReference: "eyes-ä")';
    expect(await ask(query, "totalCount", "analyst")).toMatchObject({
      code: "invalid_field",
      message: expect.stringContaining("hidden from analysts"),
      details: [{ field: "/buyerReference" }],
    });
    expect(await ask(query, "totalCount", "admin")).toEqual({ totalCount: 2 });
    expect(
      await ask(`orders(buyerReference: "byr_${"0".repeat(26)}")`, "totalCount", "operator"),
    ).toMatchObject({ code: "missing_field", details: [{ field: "/merchantId" }] });
  });
});

const parts = [
  ["payments", "payment"],
  ["refunds", "refund"],
  ["returns", "orderReturn"],
  ["fulfillments", "fulfillment"],
  ["warranties", "warrantyRegistration"],
] as const;

describe.each(parts)("the list of %s", (field, table) => {
  interface PartRow {
    readonly id: string;
    readonly status: string;
  }
  const rowsOf = (): Promise<readonly PartRow[]> =>
    world()
      .database.db.selectFrom(table)
      .select(["id", "status"])
      .where("merchantId", "=", world().demo.merchants.first.id)
      .orderBy("id", "desc")
      .execute();

  it("has all entries, newest first, and can be filtered by status and creation", async () => {
    const rows = await rowsOf();
    expect(rows.length).toBeGreaterThan(0);
    expect(await idsOf(`${field}(first: 100)`)).toEqual(rows.slice(0, 100).map(({ id }) => id));
    for (const status of new Set(rows.map((row) => row.status)))
      expect(await idsOf(`${field}(first: 100, status: ${status.toUpperCase()})`)).toEqual(
        rows
          .filter((row) => row.status === status)
          .map(({ id }) => id)
          .slice(0, 100),
      );
    expect(await idsOf(`${field}(createdFrom: "2100-01-01T00:00:00Z")`)).toEqual([]);
    const { totalCount } = await ask(`${field}(createdTo: "2100-01-01T00:00:00Z", first: 1)`, "totalCount");
    expect(totalCount).toBe(rows.length);
    const { details } = await ask(
      `${field}(createdFrom: "2026-01-02T00:00:00Z", createdTo: "2026-01-02T00:00:00Z")`,
      "totalCount",
    );
    expect(details[0].field).toBe("/createdTo");
  });

  it("reads a page in the same number of statements, however many entries it has", async () => {
    const statements = await statementsOf(world(), () => idsOf(`${field}(first: 100)`));
    // The token, the ids, the orders, and the payments and refunds without an order.
    expect(statements.filter((text) => text.includes(" from ")).length).toBeLessThanOrEqual(
      field === "payments" || field === "refunds" ? 4 : 3,
    );
  });

  it("is empty for another merchant's token and refused for storefronts", async () => {
    const { merchants } = world().demo;
    const { edges } = await ask(
      `${field}(first: 100, merchantId: "${merchants.second.id}")`,
      "edges { node { id } }",
      "operator",
    );
    const own = new Set((await rowsOf()).map(({ id }) => id));
    expect(edges.filter(({ node }: { node: { id: string } }) => own.has(node.id))).toEqual([]);
    expect((await ask(field, "totalCount", "storefront")).code).toBe("role_not_allowed");
  });
});
