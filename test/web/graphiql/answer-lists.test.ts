/** The lists of an answer as rows with flat columns, and as CSV. */
import { describe, expect, it } from "vitest";
import {
  type ListInGraphqlAnswer,
  findListsInGraphqlAnswer,
} from "#pages/graphiql/browser/result/answer-lists.ts";
import { getAnswerCsvFileName, formatAnswerListAsCsv } from "#pages/graphiql/browser/result/csv-file.ts";

const orders = {
  data: {
    orders: {
      totalCount: 7,
      pageInfo: { hasNextPage: true },
      edges: [
        {
          node: {
            number: "A-1",
            totals: { total: { amountMinor: 1200, currency: "EUR" } },
            tags: ["new", "gift"],
            returns: [],
            lines: [
              { sku: "X", quantities: { ordered: 2 } },
              { sku: "Y", quantities: { ordered: 1 } },
            ],
            refunds: { edges: [] },
          },
        },
        { node: { number: "A-2", totals: null, tags: [], returns: [], lines: [], refunds: { edges: [] } } },
        { node: null },
      ],
    },
  },
};
const pathsOf = (lists: readonly ListInGraphqlAnswer[]): string[] => lists.map(({ path }) => path);

describe("lists of an answer", () => {
  it("have a row per item with dotted columns, and the number of items of the whole connection", () => {
    const [list] = findListsInGraphqlAnswer(orders);
    expect(list).toEqual({
      path: "orders",
      totalCount: 7,
      columns: [
        "number",
        "totals.total.amountMinor",
        "totals.total.currency",
        "tags",
        "lines (count)",
        "refunds (count)",
        "totals",
      ],
      rows: [
        {
          number: "A-1",
          "totals.total.amountMinor": 1200,
          "totals.total.currency": "EUR",
          tags: "new; gift",
          "lines (count)": 2,
          "refunds (count)": 0,
        },
        { number: "A-2", totals: null, "refunds (count)": 0 },
      ],
    });
  });

  it("inside other lists begin with the simple fields of the item that contains them", () => {
    const lists = findListsInGraphqlAnswer(orders);
    expect(pathsOf(lists)).toEqual(["orders", "orders.lines", "orders.refunds"]);
    expect(lists[1]?.rows).toEqual([
      { "orders.number": "A-1", sku: "X", "quantities.ordered": 2 },
      { "orders.number": "A-1", sku: "Y", "quantities.ordered": 1 },
    ]);
  });

  it("are found in arrays of arrays of objects, in nodes, and below objects", () => {
    const report = {
      data: {
        salesReport: {
          period: { startsAt: "2026-01-01" },
          currencies: [{ totals: { currency: "SEK", orders: 3 }, buckets: [{ day: "2026-01-02" }] }],
        },
        products: { nodes: [{ id: "p" }] },
        none: [],
        names: ["a"],
      },
    };
    const lists = findListsInGraphqlAnswer(report);
    expect(pathsOf(lists)).toEqual([
      "salesReport.currencies",
      "salesReport.currencies.buckets",
      "products",
      "none",
    ]);
    expect(lists[0]?.columns).toEqual(["totals.currency", "totals.orders", "buckets (count)"]);
  });

  it.each([
    undefined,
    null,
    "text",
    {},
    { data: null },
    { errors: [] },
    { data: { viewer: { role: "admin" } } },
  ])("are none in %j", (answer) => expect(findListsInGraphqlAnswer(answer)).toEqual([]));
});

describe("CSV", () => {
  it("quotes commas, quotes and line breaks, and ends each line with CRLF (RFC 4180)", () => {
    const rows = [{ a: 'say "hi"', b: "x,y" }, { a: "one\ntwo" }, { a: null, b: true }];
    expect(formatAnswerListAsCsv({ columns: ["a", "b"], rows })).toBe(
      'a,b\r\n"say ""hi""","x,y"\r\n"one\ntwo",\r\n,true\r\n',
    );
  });

  it.each(["=1+1", "+49 30", "-2", "@SUM(A1)", "\tx", "＝1"])("makes %j a text, not a formula", (text) => {
    const [, line] = formatAnswerListAsCsv({ columns: ["a"], rows: [{ a: text }] }).split("\r\n");
    expect(line).toBe(`'${text}`);
  });

  it("keeps negative numbers, and guards names of columns too", () => {
    expect(formatAnswerListAsCsv({ columns: ["=x"], rows: [{ "=x": -5 }] })).toBe("'=x\r\n-5\r\n");
  });

  it("is named by the list and the day", () => {
    expect(getAnswerCsvFileName({ path: "orders.lines" }, new Date("2026-01-31T23:00:00Z"))).toBe(
      "orders-lines-2026-01-31.csv",
    );
  });
});
