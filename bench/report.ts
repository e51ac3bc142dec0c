/** Formats the measured values as Markdown tables. */
import type { MeasurementRow } from "./measure.ts";

/** A row of the table of results. */
export interface ReportRow extends MeasurementRow {
  /** Milliseconds from the start of the server's process to its first answer. */
  readonly coldStartMs: number;
  /** The date and the options of the measurement. */
  readonly measured: string;
}

/** The columns of a table. The first two columns are names, and the other columns are values. */
export type Columns<Line> = readonly (readonly [title: string, cell: (line: Line) => string])[];

const columns: Columns<ReportRow> = [
  ["scenario", ({ scenario }) => scenario],
  ["server", ({ server }) => server],
  [
    "ratio (min–max)",
    ({ ratio }) => `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})`,
  ],
  ["requests/s", ({ requestsPerSecond }) => requestsPerSecond.toFixed(0)],
  ["CPU ratio", ({ cpuRatio }) => cpuRatio.toFixed(2)],
  ["server CPU µs", ({ serverCpuMicros }) => serverCpuMicros.toFixed(0)],
  ["PostgreSQL CPU µs", ({ postgresCpuMicros }) => postgresCpuMicros.toFixed(0)],
  ["p50 ms", ({ p50Ms }) => p50Ms.toFixed(2)],
  ["p99 ms", ({ p99Ms }) => p99Ms.toFixed(2)],
  ["at rate/s", ({ evenPerSecond }) => String(evenPerSecond)],
  ["RSS MB", ({ residentMegabytes }) => residentMegabytes.toFixed(0)],
  ["start ms", ({ coldStartMs }) => coldStartMs.toFixed(0)],
  ["measured", ({ measured }) => measured],
];

/** Returns the cells of the table of results: a line of titles, and a line for each row. */
export const toResultCells = (rows: readonly ReportRow[]): string[][] => toCells(rows, columns);

function toCells<Line>(all: readonly Line[], shown: Columns<Line>): string[][] {
  return [shown.map(([title]) => title), ...all.map((one) => shown.map(([, cell]) => cell(one)))];
}

export const formatMarkdownTable = <Line>(all: readonly Line[], shown: Columns<Line>): string =>
  alignMarkdownTable(toCells(all, shown));

/** Formats cells as a Markdown table. The first line has the titles. */
export function alignMarkdownTable([titles = [], ...rows]: readonly (readonly string[])[]): string {
  const all = [titles, ...rows];
  const widths = titles.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0)));
  // The first two columns are left-aligned; the others are numbers.
  const padded = (cell: string, column: number): string =>
    column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const rules = widths.map((width, column) => (column < 2 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  const [first = [], ...others] = all.map((line) => line.map(padded));
  return [first, rules, ...others].map((line) => `| ${line.join(" | ")} |`).join("\n");
}
