/**
 * Finds the error codes that the source code of each mutation can reach: starting from the definition of the
 * mutation, every function that is named in it, and every function that these functions name. A code counts
 * as reached if its text is anywhere in such a function.
 */
import { globSync } from "node:fs";
import { dirname, join } from "node:path";
import { failureKinds } from "#foundation/failure.ts";
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

/** The error codes in a piece of source code, and the names that it uses. */
interface Part {
  readonly codes: Set<string>;
  readonly names: Set<string>;
}

interface Module {
  /** The functions and constants of the module. */
  readonly declared: ReadonlyMap<string, Part>;
  /** The imported names, each with the file and the name there. */
  readonly imported: ReadonlyMap<string, readonly [path: string, name: string]>;
  /** The definitions of mutations; null is a definition whose name is not in its text. */
  readonly mutations: readonly (readonly [name: string | null, Part])[];
}

/**
 * Returns the error codes that each mutation can reach. `names`: all mutations; a definition whose name is
 * not in its text counts for each mutation that no other definition names.
 */
export function findReachableFailures(names: readonly string[]): Map<string, ReadonlySet<string>> {
  const modules = new Map(
    globSync("src/{access,commerce,database,foundation,graph,webhooks}/**/*.ts", { cwd: root }).map(
      (path) => [path, readModule(path)] as const,
    ),
  );
  const definitions = [...modules].flatMap(([path, { mutations }]) =>
    mutations.map(([name, part]) => ({ path, name, part })),
  );
  const named = new Set(definitions.map(({ name }) => name));
  return new Map(
    names.map((mutation) => {
      const own = definitions.filter(({ name }) => name === (named.has(mutation) ? mutation : null));
      return [mutation, new Set(own.flatMap(({ path, part }) => reach(modules, path, part)))];
    }),
  );
}

function reach(modules: ReadonlyMap<string, Module>, path: string, start: Part): string[] {
  const found = new Set<string>();
  const seen = new Set<Part>();
  const follow = (from: string, part: Part): void => {
    if (seen.has(part)) return;
    seen.add(part);
    for (const code of part.codes) found.add(code);
    const { declared, imported } = modules.get(from) ?? { declared: new Map(), imported: new Map() };
    for (const name of part.names) {
      const [target, exported] = declared.has(name) ? [from, name] : (imported.get(name) ?? ["", name]);
      const next = modules.get(target)?.declared.get(exported);
      if (next !== undefined && !isSkipped(target)) follow(target, next);
    }
  };
  follow(path, start);
  return [...found];
}

/** The registry of failures names every code, and the loaders are those of queries. */
const isSkipped = (path: string): boolean =>
  ["src/foundation/failure.ts", "src/graph/loaders.ts", "src/graph/mutation.ts"].includes(path);

function readModule(path: string): Module {
  const program = parseSourceFile(path);
  const declared = new Map<string, Part>();
  const imported = new Map<string, readonly [string, string]>();
  const mutations: (readonly [string | null, Part])[] = [];
  for (const statement of nodesIn(program["body"])) {
    if (statement.type === "ImportDeclaration") {
      const source = resolve(path, textIn(nodeIn(statement["source"]), "value"));
      for (const specifier of nodesIn(statement["specifiers"]))
        imported.set(nameOf(specifier["local"]), [source, nameOf(specifier["imported"])]);
    }
    const declaration = nodeIn(statement["declaration"]) ?? statement;
    const { type } = declaration;
    if (type === "FunctionDeclaration" || type === "ClassDeclaration")
      declared.set(nameOf(declaration["id"]), scan(declaration));
    if (type === "VariableDeclaration")
      for (const { id, init } of nodesIn(declaration["declarations"])) declared.set(nameOf(id), scan(init));
    for (const definition of findDefinitions(declaration))
      mutations.push([literalName(definition), scan(definition)]);
  }
  return { declared, imported, mutations };
}

const resolve = (from: string, source: string): string =>
  source.startsWith("#") ? join("src", source.slice(1)) : join(dirname(from), source);

/** The arguments of all calls of `defineMutation` in a statement. */
function findDefinitions(node: SyntaxNode): SyntaxNode[] {
  if (node.type === "CallExpression" && nameOf(node["callee"]) === "defineMutation")
    return nodesIn(node["arguments"]);
  return childrenOf(node).flatMap(findDefinitions);
}

function literalName(definition: SyntaxNode): string | null {
  const property = nodesIn(definition["properties"]).find(({ key }) => nameOf(key) === "name");
  return textIn(nodeIn(property?.["value"]), "value") || null;
}

/**
 * Options of a mutation that are not its work: the declared codes, and `answer`, which loads the object that
 * the command has just changed.
 */
const skippedOptions = new Set(["failures", "answer"]);

function scan(value: unknown): Part {
  const part: Part = { codes: new Set(), names: new Set() };
  const visit = (node: SyntaxNode): void => {
    if (textIn(node, "value") in failureKinds) part.codes.add(textIn(node, "value"));
    if (node.type === "Identifier") part.names.add(nameOf(node));
    if (node.type === "Property" && skippedOptions.has(nameOf(node["key"]))) return;
    const name = plainNameOf(node);
    for (const child of childrenOf(node)) if (child !== name && !isTypeOnly(child)) visit(child);
  };
  const start = nodeIn(value);
  if (start !== undefined) visit(start);
  return part;
}

/** The name of a property, which is not the name of a function: `name` in `{ name: … }` and `object.name`. */
function plainNameOf(node: SyntaxNode): unknown {
  if (node["computed"] === true) return undefined;
  if (node.type === "Property") return node["key"];
  return node.type === "MemberExpression" ? node["property"] : undefined;
}
