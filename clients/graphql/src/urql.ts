/** An example of urql: searches a product, adds it to a cart, and reads the pages of a list. */
import { type Client, createClient, fetchExchange } from "@urql/core";
import { graphql } from "./generated/gql.ts";

/** Creates a client that sends the token with every request, and sends queries and mutations as POST requests. */
export function createUrqlClient(url: string, token: string): Client {
  return createClient({
    url,
    exchanges: [fetchExchange],
    fetchOptions: { headers: { authorization: `Bearer ${token}` } },
    preferGetMethod: false,
  });
}

const SearchDocument = graphql(`
  query Search($q: SearchText!) {
    productSearch(q: $q, locale: "en", market: "DE", sort: RELEVANCE, page: 1, pageSize: 5) {
      items {
        slug
        title
        merchant {
          slug
        }
      }
    }
  }
`);

const ProductDocument = graphql(`
  query Product($merchant: String!, $slug: String!) {
    publicProduct(merchantSlug: $merchant, productSlug: $slug) {
      variants {
        id
      }
    }
  }
`);

const CartCreateDocument = graphql(`
  mutation CartCreate($input: CartCreateInput!, $key: String!) {
    cartCreate(input: $input, idempotencyKey: $key) {
      id
      totals {
        total {
          amountMinor
          currency
        }
      }
    }
  }
`);

/** A cart that was created for the first product that a search found. */
export interface CreatedCart {
  readonly id: string;
  readonly title: string;
  readonly totalMinor: number;
}

/**
 * Searches for a product and creates a cart with it. `key` is the idempotency key, with which a retry returns
 * the same cart.
 */
export async function createCartFor(client: Client, q: string, key: string): Promise<CreatedCart> {
  const { productSearch } = await read(client.query(SearchDocument, { q }));
  const [found] = productSearch.items;
  if (found === undefined) throw new Error(`No product was found for ${q}.`);
  const { publicProduct } = await read(
    client.query(ProductDocument, { merchant: found.merchant.slug, slug: found.slug }),
  );
  const [variant] = publicProduct.variants;
  if (variant === undefined) throw new Error(`${found.title} has no variant.`);
  const input = { market: "DE", lines: [{ variantId: variant.id, quantity: 1 }] };
  const { cartCreate } = await read(client.mutation(CartCreateDocument, { input, key }));
  return { id: cartCreate.id, title: found.title, totalMinor: cartCreate.totals.total.amountMinor };
}

/**
 * Returns the data of an answer, or throws its error. `error.graphQLErrors` contains the error codes of the
 * service.
 */
async function read<Data>(
  answer: PromiseLike<{ readonly data?: Data | undefined; readonly error?: Error | undefined }>,
): Promise<Data> {
  const { data, error } = await answer;
  if (error !== undefined) throw error;
  if (data === undefined) throw new Error("The answer has no data.");
  return data;
}
