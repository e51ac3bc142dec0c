/**
 * Types for the documents that the console sends to the graph, and for the connections (lists with cursors)
 * in its answers.
 */

declare const shape: unique symbol;

export type Document<Result, Variables extends object = Record<string, never>> = string & {
  readonly [shape]: (variables: Variables) => Result;
};

export const graph = <Result, Variables extends object = Record<string, never>>(
  text: string,
): Document<Result, Variables> => text as Document<Result, Variables>;

/** Lists as the graph gives them out. */
export interface Connection<Node> {
  readonly edges: readonly { readonly node: Node }[];
  readonly pageInfo: PageInfo;
}

interface PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

export const nodesOf = <Node>({ edges }: Connection<Node>): readonly Node[] => edges.map(({ node }) => node);

/** Of a list that the graph has oldest first. */
export const newestFirst = <Node>(connection: Connection<Node>): readonly Node[] =>
  nodesOf(connection).toReversed();

/** Where the page of older ones begins; undefined: there are none. */
export const olderBefore = ({ pageInfo }: Connection<unknown>): string | undefined =>
  pageInfo.hasPreviousPage ? (pageInfo.startCursor ?? undefined) : undefined;

/** As `olderBefore`, of a list that is shown in the order that the graph has it in. */
export const olderAfter = ({ pageInfo }: Connection<unknown>): string | undefined =>
  pageInfo.hasNextPage ? (pageInfo.endCursor ?? undefined) : undefined;

export const pageSize = 20;
