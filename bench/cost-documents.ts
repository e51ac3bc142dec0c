/** The GraphQL documents that `npm run bench:costs` measures. */
import { z } from "zod";
import { exampleQueries } from "#pages/graphiql/example-queries.ts";

/** A document whose cost and CPU time are measured. `write` returns another text of the document for each run. */
export interface CostDocument {
  readonly name: string;
  readonly write: (run: number) => string;
}

const idsForm = z.object({
  carts: z.object({ edges: z.array(z.object({ node: z.object({ id: z.string() }) })) }),
  orders: z.object({ edges: z.array(z.object({ node: z.object({ id: z.string() }) })) }),
  products: z.object({
    edges: z.array(z.object({ node: z.object({ variants: z.array(z.object({ id: z.string() })) }) })),
  }),
});

const money = "{ amountMinor currency }";
const cartFields =
  `id status version lines { id title quantity unitPrice ${money} total ${money} image { url } } ` +
  `totals { subtotal ${money} discount ${money} shipping ${money} tax ${money} total ${money} } warnings { code }`;
const orderFields =
  `id number status lines { id title sku quantities { ordered shipped } total ${money} } ` +
  `totals { total ${money} } payments { status } fulfillments { status } refunds { status } timeline { at type }`;

/** Repeats a root field with an alias for each repetition. */
const repeat = (count: number, write: (index: number) => string): string =>
  `{ ${Array.from({ length: count }, (_, index) => `a${index}: ${write(index)}`).join(" ")} }`;

const cartFragment = `fragment C on Cart { ${cartFields} }`;
const orderFragment = `fragment O on Order { ${orderFields} }`;

const words = ["tent", "lamp", "shirt", "bag", "chair", "stove", "jacket", "bottle", "mat", "jcaket"];
const search = (text: string, pageSize: number): string =>
  `productSearch(q: "${text}", locale: "en", market: "DE", sort: RELEVANCE, page: 1, pageSize: ${pageSize}) {
   items { slug title } meta { totalItems } }`;
const searchWithFacets = (text: string): string =>
  `productSearch(q: "${text}", locale: "en", market: "DE", sort: RELEVANCE, page: 1, pageSize: 20,
   hasAttributeFacets: true) { items { slug title priceRange { min ${money} } }
   meta { totalItems facets { key buckets { value count } } } }`;

/** Creates the documents. `ask` runs a query and returns its data. */
export async function createCostDocuments(
  ask: (query: string) => Promise<unknown>,
): Promise<readonly CostDocument[]> {
  const found = idsForm.parse(
    await ask(
      `{ carts(last: 60) { edges { node { id } } } orders(last: 60) { edges { node { id } } }
       products(first: 20, status: PUBLISHED) { edges { node { variants { id } } } } }`,
    ),
  );
  const [cart, order] = [found.carts, found.orders].map(
    ({ edges }) =>
      (index: number): string =>
        edges[index % edges.length]?.node.id ?? "",
  );
  const variant = found.products.edges[0]?.node.variants[0]?.id ?? "";
  const cartOf = (index: number): string => `cart(id: "${cart?.(index)}") { ...C }`;
  const orderOf = (index: number): string => `order(id: "${order?.(index)}") { ...O }`;
  const create = `cartCreate(input: { market: "DE", lines: [{ variantId: "${variant}", quantity: 1 }] }) { id version }`;
  const word = (index: number): string => `${words[index % words.length]}`;
  return [
    { name: "the viewer", write: () => "{ viewer { role } }" },
    { name: "a cart", write: (run) => `{ ${cartOf(run)} } ${cartFragment}` },
    { name: "60 carts by aliases", write: () => `${repeat(60, cartOf)} ${cartFragment}` },
    { name: "a list of 20 carts", write: () => `{ carts(first: 20) { edges { node { ${cartFields} } } } }` },
    { name: "an order", write: (run) => `{ ${orderOf(run)} } ${orderFragment}` },
    { name: "60 orders by aliases", write: () => `${repeat(60, orderOf)} ${orderFragment}` },
    {
      name: "a list of 100 orders",
      write: () => `{ orders(first: 100) { edges { node { ${orderFields} } } } }`,
    },
    { name: "a list of 100 order ids", write: () => "{ orders(first: 100) { edges { node { id } } } }" },
    { name: "a search", write: (run) => `{ ${search(word(run), 20)} }` },
    { name: "a search without results", write: (run) => `{ ${search(`xqzv${run}`, 20)} }` },
    { name: "a search of 100 items", write: (run) => `{ ${search(word(run), 100)} }` },
    { name: "a search with facets", write: (run) => `{ ${searchWithFacets(word(run))} }` },
    { name: "10 searches by aliases", write: () => repeat(10, (index) => search(word(index), 20)) },
    { name: "a new cart", write: () => `mutation { ${create} }` },
    { name: "20 new carts", write: () => `mutation ${repeat(20, () => create)}` },
    ...exampleQueries
      .filter(({ variables }) => variables === undefined)
      .map(({ title, query }) => ({ name: `example: ${title}`, write: () => query })),
  ];
}
