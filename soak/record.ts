/**
 * Reads and writes docs/figures.json, the measured values from which docs/figures.md is generated. Only
 * commands with the option `--record` write the file. For each measurement and engine, the file has the
 * values of the last run, or of all runs that were added to it with the option `--add`.
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
  /** The number of runs of the command whose values were added up; 1 if left out. */
  readonly runs?: number;
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

/** Writes the figures. Each replaces the recorded one, or is added to it if `isAdded` is true. */
export function recordFigures(measured: readonly MeasuredFigure[], isAdded = false): void {
  const date = new Date().toISOString().slice(0, 10);
  const present = readRecords();
  const newRecords = measured.map((value): FigureRecord => {
    const record = isAdded ? present.find((one) => recordKey(one) === recordKey(value)) : undefined;
    const figure = record === undefined ? value : addToRecord(value, record);
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

/** Returns the seed after the last recorded one of the simulation. */
export function findNextSeed(records: readonly MeasuredFigure[]): number {
  return (records.find(({ name }) => name === "simulation")?.counts["last seed"] ?? 0) + 1;
}

/**
 * The tests whose counts can be combined over several runs: they are sums, except the slowest value, and the
 * first and last seed.
 */
export const addableTests: readonly string[] = [
  "crash",
  "duplicates",
  "checkout",
  "stripe-crash",
  "webhooks",
  "serializability",
  "simulation",
  "full-suite",
];

/**
 * Returns a run and a record together: the sums of their runs, minutes, counts and violations. Throws if the
 * run does not begin with the seed after the last recorded one.
 */
export function addToRecord(run: MeasuredFigure, record: MeasuredFigure): MeasuredFigure {
  const first = run.counts["first seed"];
  if (first !== undefined && first !== findNextSeed([record]))
    throw new Error(`The run begins with seed ${first}, but the next seed is ${findNextSeed([record])}.`);
  const names = new Set([...Object.keys(record.counts), ...Object.keys(run.counts)]);
  const counts = Array.from(names, (name) => [name, combine(name, record.counts[name], run.counts[name])]);
  return {
    ...run,
    minutes: record.minutes + run.minutes,
    runs: (record.runs ?? 1) + 1,
    counts: Object.fromEntries(counts) as Record<string, number>,
    violations: record.violations + run.violations,
  };
}

function combine(name: string, recorded: number | undefined, added: number | undefined): number {
  if (recorded === undefined || added === undefined) return recorded ?? added ?? 0;
  if (name === "first seed") return Math.min(recorded, added);
  if (name === "last seed" || name.startsWith("slowest")) return Math.max(recorded, added);
  return recorded + added;
}

const recordKey = ({ name, engine }: MeasuredFigure): string => `${name} ${engine}`;

function describeMachine(): string {
  return `${cpus()[0]?.model.trim() ?? "unknown CPU"}, ${availableParallelism()} cores, Node ${process.versions.node}`;
}
