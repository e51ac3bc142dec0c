/** A query that is asked again and again is compiled; its answers stay what they were, and so do the limits it is held to. */
import { describe, expect, it, vi } from "vitest";
import { askGraph, cartFields, makeCart } from "#test/operations/cart-calls.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";
import { sightingsMin } from "#web/graphql/graphql-kept.ts";

const runs = vi.hoisted(() => ({ count: 0 }));

vi.mock(import("#web/graphql/graphql-compiled.ts"), async (original) => {
  const module = await original();
  return {
    ...module,
    compileQueryText: (...asked) => {
      const document = module.compileQueryText(...asked);
      if (document === undefined) return undefined;
      return {
        ...document,
        run: (...given) => {
          runs.count += 1;
          return document.run(...given);
        },
      };
    },
  };
});

interface Asking {
  readonly query: string;
  readonly variables?: unknown;
  readonly operationName?: unknown;
  readonly token?: "storefront" | "admin" | "analyst" | "operator";
  readonly headers?: Readonly<Record<string, string>>;
}

const world = useWorld();

function ask({ query, variables, operationName, token = "admin", headers }: Asking): Promise<Answer> {
  return world().send({
    method: "POST",
    url: "/graphql",
    headers: { authorization: `Bearer ${world().demo.tokens[token]}`, ...headers },
    body: { query, variables, operationName },
  });
}

/** But for what is another with every request. */
function shown({ status, headers, text }: Answer): unknown {
  const { "x-request-id": requestId = "", "content-length": length, date: _date, ...rest } = headers;
  expect(requestId).toMatch(/^req_/);
  expect(Number(length)).toBe(Buffer.byteLength(text));
  return { status, headers: rest, body: JSON.parse(text.replaceAll(requestId, "req")) as unknown };
}

/** What it was answered before it was compiled and after; how often the compiled query ran. */
async function askAgain(asking: Asking, ...after: readonly Asking[]): Promise<{ first: unknown; last: unknown; compiledRuns: number }> {
  const first: unknown[] = [];
  for (const next of [asking, ...after]) first.push(shown(await ask(next)));
  for (let count = 0; count < sightingsMin; count += 1) await ask(asking);
  runs.count = 0;
  const last: unknown[] = [];
  for (const next of [asking, ...after]) last.push(shown(await ask(next)));
  return { first, last, compiledRuns: runs.count };
}

const listing = "fragment Listing on ProductListing { id slug title merchant { slug } priceRange { min { amountMinor currency } } }";

const compiled: Readonly<Record<string, readonly [Asking, ...Asking[]]>> = {
  "a plain query": [
    { query: "{ viewer { role } }" },
    { query: "{ viewer { role } }", token: "storefront" },
    { query: "{ viewer { role } }", operationName: "" },
  ],
  "aliases, lists, enums, dates, money and __typename": [
    {
      query: `query Many { __typename one: products(first: 3) { __typename totalCount edges { cursor node { __typename id status createdAt
        variants { sku prices { amount { amountMinor currency } } } } } pageInfo { hasNextPage endCursor } }
        two: products(status: ARCHIVED, last: 2) { edges { node { id } } } markets { handle countries currency } }`,
      operationName: "Many",
    },
  ],
  "fragments, of an interface too, in one another and merged": [
    {
      query: `query Find($q: SearchText!, $locale: LocaleCode!, $market: CountryCode!, $sort: ProductSearchSort!, $size: Int! = 5) {
        productSearch(q: $q, locale: $locale, market: $market, sort: $sort, page: 1, pageSize: $size) {
          items { ...Listing ... on ProductSearchItem { title score ...Listing } ... { matched merchant { name } } } meta { totalItems query { corrected } } } }
        ${listing}`,
      variables: { q: "", locale: "de", market: "DE", sort: "PRICE_ASC" },
      token: "storefront",
    },
  ],
  "a role that may not": [{ query: "{ carts { totalCount } }", token: "storefront" }, { query: "{ carts { totalCount } }" }],
  "an analyst, who is shown no buyers": [{ query: "{ carts { edges { node { id buyer { reference emailHint } } } } }", token: "analyst" }],
};

const withDirectives = `query ($id: ID!, $merchant: String!, $with: Boolean!, $without: Boolean! = false) { product(id: $id) { id @skip(if: $without)
  variants @include(if: $with) @skip(if: $without) { id sku @include(if: $with) } } merchant { id slug }
  publicProduct(merchantSlug: $merchant, productSlug: $merchant) @include(if: $without) { id } }`;

describe("a query that was compiled answers what it answered before:", () => {
  it.each(Object.entries(compiled))("%s", async (_name, [asking, ...after]) => {
    const { first, last, compiledRuns } = await askAgain(asking, ...after);
    expect(last).toEqual(first);
    expect(compiledRuns).toBeGreaterThan(0);
  });

  it("the cart of a frontend, its buyer's and somebody else's, and one that is not there", async () => {
    const { id } = await makeCart(world(), { lines: { "KIT-KVERN": 2 }, buyer: "buyer-1" });
    const query = `query ($cartId: ID!) { cart(id: $cartId) { ${cartFields} } }`;
    const as = (buyer: string, cartId: string): Asking => ({
      query,
      variables: { cartId },
      token: "storefront",
      headers: { "x-buyer-reference": buyer },
    });
    const nowhere = "crt_00000000000000000000000000";
    const { first, last, compiledRuns } = await askAgain(as("buyer-1", id), as("buyer-2", id), as("buyer-1", nowhere), as("buyer-1", "nonsense"));
    expect(last).toEqual(first);
    expect(first).toMatchObject([{ status: 200, body: { data: { cart: { id } } } }, {}, {}, {}]);
    expect(compiledRuns).toBe(4);
  });

  it("@skip and @include with variables, each way", async () => {
    const [product] = world().demo.products;
    const way = (variables: object): Asking => ({
      query: withDirectives,
      variables: { id: "prd_none", merchant: product?.merchantSlug, ...variables },
    });
    const ways = [{ with: true }, { with: false }, { with: true, without: true }, { with: false, without: true }, { with: true, without: null }];
    const [asking = way({}), ...after] = ways.map(way);
    const { first, last, compiledRuns } = await askAgain(asking, ...after);
    expect(last).toEqual(first);
    expect(compiledRuns).toBe(5);
    const nullable: Asking = { query: "query ($with: Boolean = true) { viewer { role @include(if: $with) } }" };
    const given = await askAgain(nullable, { ...nullable, variables: { with: null } });
    expect(given.last).toEqual(given.first);
  });

  it("errors: what is null up to where it may be, beside what is not, and all of it", async () => {
    const query = `query ($slug: String!, $id: ID!) { order(id: $id) { id } viewer { role merchant { id } }
      publicProduct(merchantSlug: $slug, productSlug: $slug) { id title } }`;
    const partly = `query ($id: ID!) { here: viewer { role } away: cart(id: $id) { id lines { id } } more: hostedCheckoutSession(id: $id) { id } }`;
    for (const [text, variables] of [
      [query, { slug: "nobody", id: "ord_none" }],
      [partly, { id: "crt_none" }],
    ] as const) {
      const { first, last, compiledRuns } = await askAgain({ query: text, variables, token: "storefront" });
      expect(last).toEqual(first);
      expect(compiledRuns).toBe(1);
    }
  });

  it("faults of ours, masked and logged in the same words", async () => {
    const query = "{ apps { totalCount edges { node { id name } } } viewer { role } }";
    for (let count = 0; count < sightingsMin - 1; count += 1) await ask({ query, token: "operator" });
    await world().database.script((run) => run("alter table app rename to app_gone"));
    const logOf = (): unknown[] =>
      world()
        .logged.splice(0)
        .filter(({ level }) => level === "error")
        .map(({ code, msg, err }) => ({ code, msg, sqlState: (err as { code: string }).code }));
    try {
      world().logged.length = 0;
      runs.count = 0;
      const [first, logged] = [shown(await ask({ query, token: "operator" })), logOf()];
      expect(runs.count).toBe(0);
      const last = shown(await ask({ query, token: "operator" }));
      expect(runs.count).toBe(1);
      expect(last).toEqual(first);
      expect(first).toMatchObject({ status: 200, body: { errors: [{ extensions: { code: "internal_error" } }], data: null } });
      expect(logged).not.toEqual([]);
      expect(logOf()).toEqual(logged);
    } finally {
      await world().database.script((run) => run("alter table app_gone rename to app"));
    }
  });

  it("variables that are not what the document says, on the tenth time as on the first", async () => {
    const query =
      "query ($ids: ID!, $status: ProductStatus, $first: Int) { product(id: $ids) { id } products(status: $status, first: $first) { totalCount } }";
    const faults = [
      {},
      { ids: null },
      { ids: ["a"] },
      { ids: { a: 1 } },
      { ids: 5 },
      { ids: "x", status: "GONE" },
      { ids: "x", status: 1 },
      { ids: "x", first: 1.5 },
      { ids: "x", first: "2" },
    ];
    const variables = [...faults, { ids: "x", first: 3_000_000_000 }, { ids: "x", status: null, first: null }, { ids: "x", other: 1 }, [], "text", 7];
    const { first, last, compiledRuns } = await askAgain(
      { query, variables: { ids: "x", first: 1 } },
      ...variables.map((given) => ({ query, variables: given })),
    );
    expect(last).toEqual(first);
    expect(compiledRuns).toBeGreaterThan(3);
    const positions =
      "query ($status: ProductStatus = DRAFT, $with: Int = 2, $id: ID! = 7) { products(status: $status, last: $with) { totalCount } product(id: $id) { id } }";
    const given = await askAgain(
      { query: positions },
      ...[{ status: null }, { with: null }, { id: null }].map((nothing) => ({ query: positions, variables: nothing })),
    );
    expect(given.last).toEqual(given.first);
  });

  const others: readonly (readonly [string, Asking])[] = [
    ["introspection", { query: '{ __schema { queryType { name } } __type(name: "Cart") { kind } }' }],
    ["literal texts", { query: '{ product(id: "prd_none") { id } }' }],
    ["a document of several operations", { query: "query A { viewer { role } } query B { markets { id } }", operationName: "B" }],
    ["directives among fragments", { query: "{ viewer { role } ...A @include(if: true) } fragment A on Query { viewer { merchant { id } } }" }],
    ["a directive that may be given null", { query: "query ($with: Boolean = true) { viewer { role @include(if: $with) } }" }],
    ["an unknown operation", { query: "query A { viewer { role } }", operationName: "B" }],
  ];
  it.each(others)("%s, which is never compiled", async (_name, asking) => {
    const { first, last, compiledRuns } = await askAgain(asking);
    expect(last).toEqual(first);
    expect(compiledRuns).toBe(0);
  });
});

describe("limits hold on the tenth time as on the first", () => {
  it("the cost, which may hang on variables", async () => {
    const query = "query ($first: Int!) { products(first: $first) { edges { node { variants { prices { market { id } } } } } } }";
    const dear: Asking = { query, variables: { first: 100 }, token: "storefront" };
    const { first, last } = await askAgain({ query, variables: { first: 1 } }, dear, { ...dear, token: "admin" });
    expect(last).toEqual(first);
    expect(last).toMatchObject([
      { status: 200 },
      { status: 400, body: { errors: [{ extensions: { details: [{ field: "cost" }] } }] } },
      { status: 200 },
    ]);
  });

  it("clean text in variables", async () => {
    const query = "query ($id: ID!) { product(id: $id) { id } }";
    const { first, last } = await askAgain(
      { query, variables: { id: "x" } },
      { query, variables: { id: "\u0000" } },
      { query, variables: { id: "\ud800" } },
    );
    expect(last).toEqual(first);
    expect(last).toMatchObject([{ status: 200 }, { status: 400 }, { status: 400 }]);
  });

  it.each([
    ["depth", `{ viewer ${"{ merchant ".repeat(13)} { id } ${"}".repeat(13)} }`],
    ["aliases", `{ ${Array.from({ length: 201 }, (_, index) => `a${index}: __typename`).join(" ")} }`],
    ["directives", `{ viewer { role ${"@include(if: true) ".repeat(6)} } }`],
    ["tokens", `{ ${"viewer { role } ".repeat(400)} }`],
  ])("%s", async (_name, query) => {
    for (let count = 0; count < 10; count += 1) expect((await ask({ query })).status).toBe(400);
  });

  it("a token that was revoked is let in no more", async () => {
    const query = "{ viewer { role } }";
    const made = await askGraph(
      world(),
      'mutation { internalTokenCreate(input: { name: "t", role: OPERATOR }) { internalToken { id } value } }',
      {},
      { token: "operator" },
    );
    expect(made.error).toBeUndefined();
    for (let count = 0; count < 10; count += 1) expect((await world().graphql(query, { token: made.data.value })).status).toBe(200);
    await askGraph(
      world(),
      "mutation ($id: ID!) { internalTokenRevoke(input: { internalTokenId: $id }) { id } }",
      { id: made.data.internalToken.id },
      { token: "operator" },
    );
    expect((await world().graphql(query, { token: made.data.value })).status).toBe(401);
  });
});
