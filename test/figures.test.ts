/**
 * The list of measured guarantees names existing soak tests and test files, and docs/figures.md shows what
 * was measured, what was not, and what is worse than guaranteed.
 */
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { measuredGuarantees } from "#soak/figure-list.ts";
import { renderFigures } from "#soak/figure-table.ts";
import { soakTests } from "#soak/soak-tests.ts";
import { readArguments } from "#soak/arguments.ts";
import {
  addableTests,
  addToRecord,
  type FigureRecord,
  findNextSeed,
  type MeasuredFigure,
  readRecords,
} from "#soak/record.ts";
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
  it("has 36 figures, in order", () => {
    expect(measuredGuarantees.map(({ number }) => number)).toEqual(
      Array.from({ length: 36 }, (_, index) => index + 1),
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
    const section = sectionOf([record], 1);
    expect(section).toContain("| crash, PGlite | crash, PostgreSQL |");
    expect(section).toContain("| kills of a process | 50 | – | | idempotency keys | 20 000 | – |");
    expect(section).toContain(
      "| violations | 0 | not measured yet | | date | 2026-01-02 | not measured yet |",
    );
    expect(section).toContain("| duration in minutes | 30 | not measured yet | | machine | A |");
    expect(renderFigures([record])).toContain("| A | a machine |");
  });

  it("states what was not measured, and what was measured with less than the guaranteed amount", () => {
    expect(sectionOf([record], 1)).not.toContain("not at this size yet");
    const small = { ...record, counts: { kills: 2, keys: 1_500 } };
    expect(sectionOf([small], 1)).toContain(
      "**not at this size yet: 2 of 50 kills of a process, 1 500 of 20 000 idempotency keys**",
    );
    expect(sectionOf([{ ...record, name: "memory", counts: { "MB a minute": 0.4 } }], 16)).toContain(
      "| minutes of load | **not known** | – |",
    );
  });

  it("states what is worse than guaranteed, separately for each engine", () => {
    const half = {
      ...record,
      figure: 16,
      name: "memory",
      counts: { "minutes of load": 12, "MB a minute": 0.4, "descriptors more": 1 },
    };
    const section = sectionOf(
      [half, { ...half, engine: "postgres", counts: { ...half.counts, "minutes of load": 48 } }],
      16,
    );
    expect(section).toContain("| minutes of load | **12, below the guaranteed minimum 30** | 48 |");
    expect(section).toContain("| growth in MB per minute | 0.4 | 0.4 |");
    expect(section).toContain(
      "| file descriptors that stayed open | **1, above the guaranteed maximum 0** |",
    );

    const slow = { ...record, name: "bystanders", engine: "postgres" as const, counts: { "p99 ratio": 2.5 } };
    expect(sectionOf([slow], 3)).toContain(
      "| ratio of the 99th percentiles | **2.5, above the guaranteed maximum 2** |",
    );
  });
});

describe("a recorded run of the simulation", () => {
  const recorded: FigureRecord = {
    ...record,
    name: "simulation",
    counts: { "first seed": 1, "last seed": 1_000, seeds: 1_000, kills: 800, "slowest run s": 3 },
    violations: 1,
  };
  const run: FigureRecord = {
    ...recorded,
    minutes: 5,
    counts: { "first seed": 1_001, "last seed": 1_200, seeds: 200, kills: 100, "slowest run s": 2, cuts: 7 },
    violations: 2,
    date: "2026-01-03",
  };

  it("begins with the seed after the last recorded one", () => {
    expect(findNextSeed([record, recorded])).toBe(1_001);
    expect(findNextSeed([record])).toBe(1);
  });

  it("is added to the record with --add", () => {
    const added: MeasuredFigure = {
      ...run,
      minutes: 35,
      runs: 2,
      counts: {
        "first seed": 1,
        "last seed": 1_200,
        seeds: 1_200,
        kills: 900,
        "slowest run s": 3,
        cuts: 7,
      },
      violations: 3,
    };
    expect(addToRecord(run, recorded)).toEqual(added);
    const next = { ...run, counts: { ...run.counts, "first seed": 1_201, "last seed": 1_400 } };
    expect(addToRecord(next, added).runs).toBe(3);
    expect(() => addToRecord(run, added)).toThrow(
      "The run begins with seed 1001, but the next seed is 1201.",
    );
    expect(sectionOf([{ ...run, ...added }], 35)).toContain("| runs together | 2 |");
    expect(sectionOf([recorded], 35)).not.toContain("runs together");
  });
});

describe("--add", () => {
  const names = [...addableTests, "bystanders"];
  const read =
    (...args: readonly string[]) =>
    () =>
      readArguments(["--minutes", "1", ...args], { known: names });

  it("is refused without --record, with --seed, and for a test whose counts are no sums", () => {
    expect(read("--only", "crash", "--add")).toThrow("--add needs --record.");
    expect(read("--only", "simulation", "--record", "--add", "--seed", "7")).toThrow(
      "--add and --seed exclude each other.",
    );
    expect(read("--only", "crash,bystanders", "--record", "--add")).toThrow(
      /^--add needs .*, not bystanders\.$/,
    );
    expect(read("--record", "--add")).toThrow(/^--add needs --only with tests of .*full-suite\.$/);
    expect(read("--only", "simulation", "--record", "--seed", "7")).toThrow(
      "--record needs --seed 1, or --add to continue the recorded seeds.",
    );
    expect(readArguments(["--minutes", "1"], { known: names, byDefault: ["crash"] })?.only).toEqual([
      "crash",
    ]);
    expect(read("--only", "crash,simulation", "--record", "--add")()).toMatchObject({
      isRecorded: true,
      isAdded: true,
      firstSeed: undefined,
    });
  });
});
