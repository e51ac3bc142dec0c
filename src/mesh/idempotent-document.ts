/**
 * Reads the idempotency key in a GraphQL document, computes the fingerprint of the request, and runs the slow
 * work of mutations (for example DNS lookups) before their transaction begins.
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
import { createFailureWithDetail, type Failure } from "#foundation/failure.ts";
import { createRequestFingerprint, parseIdempotencyKey } from "#database/idempotency.ts";
import type { RowLockWithReadQuery } from "#database/transaction.ts";
import { idempotencyKeyArgument } from "#graph/mutation.ts";
import { isApiKeyOrOauthViewer } from "#access/viewer.ts";
import { getCallerKindOfViewer, type GraphqlContext, staffCallers } from "#graph/context.ts";
import type { GraphqlDocumentExecutionArgs } from "./run.ts";
import { getLowerCaseEnumSchema, isBuiltInGraphqlDocument } from "./contract-schema.ts";

/**
 * Returns the idempotency key of the document's mutation; undefined if it has none. Throws 400
 * `idempotency_key_invalid` if the key is malformed, or if the document has a key and more than one root
 * field.
 */
export function getIdempotencyKeyOfMutation({
  document,
  operationName,
  variableValues,
}: GraphqlDocumentExecutionArgs): string | undefined {
  const operation = getOperationAST(document, operationName);
  if (!operation) return undefined;
  const fields = getGraphqlRootFields(operation.selectionSet, document);
  const values = { ...defaultTexts(operation), ...variableValues };
  const text = fields.map((field) => keyArgument(field, values)).find((key) => key !== undefined);
  if (text === undefined) return undefined;
  if (fields.length > 1)
    throw keyFailure(
      "single_field",
      '"idempotencyKey" is allowed only in a document with exactly one root field.',
    );
  const key = parseIdempotencyKey(text);
  if (key === undefined)
    throw keyFailure(
      "pattern_mismatch",
      '"idempotencyKey" must have 1 to 255 printable ASCII characters, without space, ", \\, comma and ' +
        "semicolon.",
    );
  return key;
}

/**
 * Computes the SHA-256 digest of the operation, its variables and the buyer reference. A request with an
 * already used key but another digest is refused, so a buyer never gets the stored answer of another buyer.
 */
export function createGraphqlRequestFingerprint({
  document,
  operationName,
  variableValues,
  contextValue,
}: GraphqlDocumentExecutionArgs): Buffer {
  const operation = getOperationAST(document, operationName);
  const names = (operation?.variableDefinitions ?? []).map(({ variable }) => variable.name.value);
  const variables = Object.fromEntries(
    names.flatMap((name) => (variableValues?.[name] === undefined ? [] : [[name, variableValues[name]]])),
  );
  const operationDocument = separateOperations(document)[operation?.name?.value ?? ""] ?? document;
  const { buyerReference } = contextValue;
  return createRequestFingerprint({
    document: print(operationDocument),
    operationName: operation?.name?.value ?? null,
    variables,
    buyerReference,
  });
}

/**
 * Returns the root fields of an operation, including those of fragments, without `__typename` and
 * introspection.
 */
export function getGraphqlRootFields(selectionSet: SelectionSetNode, document: DocumentNode): FieldNode[] {
  return selectionSet.selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return selection.name.value.startsWith("__") ? [] : [selection];
    if (selection.kind === Kind.INLINE_FRAGMENT)
      return getGraphqlRootFields(selection.selectionSet, document);
    const fragment = document.definitions.find(
      (definition) =>
        definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === selection.name.value,
    );
    return fragment?.kind === Kind.FRAGMENT_DEFINITION
      ? getGraphqlRootFields(fragment.selectionSet, document)
      : [];
  });
}

const keyFailure = (code: string, message: string): Failure =>
  createFailureWithDetail("idempotency_key_invalid", {
    in: "body",
    field: `/${idempotencyKeyArgument}`,
    code,
    message,
  });

/**
 * Returns the string default values of variables, by variable name, because the idempotency key may be the
 * default value of a variable.
 */
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
  const text = value?.kind === Kind.VARIABLE ? variables[value.name.value] : undefined;
  return typeof text === "string" ? text : undefined;
}

type Mutation = readonly [node: FieldNode, field: GraphQLField<unknown, unknown>];

const mutations = new WeakMap<DocumentNode, readonly Mutation[]>();

/** The results of the work that a document's mutations do before their transaction begins. */
export interface MutationPreparationResults {
  /**
   * The result of the last function that ran before the transaction, for example a DNS lookup for a webhook
   * URL (`WorkBeforeMutationTransaction` in `graph/mutation.ts`); undefined if the mutations have no such
   * function.
   */
  readonly prepared: unknown;
  /** The row that the mutation locks and reads when its transaction begins, if there is one. */
  readonly lockAndRead: RowLockWithReadQuery | undefined;
}

const noWork: MutationPreparationResults = { prepared: undefined, lockAndRead: undefined };

/**
 * Runs the functions that a document's mutations need before their transaction begins, for example a DNS
 * lookup.
 */
export async function runMutationPreparationFunctions(
  args: GraphqlDocumentExecutionArgs,
): Promise<MutationPreparationResults> {
  const isBuiltIn = isBuiltInGraphqlDocument(args.document);
  const schema = isBuiltIn ? getLowerCaseEnumSchema(args.schema) : args.schema;
  const found = findMutationsToPrepare(schema, args);
  if (found.length === 0) return noWork;
  const { contextValue } = args;
  // The gateway has already checked the variables of this service's own documents.
  const variables = isBuiltIn ? args.variableValues : coerceVariables(args);
  // If the variables are invalid, no work runs before the transaction. The executor refuses the variables
  // later, with the errors of graphql-js.
  if (variables === undefined) return noWork;
  let prepared: unknown;
  let lockAndRead: RowLockWithReadQuery | undefined;
  for (const [node, field] of found) {
    const values = getArgumentValues(field, node, variables);
    const { prepare, open } = field.extensions.change ?? {};
    if (prepare !== undefined && mayPrepare(contextValue))
      prepared = await prepare(values["input"], contextValue.services);
    lockAndRead = open?.(contextValue, values);
  }
  return { prepared, lockAndRead };
}

/** Converts the variables of a document to the types of its definitions; undefined if a value is invalid. */
function coerceVariables({
  schema,
  document,
  operationName,
  variableValues,
}: GraphqlDocumentExecutionArgs): Readonly<Record<string, unknown>> | undefined {
  const { variableDefinitions = [] } = getOperationAST(document, operationName) ?? {};
  return getVariableValues(schema, variableDefinitions, variableValues ?? {}).coerced;
}

/**
 * Returns whether work before a mutation's transaction, for example a DNS lookup, may run for this caller.
 * Other callers may not execute the mutation, and must not make the service send network requests.
 */
const mayPrepare = ({ viewer }: GraphqlContext): boolean =>
  isApiKeyOrOauthViewer(viewer) || staffCallers.includes(getCallerKindOfViewer(viewer));

/**
 * Finds the mutations of a document that do work before their transaction, or that name a row to lock. The
 * list is cached for each document.
 */
function findMutationsToPrepare(
  schema: GraphQLSchema,
  { document, operationName }: GraphqlDocumentExecutionArgs,
): readonly Mutation[] {
  const known = mutations.get(document);
  if (known !== undefined) return known;
  const operation = getOperationAST(document, operationName);
  const fields = schema.getMutationType()?.getFields() ?? {};
  const nodes = operation ? getGraphqlRootFields(operation.selectionSet, document) : [];
  const found = nodes.flatMap((node): Mutation[] => {
    const field = fields[node.name.value];
    const { prepare, open } = field?.extensions.change ?? {};
    return field === undefined || (prepare === undefined && open === undefined) ? [] : [[node, field]];
  });
  if (document.definitions.length === 1) mutations.set(document, found);
  return found;
}
