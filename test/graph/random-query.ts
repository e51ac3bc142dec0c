/** Generates valid queries over the demo's data, with fragments, aliases, variables and directives. */
import fc, { type GeneratorValue } from "fast-check";
import {
  getNamedType,
  type GraphQLField,
  type GraphQLObjectType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from "graphql";
import graph from "#graph/schema.ts";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";

/** A query with the values of all variables that it could use. */
export interface RandomQuery {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Root fields with arguments that find objects of the demo. */
const roots: Readonly<Record<string, string>> = {
  cart: "cart(id: $cart)",
  order: "order(id: $order)",
  publicProduct: "publicProduct(merchantSlug: $merchant, productSlug: $product)",
  productSearch:
    'productSearch(q: $text, locale: "en", market: "DE", sort: NEWEST, page: 1, pageSize: $size)',
  products: "products(first: $first)",
  orders: "orders(first: $first, status: $status)",
  carts: "carts(last: 2)",
  promotions: "promotions(first: $first)",
  markets: "markets",
  merchant: "merchant",
  viewer: "viewer",
  installations: "installations(first: 2)",
  internalTokens: "internalTokens",
  fulfillments: "fulfillments(first: $first)",
  refunds: "refunds(first: $first)",
  returns: "returns(first: 2)",
  events: "events(first: 3)",
};

/** The declarations of the variables; the values of some are left out or of a wrong type in some requests. */
const declarations: Readonly<Record<string, string>> = {
  cart: "ID!",
  order: "ID!",
  merchant: "String!",
  product: "String!",
  text: 'SearchText! = "tent"',
  size: "Int! = 2",
  first: "Int = 2",
  status: "OrderStatus",
  yes: "Boolean! = true",
};

const depthMax = 5;

export function generateQuery(g: GeneratorValue, demo: DemoJsonFileContent): RandomQuery {
  const writer = new QueryWriter(g);
  const query = graph.getQueryType();
  if (!query) throw new Error("The graph has no queries.");
  const names = chooseSome(g, Object.keys(roots), 3);
  const selected = names.map((name) => {
    const field = query.getFields()[name];
    if (field === undefined) throw new Error(`The graph has no query ${name}.`);
    return writer.write(field, roots[name] ?? "", 1);
  });
  const body = `{ ${selected.join(" ")} }${writer.fragments.join("")}`;
  const used = Object.entries(declarations).filter(([name]) => new RegExp(`\\$${name}\\b`).test(body));
  const declared = used.map(([name, type]) => `$${name}: ${type}`).join(", ");
  return {
    text: `query Random${declared === "" ? "" : `(${declared})`} ${body}`,
    variables: generateVariables(g, demo),
  };
}

const oneOf = (choices: readonly object[]): fc.Arbitrary<object> => fc.constantFrom(...choices);

function generateVariables(g: GeneratorValue, demo: DemoJsonFileContent): Readonly<Record<string, unknown>> {
  const { carts, orders, products } = demo;
  const product = g(fc.constantFrom, ...products);
  return {
    cart: g(fc.constantFrom, ...Object.values(carts), "crt_00000000000000000000000000"),
    order: g(fc.constantFrom, ...Object.values(orders), "x"),
    merchant: product.merchantSlug,
    product: g(fc.constantFrom, product.productSlug, "none"),
    ...g(oneOf, [{}, { first: 1 }, { first: null }, { first: 101 }, { first: "x" }]),
    ...g(oneOf, [{}, { text: "rug" }, { text: "x".repeat(300) }, { size: 3 }]),
    ...g(oneOf, [{}, { status: "CONFIRMED" }, { status: "confirmed" }, { yes: false }]),
  };
}

/** Chooses at least one of the items, and at most `max`, each once and in any order. */
function chooseSome<Item>(g: GeneratorValue, items: readonly Item[], max: number): Item[] {
  const indexes = g(() =>
    fc.shuffledSubarray([...items.keys()], { minLength: 1, maxLength: Math.min(max, items.length) }),
  );
  return indexes.flatMap((index) => items[index] ?? []);
}

class QueryWriter {
  readonly fragments: string[] = [];
  private readonly g: GeneratorValue;
  private aliases = 0;
  /** Whether the query has parts with which it is not compiled. */
  private readonly hasDirectives: boolean;
  private readonly hasUnderscores: boolean;

  constructor(g: GeneratorValue) {
    this.g = g;
    this.hasDirectives = this.isChosen(20);
    this.hasUnderscores = this.isChosen(10);
  }

  private isChosen(percent: number): boolean {
    return this.g(fc.integer, { min: 1, max: 100 }) <= percent;
  }

  /** Writes a field with its selection. `call` is its name with its arguments. */
  write(field: GraphQLField<unknown, unknown>, call: string, depth: number): string {
    const type = getNamedType(field.type);
    this.aliases += 1;
    const name = this.hasUnderscores ? `a_${this.aliases}` : `a${this.aliases}`;
    const alias = this.isChosen(20) ? `${name}: ` : "";
    const condition = this.isChosen(50) ? "@include" : "@skip";
    const directive = this.hasDirectives && this.isChosen(20) ? ` ${condition}(if: $yes)` : "";
    const selection = isObjectType(type) ? ` ${this.select(type, depth + 1)}` : "";
    return `${alias}${call}${directive}${selection}`;
  }

  private select(type: GraphQLObjectType, depth: number): string {
    const fields = Object.values(type.getFields()).filter(
      (field) =>
        !field.args.some(isRequiredArgument) &&
        (isLeafType(getNamedType(field.type)) ||
          (depth < depthMax && !isInterfaceType(getNamedType(field.type)))),
    );
    if (fields.length === 0) return "{ __typename }";
    const chosen = chooseSome(this.g, fields, 6);
    const parts = chosen.map((field) => this.wrap(type, this.write(field, field.name, depth)));
    if (this.isChosen(15)) parts.push("__typename");
    // The same field again, which GraphQL merges with the first.
    const again = chosen.find((field) => isLeafType(getNamedType(field.type)));
    if (again !== undefined && this.isChosen(10)) parts.push(again.name);
    return `{ ${parts.join(" ")} }`;
  }

  /** Writes a selection directly, in an inline fragment or in a fragment that is spread once or twice. */
  private wrap(type: GraphQLObjectType, text: string): string {
    if (this.isChosen(80)) return text;
    if (this.isChosen(30)) return `... { ${text} }`;
    if (this.isChosen(50)) return `... on ${type.name} { ${text} }`;
    const name = `F${this.fragments.length}`;
    this.fragments.push(` fragment ${name} on ${type.name} { ${text} }`);
    return this.isChosen(50) ? `...${name} ...${name}` : `...${name}`;
  }
}
