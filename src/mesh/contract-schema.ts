/**
 * Creates the contract schema from the GraphQL schema. In the contract schema, enum values are in lower snake
 * case (`in_stock` instead of `IN_STOCK`), as REST and webhooks send them. String replaces scalar types that
 * need no conversion. The GraphQL documents of this service are compiled on the contract schema with
 * graphql-jit, once each. Compiled documents return the values of scalars and enums unchecked; types and
 * tests ensure that the values are valid.
 */
import { MapperKind, mapSchema } from "@graphql-tools/utils";
import {
  type DocumentNode,
  type ExecutionResult,
  getNamedType,
  type GraphQLArgument,
  GraphQLEnumType,
  type GraphQLField,
  type GraphQLFieldConfig,
  type GraphQLInputField,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLOutputType,
  type GraphQLScalarType,
  type GraphQLSchema,
  GraphQLString,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from "graphql";
import { compileQuery, isCompiledQuery } from "graphql-jit";

/**
 * Matches stored enum values that can be used as enum names in lower case. An enum with any other stored
 * value keeps its upper-case names; no REST document selects such an enum.
 */
const enumName = /^[_a-z][_a-z0-9]*$/;

const contractSchemas = new WeakMap<GraphQLSchema, GraphQLSchema>();

/**
 * Returns the contract schema of a GraphQL schema: the same schema with enum values in lower case. It is
 * created once for each GraphQL schema.
 */
export function getLowerCaseEnumSchema(graph: GraphQLSchema): GraphQLSchema {
  let schema = contractSchemas.get(graph);
  if (schema === undefined) contractSchemas.set(graph, (schema = createLowerCaseEnumSchema(graph, "plain")));
  return schema;
}

/**
 * Copies a schema and converts its enum values to lower case. The parameter `leaves` decides about custom
 * scalar types: `declared` keeps them, for executors that convert scalar values; `plain` replaces them by
 * String, for GraphQL documents that are compiled to functions.
 */
export function createLowerCaseEnumSchema(
  schema: GraphQLSchema,
  leaves: "plain" | "declared",
): GraphQLSchema {
  const lowered = mapSchema(schema, {
    [MapperKind.ENUM_TYPE]: (type) => {
      const config = type.toConfig();
      const values = Object.values(config.values);
      if (!values.every(({ value }) => typeof value === "string" && enumName.test(value))) return type;
      return new GraphQLEnumType({
        ...config,
        values: Object.fromEntries(values.map((value) => [value.value, value])),
      });
    },
    ...(leaves === "plain" ? { [MapperKind.COMPOSITE_FIELD]: withPlainLeaf } : {}),
  });
  restoreDefaults(schema, lowered);
  return lowered;
}

/**
 * Replaces a scalar type whose values need no conversion by String. For a custom scalar, a compiled document
 * would call `serialize` and allocate memory for each value. The original scalar type is kept in the field's
 * extensions for the OpenAPI document.
 */
function withPlainLeaf<Field extends Pick<GraphQLFieldConfig<unknown, unknown>, "type" | "extensions">>(
  field: Field,
): Field | undefined {
  const scalar = getNamedType(field.type);
  if (!isScalarType(scalar) || scalar.extensions["isSentAsIs"] !== true) return undefined;
  return {
    ...field,
    type: replaceInnermostGraphqlType(field.type, GraphQLString),
    extensions: { ...field.extensions, scalar },
  };
}

/**
 * Returns the type that a field originally had. In the contract schema, String may replace the original
 * scalar type.
 */
export function getOriginalGraphqlFieldType({
  type,
  extensions,
}: Pick<GraphQLField<unknown, unknown>, "type" | "extensions">): GraphQLOutputType {
  const { scalar } = extensions as { readonly scalar?: GraphQLScalarType };
  return scalar === undefined ? type : replaceInnermostGraphqlType(type, scalar);
}

/**
 * Replaces the innermost type of an output type by the given scalar type. List and non-null types around the
 * innermost type are kept.
 */
export function replaceInnermostGraphqlType(
  type: GraphQLOutputType,
  leaf: GraphQLScalarType,
): GraphQLOutputType {
  if (isNonNullType(type)) return new GraphQLNonNull(replaceInnermostGraphqlType(type.ofType, leaf));
  return isListType(type) ? new GraphQLList(replaceInnermostGraphqlType(type.ofType, leaf)) : leaf;
}

/**
 * Restores the default values of arguments and input fields in the copied schema. The library function
 * `mapSchema` has changed their enum values to upper case.
 */
function restoreDefaults(from: GraphQLSchema, to: GraphQLSchema): void {
  for (const [name, type] of Object.entries(from.getTypeMap())) {
    const twin = to.getType(name);
    if (isInputObjectType(type) && isInputObjectType(twin))
      restoreEach(Object.values(type.getFields()), Object.values(twin.getFields()));
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    if (!isObjectType(twin) && !isInterfaceType(twin)) continue;
    for (const field of Object.values(twin.getFields()))
      restoreEach(type.getFields()[field.name]?.args ?? [], field.args);
  }
}

type WithDefault = GraphQLArgument | GraphQLInputField;

function restoreEach(from: readonly WithDefault[], to: readonly WithDefault[]): void {
  for (const twin of to) twin.defaultValue = from.find(({ name }) => name === twin.name)?.defaultValue;
}

/**
 * Returns a copy of the document with its enum values in lower case, as the contract schema defines them. The
 * arguments of directives are not changed.
 */
export function convertEnumValuesToLowerCase(
  contractSchema: GraphQLSchema,
  document: DocumentNode,
): DocumentNode {
  const types = new TypeInfo(contractSchema);
  return visit(
    document,
    visitWithTypeInfo(types, {
      [Kind.DIRECTIVE]: () => false,
      [Kind.ENUM]: (node) => {
        const type = types.getInputType();
        const named = type ? getNamedType(type) : undefined;
        return isEnumType(named) && named.getValue(node.value)
          ? undefined
          : { ...node, value: node.value.toLowerCase() };
      },
    }),
  );
}

/** The values of the variables of a GraphQL document, by name. */
export type GraphqlVariables = Readonly<Record<string, unknown>>;

type CompiledQuery = (
  root: unknown,
  context: unknown,
  variables: GraphqlVariables,
) => Promise<ExecutionResult> | ExecutionResult;

const names = new WeakMap<DocumentNode, string>();
const compiled = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, CompiledQuery>>();

/**
 * Marks a GraphQL document as part of this service. Marked documents are compiled and run on the contract
 * schema (with lower-case enum values). Documents of clients are never marked, because compiling needs memory
 * and writes names of the document into program code.
 */
export function markAsBuiltInGraphqlDocument(document: DocumentNode, name: string): DocumentNode {
  names.set(document, name);
  return document;
}

/** Returns whether the document is a part of this service, and not sent by a client. */
export const isBuiltInGraphqlDocument = (document: DocumentNode): boolean => names.has(document);

/**
 * Returns the compiled query of a GraphQL document that is part of this service. Throws an error with the
 * document's name if the document is not valid for the schema.
 */
export function getCompiledBuiltInGraphqlDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
): CompiledQuery {
  let queries = compiled.get(schema);
  if (queries === undefined) compiled.set(schema, (queries = new WeakMap()));
  let query = queries.get(document);
  if (query === undefined) queries.set(document, (query = compile(schema, document)));
  return query;
}

function compile(schema: GraphQLSchema, document: DocumentNode): CompiledQuery {
  const result = compileQuery(schema, document, "", { disableLeafSerialization: true });
  if (!isCompiledQuery(result))
    throw new Error(
      `${names.get(document) ?? "A document"} does not compile: ${result.errors?.[0]?.message}`,
    );
  return result.query;
}
