/**
 * Collects the writes and reads of each object of a history, and finds the anomalies that are visible without
 * the order of the operations: values of failed operations (G1a), values that their operation replaced itself
 * (G1b), values that no operation wrote, values that occur twice, operations that do not see their own
 * writes, and lost updates.
 */
import {
  type AnomalyName,
  describeOperation,
  describeValue,
  type HistoryAnomaly,
  type HistoryOperation,
  type HistoryStep,
  unwritten,
} from "./history.ts";

/** A read of the state that an object had before the operation changed the object itself. */
export interface ExternalRead {
  readonly operation: number;
  /** The value of a register, or the last value of a list. */
  readonly value: string;
  readonly version: number | undefined;
}

export interface ObjectWrite {
  readonly operation: number;
  readonly value: string;
  readonly version: number | undefined;
}

export interface ObjectHistory {
  readonly object: string;
  /** Writes of operations that happened or may have happened. */
  readonly writes: ObjectWrite[];
  readonly reads: ExternalRead[];
  /** The longest list that was read; empty for registers. */
  longest: readonly string[];
  /** The writes by value. */
  readonly writesOf: Map<string, ObjectWrite[]>;
  /** Values that only failed operations wrote, with the operation. */
  readonly failed: Map<string, number>;
  /** Values that the same operation replaced, or after which it appended another value. */
  readonly replaced: Set<string>;
  /** The read and the written values of each operation that read the object before it wrote the object. */
  readonly updates: { readonly operation: number; readonly read: string; readonly written: string }[];
  /** The number of writes whose value the client does not know. */
  hiddenWrites: number;
}

export interface CollectedHistory {
  readonly operations: readonly HistoryOperation[];
  readonly objects: ReadonlyMap<string, ObjectHistory>;
  readonly anomalies: HistoryAnomaly[];
}

export function collectObjects(operations: readonly HistoryOperation[]): CollectedHistory {
  const objects = new Map<string, ObjectHistory>();
  const collected: CollectedHistory = { operations, objects, anomalies: [] };
  for (const [index, operation] of operations.entries()) collectWrites(objects, operation, index);
  for (const [index, operation] of operations.entries())
    if (operation.outcome === "done") collectReads(collected, operation, index);
  for (const found of objects.values()) addLostUpdates(collected, found);
  return collected;
}

function objectOf(objects: Map<string, ObjectHistory>, object: string): ObjectHistory {
  const known = objects.get(object);
  if (known !== undefined) return known;
  const created: ObjectHistory = {
    object,
    writes: [],
    reads: [],
    longest: [],
    writesOf: new Map(),
    failed: new Map(),
    replaced: new Set(),
    updates: [],
    hiddenWrites: 0,
  };
  objects.set(object, created);
  return created;
}

function collectWrites(
  objects: Map<string, ObjectHistory>,
  { outcome, steps }: HistoryOperation,
  operation: number,
): void {
  const last = new Map<string, string>();
  for (const step of steps) {
    if (step.kind !== "append" && step.kind !== "write") continue;
    const found = objectOf(objects, step.object);
    const { value } = step;
    if (outcome === "failed") {
      if (value !== null) found.failed.set(value, operation);
      continue;
    }
    if (value === null) {
      found.hiddenWrites += 1;
      continue;
    }
    const before = last.get(step.object);
    if (before !== undefined) found.replaced.add(before);
    last.set(step.object, value);
    const version = step.kind === "write" ? step.version : undefined;
    const write = { operation, value, version };
    found.writes.push(write);
    const same = found.writesOf.get(value);
    if (same === undefined) found.writesOf.set(value, [write]);
    else same.push(write);
  }
}

/** What an operation has seen and written of one object so far. */
interface OwnView {
  read: string | undefined;
  /** The own appended values, or the own last written value. */
  written: string[];
}

function collectReads(collected: CollectedHistory, { steps }: HistoryOperation, operation: number): void {
  const views = new Map<string, OwnView>();
  for (const step of steps) {
    const found = objectOf(collected.objects as Map<string, ObjectHistory>, step.object);
    const view = views.get(step.object) ?? { read: undefined, written: [] };
    views.set(step.object, view);
    if (step.kind === "append") view.written.push(step.value);
    else if (step.kind === "write") view.written = step.value === null ? [] : [step.value];
    else if (step.kind === "readList") readList({ collected, found, view, operation }, step.values);
    else readRegister({ collected, found, view, operation }, step);
    if ((step.kind === "append" || step.kind === "write") && view.read !== undefined && step.value !== null)
      found.updates.push({ operation, read: view.read, written: step.value });
  }
}

interface ReadContext {
  readonly collected: CollectedHistory;
  readonly found: ObjectHistory;
  readonly view: OwnView;
  readonly operation: number;
}

function readRegister(
  context: ReadContext,
  { value, version }: Extract<HistoryStep, { kind: "read" }>,
): void {
  const { found, view, operation } = context;
  const own = view.written.at(-1);
  if (own !== undefined) {
    if (own !== value)
      report(context, "internal", `read ${describeValue(value)} after it wrote ${describeValue(own)}`);
    return;
  }
  if (view.read !== undefined && view.read !== value)
    report(context, "internal", `read first ${describeValue(view.read)} and then ${describeValue(value)}`);
  view.read ??= value;
  found.reads.push({ operation, value, version });
  checkSource(context, value);
  checkReplaced(context, value);
}

function readList(context: ReadContext, values: readonly string[]): void {
  const { found, view, operation } = context;
  const external = values.length - view.written.length;
  if (view.written.some((value, index) => values[external + index] !== value))
    report(context, "internal", `appended ${view.written.join(", ")} and then read ${values.join(", ")}`);
  if (new Set(values).size < values.length)
    report(context, "duplicate value", `read a value twice in ${values.join(", ")}`);
  for (const value of values) checkSource(context, value);
  if (view.written.length === 0) {
    const value = values.at(-1) ?? unwritten;
    view.read ??= value;
    found.reads.push({ operation, value, version: undefined });
    checkReplaced(context, value);
  }
  const [short, long] =
    values.length > found.longest.length ? [found.longest, values] : [values, found.longest];
  if (short.some((value, index) => long[index] !== value))
    report(
      context,
      "incompatible order",
      `read ${values.join(", ")}, another one ${found.longest.join(", ")}`,
    );
  found.longest = long;
}

/** Reports a value of a failed operation (G1a), and a value that no operation wrote. */
function checkSource(context: ReadContext, value: string): void {
  const { collected, found } = context;
  if (value === unwritten || found.writesOf.has(value)) return;
  const failed = found.failed.get(value);
  if (failed !== undefined) {
    const writer = describeOperation(collected.operations, failed);
    report(context, "G1a", `read ${describeValue(value)}, which ${writer} wrote, but that operation failed`);
  } else if (found.hiddenWrites === 0)
    report(context, "unwritten value", `read ${describeValue(value)}, which no operation wrote`);
}

/** Reports a value that another operation wrote, but replaced before it ended (G1b). */
function checkReplaced(context: ReadContext, value: string): void {
  const { collected, found, operation } = context;
  if (!found.replaced.has(value)) return;
  const writer = found.writesOf.get(value)?.find((write) => write.operation !== operation);
  if (writer === undefined) return;
  const name = describeOperation(collected.operations, writer.operation);
  report(context, "G1b", `read ${describeValue(value)}, which ${name} wrote and then replaced itself`);
}

function report({ collected, found, operation }: ReadContext, name: AnomalyName, what: string): void {
  const reader = describeOperation(collected.operations, operation);
  collected.anomalies.push({ name, text: `${found.object}: ${reader} ${what}.` });
}

/** Reports operations that read the same value of an object and replaced it: all but one are lost. */
function addLostUpdates(
  { operations, anomalies }: CollectedHistory,
  { object, updates }: ObjectHistory,
): void {
  const first = new Map<string, (typeof updates)[number]>();
  for (const update of updates) {
    const other = first.get(update.read);
    if (other === undefined) first.set(update.read, update);
    else if (other.operation !== update.operation)
      anomalies.push({
        name: "lost update",
        text:
          `${object}: ${describeOperation(operations, other.operation)} and ` +
          `${describeOperation(operations, update.operation)} both read ${describeValue(update.read)}; ` +
          `the first wrote ${describeValue(other.written)}, the second ${describeValue(update.written)}.`,
      });
  }
}
