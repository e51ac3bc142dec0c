/**
 * Judges a history: finds the anomalies that no serial execution of its operations could have. The cycles of
 * a strongly connected component are searched from the kinds that say most to those that say least, and the
 * shortest cycle of the first kind that has one is explained.
 */
import { createGraph, type DependencyGraph, findComponents, findShortestPath, type GraphPart } from "./cycles.ts";
import {
  addRealTimeEdges,
  addSessionEdges,
  addValueEdges,
  DependencyEdges,
  dependencyKinds,
} from "./dependencies.ts";
import {
  type AnomalyName,
  describeOperation,
  describeValue,
  type HistoryAnomaly,
  type HistoryOperation,
} from "./history.ts";
import { collectObjects } from "./objects.ts";

export interface JudgeOptions {
  /**
   * The order that the operations must keep besides that of their values: none for serializability, of each
   * client's operations, or of real time for strict serializability.
   */
  readonly order: "none" | "session" | "realtime";
}

export interface HistoryVerdict {
  readonly anomalies: readonly HistoryAnomaly[];
  readonly edges: number;
}

export function judgeHistory(operations: readonly HistoryOperation[], { order }: JudgeOptions): HistoryVerdict {
  const collected = collectObjects(operations);
  const edges = new DependencyEdges();
  addValueEdges(edges, collected);
  let nodes = operations.length;
  if (order !== "none") addSessionEdges(edges, operations);
  if (order === "realtime") nodes = addRealTimeEdges(edges, operations);
  const graph = createGraph(edges, nodes);
  const components = findComponents(graph, { has: () => true, kinds: allKinds });
  const cycles = components
    .slice(0, explainedMax)
    .map((component) => explainComponent(graph, operations, component));
  return { anomalies: [...collected.anomalies, ...cycles], edges: edges.from.length };
}

/** The number of components that are explained. */
const explainedMax = 20;
/** The number of edges from which cycles are searched: to find a shorter one, and to find one at all. */
const shorterSearchesMax = 300;
const searchesMax = 3_000;

const { ww, wr, rw, session, realtime } = dependencyKinds;
const allKinds = ww | wr | rw | session | realtime;

/** The kinds of cycles, from those that say most about the fault to those that say least. */
const cycleKinds: readonly CycleKind[] = (
  [
    ["", 0],
    ["-session", session],
    ["-realtime", session | realtime],
  ] as const
).flatMap(([addition, more]): CycleKind[] => [
  { name: `G0${addition}`, first: ww, others: ww | more },
  { name: `G1c${addition}`, first: wr, others: ww | wr | more },
  { name: `G-single${addition}`, first: rw, others: ww | wr | more },
  { name: `G2-item${addition}`, first: rw, others: ww | wr | rw | more },
]);

interface CycleKind {
  readonly name: AnomalyName;
  /** The kind of the edge with which the cycle is closed, and the kinds of its other edges. */
  readonly first: number;
  readonly others: number;
}

function explainComponent(
  graph: DependencyGraph,
  operations: readonly HistoryOperation[],
  component: readonly number[],
): HistoryAnomaly {
  const members = new Set(component);
  for (const { name, first, others } of cycleKinds)
    // Without a component of these kinds of edges, there is no cycle to search for.
    for (const smaller of findComponents(graph, partOf(members, first | others), component)) {
      const part = partOf(new Set(smaller), others);
      const cycle = findShortestCycle(graph, part, { component: smaller, first, operations });
      if (cycle !== undefined) return { name, text: explainCycle(graph, operations, cycle) };
    }
  throw new Error(`A component of ${component.length} operations has no cycle.`);
}

const partOf = (members: ReadonlySet<number>, kinds: number): GraphPart => ({
  has: (node) => members.has(node),
  kinds,
});

interface CycleSearch {
  readonly component: readonly number[];
  readonly first: number;
  readonly operations: readonly HistoryOperation[];
}

/** Returns the edges of the shortest cycle that begins with an edge of the kind `first`. */
function findShortestCycle(
  graph: DependencyGraph,
  part: GraphPart,
  { component, first, operations }: CycleSearch,
): number[] | undefined {
  const { edges, edge, offset } = graph;
  const isOperation = (node: number): boolean => node < operations.length;
  let shortest: number[] | undefined;
  let searched = 0;
  for (const node of component)
    for (let at = offset[node] ?? 0; at < (offset[node + 1] ?? 0); at += 1) {
      const index = edge[at] ?? 0;
      const to = edges.to[index] ?? 0;
      if (((edges.kind[index] ?? 0) & first) === 0 || !part.has(to)) continue;
      searched += 1;
      if (searched > (shortest === undefined ? searchesMax : shorterSearchesMax)) return shortest;
      const path = findShortestPath(graph, part, { from: to, to: node, isOperation });
      if (path === undefined) continue;
      const cycle = [index, ...path];
      if (shortest === undefined || cycle.length < shortest.length) shortest = cycle;
    }
  return shortest;
}

/** Explains each edge of a cycle in a sentence. Edges over answers become one sentence. */
function explainCycle(
  { edges }: DependencyGraph,
  operations: readonly HistoryOperation[],
  cycle: readonly number[],
): string {
  const name = (node: number): string => describeOperation(operations, node);
  const sentences: string[] = [];
  let from: number | undefined;
  for (const index of cycle) {
    const [start, to] = [edges.from[index] ?? 0, edges.to[index] ?? 0];
    if (from === undefined && to < operations.length) sentences.push(explainEdge(edges, index, name));
    else if (to >= operations.length) from ??= start;
    else {
      const [first = 0, second = 0] = [operations[from ?? 0]?.endedAt, operations[to]?.startedAt];
      const laterMs = (second - first).toFixed(1);
      sentences.push(`${name(from ?? 0)} was answered ${laterMs} ms before ${name(to)} was sent`);
      from = undefined;
    }
  }
  return `No order of these operations is possible: ${sentences.join("; ")}.`;
}

function explainEdge(edges: DependencyEdges, index: number, name: (node: number) => string): string {
  const [from, to] = [name(edges.from[index] ?? 0), name(edges.to[index] ?? 0)];
  const { object, before, after } = edges.reasons[edges.reasonOf[index] ?? -1] ?? {
    object: "",
    before: "",
    after: "",
  };
  switch (edges.kind[index]) {
    case ww:
      return `${from} wrote ${describeValue(before)} to ${object}, and ${to} then wrote ${describeValue(after)}`;
    case wr:
      return `${to} read ${describeValue(before)} of ${object}, which ${from} wrote`;
    case rw:
      return `${from} read ${describeValue(before)} of ${object}, before ${to} wrote ${describeValue(after)}`;
    default:
      return `the client sent ${from} before ${to}`;
  }
}
