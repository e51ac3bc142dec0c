/**
 * Runs what a mutation needs from outside the database before its transaction begins: DNS for a webhook URL, the hash
 * of a password. A mutation declares it on its field (`MutationPreparation` in `graph/mutation.ts`).
 */
import {
  type DocumentNode,
  type FieldNode,
  getArgumentValues,
  getOperationAST,
  getVariableValues,
  type GraphQLField,
  type GraphQLSchema,
} from "graphql";
import { isIntegrator } from "#access/viewer.ts";
import { callerOf, staff } from "#graph/callers.ts";
import { preparationOf } from "#graph/mutation.ts";
import { contractSchemaOf } from "./contract-schema.ts";
import { isOwnDocument } from "./compile-document.ts";
import { rootFieldsOf } from "./idempotent-document.ts";
import type { PolicyArgs } from "./policy.ts";

type Mutation = readonly [node: FieldNode, field: GraphQLField<unknown, unknown>];

const mutations = new WeakMap<DocumentNode, readonly Mutation[]>();

/** Gives what the document's mutation has prepared, or undefined if it prepares nothing. */
export async function prepareMutations(args: PolicyArgs): Promise<unknown> {
  const schema = isOwnDocument(args.document) ? contractSchemaOf(args.schema) : args.schema;
  const prepared = preparedMutations(schema, args);
  if (prepared.length === 0) return undefined;
  const { viewer, services } = args.contextValue;
  // Only callers who may execute the mutation make this service ask the network.
  if (!isIntegrator(viewer) && !staff.includes(callerOf(viewer))) return undefined;
  const { variableDefinitions = [] } = getOperationAST(args.document, args.operationName) ?? {};
  const { coerced } = getVariableValues(schema, variableDefinitions, args.variableValues ?? {});
  // Variables that do not fit are refused by the executor, with GraphQL's own errors.
  if (coerced === undefined) return undefined;
  let last: unknown;
  for (const [node, field] of prepared) last = await preparationOf(field)?.(getArgumentValues(field, node, coerced)["input"], services);
  return last;
}

/** The root fields of the document that have something to prepare; found once for each document. */
function preparedMutations(schema: GraphQLSchema, { document, operationName }: PolicyArgs): readonly Mutation[] {
  const known = mutations.get(document);
  if (known !== undefined) return known;
  const operation = getOperationAST(document, operationName);
  const fields = schema.getMutationType()?.getFields() ?? {};
  const nodes = operation ? rootFieldsOf(operation.selectionSet, document) : [];
  const found = nodes.flatMap((node): Mutation[] => {
    const field = fields[node.name.value];
    return field !== undefined && preparationOf(field) !== undefined ? [[node, field]] : [];
  });
  if (document.definitions.length === 1) mutations.set(document, found);
  return found;
}
