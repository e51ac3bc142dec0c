/** The table of results of the benchmark: its form, and its replacement in bench/README.md. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { alignMarkdownTable, type ReportRow, toResultCells } from "#bench/report.ts";
import { updateResultTable } from "#bench/result-table.ts";
import { scenarios } from "#bench/scenarios.ts";
import { servers } from "#bench/servers.ts";

const row: ReportRow = {
  scenario: "cart",
  server: "ours",
  ratio: { median: 1.234, min: 1, max: 1.5 },
  cpuRatio: 0.987,
  requestsPerSecond: 3456.7,
  serverCpuMicros: 170.4,
  postgresCpuMicros: 130.6,
  p50Ms: 1.2345,
  p99Ms: 12.3,
  evenPerSecond: 268,
  residentMegabytes: 287.4,
  coldStartMs: 1797.2,
  measured: "2026-01-02 --quick",
};
const order = { scenarios: ["product", "cart"], servers: ["yardstick", "ours"] };
const withTable = (table: string): string =>
  `# Text before\n\n<!-- results:start -->\n\n${table}\n\n<!-- results:end -->\n\nText after`;

describe("the table of results", () => {
  it("rounds the values", () => {
    const [titles = [], cells = []] = toResultCells([row]);
    expect(titles.map((title, index) => `${title}: ${cells[index]}`)).toEqual([
      "scenario: cart",
      "server: ours",
      "ratio (min–max): 1.23 (1.00–1.50)",
      "requests/s: 3457",
      "CPU ratio: 0.99",
      "server CPU µs: 170",
      "PostgreSQL CPU µs: 131",
      "p50 ms: 1.23",
      "p99 ms: 12.30",
      "at rate/s: 268",
      "RSS MB: 287",
      "start ms: 1797",
      "measured: 2026-01-02 --quick",
    ]);
  });

  it("aligns two columns of names to the left, and the columns of numbers to the right", () => {
    const lines = [
      ["scenario", "server", "p50 ms", "RSS MB"],
      ["cart", "yardstick", "1.25", "1287"],
    ];
    expect(alignMarkdownTable(lines).split("\n")).toEqual([
      "| scenario | server    | p50 ms | RSS MB |",
      "| -------- | --------- | -----: | -----: |",
      "| cart     | yardstick |   1.25 |   1287 |",
    ]);
  });

  it("replaces the measured rows, keeps the other rows and the text, and sorts the rows", () => {
    const old = { ...row, server: "yardstick", measured: "2025-12-31" };
    const document = withTable(alignMarkdownTable(toResultCells([{ ...row, p50Ms: 99 }, old])));
    const product = { ...row, scenario: "product" };
    expect(updateResultTable(document, toResultCells([row, product]), order)).toBe(
      withTable(alignMarkdownTable(toResultCells([product, old, row]))),
    );
  });

  it("creates a table between empty markers", () => {
    expect(updateResultTable(withTable(""), toResultCells([row]), order)).toBe(
      withTable(alignMarkdownTable(toResultCells([row]))),
    );
  });

  it("refuses a document without markers and a table with other columns", () => {
    expect(() => updateResultTable("# Text", toResultCells([row]), order)).toThrow("<!-- results:start -->");
    const other = withTable(alignMarkdownTable([["scenario", "server", "speed"]]));
    expect(() => updateResultTable(other, toResultCells([row]), order)).toThrow(
      "not scenario, server, speed",
    );
  });

  it("is in bench/README.md exactly as the command writes it", () => {
    const document = readFileSync(new URL("../../bench/README.md", import.meta.url), "utf8");
    const names = { scenarios: Object.keys(scenarios), servers: servers.map(({ name }) => name) };
    expect(updateResultTable(document, toResultCells([]), names)).toBe(document);
  });
});
