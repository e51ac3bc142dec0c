/** The scenarios of the benchmark. A new scenario needs only an entry in `scenarios`. */
import { Client, Pool } from "pg";
import { createCartScenario, createGraphqlScenario, createPromotionScenario } from "./cart-scenarios.ts";
import { createOrderScenario } from "./order-scenario.ts";
import {
  type BenchRequest,
  shuffleWithFixedSeed,
  readDocument,
  type MeasuredScenario,
  type MixedScenario,
  type Scenario,
  type ScenarioSource,
} from "./scenario.ts";
import { type SearchCase, searches, wordSearches } from "./searches.ts";

/**
 * The scenarios in the order in which they are measured. The scenario `changes` is last, because its changes
 * do not pass through the service: the search index, and so the answers of searches, keep the old products.
 */
export const scenarios: Readonly<Record<string, (source: ScenarioSource) => Promise<MeasuredScenario>>> = {
  product: createProductScenario,
  search: () => Promise.resolve(createSearchScenario("search", searches)),
  words: () => Promise.resolve(createSearchScenario("words", wordSearches)),
  cart: createCartScenario,
  graphql: createGraphqlScenario,
  order: createOrderScenario,
  promotion: createPromotionScenario,
  mixed: createMixedScenario,
  changes: createChangesScenario,
};

const hitsMin = 5;

/** The Accept-Language headers of the requests; undefined for a request without the header. */
const languages = [undefined, "de-DE,de;q=0.9,en;q=0.8", "en-GB,en;q=0.9"];

/**
 * Creates the scenario `product`: reads the demo's products, which have descriptions and several variants,
 * and generated products with one or two variants.
 */
async function createProductScenario({ databaseUrl, requestsMax }: ScenarioSource): Promise<Scenario> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client
    .query<{ merchant: string; product: string }>(
      `select m.slug as merchant, t.slug as product from product p join merchant m on m.id = p.merchant_id
       join product_translation t on t.product_id = p.id and t.locale = 'en' where p.status = 'published'
       order by t.description is null, md5(t.slug) limit $1`,
      [requestsMax / 2],
    )
    .finally(() => client.end());
  const requests = rows.map(({ merchant, product }, index): BenchRequest => {
    const language = languages[index % languages.length];
    return {
      method: "GET",
      path: `/api/v1/catalog/merchants/${merchant}/products/${product}`,
      headers: language === undefined ? {} : { "accept-language": language },
      variables: { merchantSlug: merchant, productSlug: product },
    };
  });
  const document = readDocument("catalog/getPublicMerchantProduct");
  return {
    name: "product",
    document,
    envelope: [],
    requests: shuffleWithFixedSeed(requests),
    fault: () => undefined,
    effect: null,
  };
}

/**
 * Creates the scenario `changes`: reads the pages of the scenario `product`, and changes one of these
 * products in the database instead of each hundredth request.
 */
async function createChangesScenario(source: ScenarioSource): Promise<Scenario> {
  const scenario = await createProductScenario(source);
  const slugs = scenario.requests.map(({ variables }) => String(variables["productSlug"]));
  const pool = new Pool({ connectionString: source.databaseUrl, max: 4, allowExitOnIdle: true });
  // The database ends before the pool does.
  pool.on("error", () => undefined);
  let turn = 0;
  const change = async (): Promise<void> => {
    // 7 and the number of pages have no common divisor, so the changes are spread over all pages.
    const slug = slugs[(turn++ * 7) % slugs.length];
    await pool.query({
      name: "change product",
      text: `update product p set version = p.version + 1, updated_at = now() from product_slug s
        where s.slug = $1 and p.id = s.product_id`,
      values: [slug],
    });
  };
  return { ...scenario, name: "changes", change };
}

function createSearchScenario(name: string, cases: readonly SearchCase[]): Scenario {
  const requests = cases.map(([market, locale, q, more = {}]): BenchRequest => {
    const variables = { q, locale, market, sort: "relevance", page: 1, pageSize: 20, ...more };
    const text = Object.entries(variables).map(([parameter, value]) => [parameter, String(value)]);
    return {
      method: "GET",
      path: `/api/v1/search?${new URLSearchParams(text).toString()}`,
      headers: {},
      variables,
    };
  });
  const document = readDocument("catalog/searchPublicProducts");
  return {
    name,
    document,
    envelope: ["productSearch"],
    requests: shuffleWithFixedSeed(requests),
    fault: fewHitsFault,
    effect: null,
  };
}

function fewHitsFault(body: unknown): string | undefined {
  const { meta } = body as { readonly meta: { readonly totalItems: number } };
  return meta.totalItems < hitsMin
    ? `the search finds only ${meta.totalItems} products; ` +
        `below ${hitsMin} the service corrects spelling, so use more --products`
    : undefined;
}

/**
 * Creates the scenario `mixed`: the requests of a shop of which most are product pages, and some are carts,
 * orders, applied promotion codes and searches.
 */
async function createMixedScenario(source: ScenarioSource): Promise<MixedScenario> {
  const [product, cart, order, promotion] = await Promise.all([
    createProductScenario(source),
    createCartScenario(source),
    createOrderScenario(source),
    createPromotionScenario(source),
  ]);
  return {
    name: "mixed",
    parts: [
      { scenario: product, perHundred: 60 },
      { scenario: cart, perHundred: 20 },
      { scenario: order, perHundred: 10 },
      { scenario: promotion, perHundred: 8 },
      { scenario: createSearchScenario("search", searches), perHundred: 2 },
    ],
  };
}
