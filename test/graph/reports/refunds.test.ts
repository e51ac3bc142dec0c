/** refundReport: compared with sums of the demo's refunds, and with orders made for the test. */
import { describe, expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";
import { makeOrder, marketsOf } from "./made-orders.ts";
import { periodArgumentsOfDemo } from "#test/support/test-clock.ts";

const figures = "currency refunds refundedMinor pendingMinor failedMinor";

interface Row {
  readonly currency: string;
  readonly refundedMinor: number;
}

describe("refundReport", () => {
  const world = useWorld();
  const ask = async (args: string, selection: string, token = "analyst") => {
    const { body } = await world().graphql(`{ report: refundReport(${args}) { ${selection} } }`, { token });
    return body.errors?.[0]?.extensions ?? body.data.report;
  };

  it("adds up the demo's refunds by currency and reason", async () => {
    const rows = await world()
      .database.db.selectFrom("refund")
      .select(["currency", "reason", "status", "amountMinor"])
      .where("merchantId", "=", world().demo.merchants.first.id)
      .execute();
    const sum = (found: typeof rows) => {
      const of = (status: string): number =>
        found.reduce((total, row) => total + (row.status === status ? row.amountMinor : 0), 0);
      return {
        currency: found[0]?.currency,
        refunds: found.length,
        refundedMinor: of("succeeded"),
        pendingMinor: of("pending"),
        failedMinor: of("failed"),
      };
    };
    const { totals, reasons } = await ask(
      periodArgumentsOfDemo(),
      `totals { ${figures} } reasons { reason ${figures} }`,
    );
    const byCurrency = Map.groupBy(rows, ({ currency }) => currency);
    expect(byCurrency.size).toBeGreaterThan(0);
    for (const total of totals)
      expect(total).toEqual({ ...sum(byCurrency.get(total.currency) ?? []), currency: total.currency });
    const groups = Map.groupBy(rows, ({ currency, reason }) => `${currency} ${reason}`);
    expect(reasons).toHaveLength(groups.size);
    for (const { reason, ...row } of reasons)
      expect([reason, row]).toEqual([reason, sum(groups.get(`${row.currency} ${reason}`) ?? [])]);
    const sorted = reasons.toSorted(
      (one: Row, other: Row) =>
        Number(one.currency > other.currency) - Number(one.currency < other.currency) ||
        other.refundedMinor - one.refundedMinor,
    );
    expect(reasons).toEqual(sorted);
  });

  it("counts succeeded and failed refunds separately, in the period, market and currency", async () => {
    const markets = await marketsOf(world(), world().demo.merchants.first.id);
    const eur = markets.get("EUR");
    if (eur === undefined) throw new Error("The merchant sells in EUR.");
    await makeOrder(world(), {
      ...eur,
      currency: "EUR",
      placedAt: "2034-02-01T23:30:00Z",
      totalMinor: 900,
      refunds: [
        { amountMinor: 200, status: "succeeded" },
        { amountMinor: 70, status: "failed" },
      ],
    });
    const day = 'from: "2034-02-01", to: "2034-02-01", timeZone: "UTC"';
    const row = { currency: "EUR", refunds: 2, refundedMinor: 200, pendingMinor: 0, failedMinor: 70 };
    expect(await ask(day, `reasons { reason ${figures} }`)).toEqual({
      reasons: [{ reason: "other", ...row }],
    });
    expect(await ask(`${day}, market: "${eur.handle}"`, `totals { ${figures} }`)).toEqual({ totals: [row] });
    const usd = markets.get("USD")?.handle;
    expect(await ask(`${day}, market: "${usd}"`, "reasons { refunds }")).toEqual({ reasons: [] });
    const next = 'from: "2034-02-02", to: "2034-02-02", timeZone: "Europe/Berlin"';
    expect(await ask(next, "reasons { refunds }")).toEqual({ reasons: [{ refunds: 2 }] });
  });

  it("is refused for storefronts", async () => {
    expect((await ask('from: "2026-01-01", to: "2026-01-01"', "totals { refunds }", "storefront")).code).toBe(
      "role_not_allowed",
    );
  });
});
