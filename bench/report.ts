/** Formats the measured values as Markdown tables. */
import type { MeasurementRow } from "./measure.ts";

export interface ColdStart {
  readonly server: string;
  readonly coldStartMs: number;
}

/** The columns of a table. The first two columns are names, and the other columns are values. */
export type Columns<Line> = readonly (readonly [title: string, cell: (line: Line) => string])[];

const columns: Columns<MeasurementRow> = [
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
];

export const formatRows = (rows: readonly MeasurementRow[]): string => formatMarkdownTable(rows, columns);

export function formatMarkdownTable<Line>(all: readonly Line[], shown: Columns<Line>): string {
  const cells = [shown.map(([title]) => title), ...all.map((one) => shown.map(([, cell]) => cell(one)))];
  const widths = shown.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  // The first two columns are left-aligned; the others are numbers.
  const padded = (cell: string, column: number): string =>
    column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const lines = cells.map((line) => `| ${line.map(padded).join(" | ")} |`);
  const rules = widths.map((width, column) =>
    column < 2 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`,
  );
  return [lines[0], `|${rules.join("|")}|`, ...lines.slice(1)].join("\n");
}

export function formatColdStarts(starts: readonly ColdStart[]): string {
  const times = starts.map(({ server, coldStartMs }) => `${server} ${coldStartMs.toFixed(0)} ms`);
  return `Cold start, from the process's start to its first answer: ${times.join(", ")}`;
}
