/**
 * The result of a soak test: its size, its measured values, and a sentence for each violation of the
 * guarantee.
 */
export interface Report {
  readonly figure: string;
  /** The database engine; `both` for test files that choose their engines. */
  readonly engine: "pglite" | "postgres" | "both";
  readonly counts: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
}

const shownMax = 10;

/** Formats reports as a Markdown table. */
export function formatTable(reports: readonly Report[]): string {
  const rows = reports.map(({ figure, engine, counts, violations }) => [
    figure,
    engine,
    formatCounts(counts),
    String(violations.length),
  ]);
  const cells = [["figure", "engine", "counts", "violations"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`,
  );
  return [lines[0], `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...lines.slice(1)].join(
    "\n",
  );
}

function formatCounts(counts: Report["counts"]): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count.toLocaleString("en").replaceAll(",", " ")}`)
    .join(", ");
}

export function formatViolations(reports: readonly Report[]): string {
  return reports
    .flatMap(({ figure, engine, violations }) => [
      ...violations.slice(0, shownMax).map((violation) => `${figure} on ${engine}: ${violation}`),
      ...(violations.length > shownMax
        ? [`${figure} on ${engine}: and ${violations.length - shownMax} more`]
        : []),
    ])
    .join("\n");
}
