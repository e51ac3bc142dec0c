/** salesReport: sales by country, and averages, tax and discounts net of reductions, calculated by hand. */
import { beforeAll, describe, expect, it } from "vitest";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { makeOrder, type MarketIds, marketsOf } from "./made-orders.ts";

const net = "netMinor taxMinor netTaxMinor discountMinor netDiscountMinor averageNetOrderMinor";
const period = 'from: "2037-03-02", to: "2037-03-15", interval: WEEK, timeZone: "UTC"';

describe("salesReport by country", () => {
  const world = useWorld();
  let usd: MarketIds;
  const ask = async (args: string, selection: string, token = "analyst") => {
    const { body } = await world().graphql(`{ report: salesReport(${args}) { ${selection} } }`, { token });
    return body.errors?.[0]?.extensions ?? body.data.report;
  };

  beforeAll(async () => {
    const markets = await marketsOf(world(), world().demo.merchants.first.id);
    const [eur, inUsd] = [markets.get("EUR"), markets.get("USD")];
    if (eur === undefined || inUsd === undefined) throw new Error("The merchant sells in EUR and USD.");
    usd = inUsd;
    const inEur = { ...eur, currency: "EUR" };
    for (const order of [
      {
        ...inEur,
        country: "DE",
        placedAt: "2037-03-02T10:00:00Z",
        totalMinor: 1190,
        taxMinor: 190,
        units: [2],
      },
      {
        ...inEur,
        country: "DE",
        placedAt: "2037-03-09T10:00:00Z",
        totalMinor: 1000,
        reducedMinor: 333,
        taxMinor: 100,
        discountMinor: 50,
      },
      {
        ...inEur,
        country: "AT",
        placedAt: "2037-03-10T10:00:00Z",
        totalMinor: 9000,
        reducedMinor: 9000,
        taxMinor: 900,
        discountMinor: 100,
        isCanceled: true,
      },
      { ...inEur, country: "FR", placedAt: "2037-03-15T23:00:00Z", totalMinor: 0, discountMinor: 700 },
      { ...inUsd, currency: "USD", country: "US", placedAt: "2037-03-03T10:00:00Z", totalMinor: 500 },
    ])
      await makeOrder(world(), order);
  });

  it("lists countries by currency and net amount, with weeks", async () => {
    const { countries } = await ask(
      period,
      "countries { country currency totals { orders netMinor units } buckets { day netMinor } }",
    );
    const week = (first: number, second: number) => [
      { day: "2037-03-02", netMinor: first },
      { day: "2037-03-09", netMinor: second },
    ];
    expect(countries).toEqual([
      {
        country: "DE",
        currency: "EUR",
        totals: { orders: 2, netMinor: 1857, units: 3 },
        buckets: week(1190, 667),
      },
      { country: "AT", currency: "EUR", totals: { orders: 1, netMinor: 0, units: 1 }, buckets: week(0, 0) },
      { country: "FR", currency: "EUR", totals: { orders: 1, netMinor: 0, units: 1 }, buckets: week(0, 0) },
      {
        country: "US",
        currency: "USD",
        totals: { orders: 1, netMinor: 500, units: 1 },
        buckets: week(500, 0),
      },
    ]);
    const first = await ask(period, "countries(first: 1) { country }");
    expect(first.countries).toEqual([{ country: "DE" }, { country: "US" }]);
    const market = await ask(`${period}, market: "${usd.handle}"`, "countries { country }");
    expect(market.countries).toEqual([{ country: "US" }]);
  });

  it("takes tax, discount and the average of an order from what remains of the orders", async () => {
    const { countries, currencies } = await ask(
      period,
      `currencies { totals { currency ${net} } } countries { country totals { ${net} } }`,
    );
    // The second order keeps 667 of 1000: of its tax 66.7, of its discount 33.35, each rounded.
    const germany = {
      netMinor: 1857,
      taxMinor: 290,
      netTaxMinor: 190 + 67,
      discountMinor: 50,
      netDiscountMinor: 33,
      averageNetOrderMinor: 929,
    };
    expect(countries[0]).toEqual({ country: "DE", totals: germany });
    expect(countries[1].totals).toMatchObject({
      netTaxMinor: 0,
      netDiscountMinor: 0,
      averageNetOrderMinor: null,
    });
    expect(countries[2].totals).toMatchObject({ netDiscountMinor: 700, averageNetOrderMinor: 0 });
    const eur = currencies.find(({ totals }: { totals: { currency: string } }) => totals.currency === "EUR");
    expect(eur.totals).toEqual({
      currency: "EUR",
      netMinor: 1857,
      taxMinor: 1190,
      netTaxMinor: 257,
      discountMinor: 850,
      netDiscountMinor: 733,
      averageNetOrderMinor: 619,
    });
  });

  it("lists taxes by country; orders of earlier releases have no recorded rate", async () => {
    const fields = "country taxClass basisPoints orders taxableMinor taxMinor netTaxMinor";
    const { taxes } = await ask(period, `taxes { ${fields} }`);
    const unrecorded = { taxClass: null, basisPoints: null };
    expect(taxes).toEqual([
      { country: "AT", ...unrecorded, orders: 1, taxableMinor: 8100, taxMinor: 900, netTaxMinor: 0 },
      { country: "DE", ...unrecorded, orders: 2, taxableMinor: 1900, taxMinor: 290, netTaxMinor: 257 },
    ]);
    expect((await ask(period, "taxes(first: 1) { country }")).taxes).toEqual([{ country: "AT" }]);
    expect((await ask(period, "taxes(first: 1001) { country }")).details[0].field).toBe("/first");
  });

  it("reads each part only if it is selected, also in a fragment", async () => {
    const orderReads = async (selection: string, rest = ""): Promise<number> => {
      const statements = await statementsOf(world(), () =>
        world().graphql(`{ salesReport(${period}) { ${selection} } } ${rest}`, { token: "analyst" }),
      );
      return statements.filter((text) => text.includes("sales_order")).length;
    };
    expect(await orderReads("period { from }")).toBe(0);
    expect(await orderReads("countries { country }")).toBe(1);
    expect(await orderReads("...Report", "fragment Report on SalesReport { currencies { currency } }")).toBe(
      1,
    );
    expect(await orderReads("... { countries { country } currencies { currency } }")).toBe(2);
  });

  it("refuses more countries than it lists", async () => {
    const { code, details } = await ask(period, "countries(first: 51) { country }");
    expect([code, details[0].field]).toEqual(["invalid_field", "/first"]);
  });
});
