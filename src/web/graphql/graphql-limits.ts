/** What one query may cost and how long it may run: decided before it runs, told in `extensions.cost` of every answer. */
import { complexityFromQuery } from "@pothos/plugin-complexity";
import { type DocumentNode, type ExecutionResult, getOperationAST, type GraphQLSchema, Kind, separateOperations, visit } from "graphql";
import type { Plugin } from "graphql-yoga";
import { type Failure, fail } from "#foundation/failure.ts";
import { isCleanText } from "#foundation/text.ts";
import type { GraphContext } from "#graph/context.ts";
import { costLimitOf, executionMsMax } from "#graph/limits.ts";
import { asGraphqlError } from "./graphql-failures.ts";

export interface Cost {
  readonly requested: number;
  readonly limit: number;
}

export function limitCost(schema: GraphQLSchema, onCost: (cost: number) => void): Plugin<GraphContext> {
  return {
    onExecute({ args, setResultAndStopExecution }) {
      const cost = costFor(schema, args);
      if (cost.requested > cost.limit) {
        setResultAndStopExecution({ errors: [asGraphqlError(tooCostly(cost))], extensions: { cost } });
        return undefined;
      }
      onCost(cost.requested);
      return {
        onExecuteDone({ result, setResult }) {
          if (Symbol.asyncIterator in result) return;
          setResult({ ...result, extensions: { ...result.extensions, cost } });
        },
      };
    },
  };
}

/** The same of what is not executed at once. */
export function requireAffordable(schema: GraphQLSchema, args: Asked): Cost {
  const cost = costFor(schema, args);
  if (cost.requested > cost.limit) throw tooCostly(cost);
  return cost;
}

interface Asked {
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: Variables;
  readonly contextValue: GraphContext;
}

const costFor = (schema: GraphQLSchema, { document, operationName, variableValues, contextValue }: Asked): Cost => ({
  requested: costOf(schema, chosenOperation(document, operationName), { contextValue, variableValues }),
  limit: costLimitOf(contextValue.viewer),
});

/** Of a document with one operation. */
export function costOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  { contextValue, variableValues }: { readonly contextValue: GraphContext; readonly variableValues?: Variables },
): number {
  return Math.round(complexityFromQuery(document, { schema, ctx: contextValue, variables: variableValues ?? {} }).complexity);
}

type Variables = Record<string, unknown> | null | undefined;

/** A document may hold several operations, of which one runs: the others' cost is nobody's. */
function chosenOperation(document: DocumentNode, name: string | null | undefined): DocumentNode {
  return typeof name === "string" ? (separateOperations(document)[name] ?? document) : document;
}

function tooCostly({ requested, limit }: { readonly requested: number; readonly limit: number }): Failure {
  const message = `The query costs ${requested}; the limit is ${limit}. Ask for fewer items or fields.`;
  return fail("malformed_request", { message, details: [{ in: "limit", field: "cost", code: "too_large", message }] });
}

export function limitTime(): Plugin<GraphContext> {
  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      // A change is not raced: told that it took too long, a client would send it again after it has happened.
      if (getOperationAST(args.document, args.operationName)?.operation === "mutation") return;
      setExecuteFn((input: unknown) => {
        const running: unknown = (executeFn as (executed: unknown) => unknown)(input);
        return running instanceof Promise ? withinTime(running) : running;
      });
    },
  };
}

export async function withinTime<Result>(running: Promise<Result>): Promise<Result | ExecutionResult> {
  const { promise, resolve } = Promise.withResolvers<ExecutionResult>();
  const message = `The query ran for ${executionMsMax / 1000} s, which is the limit. Ask for less at once.`;
  const timer = setTimeout(() => resolve({ errors: [asGraphqlError(fail("upstream_timeout", { message }))] }), executionMsMax);
  try {
    return await Promise.race([running, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** No NUL, no other control characters, no lone surrogates: neither in the document's texts nor in the variables. */
export function requireCleanText(): Plugin<GraphContext> {
  return {
    onExecute({ args, setResultAndStopExecution }) {
      const failure = findUnclean(args);
      if (failure !== undefined) setResultAndStopExecution({ errors: [asGraphqlError(failure)] });
    },
  };
}

/** The same of what is not executed at once. */
export function requireClean(args: Pick<Asked, "document" | "variableValues">): void {
  const failure = findUnclean(args);
  if (failure !== undefined) throw failure;
}

function findUnclean({ document, variableValues }: Pick<Asked, "document" | "variableValues">): Failure | undefined {
  const field = uncleanLiteral(document) ?? uncleanVariable(variableValues ?? {});
  if (field === undefined) return undefined;
  const message = `${field} has a control character or a lone surrogate.`;
  return fail("invalid_field", { message, details: [{ in: "body", field, code: "control_character", message }] });
}

/** Yoga keeps the documents that it has parsed. */
const knownDocuments = new WeakMap<DocumentNode, { readonly isClean: boolean }>();

function uncleanLiteral(document: DocumentNode): string | undefined {
  let known = knownDocuments.get(document);
  if (known === undefined) knownDocuments.set(document, (known = { isClean: areLiteralsClean(document) }));
  return known.isClean ? undefined : "/query";
}

function areLiteralsClean(document: DocumentNode): boolean {
  let isClean = true;
  visit(document, {
    [Kind.STRING]: (node) => {
      if (!isCleanText(node.value)) isClean = false;
    },
  });
  return isClean;
}

/** Where the first text is that is not clean. */
export const uncleanVariable = (variables: Readonly<Record<string, unknown>>): string | undefined => uncleanValue(variables, "/variables");

function uncleanValue(value: unknown, path: string): string | undefined {
  if (typeof value === "string") return isCleanText(value) ? undefined : path;
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return uncleanItem(value, path);
  for (const [key, item] of Object.entries(value)) {
    // A name stands in what holds it: it is no step that a pointer could show.
    if (!isCleanText(key)) return path;
    const found = uncleanValue(item, `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A path is made for what is not clean alone, or holds others: lists are long. */
function uncleanItem(items: readonly unknown[], path: string): string | undefined {
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    if (typeof item === "string" ? isCleanText(item) : typeof item !== "object") continue;
    const found = uncleanValue(item, `${path}/${index}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
