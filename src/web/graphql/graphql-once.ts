/**
 * A mutation that carries an idempotencyKey happens once: its document runs in one transaction with the record of the whole answer, exactly as
 * the keyed operations of REST do. An answer with errors is rolled back and not recorded.
 */
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type FieldNode,
  getArgumentValues,
  getOperationAST,
  getVariableValues,
  type GraphQLField,
  Kind,
  type OperationDefinitionNode,
  print,
  type SelectionSetNode,
  separateOperations,
} from "graphql";
import type { Plugin } from "graphql-yoga";
import { credentialIdOf } from "#access/viewer.ts";
import type { DoOnce } from "#database/idempotency.ts";
import type { Transaction } from "#database/transaction.ts";
import { Failure, failAt } from "#foundation/failure.ts";
import { fingerprintOf, parseIdempotencyKey } from "#foundation/idempotency-key.ts";
import type { GraphContext } from "#graph/context.ts";
import { callerOf, staff } from "#graph/builder.ts";
import { idempotencyKeyArgument, prepareMutation } from "#graph/mutation.ts";
import { setReplayed, type Arrival } from "./asker.ts";
import { asGraphqlError, originOf } from "./graphql-failures.ts";

type Execute = (args: ExecutionArgs) => Promise<ExecutionResult> | ExecutionResult;

export interface OnceDoor {
  readonly doOnce: DoOnce;
  readonly prepare: (mutation: string, input: unknown) => Promise<void> | void;
  /** The same asker's context, in a transaction. */
  readonly contextIn: (context: GraphContext, transaction: Transaction) => GraphContext;
}

export function answerOnce({ doOnce, prepare, contextIn }: OnceDoor): Plugin<GraphContext> {
  return {
    onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
      try {
        const key = keyOf(args);
        if (key === undefined) return;
        const claim = { ownerId: ownerOf(args.contextValue), key, fingerprint: fingerprint(args) };
        const { asker } = args.contextValue as unknown as Arrival;
        setExecuteFn(async (input: ExecutionArgs) => {
          try {
            // Nobody else may have the network asked, whatever the mutation will say.
            const isStaff = staff.includes(callerOf((input.contextValue as GraphContext).viewer));
            const prepared = isStaff ? await prepareAll(input, prepare) : undefined;
            const { recorded, isReplay } = await doOnce(claim, async (transaction) => {
              const contextValue: GraphContext = { ...contextIn(input.contextValue as GraphContext, transaction), prepared };
              const result = await (executeFn as Execute)({ ...input, contextValue });
              if (result.errors !== undefined) throw new Refused(result);
              return { status: 200, contentType: "application/json", body: JSON.stringify(result) };
            });
            setReplayed(asker, isReplay);
            return JSON.parse(recorded.body) as ExecutionResult;
          } catch (error) {
            if (error instanceof Refused) return error.result;
            if (error instanceof Failure) return { errors: [asGraphqlError(error)], data: null };
            throw error;
          }
        });
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        setResultAndStopExecution({ errors: [asGraphqlError(error)] });
      }
    },
  };
}

/** Ends the transaction of an answer that has errors. */
class Refused extends Error {
  readonly result: ExecutionResult;
  constructor(result: ExecutionResult) {
    const [first] = result.errors ?? [];
    super("The document was refused.", { cause: first === undefined ? undefined : originOf(first) });
    this.result = result;
  }
}

/** The key that the document's one mutation carries; undefined when none does. */
function keyOf({ document, operationName, variableValues }: ExecutionArgs): string | undefined {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== "mutation") return undefined;
  const fields = rootFields(operation.selectionSet, document);
  const values = { ...defaultTexts(operation), ...variableValues };
  const text = fields.map((field) => keyArgument(field, values)).find((key) => key !== undefined);
  if (text === undefined) return undefined;
  if (fields.length > 1) throw refusal("single_field", "A document with an idempotencyKey has exactly one root field.");
  const key = parseIdempotencyKey(text);
  if (key === undefined)
    throw refusal("pattern_mismatch", 'idempotencyKey has 1 to 255 printable ASCII characters, without space, ", \\, comma and semicolon.');
  return key;
}

/** What takes long, outside of the transaction. What the one mutation of the document has prepared for itself. */
async function prepareAll(args: ExecutionArgs, prepare: OnceDoor["prepare"]): Promise<unknown> {
  let prepared: unknown;
  for (const [mutation, input] of inputsOf(args)) {
    await prepare(mutation.name, input);
    prepared = await prepareMutation(mutation, input);
  }
  return prepared;
}

/** What the mutations of the document are given as `input`; nothing where the document's variables are not what it says. */
function inputsOf({ schema, document, operationName, variableValues }: ExecutionArgs): [mutation: GraphQLField<unknown, unknown>, input: unknown][] {
  const operation = getOperationAST(document, operationName);
  const mutations = schema.getMutationType()?.getFields() ?? {};
  if (!operation) return [];
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {});
  return rootFields(operation.selectionSet, document).flatMap((field): [GraphQLField<unknown, unknown>, unknown][] => {
    const definition = mutations[field.name.value];
    return definition === undefined || coerced === undefined ? [] : [[definition, getArgumentValues(definition, field, coerced)["input"]]];
  });
}

const refusal = (code: string, message: string): Failure =>
  failAt("idempotency_key_invalid", { in: "body", field: `/${idempotencyKeyArgument}`, code, message });

/** But for what GraphQL answers of itself. */
export function rootFields(selectionSet: SelectionSetNode, document: DocumentNode): FieldNode[] {
  return selectionSet.selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return selection.name.value.startsWith("__") ? [] : [selection];
    if (selection.kind === Kind.INLINE_FRAGMENT) return rootFields(selection.selectionSet, document);
    const fragment = document.definitions.find(
      (definition) => definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === selection.name.value,
    );
    return fragment?.kind === Kind.FRAGMENT_DEFINITION ? rootFields(fragment.selectionSet, document) : [];
  });
}

/** A variable that is not sent has its default, the key as well. */
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

/** The operation that runs, the variables that it has, and the buyer it is for: what one buyer was answered is never replayed to another. */
function fingerprint({ document, operationName, variableValues, contextValue }: ExecutionArgs): Buffer {
  const operation = getOperationAST(document, operationName);
  const names = (operation?.variableDefinitions ?? []).map(({ variable }) => variable.name.value);
  const variables = Object.fromEntries(names.flatMap((name) => (variableValues?.[name] === undefined ? [] : [[name, variableValues[name]]])));
  const chosen = separateOperations(document)[operation?.name?.value ?? ""] ?? document;
  const { buyerReference } = contextValue as GraphContext;
  return fingerprintOf({ document: print(chosen), operationName: operation?.name?.value ?? null, variables, buyerReference });
}

/** A token of the graph owns its keys, as a person does. */
function ownerOf({ viewer }: GraphContext): string {
  if (viewer.kind !== "internal") throw new Error("Only internal tokens and people come through this door.");
  return credentialIdOf(viewer);
}
