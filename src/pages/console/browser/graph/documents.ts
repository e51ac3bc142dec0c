/**
 * Types for the documents that the console sends to the graph, and for the connections (lists with cursors)
 * in its answers.
 */

declare const shape: unique symbol;

export type GraphDocument<Result, Variables extends object = Record<string, never>> = string & {
  readonly [shape]: (variables: Variables) => Result;
};

export const graphDocument = <Result, Variables extends object = Record<string, never>>(
  text: string,
): GraphDocument<Result, Variables> => text as GraphDocument<Result, Variables>;

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

export const connectionNodes = <Node>({ edges }: Connection<Node>): readonly Node[] =>
  edges.map(({ node }) => node);

/** Of a list that the graph has oldest first. */
export const nodesNewestFirst = <Node>(connection: Connection<Node>): readonly Node[] =>
  connectionNodes(connection).toReversed();

/** Where the page of older ones begins; undefined: there are none. */
export const olderPageCursor = ({ pageInfo }: Connection<unknown>): string | undefined =>
  pageInfo.hasPreviousPage ? (pageInfo.startCursor ?? undefined) : undefined;

/** As `olderBefore`, of a list that is shown in the order that the graph has it in. */
export const nextPageCursor = ({ pageInfo }: Connection<unknown>): string | undefined =>
  pageInfo.hasNextPage ? (pageInfo.endCursor ?? undefined) : undefined;

export const listPageSize = 20;
