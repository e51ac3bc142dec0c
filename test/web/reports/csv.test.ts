/**
 * Reports as CSV tables: RFC 4180, for viewers who can read reports in the graph, with formulas in texts
 * defused.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeOrder, marketsOf } from "#test/graph/reports/made-orders.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";
import { csvReports } from "#graphql/reports/csv-reports.ts";
import {
  addMajorUnitAmountCells,
  getMajorUnitAmountColumns,
  formatCsvReport,
} from "#graphql/reports/csv-table.ts";
import { periodOfDemo } from "#test/support/test-clock.ts";

describe("GET /reports/NAME.csv", () => {
  const world = useWorld();
  const get = (path: string, token: string | null = "analyst"): Promise<Answer> => {
    const { tokens } = world().demo;
    const value = token !== null && token in tokens ? tokens[token as keyof typeof tokens] : token;
    return world().get(`/reports/${path}`, value === null ? {} : { authorization: `Bearer ${value}` });
  };
  const span = "from=2031-05-01&to=2031-05-02";

  beforeAll(async () => {
    const eur = (await marketsOf(world(), world().demo.merchants.first.id)).get("EUR");
    if (eur === undefined) throw new Error("The demo sells in EUR.");
    await makeOrder(world(), {
      ...eur,
      currency: "EUR",
      placedAt: "2031-05-01T12:00:00Z",
      totalMinor: 12_345,
      units: [2],
    });
    await world().database.db.deleteFrom("searchQueryDay").execute();
    const queries = ["=1+1", "+cmd", "-2", "@sum", 'a "quoted", one', "zelt"];
    await world()
      .database.db.insertInto("searchQueryDay")
      .values(
        queries.map((query) => ({
          day: "2031-05-01",
          merchantId: null,
          country: "DE",
          query,
          searches: 5,
          empty: 5,
        })),
      )
      .execute();
  });
  afterAll(async () => void (await world().database.db.deleteFrom("searchQueryDay").execute()));

  it("has a header row, a line per bucket and currency, and a file name", async () => {
    const markets = await marketsOf(world(), world().demo.merchants.first.id);
    const { status, headers, text } = await get(
      `sales.csv?${span}&market=${markets.get("EUR")?.handle}&timeZone=UTC`,
    );
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="sales-2031-05-01-2031-05-02.csv"',
      "cache-control": "no-store",
    });
    expect(text).toBe(
      [
        "day,startsAt,endsAt,currency,orders,canceledOrders,units,grossMinor,reducedMinor,netMinor," +
          "refundedMinor,discountMinor,netDiscountMinor,discountShare,shippingMinor,taxMinor,netTaxMinor," +
          "averageOrderMinor,averageNetOrderMinor,exponent,gross,reduced,net,refunded,discount,netDiscount," +
          "shipping,tax,netTax,averageOrder,averageNetOrder",
        "2031-05-01,2031-05-01T00:00:00.000Z,2031-05-02T00:00:00.000Z,EUR,1,0,2,12345,0,12345,0,0,0,0,0,0,0," +
          "12345,12345,2,123.45,0.00,123.45,0.00,0.00,0.00,0.00,0.00,0.00,123.45,123.45",
        "2031-05-02,2031-05-02T00:00:00.000Z,2031-05-03T00:00:00.000Z,EUR,0,0,0,0,0,0,0,0,0,,0,0,0,,," +
          "2,0.00,0.00,0.00,0.00,0.00,0.00,0.00,0.00,0.00,,",
        "",
      ].join("\r\n"),
    );
  });

  it("has the taxes of each country and rate", async () => {
    const { from, to } = periodOfDemo();
    const { status, text } = await get(`taxes.csv?from=${from}&to=${to}`);
    expect(status).toBe(200);
    const [header, ...lines] = text.split("\r\n");
    expect(header).toBe(
      "country,currency,taxClass,name,basisPoints,orders,taxableMinor,taxMinor,netTaxMinor,exponent," +
        "taxable,tax,netTax",
    );
    expect(lines.some((line) => line.startsWith("DE,EUR,standard,MwSt.,1900,"))).toBe(true);
  });

  it("has up to first rows of each list, and says if rows were cut", async () => {
    for (const [first, lines, isTruncated] of [
      ["&first=5", 5, "true"],
      ["&first=6", 6, "false"],
      ["", 6, "false"],
    ] as const) {
      const { headers, text } = await get(`searches.csv?${span}${first}`);
      expect(headers["x-truncated"]).toBe(isTruncated);
      for (const list of ["top,", "withoutResults,"])
        expect(text.split("\r\n").filter((line) => line.startsWith(list))).toHaveLength(lines);
    }
  });

  it("may have more rows than a list in GraphQL, without a cost limit", async () => {
    const { db } = world().database;
    const many = Array.from({ length: 150 }, (_, index) => ({
      day: "2033-01-01",
      merchantId: null,
      country: "DE",
      query: `query ${index}`,
      searches: 3,
      empty: 0,
    }));
    await db.insertInto("searchQueryDay").values(many).execute();
    const span2033 = "from=2033-01-01&to=2033-01-01";
    const { headers, text } = await get(`searches.csv?${span2033}`);
    expect([headers["x-truncated"], text.split("\r\n").length]).toEqual(["false", 152]);
    const cut = await get(`searches.csv?${span2033}&first=149`);
    expect([cut.headers["x-truncated"], cut.text.split("\r\n").length]).toEqual(["true", 151]);
    expect((await get(`products.csv?${span}&first=10000`)).status).toBe(200);
  });

  it("names the unknown parameter and the parameters of the report", async () => {
    const { body } = await get(`sales.csv?${span}&colour=red`);
    expect(body.error.message).toBe(
      'The report does not have the parameter "colour". Its parameters are from, to, merchantId, market, ' +
        "timeZone, interval.",
    );
  });

  it("defuses texts that a spreadsheet would run as formulas, and quotes where needed", async () => {
    const { text } = await get(`searches.csv?${span}&first=6`);
    const lines = text.split("\r\n").filter((line) => line.startsWith("top,"));
    expect(lines).toEqual([
      "top,'+cmd,5,5",
      "top,'-2,5,5",
      "top,'=1+1,5,5",
      "top,'@sum,5,5",
      'top,"a ""quoted"", one",5,5',
      "top,zelt,5,5",
    ]);
  });

  it.each([...csvReports.keys()])(
    "%s: each line has as many cells as columns, for analyst, admin and operator",
    async (name) => {
      for (const token of ["analyst", "admin", "operator"]) {
        const hasPeriod = csvReports.get(name)?.hasPeriod;
        const { status, text } = await get(`${name}.csv${hasPeriod === true ? `?${span}` : ""}`, token);
        expect(status).toBe(200);
        const [header, ...lines] = text.split("\r\n");
        expect(header).toBe(csvReports.get(name)?.columns.join(","));
        for (const line of lines.filter((one) => one !== "" && !one.includes('"')))
          expect(line.split(",")).toHaveLength(header?.split(",").length ?? 0);
      }
    },
  );

  it("refuses with the API's error, which names the parameter", async () => {
    const cases: [path: string, status: number, code: string, field: string | null][] = [
      ["sales.csv", 400, "missing_parameter", "from"],
      ["sales.csv?from=2031-05-01", 400, "missing_parameter", "to"],
      ["sales.csv?from=2031-05-01&to=tomorrow", 400, "invalid_parameter", "to"],
      ["sales.csv?from=2031-05-01&to=2031-05-02&to=2031-05-03", 400, "invalid_parameter", "to"],
      ["sales.csv?from=2031-05-01&to=2034-05-02", 400, "invalid_parameter", "to"],
      [`sales.csv?${span}&timeZone=Nowhere`, 400, "invalid_parameter", "timeZone"],
      [`sales.csv?${span}&interval=fortnight`, 400, "invalid_parameter", "interval"],
      [`sales.csv?${span}&colour=red`, 400, "unknown_parameter", "colour"],
      // Names of properties that every JavaScript object has.
      [`sales.csv?${span}&constructor=x`, 400, "unknown_parameter", "constructor"],
      [`sales.csv?${span}&__proto__=x`, 400, "unknown_parameter", "__proto__"],
      [`sales.csv?${span}&toString=x`, 400, "unknown_parameter", "toString"],
      [`promotions.csv?${span}&first=10001`, 400, "invalid_parameter", "first"],
      [`promotions.csv?${span}&first=0`, 400, "invalid_parameter", "first"],
      [`searches.csv?${span}&country=Germany`, 400, "invalid_parameter", "country"],
      [`sales.csv?${span}&market=nowhere`, 404, "resource_not_found", null],
      [`sales.csv?${span}&merchantId=${world().demo.merchants.second.id}`, 404, "merchant_not_found", null],
      [`inventory.csv?${span}`, 400, "unknown_parameter", "from"],
      ["inventory.csv?days=0", 400, "invalid_parameter", "days"],
      [`profits.csv?${span}`, 404, "route_not_found", null],
      [`sales?${span}`, 404, "route_not_found", null],
    ];
    for (const [path, status, code, field] of cases) {
      const answer = await get(path);
      expect({ path, status: answer.status, code: answer.body.error.code }).toEqual({ path, status, code });
      if (field !== null) expect(answer.body.error.details[0]).toMatchObject({ in: "query", field });
      // Errors name a parameter, not a path in a JSON body.
      expect(answer.body.error.message).not.toMatch(/^\//);
    }
  });

  it("has the cohorts of buyers, and the present stock without a period", async () => {
    const eur = (await marketsOf(world(), world().demo.merchants.first.id)).get("EUR");
    if (eur === undefined) throw new Error("The demo sells in EUR.");
    for (const day of ["2032-01-05", "2032-01-06", "2032-03-07"])
      await makeOrder(world(), {
        ...eur,
        currency: "EUR",
        placedAt: `${day}T12:00:00Z`,
        totalMinor: 100,
        buyerReference: "csv",
      });
    const { text } = await get("buyers.csv?from=2032-01-01&to=2032-03-31");
    expect(text).toBe(
      "firstMonth,month,buyers,orders\r\n2032-01-01,2032-01-01,1,2\r\n2032-01-01,2032-03-01,1,1\r\n",
    );
    const inventory = await get("inventory.csv?first=3");
    expect(inventory.headers["content-disposition"]).toBe('attachment; filename="inventory.csv"');
    expect(inventory.text.trim().split("\r\n")).toHaveLength(4);
  });

  it("requires GET and a token that may read reports", async () => {
    expect(await get(`sales.csv?${span}`, null)).toMatchObject({
      status: 401,
      body: { error: { code: "credentials_missing" } },
    });
    expect(await get(`sales.csv?${span}`, world().demo.keys.full)).toMatchObject({
      status: 401,
      body: { error: { code: "api_key_invalid" } },
    });
    expect(await get(`sales.csv?${span}`, "storefront")).toMatchObject({
      status: 403,
      body: { error: { code: "role_not_allowed" } },
    });
    const posted = await world().send({ method: "POST", url: `/reports/sales.csv?${span}` });
    expect(posted).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
  });
});

describe("a CSV table", () => {
  it("keeps numbers as they are, and null as an empty cell", () => {
    expect(
      formatCsvReport(["a", "b"], [{ a: -1, b: null }, { a: "\tx", b: "two\r\nlines" }, { a: true }]),
    ).toBe('a,b\r\n-1,\r\n\'\tx,"two\r\nlines"\r\ntrue,\r\n');
  });

  it.each(["=1", "+1", "-1", "@a", "\t=1", "＝1", "＋1", "－1", "＠a"])(
    "prevents %j from being a formula",
    (text) => {
      expect(formatCsvReport(["a"], [{ a: text }])).toBe(`a\r\n'${text}\r\n`);
    },
  );

  it("has amounts in major units with the digits of the currency, also of the largest amount", () => {
    expect(getMajorUnitAmountColumns(["currency", "netMinor", "units"])).toEqual(["exponent", "net"]);
    expect(getMajorUnitAmountColumns(["units"])).toEqual([]);
    const columns = ["net", "exponent"];
    const amounts = [
      ["EUR", 5, "0.05,2"],
      ["EUR", -1234, "-12.34,2"],
      ["EUR", 9_007_199_254_740_991, "90071992547409.91,2"],
      ["JPY", 1234, "1234,0"],
      ["KWD", 1, "0.001,3"],
      ["EUR", null, ",2"],
    ] as const;
    for (const [currency, netMinor, line] of amounts)
      expect(formatCsvReport(columns, [addMajorUnitAmountCells({ currency, netMinor })])).toBe(
        `net,exponent\r\n${line}\r\n`,
      );
  });

  it("prevents a formula on a second line", () => {
    expect(formatCsvReport(["a"], [{ a: "\n=1" }])).toBe(`a\r\n"'\n=1"\r\n`);
  });
});
