/** An example of Apollo Client: reads all pages of the list of orders. */
import { ApolloClient, HttpLink, InMemoryCache } from "@apollo/client";
import { relayStylePagination } from "@apollo/client/utilities";
import { graphql } from "./generated/gql.ts";
import type { OrdersQuery } from "./generated/graphql.ts";

/** Creates a client whose cache merges the pages of the list of orders. */
export function createApolloClient(url: string, token: string): ApolloClient {
  return new ApolloClient({
    link: new HttpLink({ uri: url, headers: { authorization: `Bearer ${token}` } }),
    cache: new InMemoryCache({
      typePolicies: { Query: { fields: { orders: relayStylePagination(["status", "sort"]) } } },
    }),
  });
}

const OrdersDocument = graphql(`
  query Orders($after: String) {
    orders(first: 5, after: $after, sort: NEWEST_FIRST) {
      totalCount
      edges {
        node {
          id
          number
          placedAt
          totals {
            total {
              amountMinor
              currency
            }
          }
        }
      }
      pageInfo {
        endCursor
        hasNextPage
      }
    }
  }
`);

/**
 * Returns the numbers of all orders, newest first. The cache merges the pages, so each result contains all
 * orders that were read so far. A cursor is valid only with the same filters and sort.
 */
export async function listOrderNumbers(client: ApolloClient): Promise<readonly string[]> {
  let after: string | null = null;
  for (;;) {
    const orders: OrdersQuery["orders"] = await readPage(client, after);
    if (!orders.pageInfo.hasNextPage) return orders.edges.map(({ node }) => node.number);
    after = orders.pageInfo.endCursor;
  }
}

async function readPage(client: ApolloClient, after: string | null): Promise<OrdersQuery["orders"]> {
  const { data } = await client.query({
    query: OrdersDocument,
    variables: { after },
    fetchPolicy: "network-only",
  });
  if (data === undefined) throw new Error("The answer has no data.");
  return data.orders;
}
