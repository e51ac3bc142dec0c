/**
 * Judges a history: finds the anomalies that no serial execution of its operations could have. The cycles of
 * a strongly connected component are searched from the kinds that say most to those that say least, and the
 * shortest cycle of the first kind that has one is explained.
 */
import {
  createGraph,
  type DependencyGraph,
  edgesOf,
  findComponents,
  findShortestPath,
  type GraphPart,
  numberAt,
} from "./cycles.ts";
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

export function judgeHistory(
  operations: readonly HistoryOperation[],
  { order }: JudgeOptions,
): HistoryVerdict {
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
  const isOperation = (node: number): boolean => node < operations.length;
  let shortest: number[] | undefined;
  let searches = 0;
  for (const node of component)
    for (const index of edgesOf(graph, node, { ...part, kinds: first })) {
      searches += 1;
      if (searches > (shortest === undefined ? searchesMax : shorterSearchesMax)) return shortest;
      const from = numberAt(graph.edges.to, index);
      const path = findShortestPath(graph, part, { from, to: node, isOperation });
      if (path !== undefined && path.length + 1 < (shortest?.length ?? Infinity)) shortest = [index, ...path];
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
  /** The operation from which edges over answers lead; undefined if the last edge led to an operation. */
  let answered: number | undefined;
  for (const index of cycle) {
    const to = numberAt(edges.to, index);
    const isOperation = to < operations.length;
    if (answered !== undefined && isOperation) {
      const laterMs = (operations[to]?.startedAt ?? 0) - (operations[answered]?.endedAt ?? 0);
      sentences.push(`${name(answered)} was answered ${laterMs.toFixed(1)} ms before ${name(to)} was sent`);
      answered = undefined;
    } else if (isOperation) sentences.push(explainEdge(edges, index, name));
    else answered ??= numberAt(edges.from, index);
  }
  return `No order of these operations is possible: ${sentences.join("; ")}.`;
}

function explainEdge(edges: DependencyEdges, index: number, name: (node: number) => string): string {
  const [from, to] = [name(numberAt(edges.from, index)), name(numberAt(edges.to, index))];
  const { object, before, after } = edges.reasons[edges.reasonOf[index] ?? -1] ?? {
    object: "",
    before: "",
    after: "",
  };
  switch (numberAt(edges.kind, index)) {
    case ww:
      return `${from} wrote ${describeValue(before)} to ${object}, and ${to} then ${describeValue(after)}`;
    case wr:
      return `${to} read ${describeValue(before)} of ${object}, which ${from} wrote`;
    case rw:
      return `${from} read ${describeValue(before)} of ${object}, before ${to} wrote ${describeValue(after)}`;
    default:
      return `the client sent ${from} before ${to}`;
  }
}
