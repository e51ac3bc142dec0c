/**
 * Compiles queries of trusted documents to JavaScript functions with graphql-jit, which need less CPU time
 * than Mesh's executor. graphql-jit executes some documents differently from graphql-js; `isCompilable`
 * excludes these documents. graphql-jit also writes literal values of a document into program code. For
 * safety, it therefore gets only the names in the document, and graphql-js reads the arguments.
 */
import { MapperKind, mapSchema } from "@graphql-tools/utils";
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type FragmentSpreadNode,
  getArgumentValues,
  getNamedType,
  getOperationAST,
  getVariableValues,
  type GraphQLEnumType,
  GraphQLError,
  type GraphQLFieldConfig,
  type GraphQLOutputType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  isAbstractType,
  isEnumType,
  isObjectType,
  isScalarType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  TypeInfo,
  type TypeNode,
  visit,
  visitWithTypeInfo,
} from "graphql";
import { compileQuery, isCompiledQuery } from "graphql-jit";
import { replaceInnermostGraphqlType } from "./contract-schema.ts";
import type { GraphqlDocumentExecutor } from "./run.ts";

/**
 * The maximum number of fields that a compiled document selects. A fragment that is used several times adds
 * its fields each time, because the compiled code contains them each time.
 */
export const compiledFieldsMax = 1_000;

/** A GraphQL query that graphql-jit has compiled into a JavaScript function, for one GraphQL schema. */
export interface CompiledGraphqlDocument {
  /**
   * Executes the compiled query. If the result has errors that graphql-js could report differently, calls
   * `fallback`, which executes the document with graphql-js.
   */
  readonly execute: (
    args: ExecutionArgs,
    fallback: GraphqlDocumentExecutor,
  ) => ReturnType<GraphqlDocumentExecutor>;
  /** The number of fields in the compiled code of the document. Caches limit the sum of these numbers. */
  readonly size: number;
}

/**
 * Compiles a valid document with one operation. Returns undefined if graphql-jit cannot compile the document,
 * so that graphql-js must execute it.
 */
export function compileGraphqlDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
): CompiledGraphqlDocument | undefined {
  const operation = getOperationAST(document);
  if (!operation || operation.operation !== "query" || !isCompilable(schema, document)) return undefined;
  const size = countFields(operation.selectionSet, document);
  if (size > compiledFieldsMax) return undefined;
  const compiled = compileQuery(getProgramSchema(schema), withPassedVariables(document), "", {
    disableLeafSerialization: true,
    disablingCapturingStackErrors: true,
  });
  if (!isCompiledQuery(compiled)) return undefined;
  const { variableDefinitions = [] } = operation;
  return {
    size,
    execute: (args, fallback) => {
      const { coerced } = getVariableValues(schema, variableDefinitions, args.variableValues ?? {});
      if (coerced === undefined) return fallback(args);
      const running: Promise<ExecutionResult> | ExecutionResult = compiled.query(
        args.rootValue,
        args.contextValue,
        coerced,
      );
      const finish = (result: ExecutionResult): ReturnType<GraphqlDocumentExecutor> =>
        result.errors === undefined ? result : (convertSingleError(result, document) ?? fallback(args));
      return running instanceof Promise ? running.then(finish) : finish(running);
    },
  };
}

/**
 * Returns true if graphql-jit executes the document exactly as graphql-js does. Returns false for
 * introspection, directives, interfaces and unions, which graphql-jit executes differently. Also returns
 * false for aliases with an underscore, because two fields could then get the same name in the compiled
 * code.
 */
function isCompilable(schema: GraphQLSchema, document: DocumentNode): boolean {
  let isSame = true;
  const refuse = (): void => {
    isSame = false;
  };
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      [Kind.DIRECTIVE]: refuse,
      [Kind.VARIABLE]: ({ name }) => {
        if (name.value.startsWith("__")) refuse();
      },
      [Kind.FIELD]: ({ name, alias }) => {
        const type = types.getType();
        const isIntrospection = name.value.startsWith("__") && name.value !== "__typename";
        if (isIntrospection || alias?.value.includes("_") === true || isAbstractType(getNamedType(type)))
          refuse();
      },
    }),
  );
  return isSame;
}

/**
 * Counts the fields of a selection. Stops when the limit is exceeded, because a document with fragments
 * inside fragments can have millions of fields.
 */
function countFields(selectionSet: SelectionSetNode, document: DocumentNode, before = 0): number {
  let count = before;
  for (const selection of selectionSet.selections) {
    if (selection.kind === Kind.FIELD) count += 1;
    const inner =
      selection.kind === Kind.FRAGMENT_SPREAD ? findFragment(selection, document) : selection.selectionSet;
    if (inner !== undefined) count = countFields(inner, document, count);
    if (count > compiledFieldsMax) break;
  }
  return count;
}

const findFragment = (
  { name }: FragmentSpreadNode,
  { definitions }: DocumentNode,
): SelectionSetNode | undefined => {
  for (const definition of definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === name.value)
      return definition.selectionSet;
  return undefined;
};

/**
 * The type that variables have in compiled code. graphql-js has already converted the values of the
 * variables, so the compiled code must pass them on unchanged.
 */
const passedType = new GraphQLScalarType({ name: "PassedVariable" });

function withPassedVariables(document: DocumentNode): DocumentNode {
  const type: TypeNode = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: passedType.name } };
  const replace = ({
    defaultValue: _default,
    ...definition
  }: NonNullable<OperationDefinitionNode["variableDefinitions"]>[number]): typeof definition => ({
    ...definition,
    type,
  });
  return {
    ...document,
    definitions: document.definitions.map((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION
        ? { ...definition, variableDefinitions: (definition.variableDefinitions ?? []).map(replace) }
        : definition,
    ),
  };
}

const programSchemas = new WeakMap<GraphQLSchema, GraphQLSchema>();

/**
 * Returns the schema with which documents of a GraphQL schema are compiled. It is created once for each
 * GraphQL schema.
 */
function getProgramSchema(graph: GraphQLSchema): GraphQLSchema {
  let schema = programSchemas.get(graph);
  if (schema === undefined) programSchemas.set(graph, (schema = createProgramSchema(graph)));
  return schema;
}

/**
 * Copies a schema for graphql-jit. In the copy, fields have no arguments, because the resolvers read the
 * arguments with graphql-js. Scalar types that need no conversion become String, whose values the compiled
 * code sends unchanged. Enums become scalar types, because the compiled code would otherwise send the values
 * that the database stores instead of the names in the schema.
 */
function createProgramSchema(graph: GraphQLSchema): GraphQLSchema {
  const copy = mapSchema(graph, {
    [MapperKind.OBJECT_FIELD]: (field, name, typeName) => {
      const resolve = withArguments(graph, { name, typeName });
      return { ...field, type: toProgramType(field.type), args: {}, ...(resolve && { resolve }) };
    },
  });
  const config = copy.toConfig();
  return new GraphQLSchema({ ...config, types: [...config.types, passedType] });
}

const enumScalars = new WeakMap<GraphQLEnumType, GraphQLScalarType>();

function toProgramType(type: GraphQLOutputType): GraphQLOutputType {
  const leaf = getNamedType(type);
  if (isScalarType(leaf))
    return leaf.extensions["isSentAsIs"] === true ? replaceInnermostGraphqlType(type, GraphQLString) : type;
  if (!isEnumType(leaf)) return type;
  let scalar = enumScalars.get(leaf);
  if (scalar === undefined) {
    scalar = new GraphQLScalarType({ name: `${leaf.name}Name`, serialize: (value) => leaf.serialize(value) });
    enumScalars.set(leaf, scalar);
  }
  return replaceInnermostGraphqlType(type, scalar);
}

interface FieldPlace {
  readonly name: string;
  readonly typeName: string;
}

type Resolver = NonNullable<GraphQLFieldConfig<unknown, unknown>["resolve"]>;

/**
 * Returns the function with which compiled code resolves a field. Returns undefined if the field has no
 * resolver; compiled code then reads the property with the field's name from the object.
 */
function withArguments(graph: GraphQLSchema, { name, typeName }: FieldPlace): Resolver | undefined {
  const type = graph.getType(typeName);
  const field = isObjectType(type) ? type.getFields()[name] : undefined;
  const resolve = field?.resolve;
  if (field === undefined || resolve === undefined) return undefined;
  if (field.args.length === 0) return resolve;
  return (...[source, , context, info]) => {
    const [node] = info.fieldNodes;
    const values = node === undefined ? {} : getArgumentValues(field, node, info.variableValues);
    return resolve(source, values, context, info);
  };
}

/**
 * Converts the only error of a graphql-jit result to the error that graphql-js would report. Returns
 * undefined if graphql-js might report other errors or other data: if there are several errors, or if a
 * resolver did not throw the error.
 */
function convertSingleError(
  { data = null, errors = [] }: ExecutionResult,
  { loc }: DocumentNode,
): ExecutionResult | undefined {
  const [error, second] = errors;
  if (error === undefined || second !== undefined || loc === undefined) return undefined;
  const { originalError, path = [], locations = [] } = error;
  if (originalError === undefined || originalError instanceof GraphQLError) return undefined;
  // An error of a list item is not converted, because the results differ. graphql-jit puts the null of the
  // failed item at the end of the list, graphql-js at the item's position.
  if (typeof path.at(-1) !== "string") return undefined;
  const { source } = loc;
  const positions = locations.map((place) => positionOf(source.body, place));
  const { message } = originalError;
  return { data, errors: [new GraphQLError(message, { source, positions, path, originalError })] };
}

/**
 * Converts a position in a text from line and column, which both begin at 1, to the number of characters
 * before the position.
 */
function positionOf(
  body: string,
  { line, column }: { readonly line: number; readonly column: number },
): number {
  let start = 0;
  const ends = /\r\n|[\n\r]/g;
  for (let current = 1; current < line && ends.exec(body) !== null; current += 1) start = ends.lastIndex;
  return start + column - 1;
}
