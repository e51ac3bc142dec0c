/**
 * The list of measured guarantees names existing soak tests and test files, and docs/figures.md shows what
 * was measured, what was not, and what is worse than guaranteed.
 */
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { measuredGuarantees } from "#soak/figure-list.ts";
import { renderFigures } from "#soak/figure-table.ts";
import { soakTests } from "#soak/soak-tests.ts";
import { type FigureRecord, readRecords } from "#soak/record.ts";
import { suites } from "#soak/suites.ts";

const record: FigureRecord = {
  figure: 1,
  name: "crash",
  engine: "pglite",
  minutes: 30,
  counts: { kills: 50, keys: 20_000 },
  violations: 0,
  date: "2026-01-02",
  machine: "a machine",
};
/** The section of a guarantee as one line of text. */
const sectionOf = (records: readonly FigureRecord[], number: number): string =>
  (renderFigures(records).split(/^## Guarantee /m)[number] ?? "").replaceAll(/\s+/g, " ");

describe("the list of figures", () => {
  it("has nineteen figures, in order", () => {
    expect(measuredGuarantees.map(({ number }) => number)).toEqual(
      Array.from({ length: 19 }, (_, index) => index + 1),
    );
  });

  it("names existing commands, on the engines that they support", () => {
    const known = soakTests.map(({ name, engines }) => ({ name, engines }));
    const shown = measuredGuarantees
      .flatMap(({ measurements }) => measurements)
      .filter(({ command }) => command.startsWith("npm run soak"));
    for (const { name, engines } of shown) expect(known).toContainEqual({ name, engines });
  });

  it("names existing files of this suite", () => {
    const files = [
      ...measuredGuarantees.flatMap(({ shortTests }) => shortTests),
      ...Object.values(suites).flat(),
    ];
    expect(files.filter((file) => !existsSync(new URL(`../${file}`, import.meta.url)))).toEqual([]);
  });

  it("has an entry for every record", () => {
    const named = new Set(
      measuredGuarantees.flatMap(({ measurements }) => measurements.map(({ name }) => name)),
    );
    expect(readRecords().filter(({ name }) => !named.has(name))).toEqual([]);
  });
});

describe("the table of figures", () => {
  it("states what was measured, when and where", () => {
    expect(sectionOf([record], 1)).toContain(
      "**crash, PGlite**: kills of a process: 50, keys: 20 000; 0 violations (2026-01-02, 30 min, machine A)",
    );
    expect(renderFigures([record])).toContain("Machine A: a machine.");
  });

  it("states what was not measured, and what was measured with less than the guaranteed amount", () => {
    expect(sectionOf([record], 1)).toContain("**crash, PostgreSQL**: not measured yet");
    expect(sectionOf([record], 1)).not.toContain("not at this size yet");
    const small = { ...record, counts: { kills: 2, keys: 1_500 } };
    expect(sectionOf([small], 1)).toContain("**not at this size yet: 2 of 50 kills, 1 500 of 20 000 keys**");
  });

  it("states what is worse than guaranteed, separately for each engine", () => {
    const half = {
      ...record,
      figure: 16,
      name: "memory",
      counts: { "minutes of load": 12, "MB a minute": 0.4, "descriptors more": 1 },
    };
    const row = sectionOf(
      [half, { ...half, engine: "postgres", counts: { ...half.counts, "minutes of load": 48 } }],
      16,
    );
    expect(row).toContain(
      "0 violations; **above: descriptors more is 1, promised 0**; **below: minutes of load is 12, promised 30** (2026",
    );
    expect(row.match(/below: minutes of load/g)).toHaveLength(1);

    const slow = { ...record, name: "bystanders", engine: "postgres" as const, counts: { "p99 ratio": 2.5 } };
    expect(sectionOf([slow], 3)).toContain("**above: p99 ratio is 2.5, promised 2**");
  });
});
