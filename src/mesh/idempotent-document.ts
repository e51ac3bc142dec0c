/** Reads the idempotency key of a GraphQL document, and digests what is asked with it. */
import {
  type DocumentNode,
  type FieldNode,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  print,
  type SelectionSetNode,
  separateOperations,
} from "graphql";
import { type Failure, failAt } from "#foundation/failure.ts";
import { fingerprintOf, parseIdempotencyKey } from "#foundation/idempotency-key.ts";
import { idempotencyKeyArgument } from "#graph/mutation.ts";
import type { PolicyArgs } from "./policy.ts";

/**
 * The key of the document's one mutation; undefined if it has none. Throws 400 `idempotency_key_invalid` if the key is
 * malformed, or if the document has more than one root field.
 */
export function keyOfDocument({ document, operationName, variableValues }: PolicyArgs): string | undefined {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== "mutation") return undefined;
  const fields = rootFieldsOf(operation.selectionSet, document);
  const values = { ...defaultTexts(operation), ...variableValues };
  const text = fields.map((field) => keyArgument(field, values)).find((key) => key !== undefined);
  if (text === undefined) return undefined;
  if (fields.length > 1) throw refusal("single_field", "A document with an idempotencyKey has exactly one root field.");
  const key = parseIdempotencyKey(text);
  if (key === undefined)
    throw refusal("pattern_mismatch", 'idempotencyKey has 1 to 255 printable ASCII characters, without space, ", \\, comma and semicolon.');
  return key;
}

/**
 * SHA-256 over the operation that runs, its variables and the buyer it is for: an answer for one buyer is never
 * replayed to another.
 */
export function fingerprintOfDocument({ document, operationName, variableValues, contextValue }: PolicyArgs): Buffer {
  const operation = getOperationAST(document, operationName);
  const names = (operation?.variableDefinitions ?? []).map(({ variable }) => variable.name.value);
  const variables = Object.fromEntries(names.flatMap((name) => (variableValues?.[name] === undefined ? [] : [[name, variableValues[name]]])));
  const chosen = separateOperations(document)[operation?.name?.value ?? ""] ?? document;
  const { buyerReference } = contextValue;
  return fingerprintOf({ document: print(chosen), operationName: operation?.name?.value ?? null, variables, buyerReference });
}

/** The root fields of an operation, fragments included, without `__typename` and introspection. */
export function rootFieldsOf(selectionSet: SelectionSetNode, document: DocumentNode): FieldNode[] {
  return selectionSet.selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return selection.name.value.startsWith("__") ? [] : [selection];
    if (selection.kind === Kind.INLINE_FRAGMENT) return rootFieldsOf(selection.selectionSet, document);
    const fragment = document.definitions.find(
      (definition) => definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === selection.name.value,
    );
    return fragment?.kind === Kind.FRAGMENT_DEFINITION ? rootFieldsOf(fragment.selectionSet, document) : [];
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
