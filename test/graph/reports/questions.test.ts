/**
 * Fifteen business questions, each answered by one example query of GraphiQL. The answers are compared with
 * figures that the test calculates from the rows of the demo's database.
 */
import { sql } from "kysely";
import { beforeAll, expect, it } from "vitest";
import { reportExamples } from "#pages/graphiql/report-examples.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";

const world = useWorld();

/** The examples with variables of one day: each reading of `variables` calculates them from the current date. */
const examples = reportExamples.map(({ title, query, variables }) => ({ title, query, variables }));

interface Order {
  readonly id: string;
  readonly currency: string;
  readonly country: string;
  readonly status: string;
  readonly totalMinor: number;
  readonly reducedMinor: number;
  readonly discountMinor: number;
  readonly shippingMinor: number | null;
  readonly taxMinor: number | null;
  readonly buyerReference: string | null;
  readonly promotions: readonly { readonly promotionId: string; readonly discountMinor: number }[];
}

interface Line {
  readonly currency: string;
  readonly productId: string;
  readonly variantId: string;
  readonly ordered: number;
  readonly canceled: number;
  readonly returned: number;
  readonly netMinor: number;
}

type Data = Answer["body"];

/** The days of the examples' variables. */
let period: { readonly from: string; readonly to: string };
let orders: readonly Order[];
let lines: readonly Line[];

const read = async <Row>(text: string): Promise<readonly Row[]> =>
  (await sql<Row>`${sql.raw(text)}`.execute(world().database.db)).rows;

const isIn = (column: string): string =>
  `${column} >= '${period.from}T00:00:00Z' and ${column} < timestamptz '${period.to}T00:00:00Z' + interval '1 day'`;

const ofMerchant = (alias: string): string => `${alias}.merchant_id = '${world().demo.merchants.first.id}'`;

beforeAll(async () => {
  const [example] = examples;
  period = JSON.parse(example?.variables ?? "");
  orders = await read<Order>(`select * from sales_order o
    where ${ofMerchant("o")} and ${isIn("placed_at")}`);
  lines = await read<Line>(`select o.currency, l.*, l.total_minor - l.reduced_minor as net_minor
    from sales_order o join order_line l on l.order_id = o.id where ${ofMerchant("o")} and ${isIn("o.placed_at")}`);
  // Without this, no variant of the demo runs out soon.
  const soldMost = sumBy(
    lines,
    ({ variantId }) => variantId,
    ({ ordered }) => ordered,
  )
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, 5)
    .map(([variantId]) => variantId);
  await sql`update stock_level set on_hand = reserved where variant_id = any(${soldMost}::text[])`.execute(
    world().database.db,
  );
});

const sum = <Row>(rows: readonly Row[], value: (row: Row) => number): number =>
  rows.reduce((total, row) => total + value(row), 0);

/** Sums by key, sorted by key, without sums of 0. */
const sumBy = <Row>(
  rows: readonly Row[],
  key: (row: Row) => string,
  value: (row: Row) => number,
): readonly (readonly [string, number])[] =>
  [...Map.groupBy(rows, key)]
    .map(([name, group]) => [name, sum(group, value)] as const)
    .filter(([, total]) => total !== 0)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));

const figuresOf = (rows: readonly Data[], key: (row: Data) => string, field: string) =>
  sumBy(rows, key, (row) => row.totals?.[field] ?? row[field]);

const ofCurrency = (row: { readonly currency: string }): string => row.currency;
const ofCountry = ({ currency, country }: { readonly currency: string; readonly country: string }): string =>
  `${currency} ${country}`;
const totalCurrency = (row: Data): string => row.currency ?? row.totals.currency;

/** Returns the answer to a question, and what it must be. Both must contain something. */
type Check = (data: Data) => Promise<readonly [unknown, unknown]> | readonly [unknown, unknown];

const questions: Readonly<Record<string, Check>> = {
  "Top ten products": ({ productReport: { rows } }) => {
    const expected = sumBy(
      lines,
      (line) => `${line.currency} ${line.productId}`,
      ({ netMinor }) => netMinor,
    )
      .filter(([key]) => key.startsWith("EUR"))
      .map(([, netMinor]) => netMinor)
      .toSorted((one, other) => other - one);
    const found = rows
      .filter(({ currency }: Data) => currency === "EUR")
      .map(({ netMinor }: Data) => netMinor);
    return [found, expected.slice(0, 10)];
  },
  "Revenue by country and week": ({ salesReport: { countries } }) => {
    for (const { totals, buckets } of countries)
      expect(sum(buckets as readonly Data[], ({ netMinor }) => netMinor)).toBe(totals.netMinor);
    return [
      figuresOf(countries, ofCountry, "netMinor"),
      sumBy(orders, ofCountry, ({ totalMinor, reducedMinor }) => totalMinor - reducedMinor),
    ];
  },
  "Average order value": ({ salesReport: { currencies } }) => {
    const average = [...Map.groupBy(orders, ofCurrency)].map(([currency, group]): [string, number] => [
      currency,
      Math.round(sum(group, ({ totalMinor }) => totalMinor) / group.length),
    ]);
    return [
      figuresOf(currencies, totalCurrency, "averageOrderMinor"),
      average.toSorted(([one], [other]) => (one < other ? -1 : 1)),
    ];
  },
  "Products that come back most often": ({ productReport: { rows } }) => {
    const rates = [...Map.groupBy(lines, (line) => `${line.currency} ${line.variantId}`).values()].map(
      (group) =>
        sum(group, ({ returned }) => returned) / sum(group, ({ ordered, canceled }) => ordered - canceled),
    );
    const highest = Math.max(...rates.filter((rate) => Number.isFinite(rate)));
    expect(highest).toBeGreaterThan(0);
    return [Math.max(...rows.map(({ returnRate }: Data) => returnRate ?? 0)), highest];
  },
  Promotions: ({ promotionReport: { promotions } }) => {
    for (const { title } of promotions) expect(title).toEqual(expect.any(String));
    return [
      figuresOf(promotions, ({ promotionId }) => promotionId, "discountMinor"),
      sumBy(
        orders.flatMap((order) => order.promotions),
        ({ promotionId }) => promotionId,
        ({ discountMinor }) => discountMinor,
      ),
    ];
  },
  Funnel: async ({ funnelReport: { totals } }) => {
    const carts = await read<{ ordered: boolean; checkedOut: boolean }>(`select
      exists (select from sales_order o where o.cart_id = c.id) as ordered,
      exists (select from hosted_checkout_session s where s.cart_id = c.id) as checked_out
      from cart c where ${ofMerchant("c")} and ${isIn("c.created_at")} and c.status <> 'merged'`);
    return [
      [totals.carts, totals.checkouts, totals.orders],
      [
        carts.length,
        carts.filter(({ checkedOut }) => checkedOut).length,
        carts.filter(({ ordered }) => ordered).length,
      ],
    ];
  },
  "Top and zero-result searches": async ({ searchReport: { withoutResults } }) => {
    const rows = await read<{ query: string; empty: number }>(`select query, empty from search_query_day
      where (merchant_id is null or merchant_id = '${world().demo.merchants.first.id}')
      and day between '${period.from}' and '${period.to}' and empty > 0`);
    const expected = sumBy(
      rows,
      ({ query }) => query,
      ({ empty }) => empty,
    ).map(([, empty]) => empty);
    return [
      withoutResults.map(({ empty }: Data) => empty),
      expected.toSorted((one, other) => other - one).slice(0, 20),
    ];
  },
  "Stock running out": async ({ inventoryReport: { rows } }) => {
    const stock = await read<{ id: string; free: number }>(`select v.id,
      greatest(coalesce(s.on_hand, 0) - coalesce(s.reserved, 0), 0) as free
      from variant v left join stock_level s on s.variant_id = v.id where ${ofMerchant("v")} and not v.discontinued`);
    const sold = await read<{ id: string; units: number }>(`select l.variant_id as id,
      sum(l.ordered - l.canceled)::int as units from sales_order o join order_line l on l.order_id = o.id
      where ${ofMerchant("o")} and o.placed_at > '${new Date(world().clock.now().getTime() - 30 * 86_400_000).toISOString()}'
      group by 1`);
    const units = new Map(sold.map((row) => [row.id, row.units]));
    const covers = stock
      .flatMap(({ id, free }) => {
        const soldUnits = units.get(id) ?? 0;
        return soldUnits > 0 ? [Math.floor((free * 30) / soldUnits)] : [];
      })
      .filter((days) => days <= 14)
      .toSorted((one, other) => one - other);
    return [rows.map(({ coverDays }: Data) => coverDays), covers.slice(0, 50)];
  },
  "Webhook health": async ({ webhookHealthReport: { totals } }) => {
    const attempts = await read<{ errorCode: string | null }>(`select a.error_code from webhook_attempt a
      join webhook_delivery d on d.id = a.delivery_id join webhook_endpoint e on e.id = d.endpoint_id
      where ${ofMerchant("e")} and ${isIn("a.started_at")}`);
    const failures = attempts.flatMap(({ errorCode }) => (errorCode === null ? [] : [errorCode]));
    return [
      [totals.attempts, figuresOf(totals.failuresByCode, ({ code }) => code.toLowerCase(), "count")],
      [
        attempts.length,
        sumBy(
          failures,
          (code) => code,
          () => 1,
        ),
      ],
    ];
  },
  "Refunds by reason": async ({ refundReport: { reasons } }) => {
    const refunds = await read<{ currency: string; reason: string; amountMinor: number }>(
      `select * from refund r where ${ofMerchant("r")} and ${isIn("created_at")} and status = 'succeeded'`,
    );
    return [
      figuresOf(reasons, ({ currency, reason }) => `${currency} ${reason}`, "refundedMinor"),
      sumBy(
        refunds,
        ({ currency, reason }) => `${currency} ${reason}`,
        ({ amountMinor }) => amountMinor,
      ),
    ];
  },
  "Repeat buyers": async ({ buyerReport: { totals } }) => {
    const all = await read<{ buyerReference: string | null }>(`select buyer_reference from sales_order o
      where ${ofMerchant("o")} and status <> 'canceled'`);
    const counts = new Map(
      sumBy(
        all,
        ({ buyerReference }) => buyerReference ?? "",
        () => 1,
      ),
    );
    const buyers = new Set(
      orders.flatMap(({ status, buyerReference }) =>
        status === "canceled" || buyerReference === null ? [] : [buyerReference],
      ),
    );
    const repeat = [...buyers].filter((buyer) => (counts.get(buyer) ?? 0) > 1);
    return [
      [totals.buyers, totals.repeatBuyers],
      [buyers.size, repeat.length],
    ];
  },
  "Tax by country": ({ salesReport: { countries } }) => [
    figuresOf(countries, ofCountry, "taxMinor"),
    sumBy(orders, ofCountry, ({ taxMinor }) => taxMinor ?? 0),
  ],
  "Shipping revenue": ({ salesReport: { currencies } }) => [
    figuresOf(currencies, totalCurrency, "shippingMinor"),
    sumBy(orders, ofCurrency, ({ shippingMinor }) => shippingMinor ?? 0),
  ],
  "Share of discounts": ({ salesReport: { currencies } }) => [
    figuresOf(currencies, totalCurrency, "discountShare"),
    [...Map.groupBy(orders, ofCurrency)]
      .map(([currency, group]): [string, number] => {
        const discount = sum(group, ({ discountMinor }) => discountMinor);
        return [currency, discount / (discount + sum(group, ({ totalMinor }) => totalMinor))];
      })
      .filter(([, share]) => share > 0)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  ],
  "Stuck orders": async ({ fulfillmentReport: { unshipped } }) => {
    const rows = await read<{ number: string }>(`select number from sales_order o where ${ofMerchant("o")}
      and status in ('pending', 'confirmed', 'on_hold') and exists (select from order_line l
        where l.order_id = o.id and l.requires_shipping and l.ordered > l.canceled + l.shipped)
      order by placed_at, id limit 20`);
    return [unshipped.oldest.map(({ number }: Data) => number), rows.map(({ number }) => number)];
  },
};

it("there are fifteen questions", () => {
  expect(Object.keys(questions)).toHaveLength(15);
});

it.each(Object.entries(questions))("the example answers the question: %s", async (title, check) => {
  const example = examples.find((candidate) => candidate.title === title);
  if (example === undefined) throw new Error(`GraphiQL has no example "${title}".`);
  const { body } = await world().graphql(example.query, {
    token: "analyst",
    variables: JSON.parse(example.variables ?? "{}") as Record<string, unknown>,
  });
  expect(body.errors).toBeUndefined();
  const [found, expected] = await check(body.data);
  expect(JSON.stringify(expected).length).toBeGreaterThan(2);
  expect(found).toEqual(expected);
});
