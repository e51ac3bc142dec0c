/** Lists as the graph gives them out. */

export interface Connection<Node> {
  readonly edges: readonly { readonly node: Node }[];
  readonly pageInfo: PageInfo;
}

export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

export const nodesOf = <Node>({ edges }: Connection<Node>): readonly Node[] => edges.map(({ node }) => node);

/** Of a list that the graph has oldest first. */
export const newestFirst = <Node>(connection: Connection<Node>): readonly Node[] => nodesOf(connection).toReversed();

/** Where the page of older ones begins; undefined: there are none. */
export const olderBefore = ({ pageInfo }: Connection<unknown>): string | undefined =>
  pageInfo.hasPreviousPage ? (pageInfo.startCursor ?? undefined) : undefined;

/** As `olderBefore`, of a list that is shown in the order that the graph has it in. */
export const olderAfter = ({ pageInfo }: Connection<unknown>): string | undefined =>
  pageInfo.hasNextPage ? (pageInfo.endCursor ?? undefined) : undefined;

export const pageSize = 20;
