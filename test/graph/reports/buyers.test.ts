/** buyerReport: new and repeat buyers and cohorts, with orders made for the test. */
import { beforeAll, describe, expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";
import { makeOrder, type MarketIds, marketsOf } from "./made-orders.ts";

const counts = "buyers newBuyers repeatBuyers repeatRate orders guestOrders";
const cohorts = "cohorts { month buyers later { month buyers orders } }";

describe("buyerReport", () => {
  const world = useWorld();
  let eur: MarketIds;
  let usd: MarketIds;
  const ask = async (args: string, selection: string, token = "analyst") => {
    const { body } = await world().graphql(`{ report: buyerReport(${args}) { ${selection} } }`, { token });
    return body.errors?.[0]?.extensions ?? body.data.report;
  };

  beforeAll(async () => {
    const markets = await marketsOf(world(), world().demo.merchants.first.id);
    const [inEur, inUsd] = [markets.get("EUR"), markets.get("USD")];
    if (inEur === undefined || inUsd === undefined) throw new Error("The merchant sells in EUR and USD.");
    [eur, usd] = [inEur, inUsd];
    const order = async (
      buyerReference: string | null,
      placedAt: string,
      parts: object = {},
    ): Promise<void> =>
      makeOrder(world(), {
        ...eur,
        currency: "EUR",
        totalMinor: 100,
        placedAt: `${placedAt}T12:00:00Z`,
        ...(buyerReference === null ? {} : { buyerReference }),
        ...parts,
      });
    await order("early", "2036-01-10");
    await order("early", "2036-02-10");
    await order("ann", "2036-02-03");
    await order("ann", "2036-02-20");
    await order("ann", "2036-04-01");
    await order("ben", "2036-02-28");
    await order("ben", "2036-03-05", { isCanceled: true });
    await order("cara", "2036-03-31");
    await order("cara", "2036-04-30");
    await order("dan", "2036-03-10", { ...usd, currency: "USD" });
    await order(null, "2036-03-15");
    await order("late", "2036-05-01");
    await makeOrder(world(), {
      ...eur,
      currency: "EUR",
      totalMinor: 100,
      buyerReference: "midnight",
      placedAt: "2036-02-29T23:30:00Z",
    });
  });

  const period = 'from: "2036-02-01", to: "2036-04-30"';

  it("counts new, repeat and all buyers, and orders of guests; canceled orders do not count", async () => {
    expect((await ask(period, `totals { ${counts} }`)).totals).toEqual({
      buyers: 6,
      newBuyers: 5,
      repeatBuyers: 3,
      repeatRate: 0.5,
      orders: 9,
      guestOrders: 1,
    });
  });

  it("lists by the month of the first order when buyers came back, with days of the time zone", async () => {
    expect((await ask(period, cohorts)).cohorts).toEqual([
      { month: "2036-02-01", buyers: 3, later: [{ month: "2036-04-01", buyers: 1, orders: 1 }] },
      { month: "2036-03-01", buyers: 2, later: [{ month: "2036-04-01", buyers: 1, orders: 1 }] },
    ]);
    const local = await ask(`${period}, timeZone: "Europe/Berlin"`, "cohorts { month buyers }");
    expect(local.cohorts).toEqual([
      { month: "2036-02-01", buyers: 2 },
      { month: "2036-03-01", buyers: 3 },
    ]);
  });

  it("counts only orders of a market, and nothing in an empty period", async () => {
    const { totals } = await ask(
      `${period}, market: "${usd.handle}", timeZone: "UTC"`,
      `totals { ${counts} }`,
    );
    expect(totals).toEqual({
      buyers: 1,
      newBuyers: 1,
      repeatBuyers: 0,
      repeatRate: 0,
      orders: 1,
      guestOrders: 0,
    });
    expect(await ask('from: "2040-01-01", to: "2040-01-02"', `totals { ${counts} } ${cohorts}`)).toEqual({
      totals: { buyers: 0, newBuyers: 0, repeatBuyers: 0, repeatRate: null, orders: 0, guestOrders: 0 },
      cohorts: [],
    });
  });

  it("is refused for storefronts", async () => {
    expect((await ask(period, "totals { buyers }", "storefront")).code).toBe("role_not_allowed");
  });
});
