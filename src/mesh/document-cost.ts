/**
 * Computes the cost of GraphQL documents in points: a field costs one point, and a list multiplies the cost
 * of the fields below it by its page size.
 */
import { complexityFromQuery } from "@pothos/plugin-complexity";
import {
  type DocumentNode,
  type FieldNode,
  getOperationAST,
  getVariableValues,
  type GraphQLSchema,
  Kind,
  separateOperations,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from "graphql";
import { LRUCache } from "lru-cache";
import type { GraphContext } from "#graph/context.ts";
import type { ExecutionPolicyArgs } from "./run.ts";

interface CostContext {
  /** The context of the request; undefined if the document is checked outside of a request. */
  readonly contextValue: GraphContext | undefined;
  readonly variableValues?: { readonly [name: string]: unknown } | null | undefined;
}

/**
 * Computes the cost of a document with one operation. Throws a GraphQLError if the variables are invalid, and
 * a failure if arguments that set the cost are invalid.
 */
export function computeDocumentCost(
  schema: GraphQLSchema,
  document: DocumentNode,
  { contextValue, variableValues }: CostContext,
): number {
  return Math.round(
    complexityFromQuery(document, { schema, ctx: contextValue ?? {}, variables: { ...variableValues } })
      .complexity,
  );
}

/**
 * Computes the cost of the operation that a request runs. Other operations of the same document are not
 * counted.
 */
export function computeOperationCost({
  schema,
  document,
  operationName,
  variableValues,
  contextValue,
}: Omit<ExecutionPolicyArgs, "rootValue">): number {
  const operationDocument =
    typeof operationName === "string" ? (separateOperations(document)[operationName] ?? document) : document;
  return computeDocumentCost(schema, operationDocument, { contextValue, variableValues });
}

/** Computes the cost of one document for the variables of a request. */
export type CostMeter = (values: CostContext) => number;

/** The number of combinations of variables for which a meter keeps the cost of its document. */
const knownCostsMax = 100;
/** Costs are not kept for combinations of variables that are longer than this number of characters. */
const combinationLengthMax = 500;

/**
 * Creates the meter of a document with one operation. The meter computes the cost once for each combination
 * of the variables on which the cost depends; most documents have no such variable. Costs are kept only if
 * all these variables are valid, so that invalid ones are refused as in `computeDocumentCost`.
 */
export function createCostMeter(schema: GraphQLSchema, document: DocumentNode): CostMeter {
  const names = findCostVariables(schema, document);
  const { variableDefinitions = [] } = getOperationAST(document) ?? {};
  const costs = new LRUCache<string, number>({ max: knownCostsMax });
  return ({ contextValue, variableValues }) => {
    const { coerced, errors } = getVariableValues(schema, variableDefinitions, variableValues ?? {});
    if (coerced === undefined) throw errors[0];
    const combination = names.length === 0 ? "" : JSON.stringify(names.map((name) => coerced[name]));
    const known = costs.get(combination);
    if (known !== undefined) return known;
    const cost = computeDocumentCost(schema, document, { contextValue, variableValues });
    if (combination.length <= combinationLengthMax) costs.set(combination, cost);
    return cost;
  };
}

/** Returns the names of the variables in arguments of fields whose cost depends on their arguments. */
function findCostVariables(schema: GraphQLSchema, document: DocumentNode): readonly string[] {
  const names = new Set<string>();
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      [Kind.FIELD]: (node) => {
        if (typeof types.getFieldDef()?.extensions.complexity === "function") addVariables(node, names);
      },
    }),
  );
  return [...names];
}

function addVariables({ arguments: given = [] }: FieldNode, names: Set<string>): void {
  for (const argument of given)
    visit(argument, { [Kind.VARIABLE]: ({ name }) => void names.add(name.value) });
}
