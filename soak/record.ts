/**
 * Keeps what was measured: docs/figures.json, which docs/figures.md is made of. Written by the commands that
 * measure (`--record`) and by nobody else. What was found last stands in place of what was found before, for
 * each measurement and engine.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import type { Report } from "./report.ts";

export interface MeasuredFigure {
  /** As figure-list.ts numbers them. */
  readonly figure: number;
  /** Of the measurement, as `--only` or a command calls it: a figure may have several. */
  readonly name: string;
  /** Null: it is not a matter of the engine. */
  readonly engine: Report["engine"] | null;
  readonly minutes: number;
  /** How hard it was tried, and what was measured; the name says the unit. */
  readonly counts: Readonly<Record<string, number>>;
  /** How often the promise was broken. */
  readonly violations: number;
}

export interface FigureRecord extends MeasuredFigure {
  /** The day, as 2026-11-22. */
  readonly date: string;
  readonly machine: string;
}

const path = new URL("../docs/figures.json", import.meta.url);

export function recordFigures(measured: readonly MeasuredFigure[]): void {
  const date = new Date().toISOString().slice(0, 10);
  const fresh = measured.map((one): FigureRecord => ({
    ...one,
    minutes: Math.round(one.minutes * 10) / 10,
    date,
    machine: describeMachine(),
  }));
  const kept = readRecords().filter((old) => !fresh.some((one) => recordKey(one) === recordKey(old)));
  const records = [...kept, ...fresh].toSorted(
    (one, other) => one.figure - other.figure || recordKey(one).localeCompare(recordKey(other)),
  );
  const draft = new URL(`${path.href}.${process.pid}`);
  writeFileSync(draft, `${JSON.stringify(records, undefined, 2)}\n`);
  renameSync(draft, path);
}

export function readRecords(): FigureRecord[] {
  return JSON.parse(readFileSync(path, "utf8")) as FigureRecord[];
}

const recordKey = ({ name, engine }: MeasuredFigure): string => `${name} ${engine}`;

function describeMachine(): string {
  return `${cpus()[0]?.model.trim() ?? "unknown CPU"}, ${availableParallelism()} cores, Node ${process.versions.node}`;
}
