/**
 * salesReport: figures calculated by hand, local calendar days, and a comparison with a separate sum of the
 * demo's orders.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { makeOrder, type MarketIds, marketsOf } from "./made-orders.ts";

const figures =
  "currency orders canceledOrders units grossMinor reducedMinor netMinor refundedMinor discountMinor " +
  "shippingMinor taxMinor averageOrderMinor";
const zeros = {
  orders: 0,
  canceledOrders: 0,
  units: 0,
  grossMinor: 0,
  reducedMinor: 0,
  netMinor: 0,
  refundedMinor: 0,
  discountMinor: 0,
  shippingMinor: 0,
  taxMinor: 0,
  averageOrderMinor: null,
};

describe("salesReport", () => {
  const world = useWorld();
  let first: ReadonlyMap<string, MarketIds>;
  let second: ReadonlyMap<string, MarketIds>;

  const ask = async (
    args: string,
    selection = `currencies { currency totals { ${figures} } }`,
    token = "analyst",
  ): Promise<unknown> => {
    const { body } = await world().graphql(`{ salesReport(${args}) { ${selection} } }`, { token });
    return body.errors ?? body.data.salesReport;
  };

  beforeAll(async () => {
    const { merchants } = world().demo;
    first = await marketsOf(world(), merchants.first.id);
    second = await marketsOf(world(), merchants.second.id);
    const [eur, usd, theirs] = [first.get("EUR"), first.get("USD"), second.get("EUR")];
    if (eur === undefined || usd === undefined || theirs === undefined)
      throw new Error("The demo sells in these currencies.");
    const made = [
      // The day of 23 hours in Berlin: an order in its first minute and one in its last.
      {
        ...eur,
        placedAt: "2031-03-29T23:00:00Z",
        totalMinor: 1000,
        discountMinor: 200,
        shippingMinor: 490,
        taxMinor: 160,
        units: [2, 3],
      },
      {
        ...eur,
        placedAt: "2031-03-30T21:59:59.999Z",
        totalMinor: 2001,
        units: [1],
        refunds: [{ amountMinor: 300, status: "succeeded" }],
      },
      // The next day.
      { ...eur, placedAt: "2031-03-30T22:00:00Z", totalMinor: 5000, reducedMinor: 5000, isCanceled: true },
      // Two refunds and a failed one, and two lines: still one order.
      {
        ...eur,
        placedAt: "2031-04-01T10:00:00Z",
        totalMinor: 9000,
        reducedMinor: 1500,
        units: [1, 1],
        refunds: [
          { amountMinor: 1000, status: "succeeded" },
          { amountMinor: 500, status: "succeeded" },
          { amountMinor: 7000, status: "failed" },
        ],
      },
      { ...usd, currency: "USD", placedAt: "2031-03-30T12:00:00Z", totalMinor: 777 },
      { ...theirs, placedAt: "2031-03-30T12:00:00Z", totalMinor: 40_000 },
    ] as const;
    for (const order of made) await makeOrder(world(), { currency: "EUR", ...order });
  });

  it("sums each currency separately: gross, reductions, net and refunds", async () => {
    const report = await ask('from: "2031-03-01", to: "2031-04-30", timeZone: "Europe/Berlin"');
    const eur = {
      orders: 4,
      canceledOrders: 1,
      units: 9,
      grossMinor: 17_001,
      reducedMinor: 6500,
      netMinor: 10_501,
      refundedMinor: 1800,
    };
    const rest = { discountMinor: 200, shippingMinor: 490, taxMinor: 160, averageOrderMinor: 4250 };
    const usd = {
      ...zeros,
      currency: "USD",
      orders: 1,
      units: 1,
      grossMinor: 777,
      netMinor: 777,
      averageOrderMinor: 777,
    };
    expect(report).toEqual({
      currencies: [
        { currency: "EUR", totals: { currency: "EUR", ...eur, ...rest } },
        { currency: "JPY", totals: { ...zeros, currency: "JPY" } },
        { currency: "USD", totals: usd },
      ],
    });
  });

  it("counts local days, with 23 hours when clocks go forward, and returns every bucket", async () => {
    const selection =
      "period { timeZone startsAt endsAt } currencies { buckets { day startsAt endsAt orders grossMinor } }";
    const market = first.get("EUR")?.handle;
    expect(await ask(`from: "2031-03-29", to: "2031-04-01", market: "${market}"`, selection)).toEqual({
      period: {
        timeZone: "Europe/Berlin",
        startsAt: "2031-03-28T23:00:00.000Z",
        endsAt: "2031-04-01T22:00:00.000Z",
      },
      currencies: [
        {
          buckets: [
            {
              day: "2031-03-29",
              startsAt: "2031-03-28T23:00:00.000Z",
              endsAt: "2031-03-29T23:00:00.000Z",
              orders: 0,
              grossMinor: 0,
            },
            {
              day: "2031-03-30",
              startsAt: "2031-03-29T23:00:00.000Z",
              endsAt: "2031-03-30T22:00:00.000Z",
              orders: 2,
              grossMinor: 3001,
            },
            {
              day: "2031-03-31",
              startsAt: "2031-03-30T22:00:00.000Z",
              endsAt: "2031-03-31T22:00:00.000Z",
              orders: 1,
              grossMinor: 5000,
            },
            {
              day: "2031-04-01",
              startsAt: "2031-03-31T22:00:00.000Z",
              endsAt: "2031-04-01T22:00:00.000Z",
              orders: 1,
              grossMinor: 9000,
            },
          ],
        },
      ],
    });
  });

  it("counts the same orders by days in UTC if no time zone is given", async () => {
    const report = (await ask(
      'from: "2031-03-29", to: "2031-03-30"',
      "period { timeZone } currencies { currency buckets { day orders } }",
    )) as {
      currencies: unknown[];
    };
    expect(report).toMatchObject({ period: { timeZone: "UTC" } });
    expect(report.currencies[0]).toEqual({
      currency: "EUR",
      buckets: [
        { day: "2031-03-29", orders: 1 },
        { day: "2031-03-30", orders: 2 },
      ],
    });
  });

  it("shows a merchant's analyst only that merchant, and the platform's analyst all", async () => {
    const { merchants } = world().demo;
    const args = 'from: "2031-03-30", to: "2031-03-30"';
    const selection = "currencies { currency totals { grossMinor } }";
    const { body } = await world().graphql(
      'mutation { internalTokenCreate(input: { name: "all", role: ANALYST }) { value } }',
      {
        token: "operator",
      },
    );
    const all = body.data.internalTokenCreate.value as string;
    const grossOf = (report: unknown): unknown =>
      (report as { currencies: { currency: string; totals: { grossMinor: number } }[] }).currencies.find(
        ({ currency }) => currency === "EUR",
      )?.totals.grossMinor;
    expect(grossOf(await ask(args, selection))).toBe(7001);
    expect(grossOf(await ask(args, selection, all))).toBe(47_001);
    expect(grossOf(await ask(`${args}, merchantId: "${merchants.second.id}"`, selection, all))).toBe(40_000);
    expect(await ask(`${args}, merchantId: "${merchants.second.id}"`, selection)).toMatchObject([
      { extensions: { code: "merchant_not_found" } },
    ]);
    const foreign = second.get("EUR")?.marketId;
    expect(await ask(`${args}, market: "${foreign}"`, selection)).toMatchObject([
      { extensions: { code: "resource_not_found" } },
    ]);
    expect(await ask(args, selection, "storefront")).toMatchObject([
      { extensions: { code: "role_not_allowed" } },
    ]);
  });

  it("refuses invalid arguments and names their fields", async () => {
    const cases: [args: string, field: string, message: string][] = [
      [
        'from: "2024-01-01", to: "2026-01-01"',
        "/to",
        "from and to are 732 days, both included; a report covers at most 731 days.",
      ],
      ['from: "2026-01-02", to: "2026-01-01"', "/to", '"to" must not be before "from".'],
      ['from: "1999-12-31", to: "2000-01-01"', "/from", "from must be in the years 2000 to 2199."],
      [
        'from: "2026-01-01", to: "2026-01-15", interval: HOUR',
        "/interval",
        "from and to are 15 days; interval HOUR allows at most 14 days.",
      ],
      [
        'from: "2026-01-01", to: "2026-01-01", timeZone: "Europe/Atlantis"',
        "/timeZone",
        "timeZone must be a name of the IANA time zone database.",
      ],
      [
        'from: "2026-01-01", to: "2026-01-01", timeZone: "+01:00"',
        "/timeZone",
        "timeZone must be a name of the IANA time zone database.",
      ],
    ];
    for (const [args, field, message] of cases) {
      const statements = await statementsOf(world(), async () => {
        expect(await ask(args)).toMatchObject([
          { message, extensions: { code: "invalid_field", details: [{ field, message }] } },
        ]);
      });
      expect(statements.filter((statement) => statement.includes("sales_order"))).toEqual([]);
    }
    expect(await ask('from: "2024-01-01", to: "2025-12-31"', "period { from to }")).toEqual({
      period: { from: "2024-01-01", to: "2025-12-31" },
    });
    const [error] = (await ask('from: "2026-02-30", to: "2026-03-01"')) as unknown[];
    expect(error).toMatchObject({
      message: '"from" must be a day that exists in the calendar, as YYYY-MM-DD.',
      extensions: { code: "invalid_field" },
    });
  });

  it("allows two years by day within the cost limit, and days of 25 hours", async () => {
    const { body } = await world().graphql(
      `query ($from: Date!, $to: Date!, $interval: ReportInterval!) { salesReport(from: $from, to: $to,
        interval: $interval, timeZone: "Europe/Berlin") { currencies { buckets { day ${figures} } } } }`,
      { token: "analyst", variables: { from: "2024-01-01", to: "2025-12-31", interval: "DAY" } },
    );
    expect(body.data.salesReport.currencies[0].buckets).toHaveLength(731);
    expect(body.extensions.cost.requested).toBeLessThan(20_000);
    const hours = (await ask(
      'from: "2031-10-26", to: "2031-10-26", interval: HOUR, timeZone: "Europe/Berlin"',
      "currencies { buckets { day } }",
    )) as {
      currencies: { buckets: unknown[] }[];
    };
    expect(hours.currencies[0]?.buckets).toHaveLength(25);
  });

  it("agrees with the sum of the demo's orders, in four statements beside the token's", async () => {
    const now = world().clock.now();
    const [from, to] = [new Date(now.getTime() - 400 * 86_400_000), now].map((date) =>
      date.toISOString().slice(0, 10),
    );
    const orders = await world()
      .database.db.selectFrom("salesOrder")
      .select(["currency", "placedAt", "status", "totalMinor", "reducedMinor", "discountMinor"])
      .where("merchantId", "=", world().demo.merchants.first.id)
      .execute();
    const expected = new Map<
      string,
      { orders: number; canceledOrders: number; grossMinor: number; netMinor: number; discountMinor: number }
    >();
    for (const order of orders) {
      if (order.placedAt > now) continue;
      const key = `${order.currency} ${order.placedAt.toISOString().slice(0, 10)}`;
      const sum = expected.get(key) ?? {
        orders: 0,
        canceledOrders: 0,
        grossMinor: 0,
        netMinor: 0,
        discountMinor: 0,
      };
      sum.orders += 1;
      sum.canceledOrders += order.status === "canceled" ? 1 : 0;
      sum.grossMinor += order.totalMinor;
      sum.netMinor += order.totalMinor - order.reducedMinor;
      sum.discountMinor += order.discountMinor;
      expected.set(key, sum);
    }
    let report: unknown;
    const statements = await statementsOf(world(), async () => {
      report = await ask(
        `from: "${from}", to: "${to}"`,
        "currencies { currency buckets { day orders canceledOrders grossMinor netMinor discountMinor } }",
      );
    });
    const { currencies } = report as {
      currencies: {
        currency: string;
        buckets: ({ day: string; orders: number } & Record<string, unknown>)[];
      }[];
    };
    const found = currencies.flatMap(({ currency, buckets }) =>
      buckets
        .filter(({ orders: count }) => count > 0)
        .map(({ day, ...rest }): [string, unknown] => [`${currency} ${day}`, rest]),
    );
    expect(new Map(found)).toEqual(expected);
    expect(expected.size).toBeGreaterThan(3);
    expect(statements.filter((statement) => !/internal_token|^begin|^commit/.test(statement))).toHaveLength(
      4,
    );
  });
});
