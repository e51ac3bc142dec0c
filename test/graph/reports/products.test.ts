/** productReport: compared with figures that are calculated from the demo's order lines, and at its bounds. */
import { beforeAll, describe, expect, it } from "vitest";
import {
  type ProductReportGroup,
  productReportGroups,
  productReportSorts,
} from "#commerce/reports/product-report.ts";
import { useWorld } from "#test/support/use-world.ts";
import { makeOrder, marketsOf } from "./made-orders.ts";
import { periodArgumentsOfDemo } from "#test/support/test-clock.ts";

interface Line {
  readonly keys: Readonly<Record<ProductReportGroup, readonly string[]>>;
  readonly currency: string;
  readonly units: number;
  readonly canceledUnits: number;
  readonly returnedUnits: number;
  readonly grossMinor: number;
  readonly netMinor: number;
}

interface Row extends Omit<Line, "keys"> {
  readonly key: string;
  readonly title: string | null;
  readonly sku: string | null;
  readonly returnRate: number | null;
}

const figures = "currency units canceledUnits returnedUnits returnRate grossMinor netMinor";
const amounts = ["units", "canceledUnits", "returnedUnits", "grossMinor", "netMinor"] as const;
type Sums = Readonly<Record<(typeof amounts)[number], number>>;

const sum = (lines: readonly Line[]): Sums & { returnRate: number | null } => {
  const total = (name: (typeof amounts)[number]): number =>
    lines.reduce((value, line) => value + line[name], 0);
  const sums = Object.fromEntries(amounts.map((name) => [name, total(name)])) as Sums;
  const sent = sums.units - sums.canceledUnits;
  return { ...sums, returnRate: sent === 0 ? null : sums.returnedUnits / sent };
};

describe("productReport", () => {
  const world = useWorld();
  let lines: Line[];
  const days = periodArgumentsOfDemo();
  const ask = async (args: string, selection: string, token = "analyst") => {
    const { body } = await world().graphql(`{ report: productReport(${args}) { ${selection} } }`, { token });
    return body.errors?.[0]?.extensions ?? body.data.report;
  };

  beforeAll(async () => {
    const rows = await world()
      .database.db.selectFrom("salesOrder")
      .innerJoin("orderLine", "orderLine.orderId", "salesOrder.id")
      .select(["salesOrder.currency", "salesOrder.country", "salesOrder.marketId", "productId", "variantId"])
      .select([
        "categoryIds",
        "ordered",
        "canceled",
        "returned",
        "orderLine.totalMinor",
        "orderLine.reducedMinor",
      ])
      .where("salesOrder.merchantId", "=", world().demo.merchants.first.id)
      .execute();
    lines = rows.map((row) => ({
      keys: {
        product: [row.productId],
        variant: [row.variantId],
        category: row.categoryIds,
        country: [row.country],
        market: [row.marketId],
      },
      currency: row.currency,
      units: row.ordered,
      canceledUnits: row.canceled,
      returnedUnits: row.returned,
      grossMinor: row.totalMinor,
      netMinor: row.totalMinor - row.reducedMinor,
    }));
  });

  it("has lines of every kind to add up", () => {
    for (const name of amounts) expect(sum(lines)[name]).toBeGreaterThan(0);
  });

  /** Returns the totals and rows of the report, and the same values calculated from the order lines. */
  const compareSumsBy = async (group: ProductReportGroup) => {
    const { rows, totals } = await ask(
      `${days}, groupBy: ${group.toUpperCase()}, first: 100`,
      `totals { ${figures} } rows { key ${figures} }`,
    );
    const groups = Map.groupBy(
      lines.flatMap((line) => line.keys[group].map((key) => ({ key, line }))),
      ({ key, line: { currency } }) => `${currency} ${key}`,
    );
    return {
      reported: {
        totals: totals as Row[],
        rows: new Map((rows as Row[]).map(({ key, currency, ...row }) => [`${currency} ${key}`, row])),
      },
      calculated: {
        totals: (totals as Row[]).map(({ currency }) =>
          Object.assign({ currency }, sum(lines.filter((line) => line.currency === currency))),
        ),
        rows: new Map([...groups].map(([name, found]) => [name, sum(found.map(({ line }) => line))])),
      },
    };
  };

  it.each(productReportGroups)("adds up the lines by %s", async (group) => {
    const { reported, calculated } = await compareSumsBy(group);
    expect(calculated.rows.size).toBeGreaterThan(0);
    expect(reported).toEqual(calculated);
  });

  it.each(productReportSorts)("orders the rows of each currency by %s", async (sort) => {
    const { rows } = await ask(`${days}, sort: ${sort.toUpperCase()}, first: 100`, `rows { key ${figures} }`);
    const value = (row: Row): number =>
      ({
        net: row.netMinor,
        gross: row.grossMinor,
        units: row.units,
        returned_units: row.returnedUnits,
        return_rate: row.returnRate ?? -1,
      })[sort];
    const sorted = (rows as Row[]).toSorted(
      (one, other) =>
        Number(one.currency > other.currency) - Number(one.currency < other.currency) ||
        value(other) - value(one) ||
        Number(one.key > other.key) - Number(one.key < other.key),
    );
    expect(rows).toEqual(sorted);
  });

  it("lists at most the requested number of rows for each currency, and all of them in the totals", async () => {
    const { rows, totals } = await ask(`${days}, first: 1`, `rows { key ${figures} } totals { ${figures} }`);
    const currencies = (rows as Row[]).map(({ currency }) => currency);
    expect(currencies).toEqual([...new Set(lines.map(({ currency }) => currency))].toSorted());
    expect((totals as Row[])[0]?.units).toBeGreaterThan((rows as Row[])[0]?.units ?? 0);
  });

  it("names products, variants, categories and markets in the merchant's default locale", async () => {
    const titlesOf = async (group: string): Promise<Row[]> =>
      (await ask(`${days}, groupBy: ${group}, first: 100`, "rows { key title sku }")).rows;
    const titled = async (group: string): Promise<(string | null)[]> =>
      (await titlesOf(group)).map(({ title }) => title);
    expect(await titled("PRODUCT")).not.toContain(null);
    expect(await titled("CATEGORY")).not.toContain(null);
    expect(await titled("MARKET")).not.toContain(null);
    expect(new Set(await titled("COUNTRY"))).toEqual(new Set([null]));
    for (const { key, sku, title } of await titlesOf("VARIANT")) {
      const variant = await world()
        .database.db.selectFrom("variant")
        .select(["sku", "productId"])
        .where("id", "=", key)
        .executeTakeFirstOrThrow();
      const translation = await world()
        .database.db.selectFrom("productTranslation")
        .select("title")
        .where("productId", "=", variant.productId)
        .where("locale", "=", "en")
        .executeTakeFirst();
      expect([sku, title]).toEqual([variant.sku, translation?.title ?? title]);
    }
  });

  it("adds up the lines of earlier releases, which have no hash of their categories", async () => {
    await world().database.script((run) =>
      run(`begin; set local session_replication_role = replica;
        update order_line set category_hash = null where ordered % 2 = 1; commit`),
    );
    const { hashed, unhashed } = await world()
      .database.db.selectFrom("orderLine")
      .select(({ fn, eb }) => [
        fn.count<number>("categoryHash").as("hashed"),
        fn
          .countAll<number>()
          .filterWhere(eb("categoryHash", "is", null))
          .as("unhashed"),
      ])
      .executeTakeFirstOrThrow();
    expect(Math.min(hashed, unhashed)).toBeGreaterThan(3);
    const { reported, calculated } = await compareSumsBy("category");
    expect(reported).toEqual(calculated);
  });

  it("counts an order in its period, merchant and market, and names products that are gone by their id", async () => {
    const markets = await marketsOf(world(), world().demo.merchants.first.id);
    const [eur, usd] = [markets.get("EUR"), markets.get("USD")];
    if (eur === undefined || usd === undefined) throw new Error("The merchant sells in EUR and USD.");
    const order = { placedAt: "2033-05-05T23:30:00Z", totalMinor: 5 };
    await makeOrder(world(), { ...order, ...eur, currency: "EUR", units: [2, 3] });
    await makeOrder(world(), { ...order, ...usd, currency: "USD", units: [7] });
    const day = 'from: "2033-05-05", to: "2033-05-05"';
    const rows = "rows { key title units grossMinor currency }";
    const inEur = { key: "prd_x", title: null, units: 5, grossMinor: 2, currency: "EUR" };
    const inUsd = { key: "prd_x", title: null, units: 7, grossMinor: 1, currency: "USD" };
    expect(await ask(day, rows)).toEqual({ rows: [inEur, inUsd] });
    expect(await ask(`${day}, market: "${usd.handle}", timeZone: "UTC"`, rows)).toEqual({ rows: [inUsd] });
    expect(await ask(`${day}, timeZone: "Europe/Berlin"`, rows)).toEqual({ rows: [] });
    const { merchants } = world().demo;
    expect(await ask(`${day}, merchantId: "${merchants.second.id}"`, rows, "operator")).toEqual({ rows: [] });
  });

  it("is refused for storefronts, and for a list that is too long", async () => {
    expect((await ask(days, "rows { key }", "storefront")).code).toBe("role_not_allowed");
    const { code, details } = await ask(`${days}, first: 101`, "rows { key }");
    expect([code, details[0].field]).toEqual(["invalid_field", "/first"]);
  });
});
