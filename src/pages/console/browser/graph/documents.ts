/**
 * Types of the GraphQL documents that the console sends, and of connections (lists with cursors) in their
 * results.
 */

declare const shape: unique symbol;

export type GraphDocument<Result, Variables extends object = Record<string, never>> = string & {
  readonly [shape]: (variables: Variables) => Result;
};

export const createGraphDocument = <Result, Variables extends object = Record<string, never>>(
  text: string,
): GraphDocument<Result, Variables> => text as GraphDocument<Result, Variables>;

/** A GraphQL connection: a list with cursors. */
export interface GraphConnection<Node> {
  readonly edges: readonly { readonly node: Node }[];
  readonly pageInfo: PageInfo;
}

interface PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

export const connectionNodes = <Node>({ edges }: GraphConnection<Node>): readonly Node[] =>
  edges.map(({ node }) => node);

/** Returns the nodes of a connection, newest first. GraphQL returns the oldest first. */
export const nodesNewestFirst = <Node>(connection: GraphConnection<Node>): readonly Node[] =>
  connectionNodes(connection).toReversed();

/** Returns the cursor of the page with older items; undefined if there are no older items. */
export const olderPageCursor = ({ pageInfo }: GraphConnection<unknown>): string | undefined =>
  pageInfo.hasPreviousPage ? (pageInfo.startCursor ?? undefined) : undefined;

/**
 * Returns the cursor of the next page of a list that is shown in GraphQL's order; undefined if there is no
 * next page.
 */
export const nextPageCursor = ({ pageInfo }: GraphConnection<unknown>): string | undefined =>
  pageInfo.hasNextPage ? (pageInfo.endCursor ?? undefined) : undefined;

export const listPageSize = 20;
