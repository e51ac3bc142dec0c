/**
 * The lists of products, stock movements, prices, redemptions, events and deliveries: every filter compared
 * with rows that are selected otherwise, pages in both directions, refused arguments, and the number of
 * statements.
 */
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { statementsOf, useWorld } from "#test/support/use-world.ts";

const world = useWorld();
// The demo has a single redemption.
beforeAll(async () => {
  await sql`insert into promotion_use (merchant_id, promotion_id, session_id, order_id, redeemed_at)
    select o.merchant_id, (select min(p.id) from promotion p where p.merchant_id = o.merchant_id),
      o.session_id, o.id, o.placed_at
    from sales_order o order by o.id limit 6 on conflict do nothing`.execute(world().database.db);
});
const first = (): string => world().demo.merchants.first.id;

const ask = async (field: string, selection: string, token = "admin") => {
  const { body } = await world().graphql(`{ list: ${field} { ${selection} } }`, { token });
  return body.errors?.[0]?.extensions ?? body.data.list;
};
const idsOf = async (field: string, id = "id"): Promise<string[]> => {
  const { edges } = await ask(field, `edges { node { ${id} } }`);
  return edges.map(({ node }: { node: Record<string, string> }) => node[id]);
};
/** Runs an SQL query that selects one column of texts. */
const select = async (query: string): Promise<string[]> =>
  (await sql<{ id: string }>`${sql.raw(query)}`.execute(world().database.db)).rows.map(({ id }) => id);

describe("the list of products", () => {
  const where = async (condition: string): Promise<string[]> =>
    select(`select id from product where merchant_id = '${first()}' and ${condition} order by id limit 100`);

  it("is filtered by status, brand and last change, and combines the conditions", async () => {
    expect(await idsOf("products(first: 100, status: DRAFT)")).toEqual(await where("status = 'draft'"));
    expect((await where("brand = 'Skogly'")).length).toBeGreaterThan(1);
    expect(await idsOf('products(first: 100, brand: "Skogly")')).toEqual(await where("brand = 'Skogly'"));
    const [middle = ""] = await select(
      `select to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as id from product
       where merchant_id = '${first()}' order by updated_at offset 20 limit 1`,
    );
    const changed = "date_trunc('milliseconds', updated_at)";
    expect(await idsOf(`products(first: 100, updatedFrom: "${middle}")`)).toEqual(
      await where(`updated_at >= '${middle}'`),
    );
    expect(await idsOf(`products(first: 100, updatedTo: "${middle}", status: PUBLISHED)`)).toEqual(
      await where(`${changed} < '${middle}' and status = 'published'`),
    );
  });

  it("is filtered by category, with the categories below", async () => {
    const [parent = ""] = await select(
      `select c.id from category c where merchant_id = '${first()}' and exists (
        select from category b join product_category pc on pc.category_id = b.id where b.parent_id = c.id)
       limit 1`,
    );
    const expected = await where(
      `id in (select product_id from product_category where category_id = '${parent}' or category_id in (
        select id from category where parent_id = '${parent}' or parent_id in (
          select id from category where parent_id = '${parent}')))`,
    );
    expect(expected.length).toBeGreaterThan(1);
    expect(await idsOf(`products(first: 100, categoryId: "${parent}")`)).toEqual(expected);
  });

  it.each([
    ["IN_STOCK", "sl.on_hand > sl.reserved"],
    ["LOW_STOCK", "sl.on_hand > sl.reserved and sl.on_hand - sl.reserved <= sl.low_stock_threshold"],
    ["OUT_OF_STOCK", "sl.on_hand <= sl.reserved"],
  ])("is filtered by stock %s", async (stock, condition) => {
    const expected = await where(
      `exists (select from variant v join stock_level sl on sl.variant_id = v.id
        where v.product_id = product.id and ${condition})`,
    );
    expect(expected.length).toBeGreaterThan(0);
    expect(await idsOf(`products(first: 100, stock: ${stock})`)).toEqual(expected);
  });

  it("can start with the newest product", async () => {
    expect(await idsOf("products(first: 5, newestFirst: true)")).toEqual(
      await select(`select id from product where merchant_id = '${first()}' order by id desc limit 5`),
    );
  });
});

interface NewestFirstList {
  readonly field: string;
  readonly id: string;
  readonly rows: string;
  readonly filters: readonly (readonly [argument: string, condition: string])[];
  readonly period: string;
}

/** The lists that are sorted newest first, with the SQL of their rows and with filters. */
const newestFirst: readonly NewestFirstList[] = [
  {
    field: "stockMovements",
    id: "id",
    rows: "select id::text as id from stock_movement where merchant_id = '$' and {} order by created_at desc, stock_movement.id desc",
    filters: [
      ["reason: RECEIVED", "reason = 'received'"],
      ['createdFrom: "2100-01-01T00:00:00Z"', "false"],
    ],
    period: "created",
  },
  {
    field: "promotionRedemptions",
    id: "id",
    rows:
      "select id::text as id from promotion_use where merchant_id = '$' and redeemed_at is not null and {} " +
      "order by redeemed_at desc, promotion_use.id desc",
    filters: [['redeemedTo: "2100-01-01T00:00:00Z"', "true"]],
    period: "redeemed",
  },
  {
    field: "events",
    id: "id",
    rows: "select id from event where merchant_id = '$' and {} order by id desc",
    filters: [
      ['type: "order.placed"', "type = 'order.placed'"],
      ['createdTo: "2000-01-01T00:00:00Z"', "false"],
    ],
    period: "created",
  },
];

describe.each(newestFirst)("the list of $field", ({ field, id, rows, filters, period }) => {
  const expectedRows = (condition: string): Promise<string[]> =>
    select(rows.replace("$", first()).replace("{}", condition));

  it("has all rows, newest first, page by page, forwards and backwards", async () => {
    const expected = await expectedRows("true");
    expect(expected.length).toBeGreaterThan(2);
    const selection = `edges { node { ${id} } } totalCount pageInfo { endCursor startCursor }`;
    const page = await ask(`${field}(first: 2)`, selection);
    expect(page.totalCount).toBe(expected.length);
    const next = await ask(`${field}(first: 2, after: "${page.pageInfo.endCursor}")`, selection);
    const back = await ask(`${field}(last: 2, before: "${next.pageInfo.startCursor}")`, selection);
    const nodesOf = ({ edges }: typeof page): string[] =>
      edges.map(({ node }: { node: Record<string, string> }) => node[id]);
    expect([...nodesOf(page), ...nodesOf(next)]).toEqual(expected.slice(0, 4));
    expect(nodesOf(back)).toEqual(nodesOf(page));
  });

  it.each(filters)("is filtered by %s", async (argument, condition) => {
    expect(await idsOf(`${field}(first: 100, ${argument})`, id)).toEqual(
      (await expectedRows(condition)).slice(0, 100),
    );
  });

  it("is empty of other merchants' rows, refuses a wrong period, and costs few statements", async () => {
    const { edges } = await ask(
      `${field}(first: 100, merchantId: "${world().demo.merchants.second.id}")`,
      `edges { node { ${id} } }`,
      "operator",
    );
    const own = new Set(await expectedRows("true"));
    expect(edges.filter(({ node }: { node: Record<string, string> }) => own.has(node[id] ?? ""))).toEqual([]);
    const { details } = await ask(
      `${field}(${period}From: "2026-01-02T00:00:00Z", ${period}To: "2026-01-02T00:00:00Z")`,
      "totalCount",
    );
    expect(details[0].field).toBe(`/${period}To`);
    const statements = await statementsOf(world(), () => idsOf(`${field}(first: 100)`, id));
    expect(statements.filter((text) => text.includes(" from ")).length).toBeLessThanOrEqual(3);
  });
});

it.each([
  ["stockMovements", "abc"],
  ["promotionRedemptions", "1; drop table cart"],
  ["priceHistory", "1:2"],
])("%s refuses the cursor %s", async (field, cursor) => {
  expect(await ask(`${field}(after: "${cursor}")`, "totalCount")).toMatchObject({
    code: "invalid_field",
    details: [{ field: "/after", code: "invalid_format" }],
  });
});

it.each([
  ["orders", "market", "id or handle of an existing market"],
  ["products", "categoryId", "id of an existing category"],
  ["stockMovements", "variantId", "id of an existing variant"],
  ["priceHistory", "variantId", "id of an existing variant"],
  ["priceHistory", "marketId", "id of an existing market"],
  ["promotionRedemptions", "promotionId", "id of an existing promotion"],
  ["promotionRedemptions", "orderId", "id of an existing order"],
])("%s refuses an unknown %s", async (field, argument, rule) => {
  expect(await ask(`${field}(${argument}: "nope")`, "totalCount")).toMatchObject({
    code: "resource_not_found",
    message: `"${argument}" must be the ${rule}.`,
    details: [{ field: `/${argument}`, code: "unknown" }],
  });
});

it("analysts read neither notes nor buyers, and storefronts read none of the lists", async () => {
  const redemptions = await ask("promotionRedemptions", "edges { node { buyerReference } }", "analyst");
  for (const { node } of redemptions.edges) expect(node).toEqual({ buyerReference: null });
  const movements = await ask("stockMovements", "edges { node { note } }", "analyst");
  for (const { node } of movements.edges) expect(node).toEqual({ note: null });
  for (const field of ["products", "stockMovements", "priceHistory", "promotionRedemptions", "events"])
    expect((await ask(field, "totalCount", "storefront")).code).toBe("role_not_allowed");
});

describe("the list of prices", () => {
  const selection = "edges { cursor node { variantId marketId validFrom amount { amountMinor currency } } }";

  it("has each price once, the newest first, page by page, and backwards from the end", async () => {
    const expected = await select(
      `select variant_id || market_id as id from price where merchant_id = '${first()}'
       order by valid_from desc, variant_id desc, market_id desc`,
    );
    const keyOf = ({ node }: { node: { variantId: string; marketId: string } }): string =>
      node.variantId + node.marketId;
    const found: string[] = [];
    for (let after = ""; found.length < expected.length;) {
      const { edges } = await ask(`priceHistory(first: 60${after})`, selection);
      expect(edges.length).toBeGreaterThan(0);
      found.push(...edges.map(keyOf));
      after = `, after: "${edges.at(-1).cursor}"`;
    }
    expect(found).toEqual(expected);
    const { edges } = await ask("priceHistory(last: 3)", selection);
    expect(edges.map(keyOf)).toEqual(expected.slice(-3));
  });

  it("is filtered by variant and market", async () => {
    const [variant = "", market = ""] = (
      await select(`select variant_id || ' ' || market_id as id from price
        where merchant_id = '${first()}' limit 1`)
    ).flatMap((text) => text.split(" "));
    const { edges } = await ask(`priceHistory(variantId: "${variant}", marketId: "${market}")`, selection);
    expect(edges.length).toBe(
      (
        await select(
          `select 'x' as id from price where variant_id = '${variant}' and market_id = '${market}'`,
        )
      ).length,
    );
  });
});

describe("the list of deliveries", () => {
  it("has the deliveries to all endpoints, filtered by status and creation", async () => {
    const all = await select(
      `select id from webhook_delivery where merchant_id = '${first()}' order by id limit 100`,
    );
    expect(all.length).toBeGreaterThan(2);
    expect(await idsOf("webhookDeliveries(first: 100)")).toEqual(all);
    expect(await idsOf("webhookDeliveries(first: 100, status: SUCCEEDED)")).toEqual(
      await select(`select id from webhook_delivery where merchant_id = '${first()}'
        and status = 'succeeded' order by id limit 100`),
    );
    expect(await idsOf('webhookDeliveries(createdFrom: "2100-01-01T00:00:00Z")')).toEqual([]);
    expect(
      await ask('webhookDeliveries(endpointId: "whe_1", createdFrom: "2026-01-01T00:00:00Z")', "totalCount"),
    ).toMatchObject({ code: "invalid_field", details: [{ field: "/endpointId", code: "not_allowed" }] });
  });

  it("leads from an event to all its deliveries", async () => {
    const [eventId = ""] = await select(
      `select event_id as id from webhook_delivery where merchant_id = '${first()}' order by id limit 1`,
    );
    const [subjectId = ""] = await select(`select subject_id as id from event where id = '${eventId}'`);
    const { edges } = await ask(
      `events(subjectId: "${subjectId}")`,
      "edges { node { id deliveries { id event { id } } } }",
    );
    const found = edges.find(({ node }: { node: { id: string } }) => node.id === eventId);
    expect(found.node.deliveries.map(({ id }: { id: string }) => id)).toEqual(
      await select(`select id from webhook_delivery where event_id = '${eventId}' order by id`),
    );
    expect(await ask('events(type: "order.eaten")', "totalCount")).toMatchObject({
      code: "invalid_field",
      details: [{ field: "/type", code: "not_allowed" }],
    });
  });
});
