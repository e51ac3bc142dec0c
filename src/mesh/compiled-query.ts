/**
 * Compiles queries of trusted documents with graphql-jit, so that they run with less CPU time than in the
 * executor of Mesh. graphql-jit executes some documents differently from graphql-js and writes literals of a
 * document into program code. Therefore it gets only names of the document: arguments are read with
 * graphql-js, and documents with the parts that `isCompilable` names are not compiled.
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
import { withLeaf } from "./contract-schema.ts";
import type { DocumentExecutor } from "./run.ts";

/**
 * The maximum number of fields that a compiled document selects. A field of a fragment counts for each spread
 * of the fragment, because the program has code for each.
 */
export const compiledFieldsMax = 1_000;

/** A query that was compiled for a graph. */
export interface CompiledQuery {
  /**
   * Executes the query. Calls `fallback`, which executes the document with graphql-js, if the result has
   * errors that graphql-js could report differently.
   */
  readonly execute: (args: ExecutionArgs, fallback: DocumentExecutor) => ReturnType<DocumentExecutor>;
  /** The number of fields in the program, by which caches weigh it. */
  readonly size: number;
}

/** Compiles a valid document with one operation. Returns undefined if graphql-js must execute the document. */
export function compileTrustedQuery(
  schema: GraphQLSchema,
  document: DocumentNode,
): CompiledQuery | undefined {
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
      const finish = (result: ExecutionResult): ReturnType<DocumentExecutor> =>
        result.errors === undefined ? result : (convertSingleError(result, document) ?? fallback(args));
      return running instanceof Promise ? running.then(finish) : finish(running);
    },
  };
}

/**
 * Returns whether graphql-jit executes the document as graphql-js does. It does not for introspection, for
 * `@skip` and `@include` of shared fragments, and for interfaces and unions. Aliases with an underscore could
 * give two fields of the program the same name.
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

/** Counts the fields of a selection; stops above the limit, because fragments can multiply fields. */
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
 * The type of variables in programs. graphql-js has coerced the values of variables before, so that the
 * program passes them on unchanged.
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

/** Returns the schema for programs of a graph. It is created once for each graph. */
function getProgramSchema(graph: GraphQLSchema): GraphQLSchema {
  let schema = programSchemas.get(graph);
  if (schema === undefined) programSchemas.set(graph, (schema = createProgramSchema(graph)));
  return schema;
}

/**
 * Copies a schema for graphql-jit. Fields have no arguments, because their resolvers read the arguments with
 * graphql-js. Scalars that need no conversion are strings, which programs send unchanged. Enums are scalars,
 * because programs would send the stored values of enums.
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
    return leaf.extensions["isSentAsIs"] === true ? withLeaf(type, GraphQLString) : type;
  if (!isEnumType(leaf)) return type;
  let scalar = enumScalars.get(leaf);
  if (scalar === undefined) {
    scalar = new GraphQLScalarType({ name: `${leaf.name}Name`, serialize: (value) => leaf.serialize(value) });
    enumScalars.set(leaf, scalar);
  }
  return withLeaf(type, scalar);
}

interface FieldPlace {
  readonly name: string;
  readonly typeName: string;
}

type Resolver = NonNullable<GraphQLFieldConfig<unknown, unknown>["resolve"]>;

/** Returns the resolver of a field in programs; undefined if programs read the field from its object. */
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
 * Converts the only error of a result to the error that graphql-js would report. Returns undefined if
 * graphql-js could report other errors or other data: for several errors, and for an error that no resolver
 * has thrown.
 */
function convertSingleError(
  { data = null, errors = [] }: ExecutionResult,
  { loc }: DocumentNode,
): ExecutionResult | undefined {
  const [error, second] = errors;
  if (error === undefined || second !== undefined || loc === undefined) return undefined;
  const { originalError, path = [], locations = [] } = error;
  if (originalError === undefined || originalError instanceof GraphQLError) return undefined;
  // graphql-jit puts the null of a failed list item at the end of the list.
  if (typeof path.at(-1) !== "string") return undefined;
  const { source } = loc;
  const positions = locations.map((place) => positionOf(source.body, place));
  const { message } = originalError;
  return { data, errors: [new GraphQLError(message, { source, positions, path, originalError })] };
}

/** Returns the offset in a text of a line and a column, which begin at 1. */
function positionOf(
  body: string,
  { line, column }: { readonly line: number; readonly column: number },
): number {
  let start = 0;
  const ends = /\r\n|[\n\r]/g;
  for (let current = 1; current < line && ends.exec(body) !== null; current += 1) start = ends.lastIndex;
  return start + column - 1;
}
