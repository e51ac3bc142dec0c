/**
 * Reads the idempotency key of a GraphQL document, digests what is asked with it, and runs what its mutations
 * prepare before the transaction.
 */
import {
  type DocumentNode,
  type FieldNode,
  getArgumentValues,
  getOperationAST,
  getVariableValues,
  type GraphQLField,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  print,
  type SelectionSetNode,
  separateOperations,
} from "graphql";
import { failAt, type Failure } from "#foundation/failure.ts";
import { fingerprintOf, parseIdempotencyKey } from "#database/idempotency.ts";
import { idempotencyKeyArgument, getMutationPreparation } from "#graph/mutation.ts";
import { isIntegrator } from "#access/viewer.ts";
import { getCallerKind, staffCallers } from "#graph/context.ts";
import type { ExecutionPolicyArgs } from "./run.ts";
import { getContractSchema, isServiceDocument } from "./contract-schema.ts";

/**
 * The key of the document's one mutation; undefined if it has none. Throws 400 `idempotency_key_invalid` if
 * the key is malformed, or if the document has more than one root field.
 */
export function readIdempotencyKey({
  document,
  operationName,
  variableValues,
}: ExecutionPolicyArgs): string | undefined {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== "mutation") return undefined;
  const fields = getRootFields(operation.selectionSet, document);
  const values = { ...defaultTexts(operation), ...variableValues };
  const text = fields.map((field) => keyArgument(field, values)).find((key) => key !== undefined);
  if (text === undefined) return undefined;
  if (fields.length > 1)
    throw refusal("single_field", "A document with an idempotencyKey has exactly one root field.");
  const key = parseIdempotencyKey(text);
  if (key === undefined)
    throw refusal(
      "pattern_mismatch",
      'idempotencyKey has 1 to 255 printable ASCII characters, without space, ", \\, comma and semicolon.',
    );
  return key;
}

/**
 * SHA-256 over the operation that runs, its variables and the buyer it is for: an answer for one buyer is
 * never replayed to another.
 */
export function fingerprintDocument({
  document,
  operationName,
  variableValues,
  contextValue,
}: ExecutionPolicyArgs): Buffer {
  const operation = getOperationAST(document, operationName);
  const names = (operation?.variableDefinitions ?? []).map(({ variable }) => variable.name.value);
  const variables = Object.fromEntries(
    names.flatMap((name) => (variableValues?.[name] === undefined ? [] : [[name, variableValues[name]]])),
  );
  const chosen = separateOperations(document)[operation?.name?.value ?? ""] ?? document;
  const { buyerReference } = contextValue;
  return fingerprintOf({
    document: print(chosen),
    operationName: operation?.name?.value ?? null,
    variables,
    buyerReference,
  });
}

/** The root fields of an operation, fragments included, without `__typename` and introspection. */
export function getRootFields(selectionSet: SelectionSetNode, document: DocumentNode): FieldNode[] {
  return selectionSet.selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return selection.name.value.startsWith("__") ? [] : [selection];
    if (selection.kind === Kind.INLINE_FRAGMENT) return getRootFields(selection.selectionSet, document);
    const fragment = document.definitions.find(
      (definition) =>
        definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === selection.name.value,
    );
    return fragment?.kind === Kind.FRAGMENT_DEFINITION ? getRootFields(fragment.selectionSet, document) : [];
  });
}

const refusal = (code: string, message: string): Failure =>
  failAt("idempotency_key_invalid", { in: "body", field: `/${idempotencyKeyArgument}`, code, message });

/** Texts that variables have when they are not sent: the key may be one of them. */
function defaultTexts({ variableDefinitions = [] }: OperationDefinitionNode): Record<string, string> {
  return Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue?.kind === Kind.STRING ? [[variable.name.value, defaultValue.value]] : [],
    ),
  );
}

function keyArgument(field: FieldNode, variables: Readonly<Record<string, unknown>>): string | undefined {
  const value = field.arguments?.find(({ name }) => name.value === idempotencyKeyArgument)?.value;
  if (value?.kind === Kind.STRING) return value.value;
  const given = value?.kind === Kind.VARIABLE ? variables[value.name.value] : undefined;
  return typeof given === "string" ? given : undefined;
}

type Mutation = readonly [node: FieldNode, field: GraphQLField<unknown, unknown>];

const mutations = new WeakMap<DocumentNode, readonly Mutation[]>();

/**
 * Runs what a mutation needs from outside the database before its transaction begins: DNS for a webhook URL,
 * the hash of a password. A mutation declares it on its field (`MutationPreparation` in `graph/mutation.ts`).
 * Returns what was prepared, or undefined if the mutation prepares nothing.
 */
export async function prepareMutations(args: ExecutionPolicyArgs): Promise<unknown> {
  const schema = isServiceDocument(args.document) ? getContractSchema(args.schema) : args.schema;
  const prepared = preparedMutations(schema, args);
  if (prepared.length === 0) return undefined;
  const { viewer, services } = args.contextValue;
  // Only callers who may execute the mutation make this service ask the network.
  if (!isIntegrator(viewer) && !staffCallers.includes(getCallerKind(viewer))) return undefined;
  const { variableDefinitions = [] } = getOperationAST(args.document, args.operationName) ?? {};
  const { coerced } = getVariableValues(schema, variableDefinitions, args.variableValues ?? {});
  // Variables that do not fit are refused by the executor, with GraphQL's own errors.
  if (coerced === undefined) return undefined;
  let last: unknown;
  for (const [node, field] of prepared)
    last = await getMutationPreparation(field)?.(getArgumentValues(field, node, coerced)["input"], services);
  return last;
}

/** The root fields of the document that have something to prepare; found once for each document. */
function preparedMutations(
  schema: GraphQLSchema,
  { document, operationName }: ExecutionPolicyArgs,
): readonly Mutation[] {
  const known = mutations.get(document);
  if (known !== undefined) return known;
  const operation = getOperationAST(document, operationName);
  const fields = schema.getMutationType()?.getFields() ?? {};
  const nodes = operation ? getRootFields(operation.selectionSet, document) : [];
  const found = nodes.flatMap((node): Mutation[] => {
    const field = fields[node.name.value];
    return field !== undefined && getMutationPreparation(field) !== undefined ? [[node, field]] : [];
  });
  if (document.definitions.length === 1) mutations.set(document, found);
  return found;
}
