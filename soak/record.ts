/**
 * Reads and writes docs/figures.json, the measured values from which docs/figures.md is generated. Only
 * commands with the option `--record` write the file. For each measurement and engine, the file has the
 * values of the last run. Only the simulation can add a run to the recorded ones.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import type { Report } from "./report.ts";

export interface MeasuredFigure {
  /** The number of the guarantee in figure-list.ts. */
  readonly figure: number;
  /** The name of the measurement, as in `--only`. A guarantee may have several measurements. */
  readonly name: string;
  /** The database engine; null if the measurement does not depend on an engine. */
  readonly engine: Report["engine"] | null;
  readonly minutes: number;
  /** The size of the test and the measured values. Their names contain the unit. */
  readonly counts: Readonly<Record<string, number>>;
  /** The number of violations of the guarantee. */
  readonly violations: number;
}

export interface FigureRecord extends MeasuredFigure {
  /** The day of the measurement, as YYYY-MM-DD. */
  readonly date: string;
  readonly machine: string;
}

const path = new URL("../docs/figures.json", import.meta.url);

export function recordFigures(measured: readonly MeasuredFigure[]): void {
  const date = new Date().toISOString().slice(0, 10);
  const present = readRecords();
  const newRecords = measured.map((value): FigureRecord => {
    const figure = addToRecord(
      value,
      present.find((record) => recordKey(record) === recordKey(value)),
    );
    return { ...figure, minutes: Math.round(figure.minutes * 10) / 10, date, machine: describeMachine() };
  });
  const kept = present.filter(
    (record) => !newRecords.some((value) => recordKey(value) === recordKey(record)),
  );
  const records = [...kept, ...newRecords].toSorted(
    (value, other) => value.figure - other.figure || recordKey(value).localeCompare(recordKey(other)),
  );
  const draft = new URL(`${path.href}.${process.pid}`);
  writeFileSync(draft, `${JSON.stringify(records, undefined, 2)}\n`);
  renameSync(draft, path);
}

export function readRecords(): FigureRecord[] {
  return JSON.parse(readFileSync(path, "utf8")) as FigureRecord[];
}

/** Returns the first seed of a run that continues the recorded runs of the simulation. */
export function findNextSeed(records: readonly MeasuredFigure[]): number {
  return (records.find(({ name }) => name === "simulation")?.counts["last seed"] ?? 0) + 1;
}

/**
 * Returns the figure that replaces a record after a run. If the run began with the seed after the last
 * recorded one, its minutes, counts and violations are added to the record. All other runs replace the
 * record.
 */
export function addToRecord(run: MeasuredFigure, record: MeasuredFigure | undefined): MeasuredFigure {
  const first = run.counts["first seed"];
  if (record === undefined || first === 1 || first !== findNextSeed([record])) return run;
  const names = new Set([...Object.keys(record.counts), ...Object.keys(run.counts)]);
  const sums = Array.from(names, (name) => [name, (record.counts[name] ?? 0) + (run.counts[name] ?? 0)]);
  const seeds = {
    "first seed": record.counts["first seed"] ?? 1,
    "last seed": run.counts["last seed"] ?? 0,
  };
  return {
    ...run,
    minutes: record.minutes + run.minutes,
    counts: { ...(Object.fromEntries(sums) as Record<string, number>), ...seeds },
    violations: record.violations + run.violations,
  };
}

const recordKey = ({ name, engine }: MeasuredFigure): string => `${name} ${engine}`;

function describeMachine(): string {
  return `${cpus()[0]?.model.trim() ?? "unknown CPU"}, ${availableParallelism()} cores, Node ${process.versions.node}`;
}
