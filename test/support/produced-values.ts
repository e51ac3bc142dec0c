/**
 * Finds the texts that the source code can produce, so that tests can list values of the API that no code
 * produces. A text in the source code counts as produced, except in these places: types, imports, definitions
 * of GraphQL enums, comparisons, keys of tables that contain texts, and lists that only define a type. The
 * search knows words, not their meaning: a word that is the value of two enums counts as produced for both.
 */
import { globSync } from "node:fs";
import {
  childrenOf,
  isTypeOnly,
  nameOf,
  nodeIn,
  nodesIn,
  parseSourceFile,
  type SyntaxNode,
  textIn,
} from "./syntax-tree.ts";

const root = new URL("../..", import.meta.url).pathname;

/** The demo, the pages and the command line only use values of the API; the OpenAPI document describes them. */
const skipped = ["src/{demo,pages,cli}/**", "src/gateway/openapi*.ts", "src/database/tables.ts"];

interface ProducedTexts {
  readonly texts: Set<string>;
  /** Templates with a value inside, for example `refund.${status}`; the value must be a produced text, too. */
  readonly templates: Set<string>;
}

interface FindProducedTextsInput {
  /** Files that are not searched. */
  readonly except?: readonly string[];
  /** True to find also the texts of comparisons and all keys of tables. */
  readonly withCompared?: boolean;
}

/** Returns a function that says whether the source code can produce a text. */
export function findProducedTexts({ except = [], withCompared = false }: FindProducedTextsInput = {}): (
  text: string,
) => boolean {
  const files = globSync("src/**/*.ts", { cwd: root, exclude: [...skipped, ...except] });
  const programs = files.map(parseSourceFile);
  const names = new Set(programs.flatMap(findNamesOfValues));
  const found: ProducedTexts = { texts: new Set(), templates: new Set() };
  for (const program of programs) collect(program, { names, found, withCompared });
  const templates = [...found.templates].map((form) => new RegExp(`^${form}$`));
  const isWhole = (text: string): boolean => found.texts.has(text);
  return (text) =>
    isWhole(text) || templates.some((form) => form.exec(text)?.slice(1).every(isWhole) === true);
}

/** Returns all names that a program uses as values, and not only in types (`typeof name`). */
function findNamesOfValues(node: SyntaxNode): string[] {
  if (isTypeOnly(node) || node.type.startsWith("Import") || node.type.startsWith("Export")) {
    const declaration = nodeIn(node["declaration"]);
    return declaration === undefined ? [] : findNamesOfValues(declaration);
  }
  if (node.type === "VariableDeclarator") return childrenOf(node).slice(1).flatMap(findNamesOfValues);
  if (node.type === "Identifier") return [nameOf(node)];
  return childrenOf(node).flatMap(findNamesOfValues);
}

interface Collected {
  readonly names: ReadonlySet<string>;
  readonly found: ProducedTexts;
  readonly withCompared: boolean;
}

function collect(node: SyntaxNode, context: Collected): void {
  if (isDefinition(node, context.names)) return;
  const { texts } = context.found;
  if (node.type === "Literal") texts.add(textIn(node, "value"));
  if (node.type === "TemplateLiteral") collectTemplate(node, context.found);
  if (node.type === "Property" && (context.withCompared || isTableOfCode(node)))
    texts.add(nameOf(node["key"]) || textIn(nodeIn(node["key"]), "value"));
  const compared = context.withCompared ? [] : comparedIn(node);
  for (const child of childrenOf(node)) if (!compared.includes(child)) collect(child, context);
}

/** Collects the texts in quotes of a template, which may be SQL, and the template if it makes a single word. */
function collectTemplate(node: SyntaxNode, { texts, templates }: ProducedTexts): void {
  const parts = nodesIn(node["quasis"]).map(({ value }) => (value as { readonly raw: string }).raw);
  for (const [, word = ""] of parts.join("|").matchAll(/'([a-z_]+)'/g)) texts.add(word);
  if (parts.length === 1) texts.add(parts.join(""));
  else if (parts.every((part) => /^[a-z_.]*$/.test(part)) && /[a-z]{3}/.test(parts.join("")))
    templates.add(parts.map((part) => part.replaceAll(".", String.raw`\.`)).join("([a-z_]+)"));
}

/** Returns true for types, imports, definitions of GraphQL enums, and lists that only define a type. */
function isDefinition(node: SyntaxNode, names: ReadonlySet<string>): boolean {
  if (isTypeOnly(node) || node.type === "ImportDeclaration") return true;
  if (node.type === "CallExpression") return nameOf(node["callee"]) === "defineGraphqlEnum";
  const init = nodeIn(node["init"]);
  return (
    node.type === "VariableDeclarator" &&
    init?.type === "TSAsExpression" &&
    nodeIn(init["expression"])?.type === "ArrayExpression" &&
    !names.has(nameOf(node["id"]))
  );
}

/**
 * Returns true for a property whose value is a named function or a piece of SQL: the key is a value that the
 * code deals with. The property `{ status }` is no such table.
 */
function isTableOfCode(node: SyntaxNode): boolean {
  const value = nodeIn(node["value"]);
  return (
    node["shorthand"] !== true && (value?.type === "Identifier" || value?.type === "TaggedTemplateExpression")
  );
}

const comparisons = new Set(["===", "!==", "in"]);

/** Returns the parts of a node that only compare a value, or that name a text in a table. */
function comparedIn(node: SyntaxNode): unknown[] {
  if (node.type === "BinaryExpression" && comparisons.has(textIn(node, "operator")))
    return [node["left"], node["right"]].filter((side) => nodeIn(side)?.type === "Literal");
  if (node.type === "SwitchCase") return [node["test"]];
  if (node.type === "MemberExpression") return [node["property"]];
  if (node.type === "Property") return nameOf(node["key"]) === "failures" ? childrenOf(node) : [node["key"]];
  if (node.type === "CallExpression" && ["includes", "has"].includes(calledMethod(node)))
    return nodesIn(node["arguments"]);
  return node.type === "NewExpression" && nameOf(node["callee"]) === "Set" ? nodesIn(node["arguments"]) : [];
}

const calledMethod = (node: SyntaxNode): string => nameOf(nodeIn(node["callee"])?.["property"]);
