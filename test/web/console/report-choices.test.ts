/** The choices of the console's reports: how they are read from the address, checked, and sent. */
import { describe, expect, it } from "vitest";
import {
  chooseReportChartInterval,
  findReportFilterFault,
  getReportCsvPath,
  getDateDaysAgo,
  getReportsPagePath,
  listReportPeriodPresets,
  parseReportFilter,
} from "#pages/console/browser/reports/report-choices.ts";

const now = new Date("2026-03-01T23:30:00.000Z");
const read = (query: string) => parseReportFilter(new URLSearchParams(query), now);
const chosen = "report=returns&from=2026-01-05&to=2026-02-04&zone=Europe%2FBerlin&currency=EUR";

describe("the choices of the reports", () => {
  it("are the last 30 days of sales in all currencies by default, in days of the time zone", () => {
    expect(read("zone=UTC")).toEqual({
      report: "sales",
      from: "2026-01-31",
      to: "2026-03-01",
      timeZone: "UTC",
      currency: null,
    });
    expect(read("zone=Europe/Berlin").to).toBe("2026-03-02");
    expect(getDateDaysAgo(1, "America/New_York", now)).toBe("2026-02-28");
  });

  it("are written to the address as they were read from it", () => {
    expect(getReportsPagePath(read(chosen))).toBe(`/reports?${chosen}`);
  });

  it("replace values that are none by the default", () => {
    expect(read("report=x&from=2026-02-31x&to=later&currency=euro&zone=UTC")).toEqual(read("zone=UTC"));
  });

  it.each([
    ["from=2026-01-02&to=2026-01-01&zone=UTC", "The last day must not be before the first day."],
    ["from=2024-01-01&to=2026-01-01&zone=UTC", "These are 732 days. A report covers at most 731 days."],
    ["zone=Europe/Nowhere", /^There is no time zone “Europe\/Nowhere”\./],
    [chosen, undefined],
  ])("are refused with a sentence if no report can be read: %s", (query, fault) => {
    const found = findReportFilterFault(read(query));
    if (fault === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(fault);
  });

  it("divide long periods into weeks and months", () => {
    const of = (to: string) => chooseReportChartInterval({ from: "2026-01-01", to, timeZone: "UTC" });
    expect([of("2026-03-03"), of("2026-03-04"), of("2027-01-01"), of("2027-01-02")]).toEqual([
      "DAY",
      "WEEK",
      "WEEK",
      "MONTH",
    ]);
  });

  it("lead to the CSV file, with the interval of the chart if the report has one", () => {
    expect(getReportCsvPath(read("from=2026-01-01&to=2026-01-31&zone=UTC"))).toBe(
      "/reports/sales.csv?from=2026-01-01&to=2026-01-31&timeZone=UTC&interval=day",
    );
    expect(getReportCsvPath(read(chosen))).toBe(
      "/reports/returns.csv?from=2026-01-05&to=2026-02-04&timeZone=Europe%2FBerlin",
    );
  });

  it("lead to the CSV file of the stock without a period, which the report on the stock does not have", () => {
    expect(getReportCsvPath(read("report=inventory&zone=UTC"))).toBe("/reports/inventory.csv?days=30");
  });

  it("offer periods that end today, and the whole last month", () => {
    expect(listReportPeriodPresets("UTC", now)).toEqual([
      { name: "7 days", from: "2026-02-23", to: "2026-03-01" },
      { name: "30 days", from: "2026-01-31", to: "2026-03-01" },
      { name: "This month", from: "2026-03-01", to: "2026-03-01" },
      { name: "Last month", from: "2026-02-01", to: "2026-02-28" },
      { name: "This year", from: "2026-01-01", to: "2026-03-01" },
    ]);
    expect(getDateDaysAgo(1, "UTC", new Date("2024-03-01T12:00:00Z"))).toBe("2024-02-29");
  });
});
