/**
 * Derives from a history in which order its operations must have happened. An edge from one operation to
 * another means that the first happened before the second:
 *
 * - `ww`: the second replaced the value of the first, or appended the next value.
 * - `wr`: the second read the value of the first.
 * - `rw`: the first read a state that the second changed.
 * - `session`: both are of one client, which waited for the answer of the first.
 * - `realtime`: the first was answered before the second was sent.
 */
import { type HistoryOperation, unwritten } from "./history.ts";
import type { CollectedHistory, ExternalRead, ObjectHistory } from "./objects.ts";

export const dependencyKinds = { ww: 1, wr: 2, rw: 4, session: 8, realtime: 16 } as const;

export type DependencyKind = keyof typeof dependencyKinds;

/** The values of an edge, for its explanation. */
export interface DependencyReason {
  readonly object: string;
  readonly before: string;
  readonly after: string;
}

export class DependencyEdges {
  readonly from: number[] = [];
  readonly to: number[] = [];
  readonly kind: number[] = [];
  /** The number of the reason in `reasons`; -1 for edges of sessions and of real time. */
  readonly reasonOf: number[] = [];
  readonly reasons: DependencyReason[] = [];

  add(from: number, to: number, { kind, reason }: { kind: DependencyKind; reason?: DependencyReason }): void {
    if (from === to) return;
    this.from.push(from);
    this.to.push(to);
    this.kind.push(dependencyKinds[kind]);
    this.reasonOf.push(reason === undefined ? -1 : this.reasons.push(reason) - 1);
  }
}

/** Adds the edges that follow from the values of the objects. */
export function addValueEdges(edges: DependencyEdges, { objects }: CollectedHistory): void {
  for (const found of objects.values()) {
    const order = orderOfVersions(found);
    if (order === undefined) addEdgesOfUpdates(edges, found);
    else addEdgesOfOrder(edges, found, order);
  }
}

/** The value of an object at one place in the order of its values. */
interface OrderedValue {
  readonly value: string;
  readonly version: number;
  /** The operation that wrote the value; undefined if it is not known. */
  readonly writer: number | undefined;
}

/**
 * Returns the values of an object, oldest first: the longest list that was read, or the numbered values of a
 * register. Returns undefined if the history does not show the order.
 */
function orderOfVersions(found: ObjectHistory): OrderedValue[] | undefined {
  const { longest, writes } = found;
  if (longest.length > 0)
    return longest.map((value, version) => ({ value, version, writer: soleWriter(found, value) }));
  const numbered = writes.flatMap(({ value, version, operation }) =>
    version === undefined ? [] : [{ value, version, writer: operation }],
  );
  return numbered.length === 0 ? undefined : numbered.toSorted((one, other) => one.version - other.version);
}

/**
 * Returns the only operation that can have written the value; undefined if it is not known. After an
 * operation whose value is not known (an unknown outcome), the writer of no value is known: that operation
 * may have written the same value before.
 */
function soleWriter({ writesOf, hiddenWrites }: ObjectHistory, value: string): number | undefined {
  const writes = writesOf.get(value);
  return hiddenWrites === 0 && writes?.length === 1 ? writes[0]?.operation : undefined;
}

function addEdgesOfOrder(edges: DependencyEdges, found: ObjectHistory, order: readonly OrderedValue[]): void {
  const { object } = found;
  const written = order.filter(({ writer }) => writer !== undefined);
  for (const [index, next] of written.entries()) {
    const previous = written[index - 1];
    // Two writers of one version are a lost update; no order of the two is known.
    if (previous === undefined || previous.version === next.version) continue;
    const reason = { object, before: previous.value, after: next.value };
    edges.add(previous.writer ?? 0, next.writer ?? 0, { kind: "ww", reason });
  }
  const placesOf = new Map<string, number[]>();
  for (const [place, { value }] of order.entries()) {
    const places = placesOf.get(value);
    if (places === undefined) placesOf.set(value, [place]);
    else places.push(place);
  }
  const isComplete = found.hiddenWrites === 0 && order.length >= found.writes.length;
  for (const read of found.reads) {
    const place = placeOf(read, { order, places: placesOf.get(read.value), isComplete });
    if (place === undefined) addEdgeFromWriter(edges, found, read);
    else addEdgesOfRead(edges, { object, order, place, operation: read.operation });
  }
}

/** Returns the place of a read value in the order; -1 before the first write, undefined if not known. */
function placeOf(
  { value, version = Infinity }: ExternalRead,
  {
    order,
    places = [],
    isComplete,
  }: {
    readonly order: readonly OrderedValue[];
    /** The places that have the value. */
    readonly places: readonly number[] | undefined;
    /** False if further writes have no known place. */
    readonly isComplete: boolean;
  },
): number | undefined {
  if (value === unwritten) return -1;
  const place = places.findLast((at) => (order[at]?.version ?? 0) <= version);
  if (place === undefined || isComplete || version === Infinity) return place;
  // A write without a known place may have written the value again after a newer one.
  return (order[place + 1]?.version ?? Infinity) > version ? place : undefined;
}

/** Adds the edge from the writer of a value whose place in the order is not known. */
function addEdgeFromWriter(
  edges: DependencyEdges,
  found: ObjectHistory,
  { operation, value }: ExternalRead,
): void {
  const writer = soleWriter(found, value);
  const reason = { object: found.object, before: value, after: value };
  if (writer !== undefined) edges.add(writer, operation, { kind: "wr", reason });
}

interface ReadAtPlace {
  readonly object: string;
  readonly order: readonly OrderedValue[];
  /** The place of the read value in the order; -1 before the first write. */
  readonly place: number;
  readonly operation: number;
}

function addEdgesOfRead(edges: DependencyEdges, at: ReadAtPlace): void {
  const { object, order, place, operation } = at;
  const read = order[place] ?? { value: unwritten, version: -Infinity, writer: undefined };
  // Two writers of one version are a lost update; the read value may be of each.
  const isShared = order[place - 1]?.version === read.version;
  if (read.writer !== undefined && !isShared)
    edges.add(read.writer, operation, {
      kind: "wr",
      reason: { object, before: read.value, after: read.value },
    });
  for (const { value, writer } of nextValues(at, read.version))
    edges.add(operation, writer, { kind: "rw", reason: { object, before: read.value, after: value } });
}

/** Returns the first later version with a known writer; two values if two operations wrote this version. */
function nextValues(
  { order, place }: ReadAtPlace,
  version: number,
): { readonly value: string; readonly writer: number }[] {
  const isNext = ({ writer, version: found }: OrderedValue): boolean =>
    writer !== undefined && found > version;
  let next = place + 1;
  for (let one = order[next]; one !== undefined && !isNext(one); one = order[next]) next += 1;
  return order
    .slice(next, next + 2)
    .flatMap(({ value, writer, version: found }) =>
      writer === undefined || found !== order[next]?.version ? [] : [{ value, writer }],
    );
}

/**
 * Adds the edges of a register whose values have no numbers. An operation that read one value and wrote
 * another shows the order of these two values.
 */
function addEdgesOfUpdates(edges: DependencyEdges, found: ObjectHistory): void {
  const { object, reads, updates } = found;
  const nextOf = Map.groupBy(updates, ({ read }) => read);
  for (const { operation, read: before, written: after } of updates) {
    const writer = soleWriter(found, before);
    if (writer !== undefined) edges.add(writer, operation, { kind: "ww", reason: { object, before, after } });
  }
  for (const read of reads) {
    const { operation, value } = read;
    addEdgeFromWriter(edges, found, read);
    for (const next of nextOf.get(value) ?? [])
      edges.add(operation, next.operation, {
        kind: "rw",
        reason: { object, before: value, after: next.written },
      });
  }
}

/** Adds an edge between successive operations of each client. */
export function addSessionEdges(edges: DependencyEdges, operations: readonly HistoryOperation[]): void {
  const last = new Map<number, number>();
  const order = [...operations.keys()].toSorted(
    (one, other) => (operations[one]?.startedAt ?? 0) - (operations[other]?.startedAt ?? 0),
  );
  for (const index of order) {
    const { client = -1, outcome } = operations[index] ?? {};
    if (outcome !== "done") continue;
    const before = last.get(client);
    if (before !== undefined) edges.add(before, index, { kind: "session" });
    last.set(client, index);
  }
}

/**
 * Adds the order of real time. An edge between each two operations would be too many, so each answer becomes
 * a node of its own: an operation leads to its answer, each answer to the next answer, and the last answer
 * before the start of an operation to this operation. The edges are linear in the number of operations.
 * Returns the number of nodes, of operations and answers together.
 */
export function addRealTimeEdges(edges: DependencyEdges, operations: readonly HistoryOperation[]): number {
  const at = (index: number): HistoryOperation | undefined => operations[index];
  const answered = [...operations.keys()]
    .filter((index) => at(index)?.outcome === "done")
    .toSorted((one, other) => (at(one)?.endedAt ?? 0) - (at(other)?.endedAt ?? 0));
  const started = [...operations.keys()]
    .filter((index) => at(index)?.outcome !== "failed")
    .toSorted((one, other) => (at(one)?.startedAt ?? 0) - (at(other)?.startedAt ?? 0));
  for (const [place, index] of answered.entries()) {
    edges.add(index, operations.length + place, { kind: "realtime" });
    if (place > 0) edges.add(operations.length + place - 1, operations.length + place, { kind: "realtime" });
  }
  let place = 0;
  for (const index of started) {
    const { startedAt = 0 } = at(index) ?? {};
    while ((at(answered[place] ?? -1)?.endedAt ?? Infinity) < startedAt) place += 1;
    if (place > 0) edges.add(operations.length + place - 1, index, { kind: "realtime" });
  }
  return operations.length + answered.length;
}
