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
import type { GraphqlContext } from "#graph/context.ts";
import type { GraphqlDocumentExecutionArgs } from "./run.ts";

interface CostContext {
  /**
   * The context of the request; undefined if the document is checked without a request, for example when it
   * is registered.
   */
  readonly contextValue: GraphqlContext | undefined;
  readonly variableValues?: { readonly [name: string]: unknown } | null | undefined;
}

/**
 * Computes the cost of a document with one operation. Throws a GraphQLError if the variables are invalid, and
 * a failure if arguments that set the cost are invalid.
 */
export function computeGraphqlDocumentCost(
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
export function computeGraphqlOperationCost({
  schema,
  document,
  operationName,
  variableValues,
  contextValue,
}: Omit<GraphqlDocumentExecutionArgs, "rootValue">): number {
  const operationDocument =
    typeof operationName === "string" ? (separateOperations(document)[operationName] ?? document) : document;
  return computeGraphqlDocumentCost(schema, operationDocument, { contextValue, variableValues });
}

/** A function (cost meter) that computes the cost of one document for the variables of a request. */
export type GraphqlDocumentCostCalculator = (values: CostContext) => number;

/**
 * The maximum number of computed costs that are cached for one document, one for each combination of
 * variables.
 */
const knownCostsMax = 100;
/**
 * Maximum number of characters of a combination of variables, written as text, for which a computed cost is
 * cached.
 */
const combinationLengthMax = 500;

/**
 * Creates a function (cost meter) that computes the cost of a document with one operation. The meter caches
 * the cost for each combination of the variables on which the cost depends; in most documents, the cost
 * depends on no variable. If variables are invalid, the meter throws the same error as
 * `computeGraphqlDocumentCost`.
 */
export function createGraphqlDocumentCostCalculator(
  schema: GraphQLSchema,
  document: DocumentNode,
): GraphqlDocumentCostCalculator {
  const names = findCostVariables(schema, document);
  const { variableDefinitions = [] } = getOperationAST(document) ?? {};
  const costs = new LRUCache<string, number>({ max: knownCostsMax });
  return ({ contextValue, variableValues }) => {
    const { coerced, errors } = getVariableValues(schema, variableDefinitions, variableValues ?? {});
    if (coerced === undefined) throw errors[0];
    const combination = names.length === 0 ? "" : JSON.stringify(names.map((name) => coerced[name]));
    const known = costs.get(combination);
    if (known !== undefined) return known;
    const cost = computeGraphqlDocumentCost(schema, document, { contextValue, variableValues });
    if (combination.length <= combinationLengthMax) costs.set(combination, cost);
    return cost;
  };
}

/**
 * Returns the names of the variables on which the cost of a document depends. These are the variables in the
 * arguments that change the cost of a field, for example the page size.
 */
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
