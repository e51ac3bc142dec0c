/** What a GraphQL operation costs: a field counts one, and a list multiplies what is below it by its page size. */
import { complexityFromQuery } from "@pothos/plugin-complexity";
import { type DocumentNode, type GraphQLSchema, separateOperations } from "graphql";
import type { GraphContext } from "#graph/context.ts";
import type { PolicyArgs } from "./policy.ts";

/** The cost of the operation that runs. Other operations in the same document cost nothing. */
export function costOfOperation({ schema, document, operationName, variableValues, contextValue }: Omit<PolicyArgs, "rootValue">): number {
  const chosen = typeof operationName === "string" ? (separateOperations(document)[operationName] ?? document) : document;
  return costOf(schema, chosen, { contextValue, variableValues });
}

interface Circumstances {
  readonly contextValue: GraphContext;
  readonly variableValues?: { readonly [name: string]: unknown } | null | undefined;
}

/** The cost of a document with one operation. */
export function costOf(schema: GraphQLSchema, document: DocumentNode, { contextValue, variableValues }: Circumstances): number {
  return Math.round(complexityFromQuery(document, { schema, ctx: contextValue, variables: { ...variableValues } }).complexity);
}
