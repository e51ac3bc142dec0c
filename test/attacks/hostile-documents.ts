/**
 * Figure 15: hostile requests to /graphql, forty kinds in five sizes each. Each exceeds a limit or is invalid
 * GraphQL, and must be refused before any work is done.
 */

export interface HostileDocument {
  /** The attack's kind and size. */
  readonly name: string;
  /** The request body as sent. */
  readonly body: string;
  /** Headers beside `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
}

type Kind = readonly [name: string, sizes: readonly number[], make: (size: number) => unknown];

const times = (count: number, make: (index: number) => string, between = " "): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(between);
const nested = (count: number, open: string, inner: string, close: string): string =>
  open.repeat(count) + inner + close.repeat(count);
const query = (text: string): { readonly query: string } => ({ query: text });

/** Sizes that stay within about 400 tokens, so that the token limit is not the only limit tested. */
const small = [2, 4, 8, 16, 32];
const middle = [250, 300, 350, 400, 450];
const large = [1_000, 3_000, 10_000, 30_000, 60_000];
const deep = [13, 20, 50, 100, 150];
const huge = [1_100_000, 2_000_000, 4_000_000, 6_000_000, 8_300_000];

const typeOf = "{ name ofType { name ofType { name fields { name } } } }";

/** Attacks by sheer quantity. */
const bombs: readonly Kind[] = [
  ["aliases of one field", middle, (size) => query(`{ ${times(size, (index) => `a${index}: __typename`)} }`)],
  [
    "aliases of a dear field",
    [201, 210, 220, 230, 240],
    (size) => query(`{ ${times(size, (index) => `a${index}: viewer { role }`)} }`),
  ],
  ["one field again and again", large, (size) => query(`{ ${times(size, () => "__typename")} }`)],
  ["objects again and again", large, (size) => query(`{ ${times(size, () => "viewer { role }")} }`)],
  [
    "directives on a field",
    [6, 50, 100, 150, 180],
    (size) => query(`{ viewer { role ${times(size, () => "@include(if: true)")} } }`),
  ],
  [
    "directives that nobody knows",
    [6, 50, 200, 400, 450],
    (size) => query(`{ __typename ${times(size, (index) => `@d${index}`)} }`),
  ],
  [
    "directives on the operation",
    large,
    (size) => query(`query ${times(size, () => "@skip(if: true)")} { __typename }`),
  ],
  ["unknown fields", middle, (size) => query(`{ ${times(size, (index) => `nothing${index}`)} }`)],
  [
    "fields that nearly are some",
    [200, 250, 300, 350, 400],
    (size) => query(`{ ${times(size, (index) => `product${index % 26}s`)} }`),
  ],
  [
    "unknown arguments",
    [100, 150, 200, 250, 300],
    (size) => query(`{ viewer(${times(size, (index) => `a${index}: 1`)}) { role } }`),
  ],
  [
    "operations",
    [100, 120, 140, 160, 190],
    (size) => query(times(size, (index) => `query A${index} { nothing }`)),
  ],
  ["operations without a name", small, (size) => query(times(size, () => "{ viewer { role } }"))],
  [
    "variables that nobody uses",
    [60, 90, 120, 150, 180],
    (size) => query(`query (${times(size, (index) => `$v${index}: Int`)}) { __typename }`),
  ],
  [
    "variables of unknown types",
    [60, 90, 120, 150, 180],
    (size) => query(`query (${times(size, (index) => `$v${index}: T${index}`)}) { __typename }`),
  ],
  [
    "variables that are missing",
    small,
    (size) =>
      query(
        `query (${times(size, (index) => `$v${index}: ID!`)}) ` +
          `{ ${times(size, (index) => `a${index}: product(id: $v${index}) { id }`)} }`,
      ),
  ],
];

/** Attacks by structure. */
const shapes: readonly Kind[] = [
  [
    "nesting",
    [7, 10, 20, 40, 70],
    (size) =>
      query(`{ product(id: 1) { merchant ${nested(size, "{ markets { merchant ", "{ id }", " } }")} } }`),
  ],
  ["nesting in unknown fields", deep, (size) => query(nested(size, "{ a ", "{ b }", " }"))],
  [
    "nesting in bare fragments",
    [100, 150, 200, 230, 240],
    (size) => query(nested(size, "{ ...on Query ", "{ nothing }", " }")),
  ],
  ["braces that never close", large, (size) => query("{ a ".repeat(size))],
  [
    "brackets in an argument",
    [50, 200, 400, 10_000, 100_000],
    (size) => query(`{ product(id: ${nested(size, "[", "1", "]")}) { id } }`),
  ],
  [
    "objects in an argument",
    [20, 100, 240, 10_000, 60_000],
    (size) => query(`{ product(id: ${nested(size, "{a: ", "1", "}")}) { id } }`),
  ],
  [
    "brackets in a variable's type",
    [50, 200, 400, 10_000, 100_000],
    (size) => query(`query ($v: ${nested(size, "[", "ID", "]")}) { product(id: $v) { id } }`),
  ],
  [
    "fragments that contain themselves",
    small,
    (size) =>
      query(
        `{ ...F0 } ${times(size, (index) => `fragment F${index} on Query { ...F${(index + 1) % size} }`)}`,
      ),
  ],
  [
    "fragments that contain all others",
    [4, 6, 8, 10, 13],
    (size) => {
      const spreads = times(size, (index) => `...F${index}`);
      return query(`{ ...F0 } ${times(size, (index) => `fragment F${index} on Query { ${spreads} }`)}`);
    },
  ],
  // Each fragment is written once and counts twice the one below it.
  [
    "fragments that double",
    [10, 20, 40, 60, 80],
    (size) =>
      query(
        `{ ...F0 } ` +
          times(size, (index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`) +
          ` fragment F${size} on Query { nothing }`,
      ),
  ],
  [
    "fragments that nobody uses",
    [50, 80, 110, 140, 160],
    (size) => query(`{ __typename } ${times(size, (index) => `fragment F${index} on Query { __typename }`)}`),
  ],
  ["fragments that are not there", middle, (size) => query(`{ ${times(size, (index) => `...F${index}`)} }`)],
  [
    "fragments of unknown types",
    [50, 80, 110, 140, 160],
    (size) => query(`{ ${times(size, (index) => `...on T${index} { a }`)} }`),
  ],
  // Validation compares every pair of fields with the same name, and all their subfields.
  [
    "fields of one name that differ",
    [20, 40, 60, 80, 100],
    (size) => query(`{ ${times(size, (index) => `a: product(id: ${index}) { id }`)} }`),
  ],
  [
    "one name in many fragments",
    [10, 20, 30, 40, 50],
    (size) =>
      query(
        `{ ${times(size, (index) => `...F${index}`)} } ` +
          times(size, (index) => `fragment F${index} on Query { a: product(id: ${index}) { a: id } }`),
      ),
  ],
  [
    "one name in nested objects",
    [3, 5, 6, 7, 8],
    (size) => {
      const merchant = (side: number): string =>
        nested(size, "{ markets { merchant ", `{ a: ${side % 2 === 0 ? "id" : "name"} }`, " } }");
      return query(`{ ${times(8, (side) => `product(id: 1) { merchant ${merchant(side)} }`)} }`);
    },
  ],
  [
    "introspection of its own types",
    [4, 6, 8, 10, 12],
    (size) => {
      const types = nested(size, "fields { type { ", "x: kind y: nothing", " } }");
      return query(`{ __schema { types { fields { type { ${types} } } } } }`);
    },
  ],
  [
    "introspection that is repeated",
    [20, 24, 28, 32, 36],
    (size) =>
      query(
        `{ ${times(size, (index) => `a${index}: __schema { types { name fields { type ${typeOf} } } }`)} }`,
      ),
  ],
];

/** Attacks by the number of bytes. */
const floods: readonly Kind[] = [
  ["a long name", large, (size) => query(`{ ${"a".repeat(size * 10)} }`)],
  ["a long number", large, (size) => query(`{ product(id: ${"9".repeat(size)}, nothing: 1) { id } }`)],
  [
    "a long text that does not end",
    large,
    (size) => query(`{ product(id: "${"a".repeat(size * 10)}) { id } }`),
  ],
  [
    "escapes that are none",
    large,
    (size) => query(`{ product(id: "${"\\u0041".repeat(size)}\\uZZZZ") { id } }`),
  ],
  ["lines of a block text", large, (size) => query(`{ nothing(id: """${"\n  \t x".repeat(size)}""") }`)],
  ["comments", large, (size) => query(`${"# nothing\n".repeat(size)} { nothing }`)],
  ["commas and byte order marks", large, (size) => query(`${",\ufeff".repeat(size)} { nothing }`)],
  ["characters from all over the world", large, (size) => query(`{ ${"\u{1f600}ä\u202e".repeat(size)} }`)],
  ["line breaks before a fault", large, (size) => query(`${"\r\n".repeat(size)} { a(`)],
  ["a body beyond its size", huge, (size) => query(`{ __typename } # ${"x".repeat(size)}`)],
];

/** Malformed request bodies and parameters around the document. */
const forms: readonly Kind[] = [
  [
    "variables that are deep",
    [20, 100, 1_000, 10_000, 100_000],
    (size) => `{"query":"{ __typename }","variables":{"v":${nested(size, "[", "1", "]")}}}`,
  ],
  [
    "variables with a prototype",
    small,
    (size) =>
      `{"query":"{ __typename }","variables":{"v":[${times(size, () => '{"__proto__":{"role":"admin"}}', ",")}]}}`,
  ],
  [
    "a long list of ids",
    large,
    (size) => ({
      query: "query ($ids: [ID!]!) { product(id: $ids) { id } }",
      variables: { ids: Array.from({ length: size }, (_, index) => `id${index}`) },
    }),
  ],
  [
    "long texts where a number is due",
    large,
    (size) => ({
      query: "query ($n: Int) { products(first: $n) { edges { node { id } } } }",
      variables: { n: '"; at "n.a"; '.repeat(size) },
    }),
  ],
  [
    "long words where an id is due",
    large,
    (size) => ({
      query: "query ($id: ID!) { product(id: $id) { id } }",
      variables: { id: ["x".repeat(size * 10)] },
    }),
  ],
  [
    "unknown variables beside known",
    large,
    (size) => ({
      query: "query ($id: ID!) { product(id: $id) { id } }",
      variables: Object.fromEntries(Array.from({ length: size }, (_, index) => [`v${index}`, index])),
    }),
  ],
  ["a batch", small, (size) => Array.from({ length: size }, () => query("{ __typename }"))],
  [
    "documents named by malformed hashes",
    small,
    (size) => ({ extensions: { persistedQuery: { version: 1, sha256Hash: "0".repeat(size) } } }),
  ],
  [
    "@defer and @stream",
    small,
    (size) => query(`{ ${times(size, (index) => `... @defer(label: "${index}") { viewer { role } }`)} }`),
  ],
  [
    "definitions of types",
    [5, 20, 60, 100, 140],
    (size) => query(times(size, (index) => `type T${index} { a: Int }`)),
  ],
  [
    "operations that are not there",
    small,
    (size) => ({ query: "query A { __typename }", operationName: "B".repeat(size) }),
  ],
  [
    "words where an id or a page is due",
    small,
    (size) => query(`{ products(first: ${"ADMIN".repeat(size)}) { edges { node { id } } } }`),
  ],
  [
    "pages beyond their size",
    small,
    (size) => query(`{ products(first: ${size}00000000000) { edges { node { id } } } }`),
  ],
  [
    "lists in lists in lists",
    [1, 2, 3, 4, 5],
    (size) => {
      const rates = times(size, (index) => `a${index}: taxRates { id }`);
      const markets = `market { merchant { markets { ${rates} } } }`;
      return query(`{ products(first: 100) { edges { node { variants { prices { ${markets} } } } } } }`);
    },
  ],
  [
    "changes beside each other",
    [220, 230, 240, 245, 248],
    (size) => query(`mutation { ${times(size, (index) => `a${index}: nothing`)} }`),
  ],
  [
    "subscriptions to many things",
    small,
    (size) =>
      query(`subscription { ${times(size, (index) => `a${index}: cartChanged(id: "${index}") { id }`)} }`),
  ],
];

const sent = (body: unknown): string => (typeof body === "string" ? body : JSON.stringify(body));

/** Content types that are refused without reading the body. */
const types = [
  "multipart/form-data; boundary=x",
  "application/graphql",
  "text/plain",
  "application/x-www-form-urlencoded",
  "application/json-seq",
];

/** All hostile documents, grouped by kind. */
export const hostileDocuments: ReadonlyMap<string, readonly HostileDocument[]> = new Map([
  ...[...bombs, ...shapes, ...floods, ...forms].map(([kind, sizes, make]): [string, HostileDocument[]] => [
    kind,
    sizes.map((size) => ({ name: `${kind}: ${size}`, body: sent(make(size)) })),
  ]),
  [
    "forms",
    types.map((type) => ({
      name: `a form: ${type}`,
      body: sent(query("{ __typename }")),
      headers: { "content-type": type },
    })),
  ],
]);
