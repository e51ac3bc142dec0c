/**
 * What is asked. A scenario is a fixed list of requests in the words of REST; the order is mixed by a fixed seed, so that every server and every
 * round is asked the same. A new scenario is one entry in `scenarios`.
 */
import { readFileSync } from "node:fs";
import { parse, print, visit } from "graphql";
import { Client } from "pg";
import { searches } from "./searches.ts";

export interface Ask {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** For GraphQL. */
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface Scenario {
  readonly name: string;
  /** The operation's document, without the directives of the gateway. */
  readonly document: string;
  /** The way from `data` of the GraphQL answer to the body of the REST answer. */
  readonly envelope: readonly string[];
  readonly asks: readonly Ask[];
  /** What has to be true of an answer for the comparison to be fair. */
  readonly fault: (body: unknown) => string | undefined;
}

export interface Source {
  readonly databaseUrl: string;
}

export const scenarios: Readonly<Record<string, (source: Source) => Promise<Scenario>>> = {
  product: productScenario,
  search: () => Promise.resolve(searchScenario()),
};

const productsMax = 500;
const hitsMin = 5;

/** What browsers of three customers send. */
const languages = [undefined, "de-DE,de;q=0.9,en;q=0.8", "en-GB,en;q=0.9"];

/** The products with a description, which are the demo's, each of several variants; then generated ones, of one or two variants. */
async function productScenario({ databaseUrl }: Source): Promise<Scenario> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client
    .query<{ merchant: string; product: string }>(
      `select m.slug as merchant, t.slug as product from product p join merchant m on m.id = p.merchant_id
       join product_translation t on t.product_id = p.id and t.locale = 'en' where p.status = 'published'
       order by t.description is null, md5(t.slug) limit $1`,
      [productsMax],
    )
    .finally(() => client.end());
  const asks = rows.map(({ merchant, product }, index): Ask => {
    const language = languages[index % languages.length];
    return {
      path: `/api/v1/catalog/merchants/${merchant}/products/${product}`,
      headers: language === undefined ? {} : { "accept-language": language },
      variables: { merchantSlug: merchant, productSlug: product },
    };
  });
  return { name: "product", document: readDocument("catalog/getPublicMerchantProduct"), envelope: [], asks: mixed(asks), fault: () => undefined };
}

function searchScenario(): Scenario {
  const asks = searches.map(([market, locale, q, more = {}]): Ask => {
    const variables = { q, locale, market, sort: "relevance", page: 1, pageSize: 20, ...more };
    const text = Object.entries(variables).map(([name, value]) => [name, String(value)]);
    return { path: `/api/v1/search?${new URLSearchParams(text).toString()}`, headers: {}, variables };
  });
  return { name: "search", document: readDocument("catalog/searchPublicProducts"), envelope: ["productSearch"], asks: mixed(asks), fault: tooFew };
}

function tooFew(body: unknown): string | undefined {
  const { meta } = body as { readonly meta: { readonly totalItems: number } };
  return meta.totalItems < hitsMin
    ? `it finds ${meta.totalItems} products, and below ${hitsMin} spelling is corrected; take more --products`
    : undefined;
}

function readDocument(name: string): string {
  const text = readFileSync(new URL(`../schema/operations/${name}.graphql`, import.meta.url), "utf8");
  const bare = visit(parse(text), {
    Directive: () => null,
    OperationDefinition: ({ description: _description, ...definition }) => definition,
  });
  return print(bare);
}

/** Mulberry32: a small generator of the same numbers every time. */
function mixed<Item>(items: readonly Item[]): Item[] {
  let state = 20_260_101;
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
  return items
    .map((item) => ({ item, key: random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);
}
