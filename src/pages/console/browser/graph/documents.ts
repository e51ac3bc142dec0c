/**
 * Types of the GraphQL documents that the console sends, and of connections (lists with cursors) in their
 * results.
 */

declare const shape: unique symbol;

export type ConsoleGraphqlDocument<Result, Variables extends object = Record<string, never>> = string & {
  readonly [shape]: (variables: Variables) => Result;
};

export const createConsoleGraphqlDocument = <Result, Variables extends object = Record<string, never>>(
  text: string,
): ConsoleGraphqlDocument<Result, Variables> => text as ConsoleGraphqlDocument<Result, Variables>;

/** A GraphQL connection: a list of which a query reads one part at a time, with cursors. */
export interface GraphqlConnection<Node> {
  readonly edges: readonly { readonly node: Node }[];
  readonly pageInfo: PageInfo;
}

interface PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

export const getGraphqlConnectionNodes = <Node>({ edges }: GraphqlConnection<Node>): readonly Node[] =>
  edges.map(({ node }) => node);

/**
 * Returns the items of a GraphQL connection with the newest first; GraphQL returns them with the oldest
 * first.
 */
export const getGraphqlConnectionNodesNewestFirst = <Node>(
  connection: GraphqlConnection<Node>,
): readonly Node[] => getGraphqlConnectionNodes(connection).toReversed();

/**
 * Returns the cursor for loading the next older items of a list that is shown newest first; undefined if
 * there are none.
 */
export const getOlderPageCursor = ({ pageInfo }: GraphqlConnection<unknown>): string | undefined =>
  pageInfo.hasPreviousPage ? (pageInfo.startCursor ?? undefined) : undefined;

/** Returns the cursor for loading the next items of a list in GraphQL's order; undefined if there are none. */
export const getNextPageCursor = ({ pageInfo }: GraphqlConnection<unknown>): string | undefined =>
  pageInfo.hasNextPage ? (pageInfo.endCursor ?? undefined) : undefined;

export const listPageSize = 20;
