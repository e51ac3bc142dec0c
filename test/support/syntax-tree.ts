/** Reads syntax trees of source code, as Vite's parser returns them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "vite";

const root = new URL("../..", import.meta.url).pathname;

export interface SyntaxNode {
  readonly type: string;
  readonly [property: string]: unknown;
}

/** Parses a TypeScript file, which is named relative to the folder of the project. */
export const parseSourceFile = (path: string): SyntaxNode =>
  parseAst(readFileSync(join(root, path), "utf8"), { lang: "ts" }) as unknown as SyntaxNode;

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === "object" && value !== null && "type" in value;

/** Returns a property of a node as a node; undefined if the property is no node. */
export const nodeIn = (value: unknown): SyntaxNode | undefined => (isNode(value) ? value : undefined);

/** Returns the nodes of a property that is a list. */
export const nodesIn = (value: unknown): SyntaxNode[] => (Array.isArray(value) ? value.filter(isNode) : []);

/** Returns a property of a node as text; an empty text if the property is no text. */
export const textIn = (node: SyntaxNode | undefined, property: string): string => {
  const value = node?.[property];
  return typeof value === "string" ? value : "";
};

/** Returns the name of an identifier; an empty text for any other node. */
export const nameOf = (value: unknown): string => textIn(nodeIn(value), "name");

/** Returns the nodes directly below a node. */
export const childrenOf = (node: SyntaxNode): SyntaxNode[] =>
  Object.values(node).flatMap((value) => (isNode(value) ? [value] : nodesIn(value)));

/** Returns true if a node is only a type. Expressions with a type, such as `value as Type`, are not. */
export const isTypeOnly = ({ type }: SyntaxNode): boolean =>
  type.startsWith("TS") && !["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression"].includes(type);
