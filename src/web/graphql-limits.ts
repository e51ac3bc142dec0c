/** What one query may cost and how long it may run: decided before it runs, told in `extensions.cost` of every answer. */
import { complexityFromQuery } from "@pothos/plugin-complexity";
import { type DocumentNode, getOperationAST, type GraphQLSchema, Kind, separateOperations, visit } from "graphql";
import type { Plugin } from "graphql-yoga";
import { type Failure, fail } from "#foundation/failure.ts";
import { isCleanText } from "#foundation/text.ts";
import type { GraphContext } from "#graph/context.ts";
import { costLimitOf, executionMsMax } from "#graph/limits.ts";
import { asGraphqlError } from "./graphql-failures.ts";

export function limitCost(schema: GraphQLSchema): Plugin<GraphContext> {
  return {
    onExecute({ args, setResultAndStopExecution }) {
      const { viewer } = args.contextValue;
      const { complexity } = complexityFromQuery(chosenOperation(args.document, args.operationName), {
        schema,
        ctx: args.contextValue,
        variables: args.variableValues ?? {},
      });
      const cost = { requested: Math.round(complexity), limit: costLimitOf(viewer) };
      if (cost.requested > cost.limit) {
        setResultAndStopExecution({ errors: [asGraphqlError(tooCostly(cost))], extensions: { cost } });
        return undefined;
      }
      return {
        onExecuteDone({ result, setResult }) {
          if (Symbol.asyncIterator in result) return;
          setResult({ ...result, extensions: { ...result.extensions, cost } });
        },
      };
    },
  };
}

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

async function withinTime(running: Promise<unknown>): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
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
      const field = uncleanLiteral(args.document) ?? uncleanValue(args.variableValues ?? {}, "/variables");
      if (field === undefined) return;
      const message = `${field} has a control character or a lone surrogate.`;
      const failure = fail("invalid_field", { message, details: [{ in: "body", field, code: "control_character", message }] });
      setResultAndStopExecution({ errors: [asGraphqlError(failure)] });
    },
  };
}

function uncleanLiteral(document: DocumentNode): string | undefined {
  let isClean = true;
  visit(document, {
    [Kind.STRING]: (node) => {
      if (!isCleanText(node.value)) isClean = false;
    },
  });
  return isClean ? undefined : "/query";
}

function uncleanValue(value: unknown, path: string): string | undefined {
  if (typeof value === "string") return isCleanText(value) ? undefined : path;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const found = uncleanValue(item, `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
