/**
 * Finds the strongly connected components of a graph (Tarjan 1972) and the shortest cycles in them. A
 * component with two or more nodes contains a cycle, so its operations have no order.
 */
import type { DependencyEdges } from "./dependencies.ts";

/** Returns the number at a place of a list that has this place. */
export const numberAt = (list: Int32Array | readonly number[], place: number): number => list[place] ?? 0;

/** The edges of a graph, grouped by the node from which they lead. */
export interface DependencyGraph {
  readonly nodes: number;
  /** The edges of node n are `edge[offset[n]]` to `edge[offset[n + 1] - 1]`, as indexes of `edges`. */
  readonly offset: Int32Array;
  readonly edge: Int32Array;
  readonly edges: DependencyEdges;
}

export function createGraph(edges: DependencyEdges, nodes: number): DependencyGraph {
  const offset = new Int32Array(nodes + 1);
  for (const from of edges.from) offset[from + 1] = numberAt(offset, from + 1) + 1;
  for (let node = 0; node < nodes; node += 1)
    offset[node + 1] = numberAt(offset, node + 1) + numberAt(offset, node);
  const next = offset.slice();
  const edge = new Int32Array(edges.from.length);
  for (const [index, from] of edges.from.entries()) {
    edge[numberAt(next, from)] = index;
    next[from] = numberAt(next, from) + 1;
  }
  return { nodes, offset, edge, edges };
}

/** The nodes and the kinds of edges of a part of a graph. */
export interface GraphPart {
  /** Returns true if the node belongs to the part. */
  readonly has: (node: number) => boolean;
  /** The sum of the numbers of the kinds, as in `dependencyKinds`. */
  readonly kinds: number;
}

interface TarjanState {
  readonly index: Int32Array;
  readonly low: Int32Array;
  readonly isOpen: Uint8Array;
  /** The position of each node in its edges. */
  readonly position: Int32Array;
  readonly open: number[];
  count: number;
}

/**
 * Returns the components of at least two nodes, among the given start nodes and the nodes that they lead to.
 * Does not recurse, because a component may have a million nodes.
 */
export function findComponents(
  graph: DependencyGraph,
  part: GraphPart,
  starts?: readonly number[],
): number[][] {
  const state: TarjanState = {
    index: new Int32Array(graph.nodes),
    low: new Int32Array(graph.nodes),
    isOpen: new Uint8Array(graph.nodes),
    position: graph.offset.slice(0, graph.nodes),
    open: [],
    count: 0,
  };
  const components: number[][] = [];
  const search = (start: number): void => {
    if (state.index[start] === 0 && part.has(start)) searchFrom({ graph, part, state, components }, start);
  };
  if (starts === undefined) for (let node = 0; node < graph.nodes; node += 1) search(node);
  else for (const start of starts) search(start);
  return components;
}

interface TarjanSearch {
  readonly graph: DependencyGraph;
  readonly part: GraphPart;
  readonly state: TarjanState;
  readonly components: number[][];
}

function searchFrom(search: TarjanSearch, start: number): void {
  const { state } = search;
  const path = [start];
  openNode(state, start);
  for (let node = path.at(-1); node !== undefined; node = path.at(-1)) {
    const next = nextUnseen(search, node);
    if (next !== undefined) {
      openNode(state, next);
      path.push(next);
      continue;
    }
    path.pop();
    const parent = path.at(-1);
    if (parent !== undefined) lower(state, parent, numberAt(state.low, node));
    if (state.low[node] === state.index[node]) closeComponent(search, node);
  }
}

function openNode(state: TarjanState, node: number): void {
  state.count += 1;
  state.index[node] = state.count;
  state.low[node] = state.count;
  state.isOpen[node] = 1;
  state.open.push(node);
}

function lower({ low }: TarjanState, node: number, value: number): void {
  if (value < numberAt(low, node)) low[node] = value;
}

/** Follows the remaining edges of a node up to the first node that was not seen before. */
function nextUnseen({ graph, part, state }: TarjanSearch, node: number): number | undefined {
  const { edges, edge, offset } = graph;
  const end = numberAt(offset, node + 1);
  for (let at = numberAt(state.position, node); at < end; at += 1) {
    const index = numberAt(edge, at);
    const to = numberAt(edges.to, index);
    if ((numberAt(edges.kind, index) & part.kinds) === 0 || !part.has(to)) continue;
    if (state.index[to] === 0) {
      state.position[node] = at + 1;
      return to;
    }
    if (state.isOpen[to] === 1) lower(state, node, numberAt(state.index, to));
  }
  state.position[node] = end;
  return undefined;
}

function closeComponent({ state, components }: TarjanSearch, root: number): void {
  const component: number[] = [];
  for (let node = state.open.pop(); node !== undefined; node = state.open.pop()) {
    state.isOpen[node] = 0;
    component.push(node);
    if (node === root) break;
  }
  if (component.length > 1) components.push(component);
}

/** Returns the edges that lead from a node to nodes of the part, of the given kinds. */
export function* edgesOf(
  { edges, edge, offset }: DependencyGraph,
  node: number,
  { has, kinds }: GraphPart,
): Generator<number> {
  for (let at = numberAt(offset, node); at < numberAt(offset, node + 1); at += 1) {
    const index = numberAt(edge, at);
    if ((numberAt(edges.kind, index) & kinds) !== 0 && has(numberAt(edges.to, index))) yield index;
  }
}

/**
 * Returns the edges of the shortest path between two nodes; undefined if there is none. Nodes that are no
 * operations do not count, so a path over many answers is as long as a path over one.
 */
export function findShortestPath(
  graph: DependencyGraph,
  part: GraphPart,
  {
    from,
    to,
    isOperation,
  }: { readonly from: number; readonly to: number; readonly isOperation: (node: number) => boolean },
): number[] | undefined {
  const { edges } = graph;
  const arrivedBy = new Map<number, number>([[from, -1]]);
  let level = [from];
  while (level.length > 0) {
    const nextLevel: number[] = [];
    // Nodes that do not count are appended to the level while it is walked through.
    for (const node of level) {
      if (node === to) return pathTo(edges, arrivedBy, to);
      for (const index of edgesOf(graph, node, part)) {
        const next = numberAt(edges.to, index);
        const nodes = isOperation(next) ? nextLevel : level;
        const known = arrivedBy.size;
        arrivedBy.set(next, arrivedBy.get(next) ?? index);
        nodes.push(...(arrivedBy.size > known ? [next] : []));
      }
    }
    level = nextLevel;
  }
  return undefined;
}

function pathTo(edges: DependencyEdges, arrivedBy: ReadonlyMap<number, number>, to: number): number[] {
  const path: number[] = [];
  for (
    let index = arrivedBy.get(to) ?? -1;
    index !== -1;
    index = arrivedBy.get(numberAt(edges.from, index)) ?? -1
  )
    path.unshift(index);
  return path;
}
