/**
 * Fragments: how documents with fragments are loaded, which faults are refused, and that the project's
 * fragments are valid.
 */
import { readFileSync } from "node:fs";
import {
  buildSchema,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  Kind,
  parse,
  print,
  validate,
  visit,
} from "graphql";
import { describe, expect, it } from "vitest";
import { collectGraphqlFragments, inlineGraphqlFragments } from "#mesh/documents.ts";
import { documentPaths, fragments, readInlined, readWritten } from "#test/support/documents.ts";

const inline = (operation: string, ...shared: readonly string[]): DocumentNode =>
  inlineGraphqlFragments(parse(operation), collectGraphqlFragments(shared.map((text) => parse(text))));
const same = (text: string): string => print(parse(text));

const money = "fragment MoneyFields on Money { amountMinor currency }";

describe("collecting fragments", () => {
  it("finds them by name, also beside operations", () => {
    const texts = [`${money} fragment A on B { c }`, "{ d }", "{ e } fragment F on G { h }"];
    const found = collectGraphqlFragments(texts.map((text) => parse(text)));
    expect([...found.keys()]).toEqual(["MoneyFields", "A", "F"]);
    expect([...found.values()].map((fragment) => print(fragment))).toEqual([
      "fragment MoneyFields on Money {\n  amountMinor\n  currency\n}",
      "fragment A on B {\n  c\n}",
      "fragment F on G {\n  h\n}",
    ]);
  });

  it.each([
    ["two documents", [money, money]],
    ["one document", [`${money} ${money}`]],
  ])("refuses two fragments of the same name in %s", (_where, texts) => {
    const documents = texts.map((text) => parse(text));
    expect(() => collectGraphqlFragments(documents)).toThrow(
      new Error("Two fragments are named MoneyFields."),
    );
  });
});

describe("inlining fragments", () => {
  it("replaces a spread with the fragment's fields", () => {
    const head = "query cart($id: ID!) @kept { cart(id: $id)";
    const document = inline(`${head} { id total { ...MoneyFields exponent } version } }`, money);
    expect(print(document)).toBe(same(`${head} { id total { amountMinor currency exponent } version } }`));
  });

  it("replaces spreads within fragments", () => {
    const document = inline(
      "{ cart { ...CartFields note } }",
      "fragment CartFields on Cart { id ...Sums lines { ...LineFields } }",
      "fragment Sums on Cart { sum: total(in: EUR) @kept { ...MoneyFields } }",
      "fragment LineFields on Line { price { ...MoneyFields } }",
      money,
    );
    const [total, lines] = ["sum: total(in: EUR) @kept", "lines { price { amountMinor currency } }"];
    expect(print(document)).toBe(same(`{ cart { id ${total} { amountMinor currency } ${lines} note } }`));
  });

  it("keeps the type conditions of a union", () => {
    const document = inline(
      "{ node { ... on Cart { ...CartFields } ... on Order { ...OrderFields } } }",
      "fragment CartFields on Cart { id total { ...MoneyFields } }",
      "fragment OrderFields on Order { id number }",
      money,
    );
    const [cart, order] = ["... on Cart { id total { amountMinor currency } }", "... on Order { id number }"];
    expect(print(document)).toBe(same(`{ node { ${cart} ${order} } }`));
  });

  it("removes the fragment definitions of the document", () => {
    const text = `{ price { ...MoneyFields } } ${money}`;
    expect(print(inline(text, text))).toBe(same("{ price { amountMinor currency } }"));
    expect(inline(money).definitions).toEqual([]);
  });

  it("leaves a document without fragments unchanged, with descriptions and variables", () => {
    const text = '"A cart." query cart($id: ID! = 1) { a(id: $id) { ... on Cart @skip(if: true) { id } } }';
    expect(print(inline(text))).toBe(same(text));
  });

  it("copies fields for every spread and does not change its input", () => {
    const shared = collectGraphqlFragments([parse(money)]);
    const given = parse("{ a { ...MoneyFields } b { ...MoneyFields } }");
    const before = JSON.stringify([given, ...shared.values()]);
    const fields: FieldNode[] = [];
    visit(inlineGraphqlFragments(given, shared), { Field: (node) => void fields.push(node) });
    const ofMoney = ["amountMinor", "currency"];
    expect(fields.map(({ name }) => name.value)).toEqual(["a", ...ofMoney, "b", ...ofMoney]);
    expect(new Set(fields).size).toBe(6);
    expect(JSON.stringify([given, ...shared.values()])).toBe(before);
  });

  const self = "fragment A on T { id child { ...A } }";
  const circle = "fragment A on T { b { ...B } } fragment B on T { ...C } fragment C on T { ...B }";

  it.each<[string, string, readonly string[], string]>([
    ["an unknown fragment", "query q { a { ...Missing } }", [], "q: there is no fragment Missing."],
    [
      "an unknown fragment within a fragment",
      "query q { a { ...A } }",
      ["fragment A on T { id b { ...Missing } }"],
      "q, in the fragment A: there is no fragment Missing.",
    ],
    ["a name of Object.prototype", "query q { ...constructor }", [], "q: there is no fragment constructor."],
    [
      "a fragment that contains itself",
      "query q { ...A }",
      [self],
      "q, in the fragment A: A contains itself: A > A.",
    ],
    [
      "a cycle of fragments",
      "query q { ...A }",
      [circle],
      "q, in the fragment C: B contains itself: B > C > B.",
    ],
    [
      "a spread with directives",
      "query q { a { ...MoneyFields @include(if: true) } }",
      [money],
      "q: directives on the spread of MoneyFields would be lost.",
    ],
    [
      "a spread with directives in a fragment",
      "query q { a { ...A } }",
      ["fragment A on T { price { ...MoneyFields @skip(if: true) } }", money],
      "q, in the fragment A: directives on the spread of MoneyFields would be lost.",
    ],
    [
      "a field that the fragment also selects",
      "query q { a { currency ...MoneyFields } }",
      [money],
      "q: currency is selected twice, by the operation itself and by the fragment MoneyFields.",
    ],
    [
      "an alias that equals a field's name in a fragment",
      "query q { a { ...MoneyFields currency: code } }",
      [money],
      "q: currency is selected twice, by the fragment MoneyFields and by the operation itself.",
    ],
    [
      "two fragments with a field of one name, in a fragment",
      "query q { a { ...A } }",
      ["fragment A on T { b { ...B ...C } }", "fragment B on U { id }", "fragment C on U { x: y id }"],
      "q: id is selected twice, by the fragment B and by the fragment C.",
    ],
    [
      "a fragment twice in one place",
      "mutation m { a { ...MoneyFields ...MoneyFields } }",
      [money],
      "m: amountMinor is selected twice, by the fragment MoneyFields and by the fragment MoneyFields.",
    ],
    [
      "a field twice in one type of a union",
      "query q { a { ... on T { ...A id } } }",
      ["fragment A on T { id }"],
      "q: id is selected twice, by the fragment A and by the operation itself.",
    ],
    ["no name", "{ ...Missing }", [], "An operation without a name: there is no fragment Missing."],
  ])("refuses %s", (_what, text, shared, message) => {
    expect(() => inline(text, ...shared)).toThrow(new Error(message));
  });

  it("accepts the same response name in different places", () => {
    const fragment = "fragment A on T { id c: id }";
    const document = inline("{ id a { ...A b { id ...MoneyFields } } }", fragment, money);
    expect(print(document)).toBe(same("{ id a { id c: id b { id amountMinor currency } } }"));
  });
});

describe("the project's fragments", () => {
  const folder = new URL("../../schema/", import.meta.url);
  const textOf = (name: string): string => readFileSync(new URL(name, folder), "utf8");
  const schema = buildSchema(["schema.graphql", "rest.graphql"].map(textOf).join("\n"));
  const paths = documentPaths("{operations,events}/**/*.graphql");

  /** The fragments that a document uses directly or through other fragments. */
  function neededBy(document: DocumentNode): Set<FragmentDefinitionNode> {
    const needed = new Set<FragmentDefinitionNode>();
    const follow = (node: FragmentSpreadNode): void => {
      const fragment = fragments.get(node.name.value);
      if (fragment === undefined || needed.has(fragment)) return;
      needed.add(fragment);
      visit(fragment, { FragmentSpread: follow });
    };
    visit(document, { FragmentSpread: follow });
    return needed;
  }

  it.each(paths)("make %s valid, before and after inlining", (path) => {
    const written = readWritten(path);
    const whole = { ...written, definitions: [...written.definitions, ...neededBy(written)] };
    expect(validate(schema, whole)).toEqual([]);
    const inlined = readInlined(path);
    expect(validate(schema, inlined)).toEqual([]);
    expect(inlined.definitions.map(({ kind }) => kind)).toEqual([Kind.OPERATION_DEFINITION]);
  });

  it("are all used", () => {
    const used = new Set(paths.map(readWritten).flatMap((document) => Array.from(neededBy(document))));
    expect([...fragments.values()].filter((fragment) => !used.has(fragment))).toEqual([]);
  });

  it("have descriptions, and are named after their type", () => {
    for (const { name, typeCondition, description } of fragments.values()) {
      expect(name.value).toBe(`${typeCondition.name.value}Fields`);
      expect(description?.value).toMatch(/^[A-Z].+\.$/);
    }
  });
});
